"""`magicbyte.convert`: write partitions with another codec, in another format, or with larger or smaller batches."""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte import codecs
from magicbyte.engines.encoding import BatchFields, Encoder
from magicbyte.engines.entry import SEQUENCES, Entry
from magicbyte.engines.factory import encoder, engine
from magicbyte.engines.protocol import Engine
from magicbyte.engines.recompression import recompress_batch
from magicbyte.errors import InputError
from magicbyte.limits import Limits
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.entry_runs import PartitionReader, SourceRun
from magicbyte.tables.schemas import OUTCOMES
from magicbyte.writing._comparison import RECORD_COLUMNS, ComparedRecords, check_equal, facts_of
from magicbyte.writing._conversion_losses import conversion_losses
from magicbyte.writing._entry_stages import segment_runs
from magicbyte.writing._output_log_dir import RewriteJob
from magicbyte.writing._output_parts import EntryBytes, NewSegment, OutputPart
from magicbyte.writing._record_groups import RecordGroup, TargetFormat, codec_number
from magicbyte.writing._run_records import decoded_runs, rows_of
from magicbyte.writing.copies import CopyChange, job_options, run_job, writer_settings
from magicbyte.writing.rewrite import (
    ChangeCounts,
    Progress,
    RefusedError,
    RewriteReport,
    WrittenPartition,
)
from magicbyte_formats.wire import Codec

DEFAULT_BATCH_BYTES = 16384
"""Kafka's default `batch.size`, for messages that become batches."""

WHOLE_ENTRY = (1 << 31) - 1
"""Size of a batch that takes all records of one entry."""

