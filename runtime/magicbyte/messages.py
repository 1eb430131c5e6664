"""Decode messages of Kafka's protocol, as the records of internal topics contain them, to dicts.

The schemas are in ``magicbyte_formats.messages``, one module per topic, generated from
``spec/messages``. Releases of Kafka differ in the fields of one version, so the caller names the release
to read as: the release of the broker that wrote the records, or a later one.

`read_record` decodes a record of `__consumer_offsets`, `__transaction_state` or
`__share_group_state`. `read` decodes a single message; `known_messages` finds its schema. `read_int16`
and `read_uvarint` read the numbers before a message, the latter in `__cluster_metadata` and
`__remote_log_metadata`.
"""

import base64
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.text import decode_utf8
from magicbyte_kernels.message_schema import MessageField, MessageSchema, Release

MAX_STRING_BYTES = 0x7FFF
"""Longest string, in bytes; a longer one is an error, even where a varint gives its length."""

NUMBERS = {
    "int8": struct.Struct(">b"),
    "int16": struct.Struct(">h"),
    "int32": struct.Struct(">i"),
    "int64": struct.Struct(">q"),
    "uint16": struct.Struct(">H"),
    "float64": struct.Struct(">d"),
}

SCALARS = {kind: form.size for kind, form in NUMBERS.items()} | {"bool": 1, "uuid": 16}
"""Size in bytes of each kind of fixed length."""

VARINT_MAX_BYTES = 5

BOUNDED_SINCE = (4, 4)
"""First release that limits the number of elements and of tagged fields in a message."""

MAX_ELEMENTS = 1_000_000
MAX_TAGGED_FIELDS = 10_000

DEFAULTS: dict[str, Any] = {
    "string": "",
    "bytes": b"",
    "uuid": "A" * 22,
    "float64": 0.0,
    "bool": False,
}
"""Values of absent tagged fields whose schema has no default; integers are 0."""


class MessageError(FormatError):
    """The bytes are not a message of the schema. *reason* is the kind of fault, for other wordings."""

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
        """`array`, `count`, `elements`, `end`, `null`, `tag`, `tags`, `text`, `type`, `varint` or
        `version`."""
        self.number = number
        """Stored number that is wrong: a length, a count, a tag, ..."""
        self.left = left
        """Bytes that were left at that position."""


class DecodedMessage(NamedTuple):
    """A decoded message, and the position at which it ends."""

    fields: dict[str, Any]
    """Values by Kafka's field names, in the order of the schema, without tagged fields that have their
    default. UUIDs are text in Kafka's form.
    """
    end: int
    """Position after the message; later bytes do not belong to the message."""


def read(
    message: MessageSchema, data: bytes, version: int, release: Release, position: int = 0
) -> DecodedMessage:
    """Decode one message as a release of Kafka would.

    Args:
        message: Schema of the message.
        data: Bytes that contain the message.
        version: Version of the message.
        release: Release of Kafka to decode as, such as ``(4, 3)``.
        position: Byte of *data* at which the message begins.
    Returns:
        The fields, and the position after the message. As in Kafka, tagged fields that the release
        does not know are skipped, and an unknown version is an error only in a struct.
    Raises:
        MessageError: The bytes are not such a message.
    """
    decoder = _MessageDecoder(data, position, message, version, release)
    fields = decoder.fields(message.fields)
    return DecodedMessage(fields, decoder.position)


class Record(NamedTuple):
    """A decoded record of a coordinator's topic."""

    name: str
    """Kafka's name of the value's schema, without the suffix Value."""
    key: dict[str, Any]
    value: dict[str, Any] | None
    """Fields of the record's value by name; None for a tombstone."""


