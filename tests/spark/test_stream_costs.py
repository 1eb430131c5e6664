"""Tests that a trigger of a stream costs about what it reads, in a store and on a disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from indexed_log import batches, indexed_files, write_segment
from io_faults import counted_reads
from magicbyte.reading import segment_range
from magicbyte.spark._stream_reader import StreamReader
from magicbyte.spark.data_source import MagicbyteDataSource
from magicbyte.storage import _small_files as small_files
from magicbyte_tools.vectors.companion_cases import offset_index
from s3_server import S3Server

NUM_PARTITIONS = 200
"""Partitions with five files each, and one file besides: two pages of a listing."""

PRODUCER = 7


def stream(path: str, **options: Any) -> StreamReader:
    named = {name.replace("__", "."): str(value) for name, value in options.items()}
    source = MagicbyteDataSource({"path": path, "columns": "offset", **named})
    reader = source.streamReader(source.schema())
    assert isinstance(reader, StreamReader)
    return reader


def read(reader: StreamReader, start: Any, end: Any) -> list[int]:
    return [
        row["offset"]
        for task in reader.partitions(start, end)
        for batch in reader.read(task)
        for row in batch.to_pylist()
    ]


def trigger(reader: StreamReader, start: Any) -> tuple[list[int], Any]:
    """Run a trigger from *start*; return the offsets that it reads, and where it ends."""
    end = reader.latestOffset()
    return read(reader, start, end), end


@pytest.fixture
def cluster(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(small_files, "SETTLED_SECONDS", -10)
    small_files.small_files.clear()
    files = {
        f"{0:020}.log": build.batch(),
        f"{0:020}.index": b"",
        f"{0:020}.timeindex": b"",
        "partition.metadata": b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n",
        "leader-epoch-checkpoint": b"0\n1\n0 0\n",
    }
    objects = {"many/log-0/meta.properties": b"version=1\nnode.id=1\n"}
    for number in range(NUM_PARTITIONS):
        objects |= {f"many/log-0/topic-{number}/{name}": data for name, data in files.items()}
    s3.put_all(objects)
    yield "s3://logs/many/log-0"


def test_trigger_in_which_one_partition_of_many_grows_takes_few_requests(
    s3: S3Server, cluster: str
) -> None:
    options = {f"storage__{name}": value for name, value in s3.options.items()}
    reader = stream(cluster, startingOffsets="earliest", **options)
    offsets, end = trigger(reader, reader.initialOffset())
    assert len(offsets) == NUM_PARTITIONS
    s3.put(f"many/log-0/topic-5/{0:020}.log", build.batch() + build.batch(base=1))
    with s3.counted() as asked:
        offsets, end = trigger(reader, end)
    assert offsets == [1]
    assert asked == {"LIST": 4, "HEAD": 2, "GET": 2}, "the plan and the task: the segment"
    with s3.counted() as asked:
        assert trigger(reader, end)[0] == []
    assert asked == {"LIST": 4}


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_trigger_reads_the_bytes_that_were_appended(
    tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_range, "MIN_SAVED_BYTES", 100_000)
    folder = tmp_path / "t-0"
    data = batches(0, 2000)
    data[100] = build.batch_of(400, *[b"x" * 500] * 4, producer=PRODUCER)
    data[110] = build.control(build.COMMIT, 440, PRODUCER) + build.batch_of(441, *[b"y"] * 3)
    write_segment(folder, data)
    reader = stream(str(folder), isolationLevel=level, startingOffsets="earliest")
    first, end = trigger(reader, reader.initialOffset())
    assert len(first) == 1999
    for count in (2040, 2080, 2120):
        more = batches(count - 40, count)
        data = [*data, *more]
        write_segment(folder, data)
        with counted_reads() as counts:
            offsets, end = trigger(reader, end)
        assert offsets == list(range(count - 40, count))
        assert counts["log"] < 1.5 * len(b"".join(more)), "of a megabyte"
        assert counts["index"] < 5_000


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_trigger_of_transactions_reads_few_bytes_more_than_were_appended(
    tmp_path: Path, level: str
) -> None:
    folder = tmp_path / "t-0"
    data = transactions(0, 9000)
    write_growing(folder, data)
    reader = stream(str(folder), isolationLevel=level, startingOffsets="earliest")
    first, end = trigger(reader, reader.initialOffset())
    assert first == delivered(0, 9000, level)
    for count in (9500, 10000):
        more = transactions(count - 500, count)
        data = [*data, *more]
        write_growing(folder, data)
        with counted_reads() as counts:
            offsets, end = trigger(reader, end)
        assert offsets == delivered(count - 500, count, level)
        assert sum(counts.values()) < 1.2 * len(b"".join(more)), counts


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize("number", [0, 1, 40, 41, 198, 199])
@pytest.mark.parametrize("position", [22, 43, 70])
def test_damage_in_appended_bytes_gives_the_rows_of_the_whole_log(
    tmp_path: Path, number: int, position: int, level: str
) -> None:
    folder = tmp_path / "t-0"
    data = transactions(0, 1000)
    write_growing(folder, data)
    reader = stream(str(folder), isolationLevel=level, startingOffsets="earliest", onDamage="skip")
    _, end = trigger(reader, reader.initialOffset())
    more = transactions(1000, 1500)
    damaged = bytearray(more[number])
    damaged[position] ^= 1  # attributes, producer id, or records
    more[number] = bytes(damaged)
    data = [*data, *more]
    write_growing(folder, data)
    found, end = trigger(reader, end)
    write_growing(folder, [*data, *transactions(1500, 2000)])
    more_found, end = trigger(reader, end)
    assert end == {"t": {"0": 2000}}
    options = {"isolation_level": level, "on_damage": "skip"}
    whole = mb.open(folder, **options).records(["offset"]).to_pylist()
    assert found + more_found == [row["offset"] for row in whole if row["offset"] >= 1000]


def transactions(first: int, end: int) -> list[bytes]:
    """Return transactions of two producers in turn: each a batch of four large records and a marker."""
    entries = []
    for base in range(first, end, 5):
        producer = PRODUCER + base // 5 % 2
        outcome = build.ABORT if base % 7 == 0 else build.COMMIT
        values = [b"%d " % offset * 800 for offset in range(base, base + 4)]
        entries.append(build.batch_of(base, *values, producer=producer))
        entries.append(build.control(outcome, base + 4, producer))
    return entries


def delivered(first: int, end: int, level: str) -> list[int]:
    """Return the offsets of records in `transactions` that a consumer gets."""
    return [
        offset
        for offset in range(first, end)
        if offset % 5 != 4 and (level == "read_uncommitted" or offset // 5 * 5 % 7)
    ]


def write_growing(folder: Path, data: list[bytes]) -> None:
    """Write the segment of *data* and its index, which a broker allocates with 10 MiB while it appends."""
    folder.mkdir(exist_ok=True)
    offsets = [
        offset for base in range(0, len(data) // 2 * 5, 5) for offset in (base + 3, base + 4)
    ]
    entries, position, since_last = [], 0, 0
    for entry, last in zip(data, offsets, strict=True):
        if since_last > 4096:
            entries.append((last, position))
            since_last = 0
        position += len(entry)
        since_last += len(entry)
    (folder / f"{0:020}.log").write_bytes(b"".join(data))
    index = offset_index(*entries)
    (folder / f"{0:020}.index").write_bytes(index + bytes((10 << 20) - len(index)))


def test_open_transaction_holds_back_triggers_until_its_marker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_range, "MIN_SAVED_BYTES", 100_000)
    folder = tmp_path / "t-0"
    data = batches(0, 2000)
    write_segment(folder, data)
    reader = stream(str(folder), isolationLevel="read_committed", startingOffsets="earliest")
    _, end = trigger(reader, reader.initialOffset())
    data += [build.batch_of(2000, *[b"x" * 500] * 4, producer=PRODUCER), *batches(2004, 2040)]
    write_segment(folder, data)
    offsets, end = trigger(reader, end)
    assert offsets == []
    data += batches(2040, 2080)
    write_segment(folder, data)
    offsets, end = trigger(reader, end)
    assert offsets == []
    marker = build.control(build.ABORT, 2080, PRODUCER) + build.batch_of(2081, *[b"y"] * 3)
    data += [marker, *batches(2084, 2100)]
    write_segment(folder, data)
    with counted_reads() as counts:
        offsets, end = trigger(reader, end)
    assert offsets == [*range(2004, 2080), *range(2081, 2100)]
    assert counts["log"] < 4 * 100_000
    whole = mb.open(folder).records(["offset"]).to_pylist()
    assert offsets == [row["offset"] for row in whole if row["offset"] >= 2000]


def test_log_that_was_truncated_and_written_again_is_surveyed_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_range, "MIN_SAVED_BYTES", 100_000)
    folder = tmp_path / "t-0"
    write_segment(folder, batches(0, 2000))
    reader = stream(
        str(folder),
        isolationLevel="read_committed",
        startingOffsets="earliest",
        failOnDataLoss=False,
    )
    trigger(reader, reader.initialOffset())
    data = batches(0, 1000)
    data[100] = build.batch_of(400, *[b"x" * 500] * 4, producer=PRODUCER)
    write_segment(folder, data)
    assert reader.latestOffset() == {"t": {"0": 400}}


def test_index_of_a_segment_in_a_store_is_used_by_a_trigger(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_files, "SETTLED_SECONDS", -10)
    data = batches(0, 8000)

    def put() -> None:
        log, index = indexed_files(data, per_batch=4)
        s3.put(f"grows/t-0/{0:020}.log", log)
        s3.put(f"grows/t-0/{0:020}.index", index)

    put()
    options = {f"storage__{name}": value for name, value in s3.options.items()}
    reader = stream("s3://logs/grows/t-0", startingOffsets="earliest", **options)
    _, end = trigger(reader, reader.initialOffset())
    data += batches(8000, 8040)
    put()
    before = mb.store_requests()["s3://logs"].requested_bytes
    with s3.counted() as asked:
        offsets, end = trigger(reader, end)
    assert offsets == list(range(8000, 8040))
    assert asked.total() <= 20
    assert mb.store_requests()["s3://logs"].requested_bytes - before < 300_000, "of six megabytes"
