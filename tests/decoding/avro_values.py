"""Builds Avro values, and decodes them by the kernel, by the kernel as ordinary Python, and without it."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from magicbyte.decoding.avro import AvroDecoder, DecodedValues, parse_schema
from magicbyte_tools.fuzz.avro_cases import zigzag


def string(text: str | bytes) -> bytes:
    content = text.encode() if isinstance(text, str) else text
    return zigzag(len(content)) + content


def record(*types: Any, name: str = "R") -> Any:
    """Return a record whose fields `a`, `b`, ... have *types*."""
    fields = [{"name": "abcdefgh"[number], "type": one} for number, one in enumerate(types)]
    return {"type": "record", "name": name, "fields": fields}


def decoder_of(schema: Any, reader: Any = None) -> AvroDecoder:
    return AvroDecoder(
        parse_schema(json.dumps(schema)),
        None if reader is None else parse_schema(json.dumps(reader)),
    )


def decode(
    schema: Any, contents: Sequence[bytes | None], reader: Any = None, start: int = 0
) -> DecodedValues:
    """Decode *contents*; both implementations agree."""
    decoder = decoder_of(schema, reader)
    values = pa.array(contents, pa.binary())
    outcome = decoder.decode(values, start)
    outcome.array.validate(full=True)
    assert_same(outcome, decoder._decode_in_python(values, start))
    return outcome


def assert_same(one: DecodedValues, other: DecodedValues) -> None:
    """Check that two implementations gave the same values and faults."""
    one.array.validate(full=True)
    other.array.validate(full=True)
    assert one.array.type == other.array.type
    assert one.error_codes.tolist() == other.error_codes.tolist()
    assert one.error_positions.tolist() == other.error_positions.tolist()
    assert repr(one.array.to_pylist()) == repr(other.array.to_pylist())


def python_values(schema: Any, contents: Sequence[bytes], reader: Any = None) -> list[Any]:
    """Return the decoded *contents*, which have no faults."""
    outcome = decode(schema, contents, reader)
    assert not outcome.error_codes.any()
    values: list[Any] = outcome.array.to_pylist()
    return values


def fault(schema: Any, content: bytes, reader: Any = None, start: int = 0) -> tuple[int, int]:
    """Return the code and the position of the fault of *content*, which sound values surround."""
    outcome = decode(schema, [content], reader, start)
    assert outcome.array.to_pylist() == [None]
    return int(outcome.error_codes[0]), int(outcome.error_positions[0])
