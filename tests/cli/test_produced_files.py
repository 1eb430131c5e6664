"""Tests of `magicbyte verify --produced`: its output and status for files of produced batches."""

from pathlib import Path

import pytest
from click.testing import Result

from magicbyte.tables.schemas import TABLES
from produce_check.produced import SOUND, produced

from .conftest import refusal, run, run_ndjson


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write files of one or two batches, legal and illegal, into an empty working directory."""
    monkeypatch.chdir(tmp_path)
    Path("sound.bin").write_bytes(SOUND)
    Path("wrong.bin").write_bytes(produced(base=42, leader_epoch=0))
    Path("noted.bin").write_bytes(produced(leader_epoch=0))
    Path("keyless.bin").write_bytes(produced({"key": None}, max_time=-1))
    Path("several.bin").write_bytes(SOUND * 2)


def verify(*arguments: str) -> Result:
    return run("verify", "--produced", *arguments)


def test_a_legal_batch_is_a_summary_and_status_0() -> None:
    result = verify("sound.bin")
    assert (result.stdout, result.stderr) == (
        "sound.bin: a broker would accept this batch\n1 file, 84 bytes: no findings\n",
        "",
    )
    assert result.exit_code == 0


def test_batch_that_a_broker_refuses_is_one_line_and_status_1() -> None:
    result = verify("wrong.bin", "sound.bin")
    assert result.stdout == (
        "wrong.bin byte 0: base_offset is 42, expected 0 [error: produced-base-offset]\n"
        "wrong.bin byte 0: partition_leader_epoch is 0, expected -1 [note: produced-leader-epoch]\n"
        "wrong.bin: a broker would refuse this batch with INVALID_RECORD: base_offset is 42, expected 0\n"
        "sound.bin: a broker would accept this batch\n"
        "2 files, 168 bytes: 1 error, 1 note\n"
    )
    assert result.exit_code == 1


def test_notes_alone_are_status_0() -> None:
    result = verify("noted.bin")
    assert result.stdout.endswith("1 file, 84 bytes: 1 note\n")
    assert result.exit_code == 0


def test_a_file_of_several_batches_is_refused_and_each_is_checked() -> None:
    result = verify("several.bin")
    assert result.stdout == (
        "several.bin byte 84: a second batch; a request carries one batch per partition "
        "[error: produced-several-batches]\n"
        "several.bin: a broker would refuse this batch with INVALID_RECORD: a second batch; a request carries one batch per "
        "partition\n"
        "1 file, 168 bytes: 1 error\n"
    )
    assert result.exit_code == 1


def test_compacted_topics_need_keys() -> None:
    assert verify("keyless.bin").exit_code == 0
    result = verify("keyless.bin", "--compacted")
    assert "payload byte 0: records[0].len_key is -1, expected 0 or more" in result.stdout
    assert result.exit_code == 1


def test_ndjson_is_an_object_per_problem_and_a_summary() -> None:
    problem, note, file, summary = run_ndjson("verify", "--produced", "wrong.bin", status=1)
    assert list(problem) == ["kind", *TABLES["problems"].names]
    assert (problem["kind"], problem["file"]) == ("problem", "wrong.bin")
    assert (problem["code"], problem["severity"]) == ("produced-base-offset", "error")
    assert (problem["field"], problem["found"], problem["expected"]) == ("base_offset", "42", "0")
    assert note["severity"] == "note"
    assert (file["verdict"], file["kafka_error"]) == ("refused", "INVALID_RECORD")
    counts = {"errors": 1, "warnings": 0, "notes": 1}
    assert summary == {"kind": "summary", "files": 1, "size_bytes": 84, **counts}


def test_limits_are_passed_on() -> None:
    result = verify("sound.bin", "--max-entry-bytes", "83")
    assert "[error: entry-over-limit]" in result.stdout
    assert result.exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [(), ("absent.bin",), (".",), ("sound.bin", "--quick"), ("sound.bin", "--topic", "t")],
)
def test_a_wrong_call_is_status_2(arguments: tuple[str, ...]) -> None:
    assert refusal("verify", "--produced", *arguments)


def test_compacted_goes_with_produced_alone() -> None:
    assert refusal("verify", "--compacted", "sound.bin")
