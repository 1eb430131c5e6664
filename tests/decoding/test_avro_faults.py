"""Tests of values that do not decode: the reason, and the byte at which the field begins that does not."""

import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from magicbyte.decoding.avro import fault_sentence
from magicbyte.engines.columnar import avro_columns
from magicbyte.engines.columnar.avro_program import MAX_EMPTY_ITEMS, Fault
from magicbyte.errors import InputError
from magicbyte_tools.fuzz.avro_cases import zigzag

from .avro_values import decode, decoder_of, fault, record, string

TWO_FIELDS = record("string", "int")
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
DURATION = {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
NULLS = {"type": "array", "items": "null"}


@pytest.mark.parametrize(
    ("schema", "content", "reason", "position"),
    [
        (TWO_FIELDS, b"", Fault.ENDS_EARLY, 0),
        (TWO_FIELDS, string("ab"), Fault.ENDS_EARLY, 3),
        (TWO_FIELDS, string("ab") + b"\x80", Fault.ENDS_EARLY, 3),
        (TWO_FIELDS, string("ab") + zigzag(1) + b"\0\0", Fault.LEFT_OVER, 4),
        (TWO_FIELDS, zigzag(3) + b"ab", Fault.LENGTH, 0),
        (TWO_FIELDS, zigzag(-1), Fault.LENGTH, 0),
        (TWO_FIELDS, zigzag(1 << 62) + b"ab", Fault.LENGTH, 0),
        (TWO_FIELDS, string("ab") + zigzag(1 << 31), Fault.INT_RANGE, 3),
        (TWO_FIELDS, string("ab") + zigzag(-(1 << 31) - 1), Fault.INT_RANGE, 3),
        ("long", b"\xff" * 10 + b"\1", Fault.LONG_VARINT, 0),
        ("long", b"\x80" * 11, Fault.LONG_VARINT, 0),
        ("long", b"\xff" * 9 + b"\2", Fault.LONG_VARINT, 0),
        ("double", b"\0" * 7, Fault.ENDS_EARLY, 0),
        ("float", b"\0" * 3, Fault.ENDS_EARLY, 0),
        ("boolean", b"\2", Fault.BOOLEAN, 0),
        ("string", string(b"\xc3"), Fault.UTF8, 0),
        ("string", string(b"\xed\xa0\x80"), Fault.UTF8, 0),
        ("string", string(b"\xc0\x80"), Fault.UTF8, 0),
        ("string", string(b"\xf4\x90\x80\x80"), Fault.UTF8, 0),
        (record("int", ["null", "int"]), b"\0\4", Fault.UNION_BRANCH, 1),
        (record("int", ["null", "int"]), b"\0\1", Fault.UNION_BRANCH, 1),
        (record("int", ["null", "int", "string"]), b"\0\x0e", Fault.UNION_BRANCH, 1),
        (record("int", ["null", "int", "string"]), b"\0\1\2", Fault.UNION_BRANCH, 1),
        (ENUM, b"\4", Fault.ENUM_INDEX, 0),
        (ENUM, b"\1", Fault.ENUM_INDEX, 0),
        ({"type": "array", "items": "int"}, b"\x08\0\0\0", Fault.BLOCK_COUNT, 0),
        ({"type": "array", "items": "int"}, zigzag(1 << 62), Fault.BLOCK_COUNT, 0),
        ({"type": "array", "items": "int"}, zigzag(-(1 << 63)) + b"\0", Fault.BLOCK_COUNT, 0),
        ({"type": "array", "items": "int"}, b"\2\0" + b"\1", Fault.ENDS_EARLY, 2),
        ({"type": "array", "items": "double"}, b"\4" + bytes(8), Fault.BLOCK_COUNT, 0),
        ({"type": "map", "values": "int"}, b"\2" + string(b"\xff") + b"\0\0", Fault.UTF8, 1),
        (DECIMAL, string((10_000).to_bytes(2, "big")), Fault.DECIMAL_DIGITS, 0),
        (DECIMAL, string((-10_000).to_bytes(20, "big", signed=True)), Fault.DECIMAL_DIGITS, 0),
        (DECIMAL, string(b"\x7f" * 10_000), Fault.DECIMAL_DIGITS, 0),
        (DECIMAL, string(b""), Fault.DECIMAL_EMPTY, 0),
        (DURATION, struct.pack("<III", 1 << 31, 0, 0), Fault.DURATION, 0),
        (DURATION, struct.pack("<III", 0, 1 << 31, 0), Fault.DURATION, 0),
        ({"type": "int", "logicalType": "time-millis"}, zigzag(86_400_000), Fault.TIME_OF_DAY, 0),
        ({"type": "long", "logicalType": "time-micros"}, zigzag(-1), Fault.TIME_OF_DAY, 0),
    ],
)
def test_value_that_does_not_decode_has_a_reason_and_a_position(
    schema: Any, content: bytes, reason: Fault, position: int
) -> None:
    assert fault(schema, content) == (reason, position)
    assert fault(schema, b"frame" + content, start=5) == (reason, position + 5)


def test_every_fault_has_a_sentence() -> None:
    sentences = [fault_sentence(reason) for reason in Fault]
    assert len(set(sentences)) == len(Fault)


def test_a_fault_leaves_the_other_values_as_they_are() -> None:
    """What a value has written before its fault is taken back, in all kinds of columns."""
    schema = record(
        {"type": "array", "items": record("string", {"type": "array", "items": "int"}, name="I")},
        ["null", "string"],
        {"type": "map", "values": ["null", "long", "string"]},
        "boolean",
    )
    item = string("item") + b"\4\2\4\0"
    sound = b"\4" + item + item + b"\0" + b"\2" + string("text")
    sound += b"\4" + string("k") + b"\2\7" + string("l") + b"\4" + string("v") + b"\0\1"
    contents = [
        sound,
        *(sound[:length] for length in range(len(sound))),
        None,
        sound + b"\0",
        sound,
    ]
    outcome = decode(schema, contents)
    present = [value for value in outcome.array.to_pylist() if value is not None]
    assert present == [present[0]] * 2
    assert present[0]["a"] == [{"a": "item", "b": [1, 2]}] * 2
    assert outcome.error_codes[0] == outcome.error_codes[-1] == 0
    assert (outcome.error_codes[1 : len(sound) + 1] > 0).all()
    assert outcome.error_codes[-3:].tolist() == [0, Fault.LEFT_OVER, 0]


def test_items_without_bytes_are_limited() -> None:
    """Seven bytes can state 2^62 nulls."""
    assert fault(NULLS, zigzag(1 << 62) + b"\0") == (Fault.EMPTY_ITEMS, 0)
    most = zigzag(MAX_EMPTY_ITEMS)
    outcome = decode(NULLS, [most + b"\0", most + b"\2\0"])
    assert [value and len(value) for value in outcome.array.to_pylist()] == [MAX_EMPTY_ITEMS, None]
    assert fault(NULLS, most + b"\2\0") == (Fault.EMPTY_ITEMS, len(most))
    empty = record(name="Empty")
    nested = {"type": "array", "items": {"type": "array", "items": empty}}
    assert fault(nested, b"\2" + zigzag(MAX_EMPTY_ITEMS + 1) + b"\0\0") == (Fault.EMPTY_ITEMS, 1)


def test_a_value_shorter_than_its_frame_is_a_fault() -> None:
    for start, length in ((5, 4), (-1, 4)):
        decoder = decoder_of("null")
        outcome = decoder.decode(pa.array([b"x" * length]), start)
        assert outcome.error_codes.tolist() == [Fault.FRAME]
        assert outcome.error_positions.tolist() == [length]
    outcome = decoder_of("null").decode(pa.array([b"abc", b"ab"]), np.array([3, 3], dtype=np.int32))
    assert outcome.error_codes.tolist() == [0, Fault.FRAME]


def test_items_that_would_take_too_much_memory_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte for an item that is null costs the row of each column of a wide record."""
    fields = [{"name": f"f{number}", "type": "double"} for number in range(500)]
    wide = {"type": "array", "items": ["null", {"type": "record", "name": "W", "fields": fields}]}
    monkeypatch.setattr(avro_columns, "MIN_OUTPUT_BYTES", 64 << 20)
    monkeypatch.setattr(avro_columns, "MIN_CAPACITY", 16)
    many, few = (zigzag(count) + bytes(count) + b"\0" for count in (30_000, 3))
    outcome = decoder_of(wide).decode(pa.array([few, many, few]), 0)
    assert outcome.error_codes.tolist() == [0, Fault.OUTPUT_LIMIT, 0]
    assert outcome.array.to_pylist() == [[None] * 3, None, [None] * 3]


def test_more_values_than_memory_allows_are_refused() -> None:
    decoder = decoder_of({"type": "fixed", "name": "F", "size": 1 << 30})
    assert decoder.max_values == 3
    with pytest.raises(InputError, match="4 values of 1 columns; expected at most 3 values"):
        decoder.decode(pa.array([b""] * 4), 0)


@pytest.mark.parametrize(
    ("values", "starts", "message"),
    [
        (pa.array(["a"]), 0, "values of type string"),
        (pa.array([b"a"]), np.zeros(1, np.int64), "starts of type int64"),
        (pa.array([b"a"]), np.zeros(2, np.int32), "starts of type int32 and shape"),
    ],
)
def test_arrays_of_other_types_are_refused(values: pa.Array, starts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        decoder_of("int").decode(values, starts)


def test_columns_work_where_no_memory_may_be_reserved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema of thousands of lists is refused memory for them until a value needs it."""
    schema = record({"type": "array", "items": "string"}, "string")
    monkeypatch.setattr(avro_columns, "MIN_OUTPUT_BYTES", 0)
    monkeypatch.setattr(avro_columns, "OUTPUT_RATIO", 0)
    outcome = decoder_of(schema).decode(pa.array([b"\0\0", b"\0" + string("x"), b"\0\1"]), 0)
    assert outcome.array.to_pylist() == [{"a": [], "b": ""}, None, None]
    assert outcome.error_codes.tolist() == [0, Fault.OUTPUT_LIMIT, Fault.LENGTH]
