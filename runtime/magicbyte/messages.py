"""Messages of Kafka's protocol, as the records of internal topics hold them, as dicts.

Their schemas are in ``magicbyte_formats.messages``, a module for each topic, made from
``spec/messages``. What a version of a message has may differ between releases of Kafka, so a reader
says which release it reads as: that of the broker that wrote the records, or a later one.

`read_record` reads a record of `__consumer_offsets`, `__transaction_state` or
`__share_group_state`; `read` a message by itself, `known_messages` tells which one; `read_int16` and
`read_uvarint` the numbers before it, the latter in `__cluster_metadata` and `__remote_log_metadata`.
"""

import base64
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.text import decode_utf8
from magicbyte_kernels.message_schema import MessageField, MessageSchema, Release

MOST_TEXT = 0x7FFF
"""Bytes that a string may have; a longer one is an error, whatever the form of its length."""

NUMBERS = {
    "int8": struct.Struct(">b"),
    "int16": struct.Struct(">h"),
    "int32": struct.Struct(">i"),
    "int64": struct.Struct(">q"),
    "uint16": struct.Struct(">H"),
    "float64": struct.Struct(">d"),
}

SCALARS = {kind: form.size for kind, form in NUMBERS.items()} | {"bool": 1, "uuid": 16}
"""Bytes of what has no length of its own."""

VARINT_MAX_BYTES = 5

ABSENT: dict[str, Any] = {
    "string": "",
    "bytes": b"",
    "uuid": "A" * 22,
    "float64": 0.0,
    "bool": False,
}
"""What a tagged field is that is not written, where the schema says nothing else; 0 of integers."""


class MessageError(FormatError):
    """The bytes are not the message that they should be. *reason* says why, for who words it anew."""

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        position: int,
        field: str | None,
        number: int = 0,
        left: int = 0,
    ) -> None:
        super().__init__(
            Finding(
                code="bad-record",
                message=message,
                position=position,
                field=field,
                found=str(number),
            )
        )
        self.reason = reason
        """`array`, `count`, `end`, `null`, `tag`, `text`, `type`, `varint` or `version`."""
        self.number = number
        """What was stored: a length, a count, a tag."""
        self.left = left
        """Bytes that there were."""


class Read(NamedTuple):
    """A message, and how far it went."""

    fields: dict[str, Any]
    """By Kafka's names, in the order of the schema; a tagged field only where it is not its default.

    uuids are text, as Kafka writes them; bytes are bytes.
    """
    end: int
    """The position behind it: bytes that follow are none of it."""


def read(
    message: MessageSchema, data: bytes, version: int, release: Release, position: int = 0
) -> Read:
    """Return the *message* of *version* that begins at *position* of *data*, as *release* reads it.

    MessageError where the bytes are not one. As in Kafka, a version that the release does not know is
    an error in a struct alone, and tagged fields that it does not know are passed over.
    """
    reader = _Reader(data, position, message, version, release)
    fields = reader.fields(message.fields)
    return Read(fields, reader.position)


class Record(NamedTuple):
    """A record of a topic that a coordinator keeps."""

    name: str
    """What it is: Kafka's name for the value, without Value behind it."""
    key: dict[str, Any]
    value: dict[str, Any] | None
    """None of a tombstone."""


def read_record(
    schemas: Sequence[MessageSchema], key: bytes, value: bytes | None, release: Release
) -> Record:
    """Return the record that *key* and *value* are, by *schemas*, as *release* reads it.

    *schemas* are the ``MESSAGES`` of the topic's module. MessageError where the bytes are no such
    record; its reason is `type` or `version` where *release* does not know that of the record.
    """
    type_, begin = read_int16(key, "type")
    known = known_messages(schemas, type_, release)
    if not known:
        raise _unknown("type", type_)
    of_key, of_value = known
    name = of_value.name.removesuffix("Value")
    fields = read(of_key, key, 0, release, begin).fields
    if value is None:
        return Record(name, fields, None)
    version, begin = read_int16(value, "version")
    if version not in (of_value.versions_in(release) or ()):
        raise _unknown("version", version)
    return Record(name, fields, read(of_value, value, version, release, begin).fields)


