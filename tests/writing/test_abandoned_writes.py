"""Tests of hidden folders that killed writes of records leave in their output."""

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import magicbyte as mb
from magicbyte.writing import _abandoned_writes
from magicbyte.writing._abandoned_writes import QUIET_SECONDS
from magicbyte.writing._output_log_dir import DRAFTS
from magicbyte.writing.record_sink import RecordSink, record_sink

ROWS = pa.table({"value": [b"v"]})


def hidden_folders(out: Path) -> list[str]:
    return sorted(path.name for path in out.iterdir() if path.name.startswith(DRAFTS))


def write_and_be_killed(out: Path) -> None:
    """Write into *out* in a process that is killed while it reads the rows."""

    def batches() -> Iterator[pa.RecordBatch]:
        yield ROWS.to_batches()[0]
        os._exit(9)

    child = os.fork()
    if not child:
        mb.write(batches(), out, topic="killed")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert len(hidden_folders(out)) == 1


def sink_of_spark(out: Path) -> RecordSink:
    """Begin the write of a Spark query, whose processes hold no lock."""
    sink = record_sink(
        out,
        topic="t",
        partitions=1,
        codec="none",
        level=None,
        batch_bytes=1000,
        segment_bytes=None,
        index_interval_bytes=4096,
        timestamp_type="CreateTime",
        starting_offset=0,
        leader_epoch=0,
    )
    sink.begin()
    return sink


def test_folder_of_a_process_that_was_killed_is_deleted_by_the_next_write(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "out"
    write_and_be_killed(out)
    (name,) = hidden_folders(out)
    with caplog.at_level(logging.WARNING, "magicbyte"):
        mb.write(ROWS, out, topic="t")
    assert hidden_folders(out) == []
    (message,) = caplog.messages
    assert message.startswith(f"{out}/{name} of a write that was killed is deleted: ")


def test_folder_of_a_write_that_is_running_is_left_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "out"

    def batches() -> Iterator[pa.RecordBatch]:
        yield ROWS.to_batches()[0]
        (name,) = hidden_folders(out)
        for path in out.rglob("*"):
            os.utime(path, (0, 0))  # its age does not matter
        mb.write(ROWS, out, topic="second")
        assert hidden_folders(out) == [name]
        assert caplog.messages[-1].startswith(f"{out}/{name} is of a write that is running")

    mb.write(batches(), out, topic="first")
    assert mb.open(out).records(["topic"]).to_pylist() == [{"topic": "first"}, {"topic": "second"}]
    assert hidden_folders(out) == []


def test_folder_of_a_spark_query_is_deleted_after_a_day_without_a_change(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "out"
    sink = sink_of_spark(out)
    run = sink.runs_folder / "000000-1-000000.run"
    run.write_bytes(b"a batch")
    long_ago = time.time() - QUIET_SECONDS - 60
    for path in (sink.staging, sink.runs_folder):
        os.utime(path, (long_ago, long_ago))
    mb.write(ROWS, out, topic="a")
    assert hidden_folders(out) == [sink.staging.name]  # the run has grown since
    os.utime(run, (long_ago, long_ago))
    mb.write(ROWS, out, topic="b")
    assert hidden_folders(out) == []
    assert "deleted: 7 bytes" in caplog.messages[-1]


def test_folder_whose_deletion_was_interrupted_is_deleted(tmp_path: Path) -> None:
    out = tmp_path / "out"
    waste = out / f"{DRAFTS}-0123456789abcdef.deleted" / "runs"
    waste.mkdir(parents=True)
    mb.write(ROWS, out, topic="t")
    assert hidden_folders(out) == []


def test_age_decides_where_files_cannot_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr(_abandoned_writes, "fcntl", None)
    write_and_be_killed(out)
    mb.write(ROWS, out, topic="t")
    assert len(hidden_folders(out)) == 1
    monkeypatch.setattr(_abandoned_writes, "QUIET_SECONDS", -1)
    mb.write(ROWS, out, topic="u")
    assert hidden_folders(out) == []
