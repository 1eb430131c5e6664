"""Encode Arrow data as runs: files with the batches of one partition, which a later step joins into segments.

A writer holds the records that do not fill a batch yet, of each partition, up to a limit in all.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from magicbyte.engines.encoding import BatchFields
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.factory import encoder
from magicbyte.errors import InputError
from magicbyte.logdir.file_names import MAX_PARTITION, parse_folder
from magicbyte.tables.arrays import distinct, number_array, to_numpy
from magicbyte.writing._output_parts import EntryBytes
from magicbyte.writing._partitioner import Partitioner
from magicbyte.writing._record_columns import (
    RecordsToWrite,
    check_record_schema,
    records_to_write,
)
from magicbyte.writing._record_groups import RecordGroup, TargetFormat

MAX_WAITING_BYTES = 128 << 20
"""Bytes of records of all partitions that wait for a full batch. Beyond, batches are written that are not full."""

PIECE_BYTES = 32 << 20
"""Bytes of an Arrow batch that are distributed over the partitions at a time, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSettings:
    """The topic of records, and the properties of the batches that hold them."""

    topic: str | None
    """Topic of all records; None: the column `topic` names it."""
    num_partitions: int
    """Partitions of each topic, over which records without a number are distributed."""
    codec: int
    level: int | None
    batch_bytes: int
    timestamp_type: int
    leader_epoch: int

    @property
    def target_format(self) -> TargetFormat:
        """The format of the batches."""
        return TargetFormat(
            magic=2, codec=self.codec, level=self.level, batch_bytes=self.batch_bytes
        )

    @property
    def batch_fields(self) -> BatchFields:
        """The header fields that all batches have in common."""
        return BatchFields(
            leader_epoch=self.leader_epoch, codec=self.codec, timestamp_type=self.timestamp_type
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRun:
    """A file of batches of one partition."""

    topic: str
    partition: int
    file_name: str
    first_offset: int
    last_offset: int
    """Offsets count from 0 where the records have none of their own."""
    has_own_offsets: bool
    num_records: int

    @property
    def partition_name(self) -> str:
        """The name of the folder of the partition."""
        return f"{self.topic}-{self.partition}"


class RunWriter:
    """Writes the records of one task as runs, one for each partition, into a folder."""

    def __init__(
        self,
        folder: Path,
        record_settings: RecordSettings,
        schema: pa.Schema,
        *,
        file_prefix: str = "",
        first_partition: int = 0,
        check_partitions: Callable[[list[str]], None],
    ) -> None:
        """*file_prefix* makes file names unique; *first_partition* gets the first records without a key.

        *check_partitions* is called with the name of each partition before its first record is taken. Raises InputError if *schema* has no columns of records.
        """
        self._folder, self._settings, self._file_prefix = folder, record_settings, file_prefix
        self._names = check_record_schema(
            schema,
            has_topic=record_settings.topic is not None,
            is_append_time=record_settings.timestamp_type == 1,
        )
        self._partitioner = Partitioner(
            record_settings.num_partitions,
            batch_bytes=record_settings.batch_bytes,
            first_partition=first_partition,
        )
        self._check_partitions = check_partitions
        self._open_runs: dict[tuple[str, int], _OpenRun] = {}

    def write(self, arrow_batch: pa.RecordBatch, now: int) -> None:
        """Write the records of *arrow_batch*; those without a timestamp get *now*, in milliseconds.

        Raises InputError for a value that a record cannot have, and for offsets that do not rise in a partition.
        """
        if frozenset(arrow_batch.schema.names) != self._names:
            raise InputError(
                f"an Arrow batch with the columns {', '.join(arrow_batch.schema.names)}",
                f"the columns of the first one: {', '.join(sorted(self._names))}",
            )
        step = max(PIECE_BYTES * arrow_batch.num_rows // max(arrow_batch.nbytes, 1), 1)
        for first in range(0, arrow_batch.num_rows, step):
            piece = arrow_batch.slice(first, step)
            self._distribute(records_to_write(piece, topic=self._settings.topic, now=now))
            self._limit_waiting_bytes()

    def finish(self) -> list[RecordRun]:
        """Write the records that are left, and return the runs."""
        return [open_run.finish() for open_run in self._open_runs.values()]

    def _distribute(self, records_of_piece: RecordsToWrite) -> None:
        """Add each record to the run of its partition, in the order of the rows."""
        records = records_of_piece.records
        if records_of_piece.partition_array is not None:
            numbers: Numbers = to_numpy(records_of_piece.partition_array)
        else:
            numbers = self._partitioner.partitions(records.column("key"), records.column("value"))
        if records_of_piece.topic_array is None:
            topics, codes = [self._settings.topic or ""], np.zeros(len(numbers), np.int64)
        else:
            encoded = records_of_piece.topic_array.dictionary_encode()
            topics, codes = encoded.dictionary.to_pylist(), to_numpy(encoded.indices)
        targets, index = distinct(codes.astype(np.int64) * (MAX_PARTITION + 1) + numbers)
        order = np.argsort(index, kind="stable")
        bounds = np.searchsorted(index[order], np.arange(len(targets) + 1)).tolist()
        for number, target in enumerate(targets):
            code, partition = divmod(target, MAX_PARTITION + 1)
            rows = order[bounds[number] : bounds[number + 1]]
            # A copy, because a slice would hold the memory of the records of all partitions.
            part = records if len(targets) == 1 else records.take(pa.array(rows))
            self._open_run(topics[code], partition).add(part)

    def _open_run(self, topic: str, partition: int) -> "_OpenRun":
        open_run = self._open_runs.get((topic, partition))
        if open_run is None:
            check_topic(topic)
            self._check_partitions([f"{topic}-{partition}"])
            path = self._folder / f"{self._file_prefix}{len(self._open_runs):06}.run"
            open_run = _OpenRun(topic, partition, path, self._settings)
            self._open_runs[topic, partition] = open_run
        return open_run

    def _limit_waiting_bytes(self) -> None:
        total = sum(each.group.num_waiting_bytes for each in self._open_runs.values())
        if total > MAX_WAITING_BYTES:
            for each in sorted(
                self._open_runs.values(), key=lambda each: -each.group.num_waiting_bytes
            ):
                total -= each.group.num_waiting_bytes
                each.flush()
                if total <= MAX_WAITING_BYTES // 2:
                    break


class _OpenRun:
    """A run that is being written. Its file is open only while batches are appended: partitions may be many."""

    def __init__(
        self, topic: str, partition: int, path: Path, record_settings: RecordSettings
    ) -> None:
        self._topic, self._partition, self._path = topic, partition, path
        self._settings = record_settings
        self.group = self._new_group()
        self._num_records = 0
        self._first_offset: int | None = None
        self._last_offset = -1
        self._has_own_offsets = False

    def _new_group(self) -> RecordGroup:
        return RecordGroup(encoder(), self._settings.target_format, self._settings.batch_fields)

    def add(self, records: pa.RecordBatch) -> None:
        """Add *records*; without offsets, they count from 0."""
        self._has_own_offsets = "offset" in records.schema.names
        if self._has_own_offsets:
            offsets: Numbers = to_numpy(records.column("offset"))
            self._check_order(offsets)
        else:
            offsets = self._last_offset + 1 + np.arange(records.num_rows)
            records = records.append_column("offset", number_array(pa.int64(), offsets))
        if self._first_offset is None:
            self._first_offset = int(offsets[0])
        self._last_offset = int(offsets[-1])
        self._num_records += records.num_rows
        self._append(self.group.add(records))

    def _check_order(self, offsets: Numbers) -> None:
        before = np.concatenate(([self._last_offset], offsets[:-1]))
        falls = np.flatnonzero(offsets <= before)
        if len(falls):
            row = int(falls[0])
            raise InputError(
                f"offset {offsets[row]} of {self._topic}-{self._partition} after offset {before[row]}",
                "rows whose offsets rise in each partition: sort them by offset",
            )

    def flush(self) -> None:
        """Write all records, the last ones in a batch that is not full."""
        self._append(self.group.finish())
        self.group = self._new_group()

    def finish(self) -> RecordRun:
        """Write all records, and return the run."""
        self.flush()
        assert self._first_offset is not None
        return RecordRun(
            topic=self._topic,
            partition=self._partition,
            file_name=self._path.name,
            first_offset=self._first_offset,
            last_offset=self._last_offset,
            has_own_offsets=self._has_own_offsets,
            num_records=self._num_records,
        )

    def _append(self, encoded_batches: Iterable[EntryBytes]) -> None:
        iterator: Iterator[EntryBytes] = iter(encoded_batches)
        first = next(iterator, None)
        if first is None:
            return
        with self._path.open("ab") as file:
            file.write(first.data)
            del first
            for batch in iterator:
                file.write(batch.data)
                del batch


def check_topic(topic: str) -> None:
    """Raise InputError unless Kafka allows the name *topic* (Topic.validate)."""
    parsed = parse_folder(f"{topic}-0")
    if topic in (".", "..") or parsed is None or parsed.topic != topic:
        raise InputError(
            f"topic {topic!r}",
            "up to 249 characters of A-Z, a-z, 0-9, '.', '_' and '-', not '.' or '..'",
        )
