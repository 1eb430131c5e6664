"""`magicbyte dump` of a file beside a log: a row per entry."""

import json
from pathlib import Path

from .conftest import Run, only_line

ABORTED = ("open-1", "00000000000000000010.txnindex")


def test_an_index_is_shown_as_text_and_as_ndjson(run: Run, transactions: Path) -> None:
    path = transactions.joinpath(*ABORTED)
    result = run("dump", path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "version  producer_id  first_offset  last_offset  last_stable_offset",
        "      0         1002            11           33                  34",
        "      0         1002            34           46                  38",
        "      0         1001            48           60                  61",
    ]
    lines = run("dump", path, "--format", "ndjson", "--limit", 1).stdout.splitlines()
    assert [json.loads(line) for line in lines] == [
        {
            "version": 0,
            "producer_id": 1002,
            "first_offset": 11,
            "last_offset": 33,
            "last_stable_offset": 34,
        }
    ]
    result = run("dump", path, "--columns", "last_offset,producer_id", "--limit", 1)
    assert result.stdout.split() == ["producer_id", "last_offset", "1002", "33"]


def test_several_files_of_a_kind_say_which(run: Run, transactions: Path) -> None:
    first, second = (
        transactions / topic / "leader-epoch-checkpoint" for topic in ("open-1", "aborted-0")
    )
    rows = [
        json.loads(line)
        for line in run("dump", first, second, "--format", "ndjson").stdout.splitlines()
    ]
    assert all(list(row) == ["file", "leader_epoch", "start_offset"] for row in rows)
    assert list(dict.fromkeys(row["file"] for row in rows)) == [str(first), str(second)]
    result = run("dump", first, transactions.joinpath(*ABORTED))
    assert result.exit_code == 2
    assert "leader epochs, txnindex; expected files of one kind" in only_line(result.stderr)


def test_damage_is_said_behind_what_is_whole(run: Run, transactions: Path, tmp_path: Path) -> None:
    (path := tmp_path / ABORTED[1]).write_bytes(transactions.joinpath(*ABORTED).read_bytes()[:40])
    result = run("dump", path)
    assert result.exit_code == 0  # no row of a log hangs on it
    assert len(result.stdout.splitlines()) == 2
    assert result.stderr.splitlines() == [
        "1 warning:",
        f"  {ABORTED[1]} byte 34: 6 bytes follow the last whole entry [txnindex-invalid]",
    ]


def test_options_of_logs_are_refused_for_companion_files(run: Run, transactions: Path) -> None:
    path = transactions.joinpath(*ABORTED)
    for options, said in (
        (("--table", "batches"), "--table applies to logs, not to companion files"),
        (("--topic", "x"), "--topic applies to logs"),
        ((transactions / "open-1",), "expected logs only, or companion files only"),
    ):
        result = run("dump", path, *options)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr
    result = run("dump", path, "--columns", "offset")
    assert result.exit_code == 2
    assert "no column 'offset'; expected one of version" in only_line(result.stderr)
