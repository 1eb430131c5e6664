"""Decode the records of a v2 batch with the generated Kaitai classes, one at a time."""

from collections.abc import Iterator
from io import BytesIO
from types import SimpleNamespace
from typing import Any, NamedTuple

from kaitaistruct import KaitaiStream, KaitaiStructError

from magicbyte import codecs
from magicbyte.engines._record_headers import UNBOUNDED, RecordHeaders, WorkBudget
from magicbyte.engines._record_rows import RecordStop, Row
from magicbyte.engines.entry import OVERHEAD, SEQUENCES, Entry, wrap64
from magicbyte.engines.protocol import Control, DecodedEntry
from magicbyte.errors import CodecError, FormatError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte_formats.kaitai.kafka_record import KafkaRecord
from magicbyte_formats.kaitai.kafka_varint import KafkaVarint
from magicbyte_formats.wire import (
    CODEC_NAMES,
    CONTROL_TYPE_NAMES,
    ControlKey,
    ControlType,
    RecordBatchHeader,
    TransactionMarker,
)

PARSE_ERRORS = (EOFError, ValueError, KaitaiStructError)
"""Errors of the Kaitai classes: the bytes end, a length is negative, or a value is invalid."""

TRANSACTION_ENDS = (ControlType.ABORT, ControlType.COMMIT)


class SkippedHeaders(NamedTuple):
    """Headers at the beginning of a record that are known to be valid, and are not parsed again."""

    num_headers: int | None
    """None: all."""
    end: int
    """Byte of the payload after them; it does not matter if all are skipped."""


class RecordBody(KafkaRecord.RecordBody):
    """A record that converts its headers while they are read, instead of a list of Kaitai objects."""

    def __init__(
        self,
        stream: Any,
        budget: WorkBudget = UNBOUNDED,
        skipped: SkippedHeaders | None = None,
        start: int = 0,
    ) -> None:
        """*start* is the byte of the payload at which *stream* begins."""
        self._budget, self._skipped, self._start = budget, skipped, start
        super().__init__(stream)

    @property
    def headers(self) -> Any:
        """Headers of the record; the Kaitai class appends each once it has read it."""
        return self._record_headers

    @headers.setter
    def headers(self, empty: list[Any]) -> None:
        self._record_headers = RecordHeaders(self._budget)
        if self._skipped is not None:
            count, end = self._skipped
            if count is None:
                count, end = self.num_headers.value, self._start + self._io.size()
            self._io.seek(end - self._start)
            remaining: Any = SimpleNamespace(value=self.num_headers.value - count)
            self.num_headers = remaining


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


def batch_before_damage(data: memoryview, entry: Entry, result: DecodedEntry) -> bytes:
    """Return the uncompressed batch *entry* without the records from the first fault in its *result* on.

    *data* are its bytes. The stored checksum is wrong for the result.
    """
    error = next(finding for finding in result.findings if finding.severity == "error")
    end = RecordBatchHeader.SIZE + (error.payload_position or 0)
    header = bytearray(data[: RecordBatchHeader.SIZE])
    for name, number in (("len_batch", end - OVERHEAD), ("num_records", result.valid_records)):
        position = RecordBatchHeader.POSITIONS[name]
        header[position : position + 4] = number.to_bytes(4, "big")
    return bytes(header) + data[RecordBatchHeader.SIZE : end]


