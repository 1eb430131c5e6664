"""Tests that a conversion changes the codec, format or size of batches, and nothing else."""

from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from clusters import Cluster, each_cluster
from paths import DATA

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
COLUMNS = ["topic", "partition", "offset", "timestamp", "key", "value", "headers"]


def rows_of(path: Path | mb.Dataset, level: str = "read_uncommitted") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table_of(path, level).to_pylist()
    return rows


def table_of(path: Path | mb.Dataset, level: str = "read_uncommitted") -> pa.Table:
    """Return the records of *path* with `isolation_level` *level*; those without headers have an empty list."""
    dataset = path
    if isinstance(path, Path):
        dataset = mb.open(path, isolation_level=level, include_internal=True)
    assert isinstance(dataset, mb.Dataset)
    table = dataset.records(COLUMNS).to_table().combine_chunks()
    headers = pa.array([each or [] for each in table["headers"].to_pylist()], HEADERS)
    return table.set_column(COLUMNS.index("headers"), "headers", headers)


@cache
def records_of_cluster(name: str, level: str) -> pa.Table:
    """Return the records of a cluster in tests/data."""
    return table_of(Cluster(DATA / name).open(level))


def without(table: pa.Table, partitions: set[tuple[str, int]]) -> pa.Table:
    """Return *table* without the records of *partitions*."""
    names = zip(table["topic"].to_pylist(), table["partition"].to_pylist(), strict=True)
    return table.filter(pa.array([name not in partitions for name in names], pa.bool_()))


def batches_of(path: Path) -> list[dict[str, Any]]:
    names = ["magic", "codec", "record_count", "base_offset", "last_offset", "is_control"]
    rows: list[dict[str, Any]] = mb.open(path, include_internal=True).batches(names).to_pylist()
    return rows


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["2.8/lives", "4.3/transactions"])
def test_records_of_real_logs_do_not_change_with_the_codec(
    name: str, codec: str, tmp_path: Path
) -> None:
    cluster = Cluster(DATA / name)
    dataset = cluster.open()
    report = mb.convert(dataset, tmp_path / "out", codec=codec)
    failures = [row["error"] for row in report.failures]
    assert all("zstd in format" in error for error in failures), failures
    failed = {(row["topic"], row["partition"]) for row in report.failures}
    for level in ("read_committed", "read_uncommitted"):
        expected = without(records_of_cluster(name, level), failed)
        assert table_of(tmp_path / "out", level).equals(expected)


@each_cluster
def test_records_bounds_and_transactions_of_real_logs_do_not_change_in_other_batches(
    cluster: Cluster, tmp_path: Path
) -> None:
    dataset = cluster.open()
    bounds = ["topic", "partition", "log_start_offset", "log_end_offset", "last_stable_offset"]
    names = ["topic", "partition", "producer_id", "first_offset", "last_offset", "outcome"]
    for batch_bytes in (300,) if cluster.name.startswith("3.9") else (100_000,):
        out = tmp_path / str(batch_bytes)
        report = mb.convert(dataset, out, magic=2, codec="lz4", batch_bytes=batch_bytes)
        assert not report.failures
        assert table_of(out).equals(table_of(dataset))
        assert all(row["magic"] == 2 for row in batches_of(out))
        copies = mb.open(out, include_internal=True)
        assert copies.partitions(bounds).to_pylist() == dataset.partitions(bounds).to_pylist()
        expected = dataset.transactions(names).to_pylist()
        assert copies.transactions(names).to_pylist() == expected


def write_log(path: Path, *entries: bytes) -> mb.Dataset:
    build.Folder(path).segment("t-0", b"".join(entries))
    return mb.open(path)


