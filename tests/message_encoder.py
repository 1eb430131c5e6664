"""Encodes records of coordinators' topics from dicts, by the schemas of their messages."""

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from log_builder import uvarint
from magicbyte_formats.messages import consumer_protocol
from magicbyte_kernels.message_schema import MessageField, MessageSchema, Release

NEWEST: Release = (4, 4)

INTEGERS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H"}

Fields = Mapping[str, Any]


def key_and_value(
    schemas: Sequence[MessageSchema],
    name: str,
    key: Fields,
    value: Fields | None,
    version: int | None = None,
) -> tuple[bytes, bytes | None]:
    """Return key and value of the record *name*, a tombstone without *value*; fields that are absent are 0 or empty."""
    key_schema, value_schema = (
        next(schema for schema in schemas if schema.name == f"{name}{end}")
        for end in ("Key", "Value")
    )
    key_bytes = struct.pack(">h", key_schema.type or 0) + encode(key_schema, key, 0)
    if value is None:
        return key_bytes, None
    if version is None:
        known = value_schema.versions_in(NEWEST)
        assert known is not None and known.last is not None
        version = known.last
    return key_bytes, struct.pack(">h", version) + encode(value_schema, value, version)


def assignment(partitions: Mapping[str, Sequence[int]]) -> bytes:
    """Return the assignment of a consumer in a classic group: numbers of partitions by topic."""
    assigned = [
        {"topic": topic, "partitions": list(numbers)} for topic, numbers in partitions.items()
    ]
    schema = consumer_protocol.CONSUMER_PROTOCOL_ASSIGNMENT
    return struct.pack(">h", 3) + encode(schema, {"assignedPartitions": assigned}, 3)


def subscription(*topics: str, rack: str | None = None) -> bytes:
    """Return the subscription of a consumer in a classic group."""
    schema = consumer_protocol.CONSUMER_PROTOCOL_SUBSCRIPTION
    fields = {"topics": list(topics), "rackId": rack, "userData": None}
    return struct.pack(">h", 3) + encode(schema, fields, 3)


def encode(schema: MessageSchema, fields: Fields, version: int, release: Release = NEWEST) -> bytes:
    """Return *fields* as *version* of a message."""
    return _encode(schema.fields, fields, version, schema.is_flexible(version, release), release)


def _encode(
    members: Sequence[MessageField], fields: Fields, version: int, flexible: bool, release: Release
) -> bytes:
    out, tagged = b"", []
    for field in members:
        if version not in field.versions or release not in field.releases:
            continue
        if field.tag is None:
            out += _array_or_value(field, fields.get(field.name), version, flexible, release)
        elif field.name in fields:
            data = _array_or_value(field, fields[field.name], version, flexible, release)
            tagged.append(uvarint(field.tag) + uvarint(len(data)) + data)
    return out + (uvarint(len(tagged)) + b"".join(tagged) if flexible else b"")


def _array_or_value(
    field: MessageField, value: Any, version: int, flexible: bool, release: Release
) -> bytes:
    if not field.is_array:
        return _value(field, value, version, flexible, release)
    if value is None and field.is_nullable:
        return _length(-1, flexible)
    values = value or []
    element = field._replace(is_nullable=False)
    encoded = [_value(element, one, version, flexible, release) for one in values]
    return _length(len(values), flexible) + b"".join(encoded)


def _length(number: int, flexible: bool) -> bytes:
    return uvarint(number + 1) if flexible else struct.pack(">i", number)


def _value(
    field: MessageField, value: Any, version: int, flexible: bool, release: Release
) -> bytes:
    match field.kind:
        case "struct":
            if field.is_nullable:
                if value is None:
                    return uvarint(0) if field.tag is not None else b"\xff"
                mark = uvarint(1) if field.tag is not None else b"\1"
                return mark + _encode(field.fields, value, version, flexible, release)
            return _encode(field.fields, value or {}, version, flexible, release)
        case "string":
            data = None if value is None and field.is_nullable else (value or "").encode()
            size = -1 if data is None else len(data)
            length = uvarint(size + 1) if flexible else struct.pack(">h", size)
            return length + (data or b"")
        case "bytes":
            blob = None if value is None and field.is_nullable else value or b""
            return _length(-1 if blob is None else len(blob), flexible) + (blob or b"")
        case "uuid":
            return base64.urlsafe_b64decode((value or "A" * 22) + "==")
        case "bool":
            return b"\1" if value else b"\0"
    return struct.pack(">" + INTEGERS[field.kind], value or 0)