def decode_batch(
    data: memoryview,
    entry: Entry,
    limits: Limits,
    result: DecodedEntry,
    *,
    budget: WorkBudget = UNBOUNDED,
    stop: RecordStop | None = None,
    known_payload: memoryview | CodecError | None = None,
) -> Iterator[Row]:
    """Yield the records of the batch *entry*, whose bytes are *data*; complete *result*.

    With a *stop*, the records before it are not parsed again. *known_payload* is the decompressed payload, or
    the reason why there is none; by default it is decompressed here. Raises FormatError, CodecError or LimitError
    if the batch is invalid.
    """
    section = data[RecordBatchHeader.SIZE :]
    count = entry.record_count or 0
    if count < 0:
        message = f"{count} records"
        raise fault(entry, "bad-record-count", message, None, "num_records", count, "at least 0")
    if count == 0:
        if entry.codec not in CODEC_NAMES:  # Kafka's reader looks it up all the same
            raise codecs.unknown_codec(entry.codec)
        # Kafka's reader asks for no record, so it never reads these bytes.
        if len(section):
            result.add(entry.finding("bytes-unread", f"no records, but {len(section)} bytes"))
        return
    if isinstance(known_payload, CodecError):
        raise known_payload
    record_bytes: bytes | memoryview = (
        codecs.decompress(entry.codec, section, magic=2, max_bytes=limits.max_batch_bytes)
        if known_payload is None
        else known_payload
    )
    result.decompressed = len(record_bytes) if entry.codec else 0
    stream = KaitaiStream(BytesIO(record_bytes))
    first = 0
    if stop is not None:
        _add_findings_before(stop, stream, entry, result)
        first = stop.record_index
        stream.seek(stop.position)
    for index in range(first, count):
        result.valid_records = index
        if stream.is_eof():
            message = f"the payload ends after {index} of {count} records"
            raise fault(
                entry, "bad-record-count", message, stream.pos(), "num_records", count, index
            )
        budget.spend(1)
        skipped = None
        if stop is not None and index == first and stop.header_index:
            skipped = SkippedHeaders(stop.header_index, stop.header_position)
        yield _read_record(stream, index, entry, result, budget, skipped)
    result.valid_records = count
    if not stream.is_eof():
        left = stream.size() - stream.pos()
        message = f"{left} bytes follow the last of {count} records"
        raise fault(
            entry,
            "bytes-left-over",
            message,
            stream.pos(),
            "records",
            f"{left} bytes left",
            "0 bytes left",
        )


def _add_findings_before(stop: RecordStop, stream: Any, entry: Entry, result: DecodedEntry) -> None:
    """Add the findings of the records before *stop*: of the first, of negative lengths and attributes."""
    starts: dict[int, int] = {}
    if entry.is_control and stop.record_index:
        starts[0] = 0
    if stop.num_negative:
        starts[stop.negative_index] = stop.negative_position
    if stop.num_attributes:
        starts[stop.attributes_index] = stop.attributes_position
    skipped = SkippedHeaders(None, 0)
    for index, position in sorted(starts.items()):
        stream.seek(position)
        _read_record(stream, index, entry, result, UNBOUNDED, skipped)
    repeated = dict(result.repeated or {})
    for code, count in (
        ("negative-length", stop.num_negative),
        ("record-attributes", stop.num_attributes),
    ):
        repeated.pop(code, None)  # the records that were read may have some of them
        if count > 1:
            repeated[code] = count - 1
    result.repeated = repeated or None


def _read_record(
    stream: Any,
    index: int,
    entry: Entry,
    result: DecodedEntry,
    budget: WorkBudget,
    skipped: SkippedHeaders | None,
) -> Row:
    position = stream.pos()

    def bad(message: str, field: str, found: object = None, expected: object = None) -> FormatError:
        message, field = f"record {index}: {message}", f"records[{index}].{field}"
        return fault(entry, "bad-record", message, position, field, found, expected)

    try:
        # The two fields of KafkaRecord, whose list of headers may be too long for memory.
        stated = KafkaVarint(stream).value
        start = stream.pos()
        most = stream.size() - start
        if not 0 <= stated <= most:
            message = f"a length of {stated} bytes where {most} are left"
            raise bad(message, "len_body", stated, f"0 to {most}")
        content = KaitaiStream(BytesIO(stream.read_bytes(stated)))
        body = RecordBody(content, budget, skipped, start)
    except PARSE_ERRORS as error:
        raise bad(str(error) or type(error).__name__, "body") from error
    left = body._io.size() - body._io.pos()
    num_headers = body.num_headers.value
    if num_headers < 0:
        raise bad(f"{num_headers} headers", "num_headers", num_headers, "0 or more")
    if left:
        raise bad(f"{stated} bytes stated, {stated - left} used", "len_body", stated, stated - left)
    if body.attributes:
        field, found = f"records[{index}].attributes", body.attributes
        message = f"reserved attributes of record {index} are {found}"
        result.add(
            entry.finding(
                "record-attributes",
                message,
                payload_position=position,
                field=field,
                found=found,
                expected=0,
            )
        )
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
        headers=body.headers,
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
                    found="null" if value is None else value[:16].hex(),
                    expected=f"version 0 or more, {TransactionMarker.SIZE} bytes",
                )
            )
    return Control(control_type, coordinator_epoch)
