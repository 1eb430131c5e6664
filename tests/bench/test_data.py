"""Tests of the benchmark's segments: their records, and framing like the Java producer's."""

from itertools import islice
from pathlib import Path

import lz4.frame
import pytest
import zstandard
from construct import GreedyRange

import magicbyte as mb
from magicbyte_construct import RecordBatch
from magicbyte_formats.wire import RecordBatchHeader
from magicbyte_tools.bench.data import KINDS, Kind, Segment, chosen, segments
from magicbyte_tools.bench.record_data import SHAPES, RecordData, rows

RAW_BYTES = 20_000
SEED = 7

SAMPLE = [kind for kind in KINDS if kind.batch == "16k" or kind == Kind(2, "100B", "1m", "zstd")]
"""Kinds of segments that are tested: the reference engine takes too long for all 1 MiB batches."""


@pytest.fixture(scope="module")
def segment_by_kind(tmp_path_factory: pytest.TempPathFactory) -> dict[Kind, Segment]:
    folder = tmp_path_factory.mktemp("made")
    return {s.kind: s for s in segments(SAMPLE, folder, raw_bytes=RAW_BYTES, seed=SEED)}


def expected(kind: Kind, row: RecordData) -> dict[str, object]:
    headers = [{"key": name.decode(), "value": value} for name, value in row.headers]
    return {
        "offset": row.offset,
        "timestamp": row.timestamp if kind.magic else None,
        "key": row.key,
        "value": row.value,
        "headers": headers if kind.magic == 2 else None,
    }


@pytest.mark.parametrize("kind", SAMPLE, ids=lambda kind: kind.name)
def test_a_file_reads_as_the_rows_that_were_drawn(
    segment_by_kind: dict[Kind, Segment], kind: Kind
) -> None:
    segment = segment_by_kind[kind]
    columns = ["offset", "timestamp", "key", "value", "headers"]
    table = mb.open(segment.path).records(columns=columns).to_table()
    read = table.set_column(1, "timestamp", table["timestamp"].cast("int64")).to_pylist()
    drawn = islice(rows(SHAPES[kind.shape], SEED), segment.num_rows)
    assert read == [expected(kind, row) for row in drawn]
    assert segment.raw_bytes >= RAW_BYTES
    assert segment.num_batches == (1 if kind.batch == "1m" else 2)


def test_the_twin_reads_them_too(segment_by_kind: dict[Kind, Segment]) -> None:
    segment = segment_by_kind[Kind(2, "100B-3h", "16k", "none")]
    read = []
    for batch in GreedyRange(RecordBatch).parse(segment.path.read_bytes()):
        for record in batch["records"]:
            headers = tuple((header["key"], header["value"]) for header in record["headers"])
            offset = batch["base_offset"] + record["offset_delta"]
            timestamp = batch["base_timestamp"] + record["timestamp_delta"]
            read.append(RecordData(offset, timestamp, record["key"], record["value"], headers))
    assert read == [*islice(rows(SHAPES["100B-3h"], SEED), segment.num_rows)]


def test_a_seed_gives_the_same_bytes_again(
    segment_by_kind: dict[Kind, Segment], tmp_path: Path
) -> None:
    again = segments(SAMPLE, tmp_path, raw_bytes=RAW_BYTES, seed=SEED)
    for segment in again:
        assert segment.path.read_bytes() == segment_by_kind[segment.kind].path.read_bytes()


def test_another_seed_gives_others(segment_by_kind: dict[Kind, Segment], tmp_path: Path) -> None:
    kind = Kind(2, "100B", "16k", "none")
    (other,) = segments([kind], tmp_path, raw_bytes=RAW_BYTES, seed=SEED + 1)
    assert other.path.read_bytes() != segment_by_kind[kind].path.read_bytes()


def test_a_file_is_made_once(tmp_path: Path) -> None:
    kind = Kind(2, "100B", "16k", "none")
    (first,) = segments([kind], tmp_path, raw_bytes=1000)
    first.path.write_bytes(b"kept")
    (second,) = segments([kind], tmp_path, raw_bytes=1000)
    assert second.path.read_bytes() == b"kept"


def test_a_file_whose_making_was_interrupted_is_made_anew(tmp_path: Path) -> None:
    kind = Kind(2, "100B", "16k", "none")
    (first,) = segments([kind], tmp_path, raw_bytes=1000)
    whole = first.path.read_bytes()
    first.path.write_bytes(whole[:100])
    first.path.with_suffix(".json").unlink()
    (second,) = segments([kind], tmp_path, raw_bytes=1000)
    assert second.path.read_bytes() == whole


def section(segment: Segment) -> bytes:
    """Return the compressed payload of the first batch."""
    data = segment.path.read_bytes()
    return data[RecordBatchHeader.SIZE : 12 + int.from_bytes(data[8:12])]


def test_lz4_has_blocks_of_64_kib_and_no_content_size(segment_by_kind: dict[Kind, Segment]) -> None:
    info = lz4.frame.get_frame_info(section(segment_by_kind[Kind(2, "100B", "16k", "lz4")]))
    assert (info["block_size"], info["block_linked"]) == (64 << 10, False)
    assert (info["content_size"], info["content_checksum"]) == (0, False)


def test_zstd_has_the_window_of_a_stream_and_no_content_size(
    segment_by_kind: dict[Kind, Segment],
) -> None:
    stored = section(segment_by_kind[Kind(2, "100B", "16k", "zstd")])
    assert zstandard.frame_content_size(stored) == -1
    assert zstandard.get_frame_parameters(stored).window_size == 2 << 20


def test_snappy_is_xerials(segment_by_kind: dict[Kind, Segment]) -> None:
    stored = section(segment_by_kind[Kind(2, "100B", "16k", "snappy")])
    assert stored.startswith(b"\x82SNAPPY\0" + b"\0\0\0\1" * 2)


def test_patterns_choose_kinds() -> None:
    names = [kind.name for kind in chosen(["v2-100B-16k-*", "v0-*-gzip"])]
    codecs = ("none", "lz4", "snappy", "zstd", "gzip")
    assert names == [
        *(f"v2-100B-16k-{codec}" for codec in codecs),
        "v0-100B-16k-gzip",
        "v0-1000B-16k-gzip",
    ]
