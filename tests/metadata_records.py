"""Encodes records of `__cluster_metadata` from the values of their fields, by the message schemas."""

import base64
import struct
from collections.abc import Sequence
from typing import Any

from log_builder import uvarint
from magicbyte_formats.messages import cluster_metadata
from magicbyte_kernels.message_schema import MessageField

RELEASE = (4, 4)

SCHEMAS = {
    schema.name: schema for schema in cluster_metadata.MESSAGES if schema.versions_in(RELEASE)
}
"""Messages that the newest release knows, by name."""

INTEGERS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H", "float64": "d"}

EMPTY: dict[str, Any] = {"string": "", "uuid": "A" * 22, "bool": False, "bytes": b""}


def topic_id(number: int) -> str:
    """Return a topic id, which is none of the reserved ones."""
    return base64.urlsafe_b64encode((0x10000 + number).to_bytes(16)).decode().rstrip("=")


def metadata_record(message: str, /, **values: Any) -> bytes:
    """Return the value of a record with the *message* of that name, in its newest version.

    Fields that are not in *values* are 0, empty or, if tagged, absent.
    """
    schema = SCHEMAS[message]
    known = schema.versions_in(RELEASE)
    assert known is not None and known.last is not None and schema.type is not None
    version = known.last
    return (
        uvarint(1)
        + uvarint(schema.type)
        + uvarint(version)
        + _fields(schema.fields, version, values)
    )


def _fields(fields: Sequence[MessageField], version: int, values: dict[str, Any]) -> bytes:
    known = [field for field in fields if version in field.versions and RELEASE in field.releases]
    assert values.keys() <= {field.name for field in known}, values
    plain = [_field(field, version, values) for field in known if field.tag is None]
    tagged = []
    for field in sorted(
        (one for one in known if one.tag is not None), key=lambda one: one.tag or 0
    ):
        if field.name in values:
            data = _field(field, version, values)
            tagged.append(uvarint(field.tag or 0) + uvarint(len(data)) + data)
    return b"".join(plain) + uvarint(len(tagged)) + b"".join(tagged)


def _field(field: MessageField, version: int, values: dict[str, Any]) -> bytes:
    if not field.is_array:
        return _value(field, version, values.get(field.name, EMPTY.get(field.kind, 0)))
    items = values.get(field.name, ())
    if items is None:
        return uvarint(0)
    return uvarint(len(items) + 1) + b"".join(_value(field, version, item) for item in items)


def _value(field: MessageField, version: int, value: Any) -> bytes:
    match field.kind:
        case "struct":
            return _fields(field.fields, version, value)
        case "uuid":
            return base64.urlsafe_b64decode(value + "==")
        case "bool":
            return struct.pack("?", value)
        case "string" | "bytes":
            if value is None:
                return uvarint(0)
            data = value.encode() if isinstance(value, str) else value
            return uvarint(len(data) + 1) + data
    return struct.pack(">" + INTEGERS[field.kind], value)
