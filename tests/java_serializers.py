"""Keys and values that serializers in Java have written: Apicurio's, and those of foreign-key joins of Kafka Streams.

`tests/brokers/test_java_serializers.py` lets them write again, and records what they write in `java_serializers.json`.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).with_name("java_serializers.json")

APICURIO_VERSION = "2.6.5.Final"
STREAMS_VERSION = "4.3.1"

CONTENT_ID, GLOBAL_ID = 7, 1007
"""Ids that the registry of `ApicurioValues.java` gives to all schemas."""

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "buyer", "type": "string"},
        {"name": "amount", "type": "double"},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "raw", "type": "bytes"},
        {"name": "note", "type": ["null", "string", "long"]},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["OLD", "NEW"]}},
    ],
}
"""Schema of the record that `ApicurioValues.java` writes."""

MONEY = """
syntax = "proto3";
package shop;
message Other { string text = 1; }
message Money { string currency = 1; int64 units = 2; }
"""
"""Schema of its Protobuf message."""


class JavaValue(NamedTuple):
    """A key or value, and the headers that its serializer added."""

    content: bytes
    headers: tuple[tuple[str, bytes], ...] = ()


def parsed_lines(output: str) -> dict[str, list[Any]]:
    """Return what the Java programs print, as it is recorded, by name: bytes, and headers if there are any."""
    lines: dict[str, list[Any]] = {}
    for line in output.splitlines():
        name, content, headers = (*line.split("\t"), "")[:3]
        lines[name] = [content, *([headers.split()] if headers else [])]
    return lines


def recorded(program: str) -> dict[str, JavaValue]:
    """Return the recorded values of *program*, by name."""
    values: dict[str, list[Any]] = json.loads(RECORDED.read_text())[program]
    return {name: _value(*facts) for name, facts in values.items()}


def _value(content: str, headers: list[str] | None = None) -> JavaValue:
    pairs = [header.split("=") for header in headers or []]
    return JavaValue(
        bytes.fromhex(content), tuple((name, bytes.fromhex(value)) for name, value in pairs)
    )