def test_small_batches_are_joined_up_to_the_size(tmp_path: Path) -> None:
    dataset = write_log(tmp_path / "in", *(build.batch_of(n, b"v" * 30) for n in range(100)))
    mb.convert(dataset, tmp_path / "out", batch_bytes=1000)
    counts = [row["record_count"] for row in batches_of(tmp_path / "out")]
    assert sum(counts) == 100
    assert len(counts) < 10
    sizes = mb.open(tmp_path / "out").batches(["size_bytes"]).to_pylist()
    assert all(row["size_bytes"] <= 1000 for row in sizes)


def test_batches_of_a_producer_are_joined_only_where_their_sequences_follow(tmp_path: Path) -> None:
    def batch(offset: int, sequence: int) -> bytes:
        content = build.records(2)
        return build.batch(content, offset, producer=7, epoch=0, sequence=sequence)

    dataset = write_log(tmp_path / "in", batch(0, 0), batch(2, 2), batch(4, 9), batch(6, 11))
    mb.convert(dataset, tmp_path / "out", batch_bytes=10_000)
    assert [row["record_count"] for row in batches_of(tmp_path / "out")] == [4, 4]
    names = ["offset", "producer_id", "producer_epoch", "sequence"]
    expected = dataset.records(names).to_pylist()
    assert mb.open(tmp_path / "out").records(names).to_pylist() == expected


def test_batches_are_not_joined_across_leader_epochs_and_timestamp_types(tmp_path: Path) -> None:
    dataset = write_log(
        tmp_path / "in",
        build.batch_of(0, b"a", leader_epoch=1),
        build.batch_of(1, b"b", leader_epoch=2),
        build.batch_of(2, b"c", leader_epoch=2, flags=build.APPEND_TIME),
    )
    mb.convert(dataset, tmp_path / "out", batch_bytes=10_000)
    assert [row["record_count"] for row in batches_of(tmp_path / "out")] == [1, 1, 1]


def test_markers_are_copied_and_stay_between_the_data(tmp_path: Path) -> None:
    marker = build.control(build.COMMIT, 1, 7)
    dataset = write_log(
        tmp_path / "in", build.transactional(0, 7), marker, build.transactional(2, 7, sequence=1)
    )
    mb.convert(dataset, tmp_path / "out", codec="zstd", batch_bytes=10_000)
    assert [row["is_control"] for row in batches_of(tmp_path / "out")] == [False, True, False]
    data = (tmp_path / "out" / "t-0" / f"{0:020}.log").read_bytes()
    assert marker in data


def test_messages_become_batches_with_the_offsets_and_times_that_they_have(tmp_path: Path) -> None:
    inner = [build.message(b"w%d" % n, n) for n in range(3)]
    dataset = write_log(
        tmp_path / "in",
        build.message(b"a", 0, magic=0),
        build.message(b"b", 1, time=build.TIME + 5),
        build.message(b"c", 2),
        build.wrapper(inner, 5),
    )
    expected = rows_of(dataset)
    mb.convert(dataset, tmp_path / "out", magic=2)
    assert rows_of(tmp_path / "out") == expected
    batches = batches_of(tmp_path / "out")
    assert [row["magic"] for row in batches] == [2] * len(batches)
    assert batches[-1]["codec"] == "gzip"
    assert batches[-1]["record_count"] == 3


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
@pytest.mark.parametrize("magic", [0, 1])
def test_batches_without_properties_of_their_own_become_messages(
    magic: int, codec: str, tmp_path: Path
) -> None:
    dataset = write_log(
        tmp_path / "in", build.batch_of(0, b"a", b"b", time=-1), build.batch_of(5, b"c", time=-1)
    )
    expected = rows_of(dataset)
    report = mb.convert(dataset, tmp_path / "out", magic=magic, codec=codec)
    assert not report.failures, report.failures
    found = rows_of(mb.open(tmp_path / "out", on_damage="skip"))
    assert found == expected
    assert {row["magic"] for row in batches_of(tmp_path / "out")} == {magic}


