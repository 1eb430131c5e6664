"""Encodes the defaults of a reader's fields, which schemas state as JSON, as Avro values."""

import struct
from typing import Any

from magicbyte.decoding.avro._types import (
    AvroArray,
    AvroEnum,
    AvroField,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroType,
    AvroUnion,
    type_name,
)
from magicbyte.errors import SchemaError

MAX_DEFAULT_ITEMS = 1000
"""Values in one default, inner ones included."""
MAX_DEFAULT_BYTES = 1 << 16
"""Bytes of one default: every value whose schema lacks the field gets a copy."""
MAX_DEFAULT_DEPTH = 100

INT_BITS = {"int": 32, "long": 64}


def encode_default(reader_field: AvroField, where: str) -> bytes:
    """Return the default of *reader_field*, encoded. Raises SchemaError if it has another type."""
    return JsonEncoder(where).encode(reader_field.type, reader_field.default, 0)


class JsonEncoder:
    """Encodes a value in JSON, such as a default, by the Avro type of its field."""

    max_items, max_bytes = MAX_DEFAULT_ITEMS, MAX_DEFAULT_BYTES

    def __init__(self, where: str) -> None:
        self._where = where
        self._num_items = 0

    def encode(self, avro_type: AvroType, default: Any, depth: int) -> bytes:
        self._num_items += 1
        if self._num_items > self.max_items or depth > MAX_DEFAULT_DEPTH:
            raise self._error("a default of too many values", f"at most {self.max_items}")
        match avro_type:
            case AvroPrimitive():
                encoded = self._primitive(avro_type.kind, default)
            case AvroFixed():
                encoded = self._latin(default)
                if len(encoded) != avro_type.size:
                    raise self._error(f"{len(encoded)} bytes", f"{avro_type.size} bytes")
            case AvroEnum():
                if default not in avro_type.symbols:
                    raise self._error(f"default {default!r:.60}", "a symbol of the enum")
                encoded = zigzag(avro_type.symbols.index(default))
            case AvroUnion():
                encoded = self._union(avro_type, default, depth)
            case AvroRecord():
                encoded = self._record(avro_type, default, depth)
            case AvroArray() | AvroMap():
                encoded = self._items(avro_type, default, depth)
        if len(encoded) > self.max_bytes:
            raise self._error(f"a default of {len(encoded)} bytes", f"at most {self.max_bytes}")
        return encoded

    def _error(self, problem: str, expected: str) -> SchemaError:
        return SchemaError(problem, f"{expected} as the default", where=self._where)

    def _primitive(self, kind: str, default: Any) -> bytes:
        is_number = isinstance(default, int | float) and not isinstance(default, bool)
        match kind:
            case "null" if default is None:
                return b""
            case "boolean" if isinstance(default, bool):
                return bytes([default])
            case "int" | "long" if is_number and default % 1 == 0:
                limit = 1 << INT_BITS[kind] - 1
                if -limit <= default < limit:
                    return zigzag(int(default))
            case "float" | "double" if is_number or default in ("NaN", "Infinity", "-Infinity"):
                try:
                    return struct.pack("<f" if kind == "float" else "<d", float(default))
                except OverflowError:
                    pass
            case "bytes":
                return _with_length(self._latin(default))
            case "string" if isinstance(default, str):
                try:
                    return _with_length(default.encode())
                except UnicodeEncodeError:
                    pass
        raise self._error(f"default {default!r:.60}", f"a value of type {kind}")

    def _latin(self, default: Any) -> bytes:
        if isinstance(default, str) and all(character < "\u0100" for character in default):
            return default.encode("latin-1")
        raise self._error(f"default {default!r:.60}", "a string of characters up to U+00FF")

    def _union(self, union: AvroUnion, default: Any, depth: int) -> bytes:
        # Since 1.12 the first branch that takes the default; before, the first branch alone.
        for number, branch in enumerate(union.branches):
            try:
                return zigzag(number) + self.encode(branch, default, depth + 1)
            except SchemaError:
                if self._num_items > self.max_items:
                    raise
        names = ", ".join(type_name(branch) for branch in union.branches)
        raise self._error(f"default {default!r:.60}", f"a value of {names}")

    def _record(self, avro_record: AvroRecord, default: Any, depth: int) -> bytes:
        if not isinstance(default, dict):
            raise self._error(f"default {default!r:.60}", f"an object for {avro_record.full_name}")
        parts = []
        for field in avro_record.fields:
            is_there = field.name in default
            member = default[field.name] if is_there else self._missing(avro_record, field)
            parts.append(self.encode(field.type, member, depth + 1))
        return b"".join(parts)

    def _missing(self, avro_record: AvroRecord, avro_field: AvroField) -> Any:
        """Return the value of a field that an object lacks; SchemaError if it may not."""
        if not avro_field.has_default:
            raise self._error(f"no {avro_field.name!r}", f"all fields of {avro_record.full_name}")
        return avro_field.default

    def _items(self, avro_type: AvroArray | AvroMap, default: Any, depth: int) -> bytes:
        parts = []
        match avro_type, default:
            case AvroArray(), list():
                parts = [self.encode(avro_type.item_type, item, depth + 1) for item in default]
            case AvroMap(), dict():
                for key, item in default.items():
                    parts.append(
                        self._primitive("string", key)
                        + self.encode(avro_type.value_type, item, depth + 1)
                    )
            case _:
                raise self._error(f"default {default!r:.60}", f"an {avro_type.kind}")
        return (zigzag(len(parts)) if parts else b"") + b"".join(parts) + b"\0"


def _with_length(unframed: bytes) -> bytes:
    return zigzag(len(unframed)) + unframed


def zigzag(number: int) -> bytes:
    """Return *number*, of 64 bits, as a zigzag varint."""
    rest = (number << 1 ^ number >> 63) & (1 << 64) - 1
    encoded = bytearray()
    while rest >= 128:
        encoded.append(rest & 127 | 128)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)