def _unknown(what: str, number: int) -> MessageError:
    """Return the error about the number that a key or a value begins with."""
    return MessageError(
        what, f"{what} {number} is not known", position=0, field=None, number=number
    )


def known_messages(
    schemas: Sequence[MessageSchema], type_: int, release: Release
) -> list[MessageSchema]:
    """Return those of *schemas* that *type_* means to *release*: a key and its value, one or none."""
    return [one for one in schemas if one.versions_in(release) and one.is_type(type_, release)]


def read_int16(data: bytes, name: str) -> tuple[int, int]:
    """Return the number that *data* begins with, and the position behind it.

    MessageError, in which it is called *name*, where there is none.
    """
    size = SCALARS["int16"]
    if len(data) < size:
        raise _error("end", data, 0, name, size, f"{size} bytes")
    number: int = _scalar("int16", data[:size])
    return number, size


class _Reader:
    def __init__(
        self, data: bytes, position: int, message: MessageSchema, version: int, release: Release
    ) -> None:
        self.data = data
        self.position = position
        self.version = max(version, 0)  # what every version has, a negative one has too
        self.release = release
        self.num_unknown = 0
        """Tagged fields that the release does not know."""
        self.is_flexible = message.is_flexible(self.version, release)
        known = message.versions_in(release)
        self.newest = -1 if known is None or known.last is None else known.last

    def struct(self, field: MessageField) -> dict[str, Any]:
        # Kafka looks at the version in the structs of one field alone: not in others, nor in the message.
        if field.struct is not None and self.version > self.newest:
            raise self.error("version", field.struct, self.version, f"version {self.version}")
        return self.fields(field.fields)

    def fields(self, fields: tuple[MessageField, ...]) -> dict[str, Any]:
        known = [field for field in fields if self.is_known(field)]
        present = [field for field in known if self.version in field.versions]
        read = {f.name: self.field(f) for f in present if f.tag is None}
        if not self.is_flexible:
            return read
        tagged = self.tagged({f.tag: f for f in known if f.tag is not None})
        if not tagged:
            return read
        read |= tagged
        return {f.name: read[f.name] for f in present if f.name in read}

    def is_known(self, field: MessageField) -> bool:
        """Whether the release knows a field, of whatever version."""
        return field.versions.first <= self.newest and self.release in field.releases

    def tagged(self, known: dict[int, MessageField]) -> dict[str, Any]:
        read: dict[str, Any] = {}
        for _ in range(self.uvarint(None)):
            tag, size = self.uvarint(None), self.uvarint(None)
            field = known.get(tag)
            if field is None:
                self.take(size, "array", None)
                self.num_unknown += 1
                continue
            if self.version not in field.versions:
                raise self.error("tag", field.name, tag, f"tag {tag}")
            # As in Kafka, the size is not looked at where the field is known.
            num_unknown = self.num_unknown
            value = self.field(field)
            if value == self.default(field) and self.num_unknown == num_unknown:
                read.pop(field.name, None)
            else:
                read[field.name] = value
        return read

    def default(self, field: MessageField) -> Any:
        """Return what a tagged field is where it is left out of what is written."""
        if field.is_null_by_default:
            return None
        if field.default is not None:
            return field.default
        if field.is_array:
            return []
        if field.kind == "struct":
            return {
                f.name: self.default(f)
                for f in field.fields
                if f.tag is None and self.is_known(f) and self.version in f.versions
            }
        return ABSENT.get(field.kind, 0)

    def field(self, field: MessageField) -> Any:
        if not field.is_array:
            return self.value(field, field.name)
        count = self.length(field.kind, field.name, is_array=True)
        if count < 0:
            return self.null(field, field.name)
        if count > len(self.data) - self.position:
            raise self.error("count", field.name, count, f"{count} elements")
        if field.kind in NUMBERS:
            form = NUMBERS[field.kind]
            return [form.unpack(self.take(form.size, "end", field.name))[0] for _ in range(count)]
        return [self.value(field, f"{field.name} element", is_element=True) for _ in range(count)]

    def value(self, field: MessageField, name: str, *, is_element: bool = False) -> Any:
        kind = field.kind
        if kind == "struct":
            if field.is_nullable and not is_element and self.is_null_struct(field, name):
                return None
            return self.struct(field)
        if kind in SCALARS:
            return _scalar(kind, self.take(SCALARS[kind], "end", name))
        length = self.length(kind, name)
        if length < 0:
            return self.null(field, name, is_element=is_element)
        if kind == "string":
            if length > MOST_TEXT:
                raise self.error("text", name, length, f"a string of {length} bytes")
            return decode_utf8(self.take(length, "array", name))
        return self.take(length, "array", name)

    def is_null_struct(self, field: MessageField, name: str) -> bool:
        """Read the mark before a struct that may be null."""
        if field.tag is not None:
            return self.uvarint(name) == 0
        mark: int = _scalar("int8", self.take(1, "end", name))
        return mark < 0

    def null(self, field: MessageField, name: str, *, is_element: bool = False) -> None:
        if not field.is_nullable or is_element:
            raise self.error("null", name, -1, "null")

    def length(self, kind: str, name: str, *, is_array: bool = False) -> int:
        """Return the length before what *kind* names, or the count of a list; negative of null."""
        if self.is_flexible:
            return _int32(self.uvarint(name) - 1)
        form = "int16" if kind == "string" and not is_array else "int32"
        length: int = _scalar(form, self.take(SCALARS[form], "end", name))
        return length

    def uvarint(self, name: str | None) -> int:
        number, self.position = read_uvarint(self.data, self.position, name)
        return number

    def take(self, size: int, reason: str, name: str | None) -> bytes:
        left = len(self.data) - self.position
        if not 0 <= size <= left:
            raise self.error(reason, name, size, f"{size} bytes")
        begin = self.position
        self.position += size
        return self.data[begin : self.position]

    def error(self, reason: str, name: str | None, number: int, found: str) -> MessageError:
        return _error(reason, self.data, self.position, name, number, found)


