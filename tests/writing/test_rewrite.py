"""Tests of copies of partitions: their bytes, and an output that is whole or absent."""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from clusters import Cluster, each_cluster
from magicbyte.logdir.file_names import OUTPUT_MANIFEST
from magicbyte.reading.entry_runs import PartitionReader
from magicbyte.writing._output_log_dir import DRAFTS, OutputLogDir
from magicbyte.writing._output_parts import OutputPart
from magicbyte.writing.copies import CopyChange, rewrite
from magicbyte.writing.rewrite import ChangeCounts


def write_topic(path: Path, num_partitions: int = 2, num_batches: int = 20) -> mb.Dataset:
    """Write partitions of two segments each, and return a dataset of them."""
    folder = build.Folder(path)
    for partition in range(num_partitions):
        batches = [build.batch_of(2 * number, b"a" * 50, b"b") for number in range(num_batches)]
        half = num_batches // 2
        folder.segment(f"t-{partition}", b"".join(batches[:half]))
        folder.segment(f"t-{partition}", b"".join(batches[half:]), 2 * half)
    return mb.open(path)


def logs_of(folder: Path) -> dict[str, bytes]:
    """Return the segments below *folder*, by their paths in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.log")
    }


@each_cluster
def test_copies_of_real_partitions_have_their_bytes(cluster: Cluster, tmp_path: Path) -> None:
    dataset = cluster.open()
    report = rewrite(dataset, tmp_path / "out")
    assert not report.failures
    for log in dataset.logs:
        for file in log.logs:
            if not file.is_remote and file.end_offset is None:
                copy = tmp_path / "out" / log.name / file.name
                assert copy.read_bytes()[:] == Path(file.path).read_bytes()[: copy.stat().st_size]
    copies = mb.open(tmp_path / "out", include_internal=True, isolation_level="read_uncommitted")
    expected = dataset.records(["topic", "partition", "offset", "value"]).to_table()
    assert copies.records(["topic", "partition", "offset", "value"]).to_table().equals(expected)
    errors = [each for each in mb.verify(tmp_path / "out").findings if each.severity == "error"]
    assert not errors


def test_dry_run_writes_nothing_and_counts_the_bytes(tmp_path: Path) -> None:
    dataset = write_topic(tmp_path / "in")
    before = sorted(tmp_path.rglob("*"))
    report = rewrite(dataset, None)
    assert sorted(tmp_path.rglob("*")) == before
    assert report.summary["output_bytes"] == report.summary["source_bytes"] > 0


class FailingChange(CopyChange):
    """Fails after some parts of the second partition."""

    def parts(
        self, partition_reader: PartitionReader, change_counts: ChangeCounts
    ) -> Iterator[OutputPart]:
        parts = super().parts(partition_reader, change_counts)
        yield next(parts)
        if partition_reader.log.partition == 1:
            raise OSError(28, "No space left on device")
        yield from parts


def run_failing(dataset: mb.Dataset, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("magicbyte.writing.copies.CopyChange", FailingChange)
        with pytest.raises(OSError, match="No space left"):
            rewrite(dataset, out)


def test_partition_is_absent_where_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_topic(tmp_path / "in")
    run_failing(dataset, tmp_path / "out", monkeypatch)
    assert (tmp_path / "out" / "t-0").is_dir()
    assert not (tmp_path / "out" / "t-1").exists()
    assert not (tmp_path / "out" / DRAFTS).exists()


def test_next_run_writes_only_the_partitions_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_topic(tmp_path / "in")
    run_failing(dataset, tmp_path / "out", monkeypatch)
    finished = (tmp_path / "out" / "t-0").stat().st_ino
    report = rewrite(dataset, tmp_path / "out")
    outcomes = [row["outcome"] for row in report.partitions]
    assert outcomes == ["written by an earlier run", "written"]
    assert (tmp_path / "out" / "t-0").stat().st_ino == finished
    assert logs_of(tmp_path / "out") == logs_of(tmp_path / "in")


def test_output_with_checkpoint_files_is_taken_for_no_brokers_log_dir(tmp_path: Path) -> None:
    log_dir = build.Folder(tmp_path / "in").log_dir()
    log_dir.segment("t-0", build.batch_of(0, b"a", b"b"))
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 1})
    dataset = mb.open(tmp_path / "in")
    rewrite(dataset, tmp_path / "out")
    assert (tmp_path / "out" / "log-start-offset-checkpoint").exists()
    report = rewrite(dataset, tmp_path / "out")
    assert [row["outcome"] for row in report.partitions] == ["written by an earlier run"]
    (tmp_path / "out" / "meta.properties").touch()  # a broker has used it
    with pytest.raises(mb.InputError, match=r"inside of the log\.dir"):
        rewrite(dataset, tmp_path / "out")


def test_draft_of_a_run_that_was_killed_is_written_again(tmp_path: Path) -> None:
    dataset = write_topic(tmp_path / "in")
    rewrite(dataset, tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "t-1")
    half = tmp_path / "out" / DRAFTS / "t-1"
    half.mkdir(parents=True)
    (half / f"{0:020}.log").write_bytes(b"half")
    rewrite(dataset, tmp_path / "out")
    assert logs_of(tmp_path / "out") == logs_of(tmp_path / "in")


def test_partition_whose_source_has_grown_is_written_again(tmp_path: Path) -> None:
    dataset = write_topic(tmp_path / "in")
    rewrite(dataset, tmp_path / "out")
    with open(tmp_path / "in" / "t-1" / f"{20:020}.log", "ab") as file:
        file.write(build.batch_of(40, b"new"))
    report = rewrite(mb.open(tmp_path / "in"), tmp_path / "out")
    outcomes = [row["outcome"] for row in report.partitions]
    assert outcomes == ["written by an earlier run", "written"]
    assert logs_of(tmp_path / "out") == logs_of(tmp_path / "in")


def test_source_that_is_replaced_while_it_is_read_is_not_in_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_topic(tmp_path / "in", num_partitions=1)
    closed = tmp_path / "in" / "t-0" / f"{0:020}.log"

    class ReplacedSource(CopyChange):
        def parts(
            self, partition_reader: PartitionReader, change_counts: ChangeCounts
        ) -> Iterator[OutputPart]:
            yield from super().parts(partition_reader, change_counts)
            os.utime(closed, ns=(1, 1))

    monkeypatch.setattr("magicbyte.writing.copies.CopyChange", ReplacedSource)
    with pytest.raises(mb.ChangedError, match="replaced or changed"):
        rewrite(dataset, tmp_path / "out")
    assert not (tmp_path / "out" / "t-0").exists()


def test_damaged_partition_fails_and_the_others_are_written(tmp_path: Path) -> None:
    write_topic(tmp_path / "in")
    path = tmp_path / "in" / "t-0" / f"{0:020}.log"
    data = bytearray(path.read_bytes())
    data[80] ^= 1
    path.write_bytes(data)
    report = rewrite(mb.open(tmp_path / "in"), tmp_path / "out")
    assert [row["outcome"] for row in report.partitions] == ["failed", "written"]
    assert [finding.code for finding in report.findings] == ["checksum-mismatch"]
    assert not (tmp_path / "out" / "t-0").exists()


@pytest.mark.parametrize("name", ["in/t-0", "in", "in/t-0/out"])
def test_output_in_the_source_is_refused(tmp_path: Path, name: str) -> None:
    dataset = write_topic(tmp_path / "in")
    with pytest.raises(mb.InputError, match="outside"):
        rewrite(dataset, tmp_path / name)


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    dataset = write_topic(tmp_path / "in")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(mb.InputError, match=r"holds notes\.txt"):
        rewrite(dataset, tmp_path / "out")


def test_output_of_other_options_is_refused(tmp_path: Path) -> None:
    dataset = write_topic(tmp_path / "in")
    rewrite(dataset, tmp_path / "out")
    with pytest.raises(mb.InputError, match="written by `magicbyte rewrite"):
        rewrite(dataset, tmp_path / "out", index_interval_bytes=100)


def test_manifest_that_is_no_json_is_refused(tmp_path: Path) -> None:
    dataset = write_topic(tmp_path / "in")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / OUTPUT_MANIFEST).write_text("{")
    with pytest.raises(mb.InputError, match="no manifest"):
        rewrite(dataset, tmp_path / "out")


def test_dataset_of_some_offsets_is_refused(tmp_path: Path) -> None:
    write_topic(tmp_path / "in")
    with pytest.raises(mb.InputError, match="all offsets"):
        rewrite(mb.open(tmp_path / "in", offsets=(3, None)), tmp_path / "out")


def test_segment_above_the_limit_is_divided(tmp_path: Path) -> None:
    dataset = write_topic(tmp_path / "in", num_partitions=1)
    size = len(build.batch_of(0, b"a" * 50, b"b"))
    rewrite(dataset, tmp_path / "out", segment_bytes=3 * size)
    names = sorted(path.name for path in (tmp_path / "out" / "t-0").glob("*.log"))
    assert names == [f"{offset:020}.log" for offset in (0, 6, 12, 18, 20, 26, 32, 38)]
    rows = mb.open(tmp_path / "out").records(["offset", "value"]).to_table()
    assert rows.equals(dataset.records(["offset", "value"]).to_table())


def test_log_start_inside_a_segment_is_in_the_checkpoint(tmp_path: Path) -> None:
    write_topic(tmp_path / "in", num_partitions=1)
    log_dir = build.Folder(tmp_path / "in").log_dir()
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 5})
    rewrite(mb.open(tmp_path / "in"), tmp_path / "out")
    rows = mb.open(tmp_path / "out").records(["offset"]).to_pylist()
    assert [row["offset"] for row in rows] == list(range(5, 40))


def test_empty_active_segment_keeps_the_log_end_offset(tmp_path: Path) -> None:
    folder = build.Folder(tmp_path / "in")
    folder.segment("t-0", build.batch_of(0, b"v"))
    folder.segment("t-0", b"", 1)
    rewrite(mb.open(tmp_path / "in"), tmp_path / "out")
    assert (tmp_path / "out" / "t-0" / f"{1:020}.log").read_bytes() == b""


def test_manifest_lists_what_was_written(tmp_path: Path) -> None:
    report = rewrite(write_topic(tmp_path / "in"), tmp_path / "out")
    manifest: dict[str, Any] = json.loads((tmp_path / "out" / OUTPUT_MANIFEST).read_text())
    rows = [row["report"] for row in manifest["partitions"].values()]
    assert rows == report.partitions
    assert manifest["command"] == "rewrite"


def test_manifest_of_many_partitions_is_not_written_after_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lists all partitions, so that would take a time that grows with their square."""
    dataset = write_topic(tmp_path / "in", num_partitions=40)
    num_saves = 0
    manifest = OutputLogDir._manifest

    def slow_manifest(output_dir: OutputLogDir) -> bytes:
        nonlocal num_saves
        num_saves += 1
        time.sleep(0.1)
        return manifest(output_dir)

    monkeypatch.setattr(OutputLogDir, "_manifest", slow_manifest)
    report = rewrite(dataset, tmp_path / "out")
    assert num_saves < 10
    saved = json.loads((tmp_path / "out" / OUTPUT_MANIFEST).read_text())
    assert [row["report"] for row in saved["partitions"].values()] == report.partitions


