"""Lines of records."""

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from magicbyte import CodecError, FormatError, LimitError, codecs
from magicbyte.checksum import crc32
from magicbyte.engines.entry import OVERHEAD, Entry
from magicbyte.engines.reference import Row
from magicbyte.logdir.frames import Frame
from magicbyte.tables.arrays import array_of, to_numpy
from magicbyte_cli.dump_log import kraft_lines
from magicbyte_cli.dump_log.batch_lines import (
    codec_name,
    kind_of_time,
    last_sequence,
    sequence,
    word,
)
from magicbyte_cli.dump_log.decoders import Decoder
from magicbyte_cli.dump_log.decoders.primitive_decoders import AS_TEXT
from magicbyte_cli.dump_log.end_error import EndError
from magicbyte_cli.dump_log.frames import LIMITS, end_error
from magicbyte_cli.dump_log.releases import Release
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

Checksums = Sequence[tuple[int, bool]]
"""What each message of a set has stored, and whether that is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be printed of a segment."""

    release: Release
    deep: bool = False
    """Whether there is a line for each record."""
    contents: bool = False
    """Whether keys and values are printed."""
    decode: Decoder = AS_TEXT
    skip_metadata: bool = False
    go_on: Callable[[EndError], None] | None = None
    """What is told of damage behind which lines go on; None where they end as the tool's."""
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Records:
    """Records as columns, of what their lines say."""

    offsets: Sequence[int]
    timestamps: Sequence[int]
    """-1 where there is none."""
    key_sizes: Sequence[int]
    """-1 of null, as in `value_sizes`."""
    value_sizes: Sequence[int]
    header_keys: Sequence[str]
    """As they are printed, with commas."""
    keys: Sequence[bytes | None]
    """Empty where they are not printed, as `values`."""
    values: Sequence[bytes | None]

    COLUMNS: ClassVar = ("offset", "timestamp", "key", "value", "headers")

    @classmethod
    def of(cls, rows: pa.RecordBatch, *, contents: bool) -> "Records":
        """Return the records of *rows*, of the columns `COLUMNS`; keys and values with *contents*."""
        headers = rows["headers"]
        lengths = pc.list_value_length(headers)
        any_header = bool(pc.sum(lengths).as_py())
        return cls(
            offsets=_numbers(rows["offset"]),
            timestamps=_numbers(rows["timestamp"]),
            key_sizes=_numbers(pc.binary_length(rows["key"])),
            value_sizes=_numbers(pc.binary_length(rows["value"])),
            header_keys=[
                ",".join(header["key"] for header in some or ()) for some in headers.to_pylist()
            ]
            if any_header
            else [""] * rows.num_rows,
            keys=rows["key"].to_pylist() if contents else (),
            values=rows["value"].to_pylist() if contents else (),
        )

    @classmethod
    def of_rows(cls, rows: Sequence[Row]) -> "Records":
        """Return the records of *rows*, contents and all."""
        return cls(
            offsets=[row.offset for row in rows],
            timestamps=[-1 if row.timestamp is None else row.timestamp for row in rows],
            key_sizes=[-1 if row.key is None else len(row.key) for row in rows],
            value_sizes=[-1 if row.value is None else len(row.value) for row in rows],
            header_keys=[",".join(header["key"] for header in row.headers or ()) for row in rows],
            keys=[row.key for row in rows],
            values=[row.value for row in rows],
        )

    def part(self, begin: int, end: int) -> "Records":
        columns = (getattr(self, field.name)[begin:end] for field in fields(self))
        return Records(*columns)


def _numbers(column: pa.Array) -> list[int]:
    told: list[int] = to_numpy(pc.fill_null(column.cast("int64"), NONE)).tolist()
    return told


def record_lines(frame: Frame, entry: Entry, records: Records, wanted: Wanted) -> Iterator[str]:
    """Yield the lines of the records of an entry; EndError where the tool cannot go on.

    That is at a control record or a number that cannot be read, and inside a wrapper whose payload is
    damaged.
    """
    if wanted.skip_metadata:
        # Kafka 4.3 mended it that the bar was missing where there is no key.
        has_bar = wanted.release.since(4, 3)
        try:
            for tail in _tails(entry, records, wanted):
                yield f"|{tail}" if tail.startswith(" key") or (tail and has_bar) else tail
        except EndError as error:
            raise end_error(frame, str(error)) from error
        return
    heads = _long_heads if wanted.release.has_long_records else _heads
    checksums = _checksums(frame, entry) if entry.magic < 2 else None
    tails = _tails(entry, records, wanted)
    for head in heads(frame, entry, records, checksums, wanted.release):
        try:
            tail = next(tails)
        except EndError as error:
            raise end_error(frame, str(error), f"| {head}") from error
        yield f"| {head}{tail}"


