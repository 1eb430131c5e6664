"""Encodes records of `__cluster_metadata` from the values of their fields, by the message schemas."""

import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from log_builder import uvarint
from magicbyte_formats.messages import cluster_metadata
from magicbyte_kernels.message_schema import MessageField, Release

NEWEST = (4, 4)

SCHEMAS = {
    schema.name: schema for schema in cluster_metadata.MESSAGES if schema.versions_in(NEWEST)
}
"""Messages that the newest release knows, by name."""

INTEGERS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H", "float64": "d"}

EMPTY: dict[str, Any] = {"string": "", "uuid": "A" * 22, "bool": False, "bytes": b""}


def topic_id(number: int) -> str:
    """Return a topic id, which is none of the reserved ones."""
    return base64.urlsafe_b64encode((0x10000 + number).to_bytes(16)).decode().rstrip("=")


def metadata_record(message: str, /, *, release: Release = NEWEST, **values: Any) -> bytes:
    """Return the value of a record with the *message* of that name, in the newest version of a *release*.

    Fields that are not in *values* are 0, empty or, if tagged, absent.
    """
    schema = SCHEMAS[message]
    known = schema.versions_in(release)
    assert known is not None and known.last is not None and schema.type is not None
    version = known.last
    return (
        uvarint(1)
        + uvarint(schema.type)
        + uvarint(version)
        + Message(version, release).fields(schema.fields, values)
    )


@dataclass(frozen=True)
class Message:
    """Encodes fields of a message in one version, as a release would."""

    version: int
    release: Release

    def fields(self, fields: Sequence[MessageField], values: dict[str, Any]) -> bytes:
        known = [
            one for one in fields if self.version in one.versions and self.release in one.releases
        ]
        assert values.keys() <= {field.name for field in known}, values
        plain = [self.field(field, values) for field in known if field.tag is None]
        tagged = []
        tagged_fields = [one for one in known if one.tag is not None and one.name in values]
        for field in sorted(tagged_fields, key=lambda one: one.tag or 0):
            data = self.field(field, values)
            tagged.append(uvarint(field.tag or 0) + uvarint(len(data)) + data)
        return b"".join(plain) + uvarint(len(tagged)) + b"".join(tagged)

    def field(self, field: MessageField, values: dict[str, Any]) -> bytes:
        if not field.is_array:
            return self.value(field, values.get(field.name, EMPTY.get(field.kind, 0)))
        items = values.get(field.name, ())
        if items is None:
            return uvarint(0)
        return uvarint(len(items) + 1) + b"".join(self.value(field, item) for item in items)

    def value(self, field: MessageField, value: Any) -> bytes:
        match field.kind:
            case "struct":
                return self.fields(field.fields, value)
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