def test_partitions_that_the_manifest_lacks_after_a_kill_are_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_topic(tmp_path / "in")
    rewrite(dataset, tmp_path / "out")
    path = tmp_path / "out" / OUTPUT_MANIFEST
    saved = json.loads(path.read_text())
    path.write_text(json.dumps(saved | {"partitions": {}}))
    report = rewrite(dataset, tmp_path / "out")
    assert {row["outcome"] for row in report.partitions} == {"written"}
    assert json.loads(path.read_text()) == saved


@pytest.mark.parametrize("write", [mb.rewrite, mb.restore])
def test_gaps_of_the_source_are_copied(
    write: Callable[..., mb.RewriteReport], tmp_path: Path
) -> None:
    """Erased messages of the formats v0 and v1 leave gaps, and the rest of the log is to be restored."""
    messages = [build.message(b"v", offset, key=b"k%d" % (offset % 3)) for offset in range(9)]
    build.Folder(tmp_path / "in").segment("t-0", b"".join(messages))
    erasure = mb.erasure_of(keys=[b"k1"])
    assert not mb.erase(mb.open(tmp_path / "in"), tmp_path / "erased", erasure).failures
    assert not write(mb.open(tmp_path / "erased"), tmp_path / "out").failures
    rows = mb.open(tmp_path / "out").records(["offset"]).to_pylist()
    assert [row["offset"] for row in rows] == [0, 2, 3, 5, 6, 8]
