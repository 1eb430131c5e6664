"""Logs at the ends of int64: the offset after 2^63-1 is null in tables, and no writer continues such a log."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from cli.conftest import run, run_ndjson
from log_builder import Folder
from magicbyte.logdir.file_names import MAX_OFFSET
from paths import CHECKOUT

LOWEST = -(1 << 63)

HIGHEST_VECTORS = sorted(
    (CHECKOUT / "tests" / "vectors" / "valid" / "kafka_log").glob("*highest*.bin")
)

TABLES = (
    *("records", "batches", "segments", "transactions", "partitions", "problems", "replicas"),
    "gaps",
)

COMMANDS = (
    *(("dump", "--table", table, "--format", "ndjson") for table in TABLES),
    *((name, "--format", "ndjson") for name in ("verify", "stats", "groups", "transactions")),
    ("dump", "--latest"),
    ("dump", "--from-offset", MAX_OFFSET),
)

WRITERS = (
    ("rewrite",),
    ("rewrite", "--companions-only"),
    ("convert", "--codec", "gzip"),
    ("convert", "--magic", "2"),
    ("compact",),
    ("restore",),
)

PAIR = MAX_OFFSET - 1, MAX_OFFSET
"""The two highest offsets."""


def messages(magic: int) -> bytes:
    return b"".join(
        build.message(offset=offset, magic=magic, key=b"k", time=MAX_OFFSET) for offset in PAIR
    )


def wrapped(magic: int) -> bytes:
    offsets = PAIR if magic == 0 else (0, 1)
    inner = [build.message(offset=offset, magic=magic, key=b"k") for offset in offsets]
    return build.wrapper(inner, MAX_OFFSET, magic=magic)


LOGS = {
    "v0": messages(0),
    "v1": messages(1),
    "v0-wrapper": wrapped(0),
    "v1-wrapper": wrapped(1),
    "v2": build.batch_of(MAX_OFFSET - 1, b"a", b"b", key=b"k", time=MAX_OFFSET),
    "v2-open-transaction": build.transactional(PAIR[0], MAX_OFFSET, count=2, time=LOWEST),
    "v2-aborted": build.transactional(PAIR[0], MAX_OFFSET)
    + build.control(build.ABORT, MAX_OFFSET, MAX_OFFSET),
}


def log_at(tmp_path: Path, data: bytes, base: int = PAIR[0]) -> Path:
    """Return a log.dir with one partition, whose only segment holds *data* from offset *base* on."""
    Folder(tmp_path / "log").log_dir().segment("t-0", data, base)
    return tmp_path / "log"


def rows(path: Path, table: str, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = getattr(mb.open(path, **options), table)().to_pylist()
    return found


@pytest.mark.parametrize("name", LOGS)
def test_tables_have_null_for_the_offset_after_the_highest(tmp_path: Path, name: str) -> None:
    path = log_at(tmp_path, LOGS[name])
    for level in ("read_committed", "read_uncommitted"):
        for table in TABLES:
            rows(path, table, isolation_level=level)
    assert rows(path, "partitions")[0]["log_end_offset"] is None
    assert rows(path, "replicas")[0]["log_end_offset"] is None
    assert rows(path, "batches")[-1]["last_offset"] == MAX_OFFSET


@pytest.mark.parametrize("path", HIGHEST_VECTORS, ids=lambda path: path.stem)
def test_vectors_give_every_table(path: Path) -> None:
    for table in TABLES:
        rows(path, table)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command)))
def test_commands_read_the_highest_offset(tmp_path: Path, command: tuple[object, ...]) -> None:
    path = log_at(tmp_path, LOGS["v2"])
    result = run(command[0], path, *command[1:])
    # A broker deletes the log, which `verify` reports as an error.
    assert result.exit_code == (1 if command[0] == "verify" else 0), result.output


def test_sql_reads_the_highest_offset(tmp_path: Path) -> None:
    query = "select log_end_offset from partitions"
    assert run_ndjson("sql", query, log_at(tmp_path, LOGS["v1"])) == [{"log_end_offset": None}]


def test_a_gap_up_to_the_highest_offset_has_no_end(tmp_path: Path) -> None:
    data = build.batch() + build.batch([], MAX_OFFSET)
    (gap,) = rows(log_at(tmp_path, data, 0), "gaps")
    assert (gap["first_offset"], gap["end_offset"], gap["offset_count"]) == (1, None, MAX_OFFSET)


def test_a_lower_offset_after_the_highest_is_no_gap(tmp_path: Path) -> None:
    data = build.batch(base=MAX_OFFSET) + build.batch(base=5)
    assert rows(log_at(tmp_path, data, MAX_OFFSET), "gaps") == []


def test_a_log_that_begins_at_the_lowest_offset_gives_every_table(tmp_path: Path) -> None:
    path = tmp_path / "segment.log"
    path.write_bytes(build.batch(base=LOWEST, time=LOWEST) + build.batch(base=LOWEST + 1))
    for table in TABLES:
        rows(path, table)


@pytest.mark.parametrize("name", LOGS)
def test_verify_predicts_that_a_broker_deletes_the_log(tmp_path: Path, name: str) -> None:
    (row,) = mb.verify(log_at(tmp_path, LOGS[name])).partitions
    assert (row["verdict"], row["log_end_offset"]) == ("truncated", None)
    assert row["lost_ranges"] == [(PAIR[0], MAX_OFFSET + 1)]
    assert f"above the log end offset, {LOWEST}" in row["recovery"][0]


@pytest.mark.parametrize("command", WRITERS, ids=" ".join)
@pytest.mark.parametrize("name", LOGS)
def test_writers_refuse_a_log_that_no_offset_follows(
    tmp_path: Path, name: str, command: tuple[str, ...]
) -> None:
    result = run(command[0], log_at(tmp_path, LOGS[name]), *command[1:], "-o", tmp_path / "out")
    assert result.exit_code in (1, 2), result.output
    assert "no offset follows it" in result.stderr


@pytest.mark.parametrize("name", [name for name in LOGS if name != "v2-aborted"])
def test_salvage_leaves_out_what_no_offset_follows(tmp_path: Path, name: str) -> None:
    before = build.batch(base=7)
    path = log_at(tmp_path, before + LOGS[name], 7)
    result = run("salvage", path, "-o", tmp_path / "out")
    assert "out of order left out" in result.stdout, result.output
    found = [row["offset"] for row in rows(tmp_path / "out", "records")]
    assert found[0] == 7
    assert MAX_OFFSET not in found
    assert mb.verify(tmp_path / "out").partitions[0]["lost_ranges"] == []


def test_salvage_refuses_a_transaction_whose_marker_has_no_offset(tmp_path: Path) -> None:
    result = run("salvage", log_at(tmp_path, LOGS["v2-aborted"]), "-o", tmp_path / "out")
    assert result.exit_code == 1, result.output
    assert (
        f"no offset is left for the marker that ends the transaction of producer {MAX_OFFSET}"
        in (result.stderr)
    )


def test_restore_refuses_a_batch_whose_last_offset_wraps_around(tmp_path: Path) -> None:
    data = build.batch_of(PAIR[0], b"a", b"b", b"c")
    for later in (b"", build.batch(base=5)):
        path = log_at(tmp_path, data + later)
        result = run("restore", path, "-o", tmp_path / "out")
        assert result.exit_code in (1, 2), result.output
        assert "a broker would refuse such a log" in result.stderr
        shutil.rmtree(tmp_path / "out")


def test_a_partition_without_a_segment_is_not_written_and_others_are(tmp_path: Path) -> None:
    log_dir = Folder(tmp_path / "log").log_dir()
    log_dir.segment("a-0", b"", MAX_OFFSET + 1)
    log_dir.segment("t-0", build.batch())
    result = run("rewrite", tmp_path / "log", "-o", tmp_path / "out")
    assert "a-0 was not written: no segment" in result.stderr
    assert [row["topic"] for row in rows(tmp_path / "out", "partitions")] == ["t"]
