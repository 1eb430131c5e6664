"""Lines that kafka-dump-log prints for records."""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from magicbyte import CodecError, FormatError, LimitError, codecs
from magicbyte.checksum import crc32
from magicbyte.engines.entry import OVERHEAD, Entry
from magicbyte.logdir.frames import Frame
from magicbyte.tables.arrays import array_of, to_numpy
from magicbyte_cli.dump_log import ToolError, kraft_lines
from magicbyte_cli.dump_log.batch_lines import (
    boolean,
    codec_name,
    last_sequence,
    sequence,
    timestamp_type_name,
)
from magicbyte_cli.dump_log.decoders import Decoder
from magicbyte_cli.dump_log.decoders.primitive_decoders import AS_TEXT
from magicbyte_cli.dump_log.frames import LIMITS, tool_error
from magicbyte_cli.dump_log.releases import Release
from magicbyte_cli.row_chunks import MAX_ELEMENTS, element_chunks, num_elements
from magicbyte_formats.kaitai.kafka_message import KafkaMessage
from magicbyte_formats.wire import (
    Codec,
    ControlKey,
    ControlType,
    MessageHeader,
    TransactionMarker,
)

NONE = array_of([-1], pa.int64())[0]

MARKERS = {ControlType.COMMIT: "COMMIT", ControlType.ABORT: "ABORT"}

End = TypeVar("End")

Checksums = Sequence[tuple[int, bool]]
"""Stored checksum of each message of a set, and whether it is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentOptions:
    """Options of kafka-dump-log that apply to segments."""

    release: Release
    deep: bool = False
    """Print a line per record."""
    contents: bool = False
    """Print keys and values."""
    decode: Decoder = AS_TEXT
    skip_metadata: bool = False
    on_error: Callable[[ToolError], None] | None = None
    """Called with each error, after which lines continue; None: stop as kafka-dump-log does."""
    on_unreadable: Callable[[ToolError], None] | None = None
    """The same for bytes that cannot be read."""
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """Columns of records, converted to what kafka-dump-log prints."""

    offsets: Sequence[int]
    timestamps: Sequence[int]
    """Milliseconds since the Unix epoch; -1: no timestamp."""
    key_sizes: Sequence[int]
    """Bytes of each key; -1: null, as in `value_sizes`."""
    value_sizes: Sequence[int]
    header_keys: Sequence[str]
    """Keys of headers, separated by commas."""
    keys: Sequence[bytes | None]
    """Empty if keys and values are not printed."""
    values: Sequence[bytes | None]

    COLUMNS: ClassVar = ("offset", "timestamp", "key", "value", "headers")

    @classmethod
    def of(cls, rows: pa.RecordBatch, *, contents: bool) -> "RecordColumns":
        """Return the records of *rows*, which have `COLUMNS`; keys and values only with *contents*."""
        headers = rows["headers"]
        lengths = pc.list_value_length(headers)
        any_header = bool(pc.sum(lengths).as_py())
        return cls(
            offsets=_numbers(rows["offset"]),
            timestamps=_numbers(rows["timestamp"]),
            key_sizes=_numbers(pc.binary_length(rows["key"])),
            value_sizes=_numbers(pc.binary_length(rows["value"])),
            header_keys=_header_keys(headers) if any_header else [""] * rows.num_rows,
            keys=rows["key"].to_pylist() if contents else (),
            values=rows["value"].to_pylist() if contents else (),
        )

    def with_ends(self, ends: Iterable[End]) -> Iterator[tuple[int, int, int, int, End]]:
        """Yield each record's offset, timestamp, key size, value size, and its item of *ends*."""
        columns = self.offsets, self.timestamps, self.key_sizes, self.value_sizes
        return zip(*columns, ends, strict=True)

    def slice(self, begin: int, end: int) -> "RecordColumns":
        columns = (getattr(self, field.name)[begin:end] for field in fields(self))
        return RecordColumns(*columns)


def _header_keys(headers: pa.Array) -> list[str]:
    """Return the keys of the headers of each record, separated by commas."""
    if len(headers) == 1 and num_elements(headers) > MAX_ELEMENTS:
        return [",".join(map(_keys, element_chunks(headers)))]
    return [_keys(elements or ()) for elements in headers.to_pylist()]


def _keys(elements: Iterable[dict[str, Any]]) -> str:
    return ",".join(element["key"] for element in elements)


def _numbers(column: pa.Array) -> list[int]:
    integers: list[int] = to_numpy(pc.fill_null(column.cast("int64"), NONE)).tolist()
    return integers


def record_lines(
    frame: Frame, entry: Entry, records: RecordColumns, options: SegmentOptions
) -> Iterator[str]:
    """Yield the lines of the records of an entry.

    Raises ToolError at a control record or a number that kafka-dump-log cannot read, and in a
    damaged wrapper.
    """
    if options.skip_metadata:
        # Before Kafka 4.3 the bar `|` is missing if there is no key (a bug of Kafka's tool).
        has_bar = options.release.since(4, 3)
        try:
            for tail in _tails(entry, records, options):
                yield f"|{tail}" if tail.startswith(" key") or (tail and has_bar) else tail
        except ToolError as error:
            raise tool_error(frame, str(error)) from error
        return
    heads = _long_heads if options.release.has_long_records else _heads
    checksums = _checksums(frame, entry) if entry.magic < 2 else None
    tails = _tails(entry, records, options)
    for head in heads(frame, entry, records, checksums, options.release):
        try:
            tail = next(tails)
        except ToolError as error:
            raise tool_error(frame, str(error), f"| {head}") from error
        yield f"| {head}{tail}"


