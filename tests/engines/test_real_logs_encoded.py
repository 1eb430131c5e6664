"""Tests that encoding the rows of real logs gives the bytes that brokers have stored."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from extent import WIDE
from magicbyte import codecs
from magicbyte.engines.encoding import BatchFields, Encoder
from magicbyte.engines.entry import Entry
from magicbyte.engines.factory import encoder, engine
from magicbyte.engines.protocol import Chunk
from magicbyte.limits import Limits
from magicbyte_formats.wire import RecordBatchHeader, TimestampType
from paths import DATA

COLUMNS = ("key", "value", "headers", "offset", "timestamp")
CLUSTERS = sorted(path for path in DATA.glob("*/*") if path.is_dir())


def entries_of(path: Path) -> Iterator[tuple[Entry, bytes, pa.RecordBatch]]:
    """Yield the sound entries of the log file *path*, with their bytes and rows."""
    chunk = Chunk(memoryview(path.read_bytes()), 0)
    while chunk.data:
        decoded = engine("columnar").decode(chunk, COLUMNS, limits=Limits())
        if not len(decoded.entries):
            return
        row = 0
        for number, entry in enumerate(decoded.entries):
            count = int(decoded.num_rows[number])
            yield entry, bytes(chunk.bytes_of(entry)), decoded.rows.slice(row, count)
            row += count
        chunk = chunk.after(decoded.end)


def fields_of(entry: Entry) -> BatchFields:
    """Return the header fields of a batch; the last offset as compaction may have kept it."""
    return BatchFields(
        base_offset=entry.first_offset,
        last_offset_delta=entry.last_offset - entry.first_offset,
        leader_epoch=entry.leader_epoch,
        codec=entry.codec,
        timestamp_type=entry.timestamp_type or 0,
        is_transactional=entry.is_transactional,
        is_control=entry.is_control,
        has_delete_horizon=entry.has_delete_horizon,
        base_timestamp=entry.base_timestamp,
        max_timestamp=entry.max_timestamp,
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        base_sequence=entry.base_sequence,
    )


def without_compression(batch: bytes) -> bytes:
    """Return the header of *batch* without size and checksum, and its records, decompressed."""
    header = RecordBatchHeader.unpack_from(batch)
    payload = batch[RecordBatchHeader.SIZE :]
    if header.codec and header.num_records:
        payload = codecs.decompress(header.codec, payload, magic=2, max_bytes=1 << 30)
    return RecordBatchHeader.FIXED.pack(*header._replace(len_batch=0, crc=0)) + payload


@pytest.mark.parametrize("name", ["columnar", "reference"])
@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_rows_of_real_entries_encode_to_the_bytes_that_a_broker_stored(
    cluster: Path, name: str
) -> None:
    encode: Encoder = encoder(name)
    for path in sorted(cluster.glob("log-*/*/*.log"))[:: 1 if WIDE else 3]:
        for entry, stored, rows in entries_of(path):
            where = f"{path.relative_to(DATA)} byte {entry.position}"
            if entry.magic < 2:
                if entry.codec == 0:
                    timestamp_type = entry.timestamp_type or 0
                    data = encode.messages(entry.magic, rows, timestamp_type=timestamp_type)
                    assert data == stored, where
                continue
            if entry.timestamp_type == TimestampType.LOG_APPEND_TIME:
                continue  # readers do not return the producer's timestamps, which are stored
            data = encode.batch(fields_of(entry), rows)
            assert without_compression(data) == without_compression(stored), where
            if entry.codec == 0:
                assert data == stored, where
