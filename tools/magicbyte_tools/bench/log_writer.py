"""Writes a partition as a broker does: segments with their offset indexes and producer snapshots."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import BinaryIO

from magicbyte.limits import MIB
from magicbyte_construct import ProducerSnapshot, RecordBatch
from magicbyte_tools.bench import encode
from magicbyte_tools.bench.record_data import SHAPES, rows
from magicbyte_tools.costs.codecs import COMPRESSORS
from magicbyte_tools.vectors import entry_parts

INDEX_INTERVAL_BYTES = 4096
"""Kafka's default of `index.interval.bytes`."""

INDEX_BYTES = 10 * MIB
"""Kafka's default of `segment.index.bytes`: a broker allocates the index of its newest segment with this size."""

ROWS_PER_BATCH = 128
"""Records of a batch, which are 16 KiB uncompressed."""

NUM_TEMPLATES = 200
"""Different batches, which are repeated with other offsets."""

PRODUCER = 1
TRANSACTIONAL = 1 << 4
INDEX_ENTRY = struct.Struct(">ii")
OFFSET = struct.Struct(">q")

LEN_BUFFER = 16 * MIB
"""Bytes that are written together, so that a reader sees all that is appended between two calls of `flush`."""

CODECS = {"none": (0, bytes), **COMPRESSORS}
"""Number of each codec in Kafka's attributes, and its compressor, by the codec's name."""


@dataclass(slots=True)
class LogWriter:
    """Appends batches to the newest segment of a partition, and begins new segments."""

    folder: Path
    base: int = 0
    """Base offset of the segment."""
    size_bytes: int = 0
    """Bytes of the segment."""
    _index_bytes: int = 0
    _bytes_since_entry: int = 0
    _log: BinaryIO = field(init=False, repr=False)
    _index: BinaryIO = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._open()

    def _open(self) -> None:
        self._log = self._path("log").open("wb", LEN_BUFFER)
        self._index = self._path("index").open("wb")
        self._index.truncate(INDEX_BYTES)
        self.size_bytes = self._index_bytes = self._bytes_since_entry = 0

    def append(self, entry: bytes, last_offset: int) -> None:
        """Append *entry*, and an entry to the index for each INDEX_INTERVAL_BYTES."""
        if self._bytes_since_entry > INDEX_INTERVAL_BYTES:
            self._index.write(INDEX_ENTRY.pack(last_offset - self.base, self.size_bytes))
            self._index_bytes += INDEX_ENTRY.size
            self._bytes_since_entry = 0
        self._log.write(entry)
        self.size_bytes += len(entry)
        self._bytes_since_entry += len(entry)

    def flush(self) -> None:
        """Write what has been appended, so that readers see it."""
        self._log.flush()
        self._index.flush()

    def roll(self, end: int, last_offset: int) -> None:
        """Begin the next segment at offset *end*; *last_offset* is the last one of the producer's data, or -1."""
        self.close(end, last_offset)
        self.base = end
        self._open()

    def close(self, end: int, last_offset: int) -> None:
        """End the log at offset *end*, as a clean shutdown does. Arguments as for `roll`."""
        self._index.truncate(self._index_bytes)
        self._index.close()
        self._log.close()
        producer = {
            "producer_id": PRODUCER,
            "epoch": 0,
            "last_sequence": 0,
            "last_offset": last_offset,
            "timestamp": 0,
            "coordinator_epoch": 0,
            "current_transaction_first_offset": -1,
        }
        entries = [] if last_offset < 0 else [producer]
        snapshot = ProducerSnapshot.build({"version": 1, "producers": entries})
        (self.folder / f"{end:020}.snapshot").write_bytes(snapshot)

    def _path(self, kind: str) -> Path:
        return self.folder / f"{self.base:020}.{kind}"


@dataclass(slots=True)
class BatchStream:
    """Batches of records of about 100 bytes, with consecutive offsets."""

    transactions: bool
    """True if each batch is a transaction, which the next entry commits."""
    codec: str = "lz4"
    rows_per_batch: int = ROWS_PER_BATCH
    offset: int = 0
    """Offset of the next entry."""
    last_data_offset: int = -1
    """Last offset of the newest batch."""
    _templates: Iterator[bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        batches = [self._batch(number) for number in range(NUM_TEMPLATES)]
        self._templates = cycle(batches)

    def append_to(self, writer: LogWriter) -> int:
        """Append the next batch, and its marker; return their bytes."""
        before = writer.size_bytes
        self.last_data_offset = self.offset + self.rows_per_batch - 1
        writer.append(_at(next(self._templates), self.offset), self.last_data_offset)
        self.offset = self.last_data_offset + 1
        if self.transactions:
            writer.append(_at(COMMIT, self.offset), self.offset)
            self.offset += 1
        return writer.size_bytes - before

    @property
    def producer_offset(self) -> int:
        """Last data offset that a producer snapshot has; -1 without transactions."""
        return self.last_data_offset if self.transactions else -1

    def _batch(self, number: int) -> bytes:
        """Return the batch with *number* of NUM_TEMPLATES."""
        data = list(islice(rows(SHAPES["100B"], number), self.rows_per_batch))
        payload = b"".join(encode.record(row, 0, data[0].timestamp) for row in data)
        codec, compress = CODECS[self.codec]
        built: bytes = RecordBatch.build(
            {
                "base_offset": 0,
                "partition_leader_epoch": 0,
                "attributes": codec | (TRANSACTIONAL if self.transactions else 0),
                "last_offset_delta": self.rows_per_batch - 1,
                "base_timestamp": data[0].timestamp,
                "max_timestamp": data[-1].timestamp,
                "producer_id": PRODUCER if self.transactions else -1,
                "producer_epoch": 0 if self.transactions else -1,
                "base_sequence": 0 if self.transactions else -1,
                "num_records": self.rows_per_batch,
                "records": compress(payload),
            }
        )
        return built


COMMIT = entry_parts.marker(entry_parts.COMMIT, 0, producer=PRODUCER).data


def write_log(
    folder: Path,
    num_segments: int,
    segment_bytes: int,
    *,
    transactions: bool,
    codec: str = "lz4",
) -> int:
    """Write a partition into *folder*; return the offset after its last record."""
    with growing_log(folder, transactions=transactions, codec=codec) as (writer, batches):
        for number in range(num_segments):
            if number:
                writer.roll(batches.offset, batches.producer_offset)
            while writer.size_bytes < segment_bytes:
                batches.append_to(writer)
    return batches.offset


@contextmanager
def growing_log(
    folder: Path,
    *,
    transactions: bool,
    codec: str = "lz4",
    rows_per_batch: int = ROWS_PER_BATCH,
) -> Iterator[tuple[LogWriter, BatchStream]]:
    """Provide the writer of a new partition in *folder*, and its batches; close the log at the end."""
    folder.mkdir(parents=True)
    writer, batches = LogWriter(folder), BatchStream(transactions, codec, rows_per_batch)
    try:
        yield writer, batches
    finally:
        writer.close(batches.offset, batches.producer_offset)


def _at(entry: bytes, offset: int) -> bytes:
    """Return the batch *entry* with the base offset *offset*, which its checksum does not cover."""
    return OFFSET.pack(offset) + entry[OFFSET.size :]