def _tails(entry: Entry, records: RecordColumns, options: SegmentOptions) -> Iterator[str]:
    """Yield for each record the text after its metadata: a marker, key and value, or nothing."""
    if entry.is_control and not options.skip_metadata:
        for record in zip(records.offsets, records.keys, records.values, strict=True):
            yield _control(*record, options.release)
    elif options.contents and not entry.is_control:
        for record in zip(records.offsets, records.keys, records.values, strict=True):
            key, payload = options.decode(*record)
            key_text = "" if key is None else f" key: {key}"
            yield key_text if payload is None else f"{key_text} payload: {payload}"
    else:
        yield from [""] * len(records.offsets)


def _heads(
    frame: Frame,
    entry: Entry,
    records: RecordColumns,
    checksums: Checksums | None,
    release: Release,
) -> Iterator[str]:
    kind = timestamp_type_name(entry)
    ends = _ends(entry, records, checksums, release)
    for offset, timestamp, key, value, end in records.with_ends(ends):
        yield f"offset: {offset} {kind}: {timestamp} keySize: {key} valueSize: {value} {end}"


def _ends(
    entry: Entry, records: RecordColumns, checksums: Checksums | None, release: Release
) -> Iterator[str]:
    if checksums is None:
        yield from _sequences(entry, records)
    else:
        # Releases 3.0 to 4.2 print a superfluous brace.
        brace = "}" if release.since(3, 0) and not release.since(4, 3) else ""
        for crc, is_valid in checksums:
            yield f"isValid: {boolean(is_valid)} crc: {crc}{brace}"


def _sequences(entry: Entry, records: RecordColumns) -> Iterator[str]:
    base, base_offset = entry.base_sequence, entry.base_offset or 0
    for offset, keys in zip(records.offsets, records.header_keys, strict=True):
        yield f"sequence: {sequence(base, offset - base_offset)} headerKeys: [{keys}]"


def _long_heads(
    frame: Frame,
    entry: Entry,
    records: RecordColumns,
    checksums: Checksums | None,
    release: Release,
) -> Iterator[str]:
    base, last = entry.base_offset, -1
    if checksums is None:
        last = last_sequence(frame, entry)
        pairs: Iterator[tuple[int | str, bool, str]] = (
            ("null", True, end) for end in _sequences(entry, records)
        )
    else:
        base = records.offsets[0]  # a wrapper has the offset of its first message
        pairs = (
            (crc, is_valid, f"crc: {crc} isvalid: {boolean(is_valid)}")
            for crc, is_valid in checksums
        )
    kind = timestamp_type_name(entry)
    batch_text = (
        f"baseOffset: {base} lastOffset: {entry.last_offset} "
        f"baseSequence: {entry.base_sequence} lastSequence: {last} "
        f"producerEpoch: {entry.producer_epoch} partitionLeaderEpoch: {entry.leader_epoch} "
        f"batchSize: {entry.size_bytes} magic: {frame.magic} "
        f"compressType: {codec_name(frame, entry, release)} position: {frame.position}"
    )
    for offset, timestamp, key, value, (crc, is_valid, end) in records.with_ends(pairs):
        yield (
            f"offset: {offset} isValid: {boolean(is_valid)} crc: {crc} keySize: {key} "
            f"valueSize: {value} {kind}: {timestamp} {batch_text} {end}"
        )


def _checksums(frame: Frame, entry: Entry) -> Checksums:
    """Return the stored checksum of each message of an entry, and whether it is right."""
    if entry.codec == Codec.NONE:
        return [(entry.crc, frame.is_sound(entry))]
    section = KafkaMessage.from_bytes(bytes(frame.data)).message.value or b""
    try:
        inner = memoryview(
            codecs.decompress(
                entry.codec, section, magic=entry.magic, max_bytes=LIMITS.max_batch_bytes
            )
        )
    except (CodecError, LimitError) as error:
        raise tool_error(frame, str(error)) from error
    checksums: list[tuple[int, bool]] = []
    position = 0
    while position + MessageHeader.SIZE <= len(inner):
        message = MessageHeader.unpack_from(inner, position)
        end = position + OVERHEAD + message.len_message
        computed = crc32(inner[position + MessageHeader.CHECKSUM.start : end])
        checksums.append((message.crc, computed == message.crc))
        position = end
    return checksums


def _control(offset: int, key: bytes | None, value: bytes | None, release: Release) -> str:
    """Return the text of a control record; ToolError if kafka-dump-log cannot read it."""
    try:
        if key is None:
            raise ValueError("its key is null")
        kind = ControlKey.unpack_from(key).control_type
        if kind not in MARKERS:
            return kraft_lines.control_record_text(kind, value, release)
        if value is None:
            raise ValueError("its value is null")
        epoch = TransactionMarker.unpack_from(value).coordinator_epoch
        return f" endTxnMarker: {MARKERS[ControlType(kind)]} coordinatorEpoch: {epoch}"
    except (ValueError, EOFError, struct.error, FormatError) as error:
        raise ToolError(f"offset {offset}: a control record cannot be read: {error}") from error