def test_losses_of_an_older_format_are_listed_and_refused(tmp_path: Path) -> None:
    content = [build.record(b"v", b"k", [(b"h", b"x")])]
    dataset = write_log(
        tmp_path / "in",
        build.batch(content),
        build.transactional(1, 7),
        build.control(build.ABORT, 2, 7),
    )
    report = mb.convert(dataset, tmp_path / "out", magic=1)
    (row,) = report.failures
    for loss in ("headers (1)", "aborted-left-out (1)", "offsets-at-log-end (2)"):
        assert loss in row["error"]
    assert not (tmp_path / "out" / "t-0").exists()


def test_aborted_records_do_not_become_visible_in_an_older_format(tmp_path: Path) -> None:
    dataset = write_log(
        tmp_path / "in",
        build.batch_of(0, b"a"),
        build.transactional(1, 7),
        build.control(build.ABORT, 2, 7),
        build.batch_of(3, b"b"),
    )
    report = mb.convert(dataset, tmp_path / "out", magic=1, lossy=True)
    assert not report.failures, report.failures
    rows = rows_of(mb.open(tmp_path / "out", on_damage="skip"))
    assert [row["offset"] for row in rows] == [0, 3]


def test_records_after_an_open_transaction_become_visible_in_an_older_format(
    tmp_path: Path,
) -> None:
    dataset = write_log(
        tmp_path / "in",
        build.transactional(0, 8),
        build.control(build.COMMIT, 1, 8),
        build.transactional(2, 7),
        build.batch_of(3, b"b"),
    )
    report = mb.convert(dataset, tmp_path / "out", magic=1, lossy=True)
    assert not report.failures, report.failures
    rows = rows_of(mb.open(tmp_path / "out", on_damage="skip"))
    assert [row["offset"] for row in rows] == [0, 3]


@pytest.mark.parametrize(("first", "names"), [(b"a", [0]), (None, [3])])
def test_older_format_has_no_segment_without_entries_at_the_end(
    first: bytes | None, names: list[int], tmp_path: Path
) -> None:
    # A consumer below it would wait there for ever; without any entry, it keeps the log end offset.
    begin = build.batch_of(0, first) if first else b""
    base = 1 if first else 0
    aborted = build.transactional(base, 7) + build.control(build.ABORT, base + 1, 7)
    write_log(tmp_path / "in", begin, aborted)
    build.Folder(tmp_path / "in").segment("t-0", b"", base=3)
    report = mb.convert(mb.open(tmp_path / "in"), tmp_path / "out", magic=1, lossy=True)
    assert not report.failures, report.failures
    segments = sorted((tmp_path / "out" / "t-0").glob("*.log"))
    assert [int(path.stem) for path in segments] == names


def test_zstd_in_an_older_format_is_refused(tmp_path: Path) -> None:
    dataset = write_log(tmp_path / "in", build.message(b"a"))
    (row,) = mb.convert(dataset, tmp_path / "out", codec="zstd").failures
    assert "zstd in format v1" in row["error"]


def test_batches_that_are_as_wanted_are_copied_byte_for_byte(tmp_path: Path) -> None:
    data = build.batch_of(0, b"a" * 100, codec=build.ZSTD)
    report = mb.convert(write_log(tmp_path / "in", data), tmp_path / "out", codec="zstd")
    assert (tmp_path / "out" / "t-0" / f"{0:020}.log").read_bytes() == data
    assert report.summary["changed_entries"] == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing to convert"),
        ({"codec": "brotli"}, "codec 'brotli'"),
        ({"codec": "zstd", "level": 99}, "level 99"),
        ({"level": 3}, "without a codec"),
        ({"magic": 3}, "magic 3"),
        ({"batch_bytes": 0}, "batch_bytes 0"),
    ],
)
def test_options_that_are_not_allowed_are_refused(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    dataset = write_log(tmp_path / "in", build.batch_of(0, b"a"))
    with pytest.raises(mb.InputError, match=message):
        mb.convert(dataset, tmp_path / "out", **options)