def read_record(
    schemas: Sequence[MessageSchema], key: bytes, value: bytes | None, release: Release
) -> Record:
    """Decode a record of an internal topic as a release of Kafka would.

    Args:
        schemas: ``MESSAGES`` of the topic's module in ``magicbyte_formats.messages``.
        key: Key of the record.
        value: Value of the record; None for a tombstone.
        release: Release of Kafka to decode as, such as ``(4, 3)``.
    Returns:
        The record's name, and its key and value as dicts.
    Raises:
        MessageError: The bytes are not such a record. Its ``reason`` is `type` or `version` if
            *release* does not know the record's type or version.
    """
    type_, begin = read_int16(key, "type")
    known = known_messages(schemas, type_, release)
    if not known:
        raise _unknown("type", type_)
    key_schema, value_schema = known
    name = value_schema.name.removesuffix("Value")
    fields = read(key_schema, key, 0, release, begin).fields
    if value is None:
        return Record(name, fields, None)
    version, begin = read_int16(value, "version")
    if version not in (value_schema.versions_in(release) or ()):
        raise _unknown("version", version)
    return Record(name, fields, read(value_schema, value, version, release, begin).fields)


def _unknown(reason: str, number: int) -> MessageError:
    """Return the error for an unknown type or version at the start of a key or a value."""
    return MessageError(reason, f"unknown {reason} {number}", position=0, field=None, number=number)


def known_messages(
    schemas: Sequence[MessageSchema], type_: int, release: Release
) -> list[MessageSchema]:
    """Return the *schemas* of type *type_* in *release*: a key and its value, one message, or none."""
    cached = _KNOWN_MESSAGES.get((id(schemas), type_, release))
    if cached is not None:
        return list(cached[1])
    known = [
        schema
        for schema in schemas
        if schema.versions_in(release) and schema.is_type(type_, release)
    ]
    if known:  # numbers that are no type are not cached: a hostile topic has many
        _KNOWN_MESSAGES[id(schemas), type_, release] = schemas, tuple(known)
    return known


_KNOWN_MESSAGES: dict[
    tuple[int, int, Release], tuple[Sequence[MessageSchema], tuple[MessageSchema, ...]]
] = {}
"""Results of `known_messages`. Each has its schemas, so that no others get their id."""


def read_int16(data: bytes, name: str) -> tuple[int, int]:
    """Return the int16 at the start of *data*, and the position after it.

    Raises MessageError, which calls the number *name*, if *data* is too short.
    """
    size = SCALARS["int16"]
    if len(data) < size:
        raise _error("end", data, 0, name, size, f"{size} bytes")
    number: int = _scalar("int16", data[:size])
    return number, size


class _PresentFields(NamedTuple):
    """The fields that a version of a message, or of a struct in it, has in a release."""

    in_order: tuple[MessageField, ...]
    """Fields of the version, in the order of the schema."""
    without_tag: tuple[MessageField, ...]
    by_tag: dict[int, MessageField]
    """Fields with a tag that the release knows in any version."""


_PRESENT_FIELDS: dict[
    tuple[int, int, int, Release], tuple[tuple[MessageField, ...], _PresentFields]
] = {}
"""Fields by the id of their tuple, version, newest known version and release; with the tuple, so that no other gets its id."""


def _present_fields(
    fields: tuple[MessageField, ...], version: int, newest: int, release: Release
) -> _PresentFields:
    cache_key = id(fields), version, newest, release
    cached = _PRESENT_FIELDS.get(cache_key)
    if cached is not None:
        return cached[1]
    known = [
        field for field in fields if field.versions.first <= newest and release in field.releases
    ]
    in_order = tuple(field for field in known if version in field.versions)
    present = _PresentFields(
        in_order,
        tuple(field for field in in_order if field.tag is None),
        {field.tag: field for field in known if field.tag is not None},
    )
    if version <= newest:  # a hostile topic has many others
        _PRESENT_FIELDS[cache_key] = fields, present
    return present


