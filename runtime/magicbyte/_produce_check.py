"""Checks of batches before producers send them, for authors of encoders.

Readers accept much that brokers reject, and brokers accept much that the format forbids. The rules
follow the newest broker for Produce 3 and later. Rules that need more than the bytes (the
clock, the topic's settings, earlier batches of the producer) are not checked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any, NamedTuple

import pyarrow.compute as pc
from kaitaistruct import KaitaiStream

from magicbyte import codecs
from magicbyte._produced_request import (
    RequestFindings,
    RequestInFile,
    RequestInMemory,
    entry_at,
)
from magicbyte.engines.entry import Entry, checksum_of, wrap64
from magicbyte.engines.protocol import DecodedEntry
from magicbyte.engines.record_decoder import PARSE_ERRORS
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.errors import CodecError, FormatError, LimitError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.storage import File
from magicbyte_formats.kaitai.kafka_record import KafkaRecord
from magicbyte_formats.kaitai.kafka_varint import KafkaVarint
from magicbyte_formats.wire import Codec, RecordBatchHeader

MESSAGE_MAX_BYTES = 1048588
"""Default of `message.max.bytes`: 1 MiB, and the 12 bytes that a size field does not count."""

SELF_TERMINATING = (Codec.GZIP, Codec.LZ4)
"""Codecs whose readers stop at the end of the compressed data and ignore any bytes after it."""

NO_PAYLOAD = ("unknown-codec", "codec-error", "batch-over-limit")
"""Codes of findings of payloads that cannot be decompressed."""

APPEND_TIME = "attributes.timestamp_type", 1, 0
"""Field, value found and value expected of an entry with the type LogAppendTime."""

REFERENCE = ReferenceEngine()


def check_produced(
    data: bytes | bytearray | memoryview,
    *,
    compacted: bool = False,
    limits: Limits | None = None,
) -> list[Finding]:
    """Check a batch as a producer sends it: would a broker accept it?

    Args:
        data: The `records` field of one partition in a produce request.
        compacted: Whether the topic's ``cleanup.policy`` is ``compact``, which forbids null keys.
        limits: As for `open`.
    Returns:
        Findings, the first of each code. `error`: a broker refuses the batch, perhaps with some
        settings or codecs only. `warning`: a broker accepts it, and something is wrong. `note`:
        worth knowing.
    Example:
        >>> [finding.code for finding in mb.check_produced(b"")]
        ['produced-no-batch']
    """
    request = RequestInMemory(memoryview(data).cast("B"))
    return _check_request(request, limits or Limits(), compacted=compacted)


def check_produced_file(
    file: File, *, compacted: bool = False, limits: Limits | None = None
) -> list[Finding]:
    """Check a file with a batch as a producer sends it, in parts: memory depends on the largest entry.

    Args:
        file: A file of `magicbyte.storage` that holds the `records` field of one partition in a
            produce request.
        compacted: As for `check_produced`.
        limits: As for `open`.
    Returns:
        The same findings as `check_produced`; `unreadable` if the file cannot be read to its end.
    Example:
        >>> from magicbyte.storage import MemoryFile
        >>> [finding.code for finding in mb.check_produced_file(MemoryFile(b"", "batch.bin"))]
        ['produced-no-batch']
    """
    return _check_request(RequestInFile(file), limits or Limits(), compacted=compacted)


def _check_request(
    request: RequestInMemory | RequestInFile, limits: Limits, *, compacted: bool
) -> list[Finding]:
    """Return the findings about the entries of *request*."""
    if not request.size_bytes:
        return [Finding(code="produced-no-batch", message="no bytes", position=0, length=0)]
    findings = RequestFindings()
    first_entry: Entry | None = None
    has_second_batch = has_old_magic = False
    position = 0
    while position < request.size_bytes:
        result = DecodedEntry()
        try:
            entry = entry_at(request, position)
            is_large = entry.size_bytes > limits.max_entry_bytes
            content = memoryview(b"") if is_large else request.read(position, entry.size_bytes)
        except FormatError as error:
            is_first = first_entry is None
            findings.add(_invalid_entry(error.finding, request.size_bytes, is_first=is_first))
            break
        except UnreadableError as error:
            findings.add(error.finding)
            break
        if first_entry is not None and not has_second_batch and not _may_follow(entry, first_entry):
            has_second_batch = True
            message = "a second batch; a request carries one batch per partition"
            result.add(entry.finding("produced-several-batches", message))
        if entry.magic < 2 and not has_old_magic:
            has_old_magic = True
            result.add(_differs(entry, "produced-old-magic", "magic", entry.magic, 2))
        if is_large:
            result.add(entry.over_limit(limits))
        else:
            _check_entry(content, entry, result, limits, compacted=compacted)
        del content  # frees it before the next one is read
        findings.add_entry(result)
        first_entry = first_entry or entry
        position = entry.end
    return findings.counted()


def _invalid_entry(finding: Finding, size: int, *, is_first: bool) -> Finding:
    """Return *finding*, about bytes that are not an entry, with the length up to the end of the data."""
    # Kafka's reader treats an incomplete entry as the end of the data, and appends the rest.
    is_dropped = finding.code == "incomplete-entry" and not is_first
    code = "produced-bytes-behind-batch" if is_dropped else finding.code
    return replace(finding, code=code, length=size - (finding.position or 0))


def _may_follow(entry: Entry, first_entry: Entry) -> bool:
    """Return whether a request may contain both entries: uncompressed, both v0 or both v1."""
    # KAFKA-8428
    return (
        entry.magic == first_entry.magic < 2 and not entry.is_wrapper and not first_entry.is_wrapper
    )


def _differs(
    entry: Entry,
    code: str,
    field: str,
    found: object,
    expected: object,
    position: int | None = None,
) -> Finding:
    message = f"{field} is {found}, expected {expected}"
    return entry.finding(
        code, message, payload_position=position, field=field, found=found, expected=expected
    )


# An entry of any format


def _check_entry(
    data: memoryview, entry: Entry, result: DecodedEntry, limits: Limits, *, compacted: bool
) -> None:
    """Add the findings of *entry*, whose bytes are *data*, to *result*."""
    if entry.size_bytes > MESSAGE_MAX_BYTES:
        most = f"at most {MESSAGE_MAX_BYTES}"
        result.add(_differs(entry, "produced-large", "size", entry.size_bytes, most))
    computed = checksum_of(data, entry, origin=entry.position)
    if computed != entry.crc:
        result.add(entry.checksum_mismatch(computed))
    if entry.magic < 2:
        if entry.is_append_time:
            result.add(_differs(entry, "produced-log-append-time", *APPEND_TIME))
        rows = _decode(data, entry, ("key", "timestamp"), result, limits)
        _add_all(result, _message_findings(rows, entry, compacted=compacted))
        return
    header = RecordBatchHeader.unpack_from(data)
    _add_all(result, _header_findings(entry, header))
    # Decode the records of a control batch like data: only the control bit is wrong.
    _decode(data, entry._replace(is_control=False), (), result, limits)
    if header.num_records < 1 or any(finding.code in NO_PAYLOAD for finding in result.findings):
        return
    section = data[RecordBatchHeader.SIZE :]
    if _has_trailing_bytes(header.codec, section, limits):
        result.add(
            entry.finding(
                "produced-bytes-behind-payload",
                "bytes follow the end of the compressed data",
                field="records",
                found="1 or more",
                expected="0",
            )
        )
    payload = codecs.decompress(header.codec, section, magic=2, max_bytes=limits.max_batch_bytes)
    _check_records(payload, entry, header, result, compacted=compacted)


def _add_all(result: DecodedEntry, findings: Iterable[Finding]) -> None:
    for finding in findings:
        result.add(finding)


def _decode(
    data: memoryview, entry: Entry, columns: tuple[str, ...], result: DecodedEntry, limits: Limits
) -> Any:
    """Add the findings of a reader to *result*, and return the columns of *entry*."""
    rows, decoded = REFERENCE.decode_entry(data, entry, columns, limits)
    for finding in decoded.findings:
        if finding.code != "record-attributes":  # `produced-record-attributes` reports them
            result.add(finding, 1 + decoded.repeats(finding.code))
    return rows


def _has_trailing_bytes(codec: int, section: memoryview, limits: Limits) -> bool:
    """Return whether *section* can be decompressed without its last byte too."""
    if codec not in SELF_TERMINATING:
        return False
    try:
        codecs.decompress(codec, section[:-1], magic=2, max_bytes=limits.max_batch_bytes)
    except (CodecError, LimitError):
        return False
    return True


# v0 and v1


def _message_findings(rows: Any, entry: Entry, *, compacted: bool) -> Iterator[Finding]:
    if compacted and rows.column("key").null_count:
        yield _differs(entry, "produced-null-key", "len_key", -1, "0 or more")
    lowest = pc.min(rows.column("timestamp").cast("int64")).as_py()
    if lowest is not None and lowest < 0:
        yield _differs(entry, "produced-negative-timestamp", "timestamp", lowest, "-1 or more")


# v2


def _header_findings(entry: Entry, header: RecordBatchHeader) -> Iterator[Finding]:
    """Yield the findings about the header of a batch or message, in the order of its fields."""
    if header.base_offset != 0:
        yield _differs(entry, "produced-base-offset", "base_offset", header.base_offset, 0)
    if header.partition_leader_epoch != -1:
        epoch = header.partition_leader_epoch
        yield _differs(entry, "produced-leader-epoch", "partition_leader_epoch", epoch, -1)
    yield from _attribute_findings(entry, header)
    count, delta = header.num_records, header.last_offset_delta
    if count == 0:
        yield _differs(entry, "produced-no-records", "num_records", 0, "1 or more")
    elif count > 0 and delta != count - 1:
        yield _differs(entry, "produced-last-offset-delta", "last_offset_delta", delta, count - 1)
    yield from _producer_findings(entry, header)


def _attribute_findings(entry: Entry, header: RecordBatchHeader) -> Iterator[Finding]:
    if header.codec == Codec.ZSTD:
        yield entry.finding(
            "produced-zstd",
            "zstd, which Produce 6 and lower do not allow",
            field="attributes.codec",
            found=header.codec,
        )
    if header.timestamp_type:
        yield _differs(entry, "produced-log-append-time", *APPEND_TIME)
    if header.is_control:
        yield _differs(entry, "produced-control", "attributes.is_control", 1, 0)
    if header.has_delete_horizon:
        yield _differs(entry, "produced-delete-horizon", "attributes.has_delete_horizon", 1, 0)
    if header.reserved:
        yield _differs(entry, "produced-reserved-bits", "attributes.reserved", header.reserved, 0)


def _producer_findings(entry: Entry, header: RecordBatchHeader) -> Iterator[Finding]:
    producer, epoch, sequence = header.producer_id, header.producer_epoch, header.base_sequence
    fields = {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence}
    if producer < 0:
        if header.is_transactional:
            yield _differs(entry, "produced-transactional", "producer_id", producer, "0 or more")
        for field, found in fields.items():
            if found != -1:
                yield _differs(entry, "produced-producer-id", field, found, -1)
    # A broker that recompresses the batch accepts -1 only, or else an id with epoch and sequence.
    if producer == -1:
        return
    if epoch < 0:
        yield _differs(entry, "produced-epoch", "producer_epoch", epoch, "0 or more")
    if sequence < 0:
        yield _differs(entry, "produced-sequence", "base_sequence", sequence, "0 or more")


def _check_records(
    payload: bytes,
    entry: Entry,
    header: RecordBatchHeader,
    result: DecodedEntry,
    *,
    compacted: bool,
) -> None:
    """Add the findings about the records in *payload*, up to an unreadable record, to *result*."""
    stream = KaitaiStream(BytesIO(payload))
    first = largest = None
    for index in range(header.num_records):
        position = stream.pos()
        try:
            # The two fields of KafkaRecord, whose list of headers may be too long for memory.
            len_body = KafkaVarint(stream)
            body = _CheckedBody(KaitaiStream(BytesIO(stream.read_bytes(len_body.value))))
        except PARSE_ERRORS:  # the reader has reported it
            return
        time = wrap64(header.base_timestamp + body.timestamp_delta.value)
        first = time if first is None else first
        largest = time if largest is None else max(largest, time)
        for rule, count in _record_rules(len_body, body, index, time, compacted):
            name = f"records[{index}].{rule.field}"
            finding = _differs(entry, rule.code, name, rule.found, rule.expected, position)
            result.add(finding, count)
    if first is None:
        return
    base, highest = header.base_timestamp, header.max_timestamp
    if not header.has_delete_horizon and first != base:
        result.add(_differs(entry, "produced-base-timestamp", "base_timestamp", base, first))
    if not header.timestamp_type and largest != highest:
        result.add(_differs(entry, "produced-max-timestamp", "max_timestamp", highest, largest))


class Violation(NamedTuple):
    """A rule that a record violates."""

    code: str
    field: str
    found: object
    expected: object


class _CheckedHeaders(list[Any]):
    """The headers of a record, which are checked while they are read, and not kept.

    Attributes:
        violations: The first violation of each code, and how many there are.
    """

    def __init__(self) -> None:
        super().__init__()
        self._count = 0
        self.violations: dict[str, tuple[Violation, int]] = {}

    def append(self, header: Any) -> None:
        """Check *header*, an object of the Kaitai class."""
        for violation in _header_rules(header, self._count):
            first, count = self.violations.get(violation.code, (violation, 0))
            self.violations[violation.code] = first, count + 1
        self._count += 1


class _CheckedBody(KafkaRecord.RecordBody):
    """A record that checks its headers while they are read, instead of a list of Kaitai objects."""

    @property
    def headers(self) -> Any:
        return self._checked_headers

    @headers.setter
    def headers(self, empty: list[Any]) -> None:
        self._checked_headers = _CheckedHeaders()


def _header_rules(header: Any, number: int) -> Iterator[Violation]:
    """Yield the rules that the header with *number* violates."""
    name = f"headers[{number}]"
    if header.len_value.value < -1:
        found = header.len_value.value
        yield Violation("negative-length", f"{name}.len_value", found, "-1 or more")
    if not _is_utf_8(header.key):
        yield Violation("produced-header-key", f"{name}.key", header.key[:16].hex(), "UTF-8")
    for field_name in ("len_key", "len_value"):
        yield from _varint_rules(f"{name}.{field_name}", getattr(header, field_name))


def _record_rules(
    len_body: Any, body: Any, index: int, time: int, compacted: bool
) -> Iterator[tuple[Violation, int]]:
    """Yield the rules that a record violates, each with how often it does."""
    for violation in _own_rules(len_body, body, index, time, compacted):
        yield violation, 1
    yield from body.headers.violations.values()


def _own_rules(
    len_body: Any, body: Any, index: int, time: int, compacted: bool
) -> Iterator[Violation]:
    """Yield the rules that a record violates by anything but its headers."""
    if body.attributes != 0:
        yield Violation("produced-record-attributes", "attributes", body.attributes, 0)
    if time < -1:
        yield Violation("produced-negative-timestamp", "timestamp", time, "-1 or more")
    if body.offset_delta.value != index:
        found = body.offset_delta.value
        yield Violation("produced-offset-delta", "offset_delta", found, index)
    if compacted and body.key is None:
        yield Violation("produced-null-key", "len_key", body.len_key.value, "0 or more")
    yield from _varint_rules("len_body", len_body)
    for name in ("timestamp_delta", "offset_delta", "len_key", "len_value", "num_headers"):
        yield from _varint_rules(name, getattr(body, name))


def _varint_rules(name: str, number: Any) -> Iterator[Violation]:
    if not _is_shortest(number):
        found = f"{number.num_bytes} bytes"
        yield Violation("produced-overlong-varint", name, found, "the fewest")


def _is_utf_8(key: bytes) -> bool:
    try:
        key.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_shortest(number: Any) -> bool:
    """Return whether *number* has the shortest encoding, without extra bits."""
    mapped = number.magnitude * 2 + number.is_negative
    shortest = max(1, (mapped.bit_length() + 6) // 7)
    last = number.last_group if number.has_last_group else number.groups[-1]
    # Readers drop bits above 32 or 64, so a number of full length may have extra bits.
    return bool(number.num_bytes == shortest and last == mapped >> 7 * (shortest - 1))
