"""Decode v0 and v1 messages, and the messages inside of wrapper messages, with the Kaitai classes."""

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from kaitaistruct import KaitaiStream

from magicbyte import codecs
from magicbyte.checksum import crc32
from magicbyte.engines._record_headers import UNBOUNDED, WorkBudget
from magicbyte.engines._record_rows import Row
from magicbyte.engines.entry import LEAST_SIZE, OVERHEAD, Entry, wrap64
from magicbyte.engines.protocol import DecodedEntry
from magicbyte.engines.record_decoder import PARSE_ERRORS, fault, negative_length
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte_formats.kaitai.kafka_message import KafkaMessage
from magicbyte_formats.wire import EntryHeader, MessageHeader

OFFSET_AND_SIZE = struct.Struct(">qi")
"""The first two fields of EntryHeader."""


def decode_message(
    data: memoryview,
    entry: Entry,
    limits: Limits,
    result: DecodedEntry,
    *,
    budget: WorkBudget = UNBOUNDED,
) -> Iterator[Row]:
    """Yield the records of the message or wrapper message *entry*, whose bytes are *data*.

    Completes *result*. Raises FormatError or LimitError if the message is invalid.
    """
    if not entry.is_wrapper:
        message = _read_message(bytes(data), entry, result, None)
        yield _row(message, entry.last_offset, entry)
        return
    section = _wrapper_value(data, entry, result)
    if section is None:
        message = "a compressed message without a value"
        raise fault(entry, "bad-wrapper", message, None, "value")
    payload = codecs.decompress(
        entry.codec, section, magic=entry.magic, max_bytes=limits.max_batch_bytes
    )
    result.decompressed = len(payload)
    base = last = 0
    if entry.magic == 1 and entry.last_offset != 0:
        # Relative offsets keep their gaps after compaction, so the last one defines the base. Some
        # producers left the wrapper's own offset 0; then the offsets inside are absolute.
        last = _last_offset_field(payload)
        base = entry.last_offset - last
    first, count = None, 0
    for offset, body in _inner_messages(payload, entry, result):
        budget.spend(1)
        row = _row(body, wrap64(base + offset), entry)
        first = row.offset if first is None else first
        count += 1
        yield row
    if not count:
        raise fault(entry, "bad-wrapper", "no message inside a compressed one", 0, "value")
    if base < 0:
        message = f"offset {entry.last_offset}, but the last message inside has {last}"
        expected = f"{last} or more"
        raise fault(entry, "bad-wrapper", message, 0, "offset", entry.last_offset, expected)
    result.base_offset, result.record_count = first, count


def _last_offset_field(payload: bytes) -> int:
    """Return the offset field of the last whole message in *payload*; 0 without one."""
    position, last = 0, 0
    while position + OVERHEAD <= len(payload):
        offset, size = OFFSET_AND_SIZE.unpack_from(payload, position)
        if size < LEAST_SIZE or size > len(payload) - position - OVERHEAD:
            break
        last = offset
        position += OVERHEAD + size
    return last


def _wrapper_value(data: memoryview, entry: Entry, result: DecodedEntry) -> memoryview | None:
    """Return the value of the wrapper message *data*, without a copy; None if it is null.

    The Kaitai class would copy it three times, and a wrapper may be as large as a limit allows.
    """
    position = MessageHeader.SIZE + (8 if entry.magic == 1 else 0)
    field_bytes: memoryview | None = None
    for name in ("len_key", "len_value"):
        length = int.from_bytes(data[position : position + 4], "big", signed=True)
        end = position + 4 + max(length, 0)
        if end > len(data):
            message = f"{name} {length} leads past the message's end"
            expected = f"at most {max(len(data) - position - 4, 0)}"
            raise fault(entry, "bad-message", message, None, name, length, expected)
        if length < -1:
            result.add(negative_length(entry, name, length, None))
        field_bytes = None if length < 0 else data[position + 4 : end]
        position = end
    if position < len(data):
        result.add(_bytes_unread(entry, len(data) - position, None))
    return field_bytes


def _bytes_unread(entry: Entry, left: int, position: int | None) -> Finding:
    return entry.finding(
        "message-bytes-unread",
        f"{left} bytes follow the value",
        payload_position=position,
        field="len_value",
        found=left,
        expected=0,
    )


def _read_message(data: bytes, entry: Entry, result: DecodedEntry, position: int | None) -> Any:
    """Return the body of the message *data*; a field of negative length is null."""
    try:
        body = KafkaMessage(KaitaiStream(BytesIO(data))).message
    except PARSE_ERRORS as error:
        message = f"a message does not hold what it states: {error}"
        raise fault(entry, "bad-message", message, position, "message") from error
    for name in ("len_key", "len_value"):
        length = getattr(body, name)
        if length < -1:
            result.add(negative_length(entry, name, length, position))
    if body.ignored is not None:
        result.add(_bytes_unread(entry, len(body.ignored), position))
    return body


def _row(body: Any, offset: int, entry: Entry) -> Row:
    timestamp = body.timestamp
    if body.magic == 0:
        timestamp = None  # but of the type of a v1 wrapper around it, as in Kafka
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


def _inner_messages(
    payload: bytes, entry: Entry, result: DecodedEntry
) -> Iterator[tuple[int, Any]]:
    """Yield the offset field and the body of each message in the *payload* of a wrapper message."""
    position = 0
    while position < len(payload):
        left = len(payload) - position
        if left >= OVERHEAD:
            size = int.from_bytes(payload[position + 8 : position + OVERHEAD], "big", signed=True)
            if size < LEAST_SIZE:
                message, least = f"a message inside has size {size}", f"{LEAST_SIZE} or more"
                raise fault(entry, "bad-wrapper", message, position, "len_message", size, least)
        if left < OVERHEAD or size + OVERHEAD > left:
            # Kafka's reader takes the end of the stream for the end of the set.
            result.add(
                entry.finding(
                    "inner-message-cut",
                    f"the payload ends inside a message, {left} bytes of it were dropped",
                    payload_position=position,
                    found=left,
                )
            )
            return
        data = payload[position : position + OVERHEAD + size]
        header = EntryHeader.unpack_from(data)
        offset, magic = header.offset, header.magic
        if magic not in (0, 1):
            message = f"a message inside has magic {magic}"
            raise fault(entry, "bad-wrapper", message, position, "magic", magic, "0 or 1")
        body = _read_message(data, entry, result, position)
        codec = int(body.attributes.codec)
        if codec != 0:
            message = "a compressed message inside a compressed one"
            raise fault(entry, "bad-wrapper", message, position, "attributes", codec, 0)
        computed = crc32(data[MessageHeader.CHECKSUM.start :])
        if body.crc != computed:
            found, expected = f"{body.crc:#010x}", f"{computed:#010x}"
            message = f"a message inside: stored CRC-32 {found}, computed {expected}"
            code = "record-checksum-mismatch"
            raise fault(entry, code, message, position, "crc", found, expected)
        if magic != entry.magic:
            result.add(
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