class _MessageDecoder:
    def __init__(
        self, data: bytes, position: int, message: MessageSchema, version: int, release: Release
    ) -> None:
        self.data = data
        self.position = position
        self.version = max(version, 0)  # a negative version has the fields that every version has
        self.release = release
        self.num_unknown = 0
        """Unknown tagged fields so far."""
        self.is_flexible = message.is_flexible(self.version, release)
        known = message.versions_in(release)
        self.newest = -1 if known is None or known.last is None else known.last

    def struct(self, field: MessageField) -> dict[str, Any]:
        # Kafka checks the version only in structs that a single field uses, and not in the message.
        if field.struct is not None and self.version > self.newest:
            raise self.error("version", field.struct, self.version, f"version {self.version}")
        return self.fields(field.fields)

    def fields(self, fields: tuple[MessageField, ...]) -> dict[str, Any]:
        present = _present_fields(fields, self.version, self.newest, self.release)
        read = {field.name: self.field(field) for field in present.without_tag}
        if not self.is_flexible:
            return read
        tagged = self.tagged(present.by_tag)
        if not tagged:
            return read
        read |= tagged
        return {field.name: read[field.name] for field in present.in_order if field.name in read}

    def is_known(self, field: MessageField) -> bool:
        """Return whether the release knows *field*, in any version."""
        return field.versions.first <= self.newest and self.release in field.releases

    def tagged(self, known: dict[int, MessageField]) -> dict[str, Any]:
        tagged_fields: dict[str, Any] = {}
        for _ in range(self.tagged_count()):
            tag, size = self.uvarint(None), self.uvarint(None)
            field = known.get(tag)
            if field is None:
                self.take(size, "array", None)
                self.num_unknown += 1
                continue
            if self.version not in field.versions:
                raise self.error("tag", field.name, tag, f"tag {tag}")
            # Kafka ignores the size of a known field.
            num_unknown = self.num_unknown
            value = self.field(field)
            if value == self.default(field) and self.num_unknown == num_unknown:
                tagged_fields.pop(field.name, None)
            else:
                tagged_fields[field.name] = value
        return tagged_fields

    def tagged_count(self) -> int:
        count = self.uvarint(None)
        most = min(MAX_TAGGED_FIELDS, len(self.data) - self.position)
        if self.release >= BOUNDED_SINCE and not 0 <= count <= most:
            raise self.error("tags", None, count, f"{count} tagged fields")
        return count

    def default(self, field: MessageField) -> Any:
        """Return the value of a tagged field that is absent."""
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
        return DEFAULTS.get(field.kind, 0)

    def field(self, field: MessageField) -> Any:
        if not field.is_array:
            return self.value(field, field.name)
        count = self.length(field.kind, field.name, is_array=True)
        if count < 0:
            return self.null(field, field.name)
        if count > len(self.data) - self.position:
            raise self.error("count", field.name, count, f"{count} elements")
        if self.release >= BOUNDED_SINCE and count > MAX_ELEMENTS:
            raise self.error("elements", field.name, count, f"{count} elements")
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
            if length > MAX_STRING_BYTES:
                raise self.error("text", name, length, f"a string of {length} bytes")
            return decode_utf8(self.take(length, "array", name))
        return self.take(length, "array", name)

    def is_null_struct(self, field: MessageField, name: str) -> bool:
        """Read the byte before a nullable struct; return whether the struct is null."""
        if field.tag is not None:
            return self.uvarint(name) == 0
        mark: int = _scalar("int8", self.take(1, "end", name))
        return mark < 0

    def null(self, field: MessageField, name: str, *, is_element: bool = False) -> None:
        if not field.is_nullable or is_element:
            raise self.error("null", name, -1, "null")

    def length(self, kind: str, name: str, *, is_array: bool = False) -> int:
        """Read the length of a value of *kind*, or the element count of an array; negative: null."""
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
    """Return the unsigned varint at *position* of *data*, as an int32, and the position after it.

    Raises MessageError, which calls the number *name*, if there is no valid varint.
    """
    number = shift = 0
    at = position
    while True:
        if at == len(data):
            raise _error("end", data, at, name, 1, "an incomplete varint")
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
    """Return *number* as a Java int: bits above 32 are dropped, and bit 31 is the sign."""
    number &= 0xFFFFFFFF
    return number - (number >> 31 << 32)


def _error(
    reason: str, data: bytes, position: int, name: str | None, number: int, found: str
) -> MessageError:
    left = len(data) - position
    return MessageError(
        reason,
        f"{name or 'tagged fields'}: {found}, but {left} bytes are left",
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
