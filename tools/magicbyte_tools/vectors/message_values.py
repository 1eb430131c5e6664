"""Fills all fields of a message with values, and gives them as the JSON of test vectors."""

import base64
import struct
from dataclasses import dataclass
from typing import Any, Literal

from magicbyte_tools.generate.source import Spec
from magicbyte_tools.vectors.entry_parts import T0
from magicbyte_tools.vectors.message_writer import INTEGERS, MessageWriter, json_name

FIRST_NUMBERS = {"int8": 0, "int16": 300, "int32": 70_000, "int64": 5_000_000_000, "uint16": 40_000}
"""Numbers from which values count, by type: each needs all bytes of its type."""

LONG_TEXT = "é" * 65
"""130 bytes of UTF-8: the length + 1 takes two bytes as uvarint, and is no number of characters."""

Style = Literal["filled", "nulls", "edges"]
"""`filled`: each field has a value of its own, arrays have two entries. `nulls`: the same, but what may be null is, and
tagged fields are left out. `edges`: numbers at the ends of their ranges, empty and long texts, empty arrays."""


@dataclass
class SampleFiller:
    """Gives values to the fields that *writer* writes."""

    writer: MessageWriter
    style: Style
    count: int = 0
    """Number of values so far."""

    def message(self) -> Spec:
        return self.structure(self.writer.spec["fields"])

    def structure(self, fields: list[Spec]) -> Spec:
        return {
            json_name(one["name"]): self.value(one)
            for one in self.writer.known(fields)
            if self.style != "nulls" or "tag" not in one
        }

    def value(self, one: Spec) -> Any:
        if self.style == "nulls" and one.get("nullable"):
            return None
        if not one["type"].startswith("[]"):
            return self.element(one)
        self.count += 1
        size = 0 if self.style == "edges" and self.count % 2 == 0 else 2
        return [self.element(one) for _ in range(size)]

    def element(self, one: Spec) -> Any:
        kind, inner = one["type"].removeprefix("[]"), self.writer.inner(one)
        if inner is not None:
            return self.structure(inner)
        self.count += 1
        if self.style == "edges":
            return self._edge(kind)
        if "values" in one:
            return min(int(number) for number in one["values"] if int(number))
        text = f"{json_name(one['name'])}-{self.count}"
        if kind == "string":
            return text
        if kind == "bytes":
            return text.encode()
        if kind == "uuid":
            return _uuid(bytes(range(self.count, self.count + 16)))
        is_time = kind == "int64" and "timestamp" in one["name"].lower()
        return (T0 if is_time else FIRST_NUMBERS[kind]) + self.count

    def _edge(self, kind: str) -> Any:
        is_high = self.count % 2 == 1
        match kind:
            case "string":
                return LONG_TEXT if is_high else ""
            case "bytes":
                return LONG_TEXT.encode() if is_high else b""
            case "uuid":
                return _uuid(bytes([255 * is_high]) * 16)
        bits = 8 * struct.calcsize(INTEGERS[kind])
        lowest = 0 if kind.startswith("u") else -(1 << bits - 1)
        return lowest + (1 << bits) - 1 if is_high else lowest


def _uuid(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def message_json(writer: MessageWriter, fields: list[Spec], values: Spec) -> Spec:
    """Return *values* as JSON by Kafka's names: int64 as text, bytes in hex, no tagged field that has its default."""
    document = {}
    for one in writer.known(fields):
        name = json_name(one["name"])
        is_default = "tag" in one and values.get(name, writer.default(one)) == writer.default(one)
        if not is_default:
            document[name] = _field_json(writer, one, values[name])
    return document


def _field_json(writer: MessageWriter, one: Spec, value: Any) -> Any:
    if isinstance(value, list):
        element = {**one, "type": one["type"].removeprefix("[]")}
        return [_field_json(writer, element, each) for each in value]
    inner = writer.inner(one)
    if inner is not None and value is not None:
        return message_json(writer, inner, value)
    if one["type"] == "int64":
        return str(value)
    return value.hex() if isinstance(value, bytes) else value
