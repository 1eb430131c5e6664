"""The reference engine: the generated Kaitai classes, an entry at a time."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from kaitaistruct import KaitaiStream, KaitaiStructError

from magicbyte import codecs
from magicbyte.checksum import crc32
from magicbyte.engines.entry import (
    LEAST_SIZE,
    OVERHEAD,
    SEQUENCES,
    Entry,
    checksum_of,
    whole_entry,
    wrap64,
)
from magicbyte.engines.header_scan import read_batch_headers
from magicbyte.engines.protocol import (
    BatchHeaders,
    Control,
    Decoded,
    DecodedEntry,
    Entries,
    Scan,
)
from magicbyte.errors import CodecError, FormatError, LimitError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.storage import File
from magicbyte.tables.arrays import array_of
from magicbyte.tables.binary_views import with_binary_views
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte.text import decode_utf8
from magicbyte_formats.kaitai.kafka_message import KafkaMessage
from magicbyte_formats.kaitai.kafka_record import KafkaRecord
from magicbyte_formats.wire import (
    CODEC_NAMES,
    COLUMNS,
    CONTROL_TYPE_NAMES,
    TIMESTAMP_TYPE_NAMES,
    ControlKey,
    ControlType,
    EntryHeader,
    MessageHeader,
    RecordBatchHeader,
    TransactionMarker,
)

# What the Kaitai classes raise where the bytes end, a length is negative or a value is not valid.
UNREADABLE = (EOFError, ValueError, KaitaiStructError)

TRANSACTION_ENDS = (ControlType.ABORT, ControlType.COMMIT)

SENTINELS = {column.name: column.sentinel for column in COLUMNS["records"]}

Headers = list[dict[str, Any]]


class Row(NamedTuple):
    """A record, before the columns of its entry are put beside it; nulls are None."""

    offset: int
    timestamp: int | None
    timestamp_type: int | None
    key: bytes | None
    value: bytes | None
    headers: Headers | None
    sequence: int | None
    body: Any
    """What the Kaitai class read, for columns that nothing here knows by name."""


class ReferenceEngine:
    name = "reference"

    def __init__(self, *, views: bool = False) -> None:
        self.views = views

    def read_headers(self, file: File, position: int, end: int) -> BatchHeaders:
        return read_batch_headers(file, position, end)

    def scan(
        self,
        buffer: memoryview,
        *,
        origin: int,
        verify: bool,
        limits: Limits,
        stop: int | None = None,
    ) -> Scan:
        entries: list[Entry] = []
        position = 0
        unsound, computed, stopped_by = None, None, None
        while position < len(buffer) and (stop is None or len(entries) < stop):
            try:
                entry = whole_entry(buffer, position, origin=origin)
            except FormatError as error:
                stopped_by = error.finding
                break
            if entry.size_bytes > limits.max_entry_bytes:
                unsound = entry
                break
            if verify and (found := checksum_of(buffer, entry, origin=origin)) != entry.crc:
                unsound, computed = entry, found
                break
            entries.append(entry)
            position += entry.size_bytes
        return Scan(
            entries=Entries(entries),
            end=position,
            unsound=unsound,
            computed=computed,
            stopped_by=stopped_by,
        )

    def decode(
        self,
        buffer: memoryview,
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
        max_bytes: int | None = None,
        verify: bool = True,
        stop: int | None = None,
    ) -> Decoded:
        values: dict[str, list[Any]] = {name: [] for name in columns}
        entries: list[Entry] = []
        num_rows: list[int] = []
        decompressed: list[int] = []
        results: dict[int, DecodedEntry] = {}
        position, num_bytes = 0, 0
        rest: Scan | None = None
        while position < len(buffer) and (max_bytes is None or num_bytes < max_bytes):
            if stop is not None and len(entries) >= stop:
                break
            view, at = buffer[position:], origin + position
            scan = self.scan(view, origin=at, verify=verify, limits=limits, stop=1)
            if not scan.entries:
                rest = scan
                break
            entry = scan.entries[0]
            result, rows = _decode_entry(view[: entry.size_bytes], entry, limits)
            for name, column in values.items():
                column.extend(_values(name, entry, rows))
            num_rows.append(len(rows))
            decompressed.append(result.decompressed)
            content = sum(len(row.key or b"") + len(row.value or b"") for row in rows)
            num_bytes += max(entry.size_bytes, content)
            if result != DecodedEntry(len(rows), entry.base_offset, entry.record_count):
                results[len(entries)] = result
            entries.append(entry)
            position += entry.size_bytes
        return Decoded(
            entries=Entries(entries),
            rows=self._batch(values, sum(num_rows)),
            num_rows=np.array(num_rows, np.int64),
            decompressed=np.array(decompressed, np.int64),
            results=results,
            end=position,
            unsound=rest.unsound if rest else None,
            computed=rest.computed if rest else None,
            stopped_by=rest.stopped_by if rest else None,
        )

    def decode_entry(
        self, data: memoryview, entry: Entry, columns: Sequence[str], limits: Limits
    ) -> tuple[pa.RecordBatch, DecodedEntry]:
        """Return the wire *columns* of the records of *entry*, whose bytes are *data*, and its result.

        Neither the checksum nor the size of the entry is checked.
        """
        result, rows = _decode_entry(data, entry, limits)
        values = {name: _values(name, entry, rows) for name in columns}
        return self._batch(values, len(rows)), result

    def _batch(self, values: dict[str, list[Any]], num_rows: int) -> pa.RecordBatch:
        batch = rows_of(values, num_rows)
        return batch.cast(with_binary_views(batch.schema)) if self.views and values else batch


def rows_of(values: dict[str, list[Any]], num_rows: int) -> pa.RecordBatch:
    """Return *values* of *num_rows* rows, by wire column."""
    if not values:
        return rows_of_nothing(num_rows)
    arrays = [array_of(held, WIRE_TYPES[name]) for name, held in values.items()]
    schema = pa.schema([(name, WIRE_TYPES[name]) for name in values])
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def rows_of_nothing(count: int) -> pa.RecordBatch:
    """Return *count* rows without columns, which Arrow counts only if told."""
    nothing = pa.StructArray.from_buffers(pa.struct([]), count, [None])
    return pa.RecordBatch.from_struct_array(nothing)


def _values(name: str, entry: Entry, rows: list[Row]) -> list[Any]:
    """Return the column *name* of *rows*: a field of each, or one value of their entry."""
    match name:
        case "offset" | "timestamp" | "key" | "value" | "headers" | "sequence":
            index = Row._fields.index(name)
            return [row[index] for row in rows]
        case "timestamp_type":
            return [
                None if row.timestamp_type is None else TIMESTAMP_TYPE_NAMES[row.timestamp_type]
                for row in rows
            ]
        case "codec":
            value: Any = CODEC_NAMES.get(entry.codec)
        case "leader_epoch" | "producer_id" | "producer_epoch":
            stored = getattr(entry, name)
            value = None if stored == -1 else stored
        case "is_transactional" | "magic" | "position":
            value = getattr(entry, name)
        case _:
            return [_field(name, row.body) for row in rows]
    return [value] * len(rows)


def _field(name: str, body: Any) -> Any:
    """Return the field of a record that is the column *name*, and is called like it."""
    field = getattr(body, name, None)
    field = getattr(field, "value", field)
    return None if field == SENTINELS[name] else field


def _decode_entry(data: memoryview, entry: Entry, limits: Limits) -> tuple[DecodedEntry, list[Row]]:
    """Return what the payload of *entry*, whose bytes are *data*, says, and its rows."""
    one = DecodedEntry(base_offset=entry.base_offset, record_count=entry.record_count)
    try:
        if entry.magic == 2:
            rows = list(_batch_rows(data, entry, limits, one))
        else:
            rows = _decode_message(data, entry, limits, one)
    except CodecError as error:
        codec = CODEC_NAMES.get(entry.codec, str(entry.codec))
        one.add(entry.finding(error.code, str(error), field=codec, found=error.reason))
        return one, []
    except LimitError as error:
        one.add(
            entry.finding(
                error.code,
                error.message,
                field=error.setting,
                found=error.claimed,
                expected=error.limit,
            )
        )
        return one, []
    except FormatError as error:
        one.add(error.finding)
        return one, []
    one.num_rows = len(rows)
    return one, rows


# v2: a batch of records


def rows_before_damage(data: memoryview, entry: Entry, limits: Limits) -> list[Row]:
    """Return the records of a damaged v2 batch, whose bytes are *data*, up to the first that is bad.

    Nothing vouches for them: they are for who wants to see what there is.
    """
    rows: list[Row] = []
    with suppress(FormatError, LimitError):
        for row in _batch_rows(data, entry, limits, DecodedEntry()):
            rows.append(row)
    return rows


def _batch_rows(data: memoryview, entry: Entry, limits: Limits, one: DecodedEntry) -> Iterator[Row]:
    """Yield the records of a batch; raises FormatError and LimitError."""
    section = data[RecordBatchHeader.SIZE :]
    count = entry.record_count or 0
    if count < 0:
        raise FormatError(
            entry.finding(
                "bad-record-count",
                f"{count} records",
                field="num_records",
                found=count,
                expected="at least 0",
            )
        )
    if count == 0:
        # Kafka's reader asks for no record and so never looks at these bytes.
        if len(section):
            one.add(entry.finding("bytes-unread", f"no records, but {len(section)} bytes"))
        return
    payload = codecs.decompress(entry.codec, section, magic=2, max_bytes=limits.max_batch_bytes)
    one.decompressed = len(payload) if entry.codec else 0
    stream = KaitaiStream(BytesIO(payload))
    for index in range(count):
        if stream.is_eof():
            raise FormatError(
                entry.finding(
                    "bad-record-count",
                    f"the payload ends after {index} of {count} records",
                    payload_position=stream.pos(),
                    field="num_records",
                    found=count,
                    expected=index,
                )
            )
        yield _read_record(stream, index, entry, one)
    if not stream.is_eof():
        left = stream.size() - stream.pos()
        raise FormatError(
            entry.finding(
                "bytes-left-over",
                f"{left} bytes behind the last of {count} records",
                payload_position=stream.pos(),
                field="num_records",
                found=left,
                expected="0",
            )
        )


def _read_record(stream: Any, index: int, entry: Entry, one: DecodedEntry) -> Row:
    position = stream.pos()

    def bad(message: str, field: str, found: object = None, expected: object = None) -> FormatError:
        return FormatError(
            entry.finding(
                "bad-record",
                f"record {index}: {message}",
                payload_position=position,
                field=f"records[{index}].{field}",
                found=found,
                expected=expected,
            )
        )

    try:
        record = KafkaRecord(entry.is_control, stream)
        body = record.body
    except UNREADABLE as error:
        raise bad(str(error) or type(error).__name__, "body") from error
    left = body._io.size() - body._io.pos()
    if body.num_headers.value < 0:
        raise bad(
            f"{body.num_headers.value} headers", "num_headers", body.num_headers.value, "0 or more"
        )
    if left:
        stated = record.len_body.value
        raise bad(f"{stated} bytes stated, {stated - left} used", "len_body", stated, stated - left)
    for name, length in (("len_key", body.len_key.value), ("len_value", body.len_value.value)):
        if length < -1:
            one.add(_negative_length(entry, f"records[{index}].{name}", length, position))
    if entry.is_control and one.control is None and index == 0:
        one.control = _control(entry, body.key, body.value, position, one)
    headers = [{"key": decode_utf8(header.key), "value": header.value} for header in body.headers]
    timestamp = (
        entry.max_timestamp
        if entry.is_append_time
        else wrap64((entry.base_timestamp or 0) + body.timestamp_delta.value)
    )
    delta = body.offset_delta.value
    return Row(
        offset=wrap64(entry.first_offset + delta),
        timestamp=None if timestamp == -1 else timestamp,
        timestamp_type=entry.timestamp_type,
        key=body.key,
        value=body.value,
        headers=headers,
        sequence=None if entry.base_sequence < 0 else (entry.base_sequence + delta) % SEQUENCES,
        body=body,
    )


def _negative_length(entry: Entry, field: str, length: int, position: int | None) -> Finding:
    return entry.finding(
        "negative-length",
        f"{field} is {length}, read as null",
        payload_position=position,
        field=field,
        found=length,
        expected="-1 or more",
    )


def _control(
    entry: Entry, key: bytes | None, value: bytes | None, position: int, one: DecodedEntry
) -> Control:
    """Return what a control record says; its key alone tells the type (KIP-98)."""
    if key is None or len(key) < ControlKey.SIZE:
        found = "null" if key is None else f"{len(key)} bytes"
        raise FormatError(
            entry.finding(
                "bad-control-record",
                f"the key of a control record is {found}",
                payload_position=position,
                field="key",
                found=found,
                expected=f"at least {ControlKey.SIZE} bytes",
            )
        )
    version, control_type = ControlKey.unpack_from(key)
    if version < 0:
        raise FormatError(
            entry.finding(
                "bad-control-record",
                f"the key of a control record has version {version}",
                payload_position=position,
                field="key.version",
                found=version,
                expected="0 or more",
            )
        )
    if control_type not in CONTROL_TYPE_NAMES:
        one.add(
            entry.finding(
                "unknown-control-type",
                f"control record of type {control_type}",
                payload_position=position,
                field="key.control_type",
                found=str(control_type),
            )
        )
    coordinator_epoch = None
    if control_type in TRANSACTION_ENDS:
        if value is not None and len(value) >= TransactionMarker.SIZE:
            marker = TransactionMarker.unpack_from(value)
            coordinator_epoch = marker.coordinator_epoch if marker.version >= 0 else None
        if coordinator_epoch is None:
            one.add(
                entry.finding(
                    "bad-marker-value",
                    "the value of a transaction marker cannot be read",
                    payload_position=position,
                    field="value",
                    found="null" if value is None else value.hex(),
                    expected=f"version 0 or more, {TransactionMarker.SIZE} bytes",
                )
            )
    return Control(control_type, coordinator_epoch)


# v0 and v1: a message, or a wrapper around a compressed message set


def _decode_message(data: memoryview, entry: Entry, limits: Limits, one: DecodedEntry) -> list[Row]:
    if not entry.is_wrapper:
        message = _read_message(bytes(data), entry, one, None)
        return [_message_row(message, entry.last_offset, entry)]
    section = _wrapper_value(data, entry, one)
    if section is None:
        raise _wrapper(entry, "a compressed message without a value", "value", None)
    payload = codecs.decompress(
        entry.codec, section, magic=entry.magic, max_bytes=limits.max_batch_bytes
    )
    one.decompressed = len(payload)
    inner = list(_inner_messages(payload, entry, one))
    if not inner:
        raise _wrapper(entry, "no message inside a compressed one", "value", 0)
    base = 0
    if entry.magic == 1:
        last = inner[-1][0]
        # Relative offsets keep their gaps after cleaning, so the last one defines the base; some
        # producers left the wrapper's own offset 0, and then there is no base to add.
        if entry.last_offset != 0:
            base = entry.last_offset - last
            if base < 0:
                raise _wrapper(
                    entry,
                    f"offset {entry.last_offset}, but the last message inside has {last}",
                    "offset",
                    0,
                    entry.last_offset,
                    f"{last} or more",
                )
    rows = [_message_row(body, wrap64(base + offset), entry) for offset, body in inner]
    one.base_offset = rows[0].offset
    one.record_count = len(rows)
    return rows


def _wrapper_value(data: memoryview, entry: Entry, one: DecodedEntry) -> memoryview | None:
    """Return the value of the wrapper *data* where it lies.

    The Kaitai class would copy it three times, and a wrapper may be as large as a limit allows.
    """
    position = MessageHeader.SIZE + (8 if entry.magic == 1 else 0)
    field: memoryview | None = None
    for name in ("len_key", "len_value"):
        length = int.from_bytes(data[position : position + 4], "big", signed=True)
        end = position + 4 + max(length, 0)
        if end > len(data):
            raise FormatError(
                entry.finding(
                    "bad-message",
                    f"{name} {length} leads past the message's end",
                    field=name,
                    found=length,
                    expected=f"at most {max(len(data) - position - 4, 0)}",
                )
            )
        if length < -1:
            one.add(_negative_length(entry, name, length, None))
        field = None if length < 0 else data[position + 4 : end]
        position = end
    if position < len(data):
        one.add(_message_bytes_unread(entry, len(data) - position, None))
    return field


def _message_bytes_unread(entry: Entry, left: int, position: int | None) -> Finding:
    return entry.finding(
        "message-bytes-unread",
        f"{left} bytes behind the value",
        payload_position=position,
        field="len_value",
        found=left,
        expected="0",
    )


def _wrapper(
    entry: Entry,
    message: str,
    field: str,
    position: int | None,
    found: object = None,
    expected: object = None,
) -> FormatError:
    return FormatError(
        entry.finding(
            "bad-wrapper",
            message,
            payload_position=position,
            field=field,
            found=found,
            expected=expected,
        )
    )


def _read_message(data: bytes, entry: Entry, one: DecodedEntry, position: int | None) -> Any:
    """Return the body of the message that *data* is, with null for any negative length."""
    try:
        body = KafkaMessage(KaitaiStream(BytesIO(data))).message
    except UNREADABLE as error:
        raise FormatError(
            entry.finding(
                "bad-message",
                f"a message does not hold what it states: {error}",
                payload_position=position,
                field="message",
            )
        ) from error
    for name in ("len_key", "len_value"):
        length = getattr(body, name)
        if length < -1:
            one.add(_negative_length(entry, name, length, position))
    if body.ignored is not None:
        one.add(_message_bytes_unread(entry, len(body.ignored), position))
    return body


def _message_row(body: Any, offset: int, entry: Entry) -> Row:
    timestamp = body.timestamp
    if body.magic == 0:
        timestamp = None  # and yet of the type that a wrapper of v1 around it has, as in Kafka
    elif entry.is_append_time:
        timestamp = entry.max_timestamp
    return Row(
        offset=offset,
        timestamp=None if timestamp == -1 else timestamp,
        timestamp_type=entry.timestamp_type,
        key=body.key,
        value=body.value,
        headers=None,
        sequence=None,
        body=body,
    )


def _inner_messages(payload: bytes, entry: Entry, one: DecodedEntry) -> Iterator[tuple[int, Any]]:
    """Yield offset field and body of each message in a wrapper's decompressed *payload*."""
    position = 0
    while position < len(payload):
        here = len(payload) - position
        if here >= OVERHEAD:
            size = int.from_bytes(payload[position + 8 : position + OVERHEAD], "big", signed=True)
            if size < LEAST_SIZE:
                raise _wrapper(
                    entry,
                    f"a message inside has size {size}",
                    "len_message",
                    position,
                    size,
                    f"{LEAST_SIZE} or more",
                )
        if here < OVERHEAD or size + OVERHEAD > here:
            # Kafka's reader takes the end of the stream for the end of the set.
            one.add(
                entry.finding(
                    "inner-message-cut",
                    f"the payload ends inside a message, {here} bytes of it were dropped",
                    payload_position=position,
                    found=here,
                )
            )
            return
        data = payload[position : position + OVERHEAD + size]
        header = EntryHeader.unpack_from(data)
        offset, magic = header.offset, header.magic
        if magic not in (0, 1):
            raise _wrapper(
                entry, f"a message inside has magic {magic}", "magic", position, magic, "0 or 1"
            )
        body = _read_message(data, entry, one, position)
        codec = int(body.attributes.codec)
        if codec != 0:
            raise _wrapper(
                entry,
                "a compressed message inside a compressed one",
                "attributes",
                position,
                codec,
                0,
            )
        computed = crc32(data[MessageHeader.CHECKSUM.start :])
        if body.crc != computed:
            raise FormatError(
                entry.finding(
                    "record-checksum-mismatch",
                    f"a message inside: stored CRC-32 {body.crc:#010x}, computed {computed:#010x}",
                    payload_position=position,
                    field="crc",
                    found=f"{body.crc:#010x}",
                    expected=f"{computed:#010x}",
                )
            )
        if magic != entry.magic:
            one.add(
                entry.finding(
                    "inner-magic-differs",
                    f"a message of magic {magic} in a wrapper of magic {entry.magic}",
                    payload_position=position,
                    field="magic",
                    found=magic,
                    expected=entry.magic,
                )
            )
        yield offset, body
        position += OVERHEAD + size