COMMITTED = OUTCOMES.index("committed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """The wanted properties of batches; None keeps a property."""

    codec_number: int | None = None
    level: int | None = None
    magic: int | None = None
    batch_bytes: int | None = None
    is_lossy: bool = False
    """True if properties that the target format lacks may be lost."""

    def codec_of(self, entry_codec: int) -> int:
        """Return the codec of the output for an entry that has *entry_codec*."""
        return entry_codec if self.codec_number is None else self.codec_number

    def magic_of(self, entry_magic: int) -> int:
        """Return the format of the output for an entry of the format *entry_magic*."""
        return entry_magic if self.magic is None else self.magic


class _Treatment(IntEnum):
    """Treatment of an entry by the converter."""

    COPY = 0
    RECOMPRESS = 1
    ENCODE = 2
    LEAVE_OUT = 3


class PartitionConverter:
    """Converts the entries of one partition."""

    def __init__(self, conversion: Conversion, limits: Limits, change_counts: ChangeCounts) -> None:
        self._conversion, self._change_counts = conversion, change_counts
        self._limits = limits
        self._engine: Engine = engine("auto")
        self._encoder: Encoder = encoder()
        self._group: RecordGroup | None = None
        self._group_key: tuple[Any, ...] = ()

    def parts(self, source_parts: Iterator[NewSegment | SourceRun]) -> Iterator[OutputPart]:
        """Yield the parts of the output."""
        for part in source_parts:
            if isinstance(part, NewSegment):
                yield from self._end_group()
                yield part
            else:
                yield from self._run(part)
            del part
        yield from self._end_group()

    def _run(self, source_run: SourceRun) -> Iterator[OutputPart]:
        """Convert *source_run*, whose entries with the same treatment are converted together."""
        treatments = self._treatments(source_run)
        bounds = [0, *(np.flatnonzero(np.diff(treatments)) + 1).tolist(), len(treatments)]
        for first, end in pairwise(bounds):
            part = source_run if end - first == len(treatments) else source_run.part(first, end)
            match int(treatments[first]):
                case _Treatment.COPY:
                    yield from self._end_group()
                    yield EntryBytes(part.data, part.entries)
                case _Treatment.LEAVE_OUT:
                    self._change_counts.entries["left-out"] += len(part.entries)
                case _Treatment.RECOMPRESS:
                    yield from self._end_group()
                    yield self._recompressed(part)
                case _:
                    yield from self._encoded(part)

    def _treatments(self, source_run: SourceRun) -> "np.ndarray[tuple[int], np.dtype[np.int8]]":
        """Return the treatment of each entry of *source_run*."""
        conversion, column = self._conversion, source_run.entries.column
        magic, codec = column("magic"), column("codec")
        new_magic = magic if conversion.magic is None else np.full_like(magic, conversion.magic)
        new_codec = (
            codec
            if conversion.codec_number is None
            else np.full_like(codec, conversion.codec_number)
        )
        is_batch = magic == 2
        treatments = np.full(len(magic), _Treatment.ENCODE, np.int8)
        is_same_format = magic == new_magic
        if conversion.batch_bytes is None:
            treatments[is_same_format & is_batch] = _Treatment.RECOMPRESS
            treatments[is_same_format & (codec == new_codec)] = _Treatment.COPY
        # A batch that the log cleaner has rewritten keeps bounds that its records do not show any more.
        num_offsets = column("last_offset") - column("first_offset") + 1
        is_special = (column("is_control") != 0) | (column("has_delete_horizon") != 0)
        is_special = is_batch & (is_special | (column("record_count") != num_offsets))
        is_empty = is_batch & (column("record_count") == 0)
        treatments[is_same_format & is_special & (codec != new_codec)] = _Treatment.RECOMPRESS
        treatments[is_same_format & is_special & (codec == new_codec)] = _Treatment.COPY
        treatments[is_same_format & is_empty] = _Treatment.COPY
        is_control = is_batch & (column("is_control") != 0)
        treatments[is_same_format & is_control] = _Treatment.COPY
        if conversion.magic is not None and conversion.magic < 2:
            is_left_out = is_control | is_empty
            if source_run.outcomes is not None:
                in_transaction = is_batch & (column("is_transactional") != 0)
                is_left_out |= in_transaction & (source_run.outcomes != COMMITTED)
            treatments[is_left_out & is_batch] = _Treatment.LEAVE_OUT
        return treatments

    def _recompressed(self, source_run: SourceRun) -> EntryBytes:
        """Return the batches of *source_run* with the same record bytes, compressed by another codec."""
        codec, level = self._conversion.codec_number, self._conversion.level
        assert codec is not None
        batches, begin = [], 0
        for size in source_run.entries.column("size_bytes").tolist():
            batch = source_run.data[begin : begin + size]
            batches.append(recompress_batch(batch, codec, level=level, limits=self._limits))
            begin += size
        self._change_counts.entries["recompressed"] += len(batches)
        return EntryBytes(memoryview(b"".join(batches)))

    def _encoded(self, source_run: SourceRun) -> Iterator[OutputPart]:
        """Encode the records of *source_run*."""
        self._change_counts.entries["encoded"] += len(source_run.entries)
        for decoded in decoded_runs(source_run, self._engine, self._limits):
            rows, first = rows_of(decoded), 0
            assert decoded.decoded is not None
            counts = decoded.decoded.num_rows.tolist()
            for entry, count in zip(decoded.entries, counts, strict=True):
                entry_rows = rows.slice(first, count)
                first += count
                if count:
                    yield from self._add(entry, entry_rows)

    def _add(self, entry: Entry, rows: Any) -> Iterator[OutputPart]:
        """Add the records of *entry* to the group that they continue, or to a new one."""
        conversion = self._conversion
        magic, codec = conversion.magic_of(entry.magic), conversion.codec_of(entry.codec)
        if magic < 2 and codec == Codec.ZSTD:
            raise RefusedError(
                f"zstd in format v{magic}, which does not have it (KIP-110)",
                "another codec, or magic 2",
            )
        fields = self._fields(entry, rows, codec)
        # A wrapper message becomes a batch, as in the log cleaner of Kafka 4; single messages are put together.
        is_alone = conversion.batch_bytes is None and (entry.magic == 2 or entry.is_wrapper)
        offset = rows.column("offset")[0].as_py()
        key = (magic, codec, is_alone)
        if (
            self._group is None
            or is_alone
            or key != self._group_key
            or not self._group.takes(fields, offset)
        ):
            yield from self._end_group()
            target_format = TargetFormat(
                magic=magic,
                codec=codec,
                level=conversion.level,
                batch_bytes=WHOLE_ENTRY
                if is_alone
                else conversion.batch_bytes or DEFAULT_BATCH_BYTES,
            )
            self._group, self._group_key = RecordGroup(self._encoder, target_format, fields), key
        yield from self._group.add(rows)

    def _fields(self, entry: Entry, rows: Any, codec: int) -> BatchFields:
        """Return the header fields of a batch that begins with the records *rows* of *entry*."""
        append_time = entry.max_timestamp if entry.is_append_time else None
        sequence = entry.base_sequence
        if sequence >= 0:
            first_offset = rows.column("offset")[0].as_py()
            sequence = (sequence + first_offset - entry.first_offset) % SEQUENCES
        return BatchFields(
            leader_epoch=max(entry.leader_epoch, 0),
            codec=codec,
            timestamp_type=int(entry.is_append_time),
            max_timestamp=append_time,
            is_transactional=entry.is_transactional,
            producer_id=entry.producer_id,
            producer_epoch=entry.producer_epoch,
            base_sequence=sequence,
        )

    def _end_group(self) -> Iterator[OutputPart]:
        group, self._group = self._group, None
        if group is not None:
            yield from group.finish()


@dataclass(frozen=True, slots=True)
class ConvertChange(CopyChange):
    """Converts entries; copies those that are already as wanted."""

    conversion: Conversion

    @property
    def expected_findings(self) -> Collection[str]:
        """Offsets of markers are missing in an older format, which has none."""
        return () if self.conversion.magic in (None, 2) else ("offset-gap",)

    def parts(
        self, partition_reader: PartitionReader, change_counts: ChangeCounts
    ) -> Iterator[OutputPart]:
        """Yield the converted entries. Raises RefusedError for a loss that is not allowed."""
        is_downward = self.conversion.magic is not None and self.conversion.magic < 2
        if is_downward:
            assert self.conversion.magic is not None
            losses = +conversion_losses(partition_reader, self.conversion.magic)
            if losses and not self.conversion.is_lossy:
                names = [f"{name} ({count:,})" for name, count in sorted(losses.items())]
                raise RefusedError(
                    f"format v{self.conversion.magic} would lose {', '.join(names)}",
                    "a partition without them, or --lossy",
                )
            change_counts.records.update(losses)
        source_parts = segment_runs(partition_reader.parts(with_outcomes=is_downward))
        converter = PartitionConverter(self.conversion, partition_reader.limits, change_counts)
        if is_downward:
            return _without_empty_segments(converter.parts(source_parts))
        return converter.parts(source_parts)

    def check(self, written: WrittenPartition) -> dict[str, Any]:
        """Compare the records: all of them and the bounds, or in an older format those that it holds."""
        if not written.change_counts.entries:
            return {"compared": "bytes"}
        if set(written.change_counts.entries) == {"recompressed"}:
            # Each payload was decompressed again and compared; the headers state the same bounds.
            return {"compared": "payloads"}
        names = [name for name in RECORD_COLUMNS if name != "timestamp_type"]
        if self.conversion.magic is None or self.conversion.magic == 2:
            compared = ComparedRecords(columns=tuple(names))
            expected_facts = facts_of(written.source_log, written.dataset.options, compared)
            check_equal(
                expected_facts,
                facts_of(written.output_log, written.dataset.options, compared),
                written.source_log,
            )
            return {"compared": "records", **expected_facts.as_row()}
        columns: tuple[str, ...] = ("offset", "key", "value")
        if self.conversion.magic == 1:
            columns = (*columns, "timestamp")
        # A read_committed consumer of the source stops at its first open transaction, one of the output does not.
        compared = ComparedRecords(
            columns=(*columns, "outcome"), dispositions=("delivered",), transform=_committed
        )
        expected_facts = facts_of(written.source_log, written.dataset.options, compared)
        found_facts = facts_of(written.output_log, written.dataset.options, compared)
        check_equal(
            expected_facts, found_facts, written.source_log, ("num_records", "records_digest")
        )
        return {"compared": "records", "columns": list(columns), **found_facts.as_row()}


def _without_empty_segments(output_parts: Iterator[OutputPart]) -> Iterator[OutputPart]:
    """Yield *output_parts* without segments that have no entries; if there are no entries at all, the last segment.

    A consumer below an empty last segment gets nothing and waits there for ever. An empty batch, which would lead it
    on, is not possible in an older format.
    """
    new_segment: NewSegment | None = None
    has_entries = False
    for part in output_parts:
        if isinstance(part, NewSegment):
            new_segment = part
            continue
        if new_segment is not None:
            yield new_segment
            new_segment = None
        has_entries = True
        yield part
    if new_segment is not None and not has_entries:
        yield new_segment


def _committed(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the records of committed transactions and those outside of transactions, all without an outcome."""
    number = rows.schema.get_field_index("outcome")
    outcomes = rows.column(number)
    is_committed = pc.equal(outcomes, pa.scalar("committed", outcomes.type)).fill_null(True)
    rows = rows.filter(is_committed)
    no_outcomes = pa.nulls(len(rows), outcomes.type)
    return rows.set_column(number, rows.schema.field(number), no_outcomes)


def convert(
    dataset: Dataset,
    output: str | os.PathLike[str] | None,
    *,
    codec: str | None = None,
    level: int | None = None,
    magic: int | None = None,
    batch_bytes: int | None = None,
    lossy: bool = False,
    index_interval_bytes: int = 4096,
    segment_bytes: int | None = None,
    progress: Progress | None = None,
) -> RewriteReport:
    """Write partitions with another codec, in another format, or with batches of another size.

    Offsets, timestamps, headers, transactions and producers do not change. Where only the codec changes, the bytes
    of the records do not change.

    Args:
        dataset: The partitions to convert, from `open`.
        output: New folder; see `rewrite`. None: write nothing, and count the bytes that would be written.
        codec: ``"none"``, ``"gzip"``, ``"snappy"``, ``"lz4"`` or ``"zstd"``. Default: the one of each batch.
        level: Compression level of the codec. Default: the codec's own.
        magic: Format of the batches: 2, or 1 or 0 for messages. Default: the one of each batch.
        batch_bytes: Size of a batch, as the producer's ``batch.size``: neighbours are joined, and larger batches
            divided. Default: batches are neither joined nor divided; single messages are joined up to 16 KiB.
        lossy: Allow what an older format cannot hold to be lost: headers, producers, transactions, in v0 timestamps.
        index_interval_bytes: As for `rewrite`.
        segment_bytes: As for `rewrite`.
        progress: As for `rewrite`.
    Returns:
        A report with a row for each partition. A partition that would lose something fails, unless *lossy*.
    Raises:
        InputError: An argument is not allowed; or as for `rewrite`.
        ChangedError: A source changed while it was read.
        OSError: The output cannot be written.
    Example:
        >>> report = mb.convert(mb.open("log-0", topics=["fenced"]), None, codec="zstd")
        >>> report.summary["changed_entries"]
        {'recompressed': 3}
    """
    conversion = conversion_of(
        codec=codec, level=level, magic=magic, batch_bytes=batch_bytes, lossy=lossy
    )
    settings = writer_settings(index_interval_bytes, segment_bytes)
    options = job_options(
        settings, codec=codec, level=level, magic=magic, batch_bytes=batch_bytes, lossy=lossy
    )
    job = RewriteJob("convert", options)
    return run_job(dataset, ConvertChange(conversion), output, job, settings, progress)


def conversion_of(
    *,
    codec: str | None = None,
    level: int | None = None,
    magic: int | None = None,
    batch_bytes: int | None = None,
    lossy: bool = False,
) -> Conversion:
    """Return the conversion with these arguments of `convert`. Raises InputError if one is not allowed."""
    conversion = Conversion(
        codec_number=_codec_number(codec, level, magic),
        level=level,
        magic=_checked_magic(magic),
        batch_bytes=batch_bytes,
        is_lossy=lossy,
    )
    if batch_bytes is not None and not 1 <= batch_bytes <= WHOLE_ENTRY:
        raise InputError(f"batch_bytes {batch_bytes}", f"1 to {WHOLE_ENTRY}")
    if codec is None and magic is None and batch_bytes is None:
        raise InputError("nothing to convert", "codec, magic or batch_bytes")
    return conversion


def _checked_magic(magic: int | None) -> int | None:
    if magic not in (None, 0, 1, 2):
        raise InputError(f"magic {magic}", "0, 1 or 2")
    return magic


def _codec_number(codec: str | None, level: int | None, magic: int | None) -> int | None:
    """Return the number of *codec*. Raises InputError if it, its *level* or its use with *magic* is not allowed."""
    if codec is None:
        if level is not None:
            raise InputError(f"level {level} without a codec", "a codec")
        return None
    number = codec_number(codec)
    codecs.check_level(number, level, magic=2 if magic is None else magic)
    return number