def _tails(entry: Entry, records: Records, wanted: Wanted) -> Iterator[str]:
    """Yield what follows the metadata of each record: a marker, or key and value, or nothing."""
    if entry.is_control and wanted.skip_metadata:
        yield from [""] * len(records.offsets)
    elif entry.is_control:
        for record in zip(records.offsets, records.keys, records.values, strict=True):
            yield _control(*record, wanted.release)
    elif wanted.contents:
        for record in zip(records.offsets, records.keys, records.values, strict=True):
            key, payload = wanted.decode(*record)
            said = "" if key is None else f" key: {key}"
            yield said if payload is None else f"{said} payload: {payload}"
    else:
        yield from [""] * len(records.offsets)


def _heads(
    frame: Frame, entry: Entry, records: Records, checksums: Checksums | None, release: Release
) -> Iterator[str]:
    kind = kind_of_time(entry)
    columns = zip(
        records.offsets,
        records.timestamps,
        records.key_sizes,
        records.value_sizes,
        _ends(entry, records, checksums, release),
        strict=True,
    )
    for offset, timestamp, key, value, end in columns:
        yield f"offset: {offset} {kind}: {timestamp} keySize: {key} valueSize: {value} {end}"


def _ends(
    entry: Entry, records: Records, checksums: Checksums | None, release: Release
) -> Iterator[str]:
    if checksums is None:
        yield from _of_batch(entry, records)
    else:
        brace = "}" if release.closes_records else ""
        for crc, is_valid in checksums:
            yield f"isValid: {word(is_valid)} crc: {crc}{brace}"


def _of_batch(entry: Entry, records: Records) -> Iterator[str]:
    base, base_offset = entry.base_sequence, entry.base_offset or 0
    for offset, keys in zip(records.offsets, records.header_keys, strict=True):
        yield f"sequence: {sequence(base, offset - base_offset)} headerKeys: [{keys}]"


def _long_heads(
    frame: Frame, entry: Entry, records: Records, checksums: Checksums | None, release: Release
) -> Iterator[str]:
    base, last = entry.base_offset, -1
    if checksums is None:
        last = last_sequence(frame, entry)
        pairs: Iterator[tuple[int | str, bool, str]] = (
            ("null", True, end) for end in _of_batch(entry, records)
        )
    else:
        base = records.offsets[0]  # a wrapper has that of the first in it
        pairs = ((crc, yes, f"crc: {crc} isvalid: {word(yes)}") for crc, yes in checksums)
    kind = kind_of_time(entry)
    of_batch = (
        f"baseOffset: {base} lastOffset: {entry.last_offset} "
        f"baseSequence: {entry.base_sequence} lastSequence: {last} "
        f"producerEpoch: {entry.producer_epoch} partitionLeaderEpoch: {entry.leader_epoch} "
        f"batchSize: {entry.size_bytes} magic: {frame.magic} "
        f"compressType: {codec_name(frame, entry, release)} position: {frame.position}"
    )
    columns = zip(
        records.offsets,
        records.timestamps,
        records.key_sizes,
        records.value_sizes,
        pairs,
        strict=True,
    )
    for offset, timestamp, key, value, (crc, is_valid, end) in columns:
        yield (
            f"offset: {offset} isValid: {word(is_valid)} crc: {crc} keySize: {key} "
            f"valueSize: {value} {kind}: {timestamp} {of_batch} {end}"
        )


def _checksums(frame: Frame, entry: Entry) -> Checksums:
    """Return the checksum of each message of an entry, and whether it is right."""
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
        raise end_error(frame, str(error)) from error
    found: list[tuple[int, bool]] = []
    position = 0
    while position + MessageHeader.SIZE <= len(inner):
        message = MessageHeader.unpack_from(inner, position)
        end = position + OVERHEAD + message.len_message
        computed = crc32(inner[position + MessageHeader.CHECKSUM.start : end])
        found.append((message.crc, computed == message.crc))
        position = end
    return found


def _control(offset: int, key: bytes | None, value: bytes | None, release: Release) -> str:
    """Return what a control record says; EndError where the tool cannot read it."""
    try:
        if key is None:
            raise ValueError("its key is null")
        kind = ControlKey.unpack_from(key).control_type
        if kind not in MARKERS:
            return kraft_lines.said(kind, value, release)
        if value is None:
            raise ValueError("its value is null")
        epoch = TransactionMarker.unpack_from(value).coordinator_epoch
        return f" endTxnMarker: {MARKERS[ControlType(kind)]} coordinatorEpoch: {epoch}"
    except (ValueError, EOFError, struct.error, FormatError) as error:
        raise EndError(f"offset {offset}: a control record cannot be read: {error}") from error