def read_uvarint(data: bytes, position: int = 0, name: str | None = None) -> tuple[int, int]:
    """Return the varint without zigzag at *position* of *data*, an int32, and the position behind it.

    MessageError, in which it is called *name*, where there is none.
    """
    number = shift = 0
    at = position
    while True:
        if at == len(data):
            raise _error("end", data, at, name, 1, "a varint that does not end")
        byte = data[at]
        at += 1
        if byte < 0x80:
            break
        number |= (byte & 0x7F) << shift
        shift += 7
        if shift == 7 * VARINT_MAX_BYTES:
            raise _error("varint", data, position, name, number, "a varint of more than five bytes")
    return _int32(number | byte << shift), at


def _int32(number: int) -> int:
    """Return *number* as Java's int: what is above 32 bits is lost, and the highest is the sign."""
    number &= 0xFFFFFFFF
    return number - (number >> 31 << 32)


def _error(
    reason: str, data: bytes, position: int, name: str | None, number: int, found: str
) -> MessageError:
    left = len(data) - position
    return MessageError(
        reason,
        f"{name or 'tagged fields'}: {found}, where {left} bytes are left",
        position=position,
        field=name,
        number=number,
        left=left,
    )


def _scalar(kind: str, data: bytes) -> Any:
    if kind == "bool":
        return data != b"\0"
    if kind == "uuid":
        return base64.urlsafe_b64encode(data)[:22].decode()
    return NUMBERS[kind].unpack(data)[0]
