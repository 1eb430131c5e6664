"""Tests of partitions that are written as a round of compaction leaves them."""

from pathlib import Path

import pytest

import log_builder as build
import magicbyte as mb
from clusters import Cluster, each_cluster
from log_builder import Folder
from magicbyte.writing.compact import compact
from magicbyte.writing.compaction import CleanerSettings, dry_run
from paths import DATA

LATE = CleanerSettings(now_ms=4_000_000_000_000, first_dirty_offset=0, includes_active_segment=True)


@each_cluster
def test_last_records_of_keys_and_bounds_of_real_logs_stay(
    cluster: Cluster, tmp_path: Path
) -> None:
    dataset = cluster.open(isolation_level="read_committed")
    report = compact(dataset, tmp_path / "out", LATE)
    failed = {row["topic"] for row in report.failures}
    assert failed <= {"__cluster_metadata"}
    copies = mb.open(str(tmp_path / "out"), include_internal=True)
    columns = ["topic", "partition", "offset", "key", "value"]
    expected = [row for row in dataset.latest(columns).to_pylist() if row["topic"] not in failed]
    assert copies.latest(columns).to_pylist() == expected
    bounds = ["topic", "partition", "log_start_offset", "log_end_offset", "last_stable_offset"]
    rows = [row for row in dataset.partitions(bounds).to_pylist() if row["topic"] not in failed]
    assert copies.partitions(bounds).to_pylist() == rows


def test_second_round_at_the_same_time_removes_nothing(tmp_path: Path) -> None:
    dataset = mb.open(str(DATA / "4.3" / "transactions" / "log-0"))
    first = compact(dataset, tmp_path / "1", LATE)
    assert first.summary["changed_records"]["aborted"] > 100
    second = compact(mb.open(str(tmp_path / "1")), tmp_path / "2", LATE)
    assert second.summary["changed_records"] == {}
    assert not second.failures


def test_output_is_clean_up_to_its_checkpoint(tmp_path: Path) -> None:
    dataset = mb.open(str(DATA / "4.3" / "plain" / "log-0"))
    compact(dataset, tmp_path / "out", LATE)
    settings = CleanerSettings(now_ms=LATE.now_ms)
    estimates = list(dry_run(mb.open(str(tmp_path / "out")), settings))
    assert estimates
    for estimate in estimates:
        assert (estimate.is_compacted, estimate.leftover_count) == (True, 0)
        assert estimate.first_dirty_offset == estimate.end_offset
        assert estimate.dirty_bytes == 0


def test_partition_that_the_cleaner_cannot_clean_fails_and_others_are_written(
    folder: Folder, tmp_path: Path
) -> None:
    folder.segment("t-0", build.message(b"v", 0, b"k") + build.message(b"v", 1, None))
    folder.segment("t-1", build.message(b"v", 0, b"k") + build.message(b"w", 1, b"k"))
    report = compact(mb.open(str(folder)), tmp_path / "out", LATE)
    assert [row["outcome"] for row in report.partitions] == ["failed", "written"]
    assert "offset 1 in format v1" in report.failures[0]["error"]
    rows = mb.open(str(tmp_path / "out")).records(["partition", "offset"]).to_pylist()
    assert rows == [{"partition": 1, "offset": 1}]


def test_metadata_of_kraft_is_refused(tmp_path: Path) -> None:
    path = DATA / "4.3" / "compacted" / "log-0" / "__cluster_metadata-0"
    report = compact(mb.open(str(path)), tmp_path / "out", LATE)
    assert "snapshots instead of compaction" in report.failures[0]["error"]


@pytest.mark.parametrize("release", ["3.9", "4.x"])
def test_release_decides_about_the_format_of_messages(
    release: str, folder: Folder, tmp_path: Path
) -> None:
    inner = [build.message(b"v", delta, b"k%d" % (delta % 2)) for delta in range(3)]
    folder.segment("t-0", build.message(b"v", 0, b"k") + build.wrapper(inner, 3))
    settings = CleanerSettings(
        now_ms=LATE.now_ms, first_dirty_offset=0, includes_active_segment=True, release=release
    )
    report = compact(mb.open(str(folder)), tmp_path / "out", settings)
    assert not report.failures
    batches = mb.open(str(tmp_path / "out")).batches(["magic", "codec"]).to_pylist()
    magic = 1 if release == "3.9" else 2
    assert batches == [{"magic": magic, "codec": codec} for codec in ("none", "gzip")]
