"""Decode the records of a v2 batch with the generated Kaitai classes, one at a time."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any, NamedTuple

from kaitaistruct import KaitaiStream, KaitaiStructError

from magicbyte import codecs
from magicbyte.engines.entry import SEQUENCES, Entry, wrap64
from magicbyte.engines.protocol import Control, DecodedEntry
from magicbyte.errors import FormatError, LimitError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.text import decode_utf8
from magicbyte_formats.kaitai.kafka_record import KafkaRecord
from magicbyte_formats.wire import (
    CONTROL_TYPE_NAMES,
    ControlKey,
    ControlType,
    RecordBatchHeader,
    TransactionMarker,
)

PARSE_ERRORS = (EOFError, ValueError, KaitaiStructError)
"""Errors of the Kaitai classes: the bytes end, a length is negative, or a value is invalid."""

TRANSACTION_ENDS = (ControlType.ABORT, ControlType.COMMIT)


class Row(NamedTuple):
    """The fields that a record has besides its entry's; nulls are None."""

    offset: int
    timestamp: int | None
    timestamp_type: int | None
    key: bytes | None
    value: bytes | None
    headers: list[dict[str, Any]] | None
    sequence: int | None
    body: Any
    """The object of the Kaitai class, for columns that are not fields of Row."""


def fault(
    entry: Entry,
    code: str,
    message: str,
    position: int | None = None,
    field: str | None = None,
    found: object = None,
    expected: object = None,
) -> FormatError:
    """Return the error that *entry* is invalid, at *position* of its payload."""
    return FormatError(
        entry.finding(
            code, message, payload_position=position, field=field, found=found, expected=expected
        )
    )


def negative_length(entry: Entry, field: str, length: int, position: int | None) -> Finding:
    """Return the finding that the *length* in *field* is below -1; Kafka reads such a field as null."""
    return entry.finding(
        "negative-length",
        f"{field} is {length}, read as null",
        payload_position=position,
        field=field,
        found=length,
        expected="-1 or more",
    )


def records_before_damage(data: memoryview, entry: Entry, limits: Limits) -> list[Row]:
    """Return the records of a damaged batch, whose bytes are *data*, that Kafka's iterator returns.

    No checksum confirms these records. The iterator of Kafka's class DefaultRecordBatch checks that no
    bytes are left over before it returns the last counted record. Of a compressed batch it reads
    all records before it returns the first.
    """
    rows: list[Row] = []
    if entry.codec:
        return rows
    try:
        for row in decode_batch(data, entry, limits, DecodedEntry()):
            rows.append(row)
    except FormatError as error:
        if error.code == "bytes-left-over":
            rows.pop()
    except LimitError:
        pass
    return rows


def decode_batch(
    data: memoryview, entry: Entry, limits: Limits, result: DecodedEntry
) -> Iterator[Row]:
    """Yield the records of the batch *entry*, whose bytes are *data*; complete *result*.

    Raises FormatError or LimitError if the batch is invalid.
    """
    section = data[RecordBatchHeader.SIZE :]
    count = entry.record_count or 0
    if count < 0:
        message = f"{count} records"
        raise fault(entry, "bad-record-count", message, None, "num_records", count, "at least 0")
    if count == 0:
        if entry.codec not in codecs.NAMES:  # Kafka's reader looks it up all the same
            raise codecs.unknown_codec(entry.codec)
        # Kafka's reader asks for no record, so it never reads these bytes.
        if len(section):
            result.add(entry.finding("bytes-unread", f"no records, but {len(section)} bytes"))
        return
    payload = codecs.decompress(entry.codec, section, magic=2, max_bytes=limits.max_batch_bytes)
    result.decompressed = len(payload) if entry.codec else 0
    stream = KaitaiStream(BytesIO(payload))
    for index in range(count):
        if stream.is_eof():
            message = f"the payload ends after {index} of {count} records"
            raise fault(
                entry, "bad-record-count", message, stream.pos(), "num_records", count, index
            )
        yield _read_record(stream, index, entry, result)
    if not stream.is_eof():
        left = stream.size() - stream.pos()
        message = f"{left} bytes follow the last of {count} records"
        raise fault(entry, "bytes-left-over", message, stream.pos(), "num_records", left, 0)


def _read_record(stream: Any, index: int, entry: Entry, result: DecodedEntry) -> Row:
    position = stream.pos()

    def bad(message: str, field: str, found: object = None, expected: object = None) -> FormatError:
        message, field = f"record {index}: {message}", f"records[{index}].{field}"
        return fault(entry, "bad-record", message, position, field, found, expected)

    try:
        record = KafkaRecord(entry.is_control, stream)
        body = record.body
    except PARSE_ERRORS as error:
        raise bad(str(error) or type(error).__name__, "body") from error
    left = body._io.size() - body._io.pos()
    num_headers = body.num_headers.value
    if num_headers < 0:
        raise bad(f"{num_headers} headers", "num_headers", num_headers, "0 or more")
    if left:
        stated = record.len_body.value
        raise bad(f"{stated} bytes stated, {stated - left} used", "len_body", stated, stated - left)
    for name, length in (("len_key", body.len_key.value), ("len_value", body.len_value.value)):
        if length < -1:
            result.add(negative_length(entry, f"records[{index}].{name}", length, position))
    if entry.is_control and result.control is None and index == 0:
        result.control = _control(entry, body.key, body.value, position, result)
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
        headers=[{"key": decode_utf8(h.key), "value": h.value} for h in body.headers],
        sequence=None if entry.base_sequence < 0 else (entry.base_sequence + delta) % SEQUENCES,
        body=body,
    )


def _control(
    entry: Entry, key: bytes | None, value: bytes | None, position: int, result: DecodedEntry
) -> Control:
    """Return the content of a control record; its key alone states the type (KIP-98)."""
    code = "bad-control-record"
    if key is None or len(key) < ControlKey.SIZE:
        found = "null" if key is None else f"{len(key)} bytes"
        message = f"the key of a control record is {found}"
        raise fault(
            entry, code, message, position, "key", found, f"at least {ControlKey.SIZE} bytes"
        )
    version, control_type = ControlKey.unpack_from(key)
    if version < 0:
        message = f"the key of a control record has version {version}"
        raise fault(entry, code, message, position, "key.version", version, "0 or more")
    if control_type not in CONTROL_TYPE_NAMES:
        result.add(
            entry.finding(
                "unknown-control-type",
                f"control record of type {control_type}",
                payload_position=position,
                field="key.control_type",
                found=control_type,
            )
        )
    coordinator_epoch = None
    if control_type in TRANSACTION_ENDS:
        if value is not None and len(value) >= TransactionMarker.SIZE:
            marker = TransactionMarker.unpack_from(value)
            coordinator_epoch = marker.coordinator_epoch if marker.version >= 0 else None
        if coordinator_epoch is None:
            result.add(
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
