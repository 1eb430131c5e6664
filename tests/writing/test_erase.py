"""Tests that erased records are gone from all bytes, and that all other records stay."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from clusters import Cluster, each_cluster
from magicbyte import codecs
from magicbyte.writing.erase import erase, erasure_of
from magicbyte.writing.erasure_search import search_erased
from magicbyte.writing.key_set import KeySet
from paths import DATA

COLUMNS = ["topic", "partition", "offset", "timestamp", "key", "value", "headers"]
SECRET = b"secret-user-17"


def write_log(path: Path, *entries: bytes) -> mb.Dataset:
    build.Folder(path).segment("t-0", b"".join(entries))
    return mb.open(path, isolation_level="read_uncommitted")


def rows_of(path: Path, columns: list[str] | None = None) -> list[dict[str, Any]]:
    dataset = mb.open(path, isolation_level="read_uncommitted", on_damage="skip")
    rows: list[dict[str, Any]] = dataset.records(columns or COLUMNS).to_pylist()
    return rows


def payloads(path: Path) -> bytes:
    """Return all bytes below *path*, and the decompressed payload of each batch."""
    contents = [file.read_bytes() for file in path.rglob("*") if file.is_file()]
    for log in mb.open(path, on_damage="skip").logs:
        for file in log.logs:
            data = Path(file.path).read_bytes()
            batches = mb.open(file.path, on_damage="skip").batches(
                ["position", "size_bytes", "codec", "magic"]
            )
            for row in batches.to_pylist():
                numbers = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
                if row["codec"] in numbers and row["magic"] == 2 and row["size_bytes"] > 61:
                    section = data[row["position"] + 61 : row["position"] + row["size_bytes"]]
                    number = numbers[row["codec"]]
                    contents.append(codecs.decompress(number, section, magic=2, max_bytes=1 << 30))
    return b"\n".join(contents)


def check_other_records(cluster: Cluster, action: str, out: Path) -> None:
    """Erase a seventh of the keys of real logs, and check that all other records stay."""
    dataset = cluster.open()
    source = dataset.records(COLUMNS).to_table()
    keys = {key for key in source["key"].to_pylist()[::7] if key}
    report = erase(dataset, out, erasure_of(keys=keys, action=action))
    assert not report.failures, report.failures
    copies = mb.open(out, isolation_level="read_uncommitted", include_internal=True)
    found = copies.records(COLUMNS).to_pylist()
    expected = source.to_pylist()
    if action == "drop":
        assert found == [row for row in expected if row["key"] not in keys]
    else:
        for row, copy in zip(expected, found, strict=True):
            assert row == copy or row["key"] in keys
    bounds = ["topic", "partition", "log_end_offset", "last_stable_offset"]
    assert copies.partitions(bounds).to_pylist() == dataset.partitions(bounds).to_pylist()
    if action != "null":
        assert search_erased(copies, erasure_of(keys=keys)).is_absent


@each_cluster
def test_other_records_of_real_logs_stay_where_some_are_dropped(
    cluster: Cluster, tmp_path: Path
) -> None:
    check_other_records(cluster, "drop", tmp_path / "out")


@pytest.mark.parametrize("action", ["null", "overwrite"])
@pytest.mark.parametrize("name", ["2.8/lives", "4.3/transactions"])
def test_other_records_of_real_logs_stay_where_some_are_replaced(
    name: str, action: str, tmp_path: Path
) -> None:
    check_other_records(Cluster(DATA / name), action, tmp_path / "out")


@pytest.mark.parametrize("codec", [0, build.GZIP, build.SNAPPY, build.LZ4, build.ZSTD])
@pytest.mark.parametrize("action", ["drop", "overwrite"])
def test_neither_files_nor_payloads_hold_what_was_erased(
    action: str, codec: int, tmp_path: Path
) -> None:
    content = [
        build.record(b"value-" + SECRET, SECRET, [(b"h", SECRET)]),
        build.record(b"other", b"k", delta=1),
    ]
    dataset = write_log(tmp_path / "in", build.batch(content, codec=codec))
    assert SECRET in payloads(tmp_path / "in")
    erase(dataset, tmp_path / "out", erasure_of(keys=[SECRET], action=action))
    assert SECRET not in payloads(tmp_path / "out")
    assert b"other" in payloads(tmp_path / "out")


def test_overwritten_records_keep_positions_and_sizes(tmp_path: Path) -> None:
    content = [build.record(SECRET, b"a"), build.record(b"v", b"b", delta=1, time_delta=7)]
    data = build.batch(content)
    dataset = write_log(tmp_path / "in", data, build.batch_of(2, b"c"))
    erase(dataset, tmp_path / "out", erasure_of(value_pattern="secret", action="overwrite"))
    written = (tmp_path / "out" / "t-0" / f"{0:020}.log").read_bytes()
    assert len(written) == len(data) + len(build.batch_of(2, b"c"))
    differing = [
        n
        for n in range(len(written))
        if n >= 21 and written[n] != (data + build.batch_of(2, b"c"))[n]
    ]
    start = data.index(SECRET)
    key = data.index(b"a", 61)
    assert set(differing) <= {key, *range(start, start + len(SECRET))}


def test_batch_without_records_keeps_offsets_sequences_and_the_transaction(tmp_path: Path) -> None:
    content = [build.record(b"v", SECRET)]
    batch = build.batch(content, 0, flags=build.TRANSACTIONAL, producer=7, epoch=3, sequence=5)
    dataset = write_log(tmp_path / "in", batch, build.control(build.COMMIT, 1, 7, epoch=3))
    erase(dataset, tmp_path / "out", erasure_of(keys=[SECRET]))
    names = [
        "base_offset",
        "last_offset",
        "record_count",
        "producer_id",
        "producer_epoch",
        "base_sequence",
    ]
    first = mb.open(tmp_path / "out").batches(names).to_pylist()[0]
    assert list(first.values()) == [0, 0, 0, 7, 3, 5]
    (row,) = mb.open(tmp_path / "out").partitions(["log_end_offset"]).to_pylist()
    assert row["log_end_offset"] == 2


def test_null_leaves_a_tombstone_without_headers(tmp_path: Path) -> None:
    content = [build.record(b"v", b"k", [(b"h", b"x")])]
    dataset = write_log(tmp_path / "in", build.batch(content))
    erase(dataset, tmp_path / "out", erasure_of(keys=[b"k"], action="null"))
    (row,) = rows_of(tmp_path / "out", ["key", "value", "headers"])
    assert row == {"key": b"k", "value": None, "headers": []}


def test_records_are_found_by_the_value_of_a_header(tmp_path: Path) -> None:
    content = [
        build.record(b"a", headers=[(b"user", b"17"), (b"x", b"17")]),
        build.record(b"b", headers=[(b"user", b"18")], delta=1),
        build.record(b"c", headers=[(b"x", b"17")], delta=2),
        build.record(b"d", delta=3),
    ]
    dataset = write_log(tmp_path / "in", build.batch(content))
    erase(dataset, tmp_path / "out", erasure_of(header_patterns={"user": "^17$"}))
    assert [row["value"] for row in rows_of(tmp_path / "out")] == [b"b", b"c", b"d"]


def test_messages_are_removed_and_the_log_end_offset_stays(tmp_path: Path) -> None:
    inner = [build.message(b"w%d" % n, n, key=SECRET if n == 1 else b"k") for n in range(3)]
    dataset = write_log(
        tmp_path / "in",
        build.message(b"a", 0, key=SECRET),
        build.message(b"b", 1),
        build.wrapper(inner, 4),
        build.message(b"c", 5, key=SECRET),
    )
    report = erase(dataset, tmp_path / "out", erasure_of(keys=[SECRET]))
    assert not report.failures, report.failures
    assert [(row["offset"], row["value"]) for row in rows_of(tmp_path / "out")] == [
        (1, b"b"),
        (2, b"w0"),
        (4, b"w2"),
    ]
    (row,) = mb.open(tmp_path / "out").partitions(["log_end_offset"]).to_pylist()
    assert row["log_end_offset"] == 6


def test_report_lists_offsets_and_digests_and_no_data(tmp_path: Path) -> None:
    batches = [build.batch_of(n, b"v", key=SECRET if n in (2, 3, 7) else b"k") for n in range(9)]
    dataset = write_log(tmp_path / "in", *batches)
    report = erase(dataset, tmp_path / "out", erasure_of(keys=[SECRET]))
    (row,) = report.partitions
    assert row["erased"] == {
        "records": 3,
        "offset_ranges": [[2, 4], [7, 8]],
        "further_ranges": 0,
    }
    assert row["changed_records"] == {"erased": 3}
    digests = row["comparison"]["source_sha256"], row["comparison"]["output_sha256"]
    assert digests[0] != digests[1]
    assert SECRET.decode() not in str(report)


def test_search_finds_records_that_a_consumer_does_not_get(tmp_path: Path) -> None:
    content = [build.record(b"v", SECRET)]
    dataset = write_log(
        tmp_path / "in",
        build.batch(content, flags=build.TRANSACTIONAL, producer=7, codec=build.ZSTD),
        build.control(build.ABORT, 1, 7),
    )
    assert rows_of(tmp_path / "in") == rows_of(tmp_path / "in")
    (row,) = search_erased(dataset, erasure_of(keys=[SECRET])).matches
    assert (row["topic"], row["partition"], row["offset_ranges"]) == ("t", 0, [[0, 1]])


def test_output_is_the_same_again_after_other_conditions_are_refused(tmp_path: Path) -> None:
    dataset = write_log(tmp_path / "in", build.batch_of(0, b"v", key=b"k"))
    erase(dataset, tmp_path / "out", erasure_of(keys=[b"k"]))
    with pytest.raises(mb.InputError, match="was written by"):
        erase(dataset, tmp_path / "out", erasure_of(keys=[b"other"]))


@pytest.mark.parametrize("options", [{}, {"key_pattern": "("}, {"action": "shred", "keys": [b"k"]}])
def test_erasures_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(mb.InputError):
        erasure_of(**options)


def test_key_set_has_its_keys_and_no_others() -> None:
    keys = [b"", b"a", b"b" * 300, *(b"key-%d" % n for n in range(5000))]
    key_set = KeySet.of(keys)
    others = [b"c", b"key-5000", b"b" * 299, b"\0", None]
    column = pa.array([*keys, *others], pa.binary())
    assert key_set.contain(column).tolist() == [True] * len(keys) + [False] * len(others)


def test_keys_of_equal_hashes_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("magicbyte.writing.key_set.MULTIPLIER", 1)  # the sum of the bytes
    key_set = KeySet.of([b"ab", b"cd"])
    column = pa.array([b"ba", b"ab", b"dc", b"cd"], pa.binary())
    assert key_set.contain(column).tolist() == [False, True, False, True]


def test_keys_are_the_lines_of_a_file() -> None:
    key_set = KeySet.of_lines(b"one\r\ntwo\n\nthree")
    column = pa.array([b"one", b"two", b"", b"three", b"four"], pa.binary())
    assert key_set.contain(column).tolist() == [True, True, True, True, False]
    assert len(KeySet.of_lines(b"")) == 0
