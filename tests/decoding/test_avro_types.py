"""Tests of the Arrow types and values of Avro types."""

import datetime as dt
import json
import struct
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from magicbyte.decoding.avro import AvroDecoder, AvroJsonDecoder, _decoder, parse_schema
from magicbyte.engines.columnar import avro_columns
from magicbyte.errors import NotColumnarError
from magicbyte_tools.fuzz.avro_cases import zigzag

from .avro_values import decode, decoder_of, python_values, record, string

UTC = dt.UTC
INSTANT = dt.datetime(2026, 9, 21, 14, 13, 20, 5000)
MILLISECONDS = 1_790_000_000_005


def logical(kind: str, logical_type: str, **attributes: Any) -> Any:
    return {"type": kind, "logicalType": logical_type, **attributes}


def decimal(precision: int, scale: int, size: int = 0) -> Any:
    if size:
        return logical("fixed", "decimal", name="D", size=size, precision=precision, scale=scale)
    return logical("bytes", "decimal", precision=precision, scale=scale)


@pytest.mark.parametrize(
    ("schema", "arrow_type", "content", "value"),
    [
        ("null", pa.null(), b"", None),
        ("boolean", pa.bool_(), b"\1", True),
        ("int", pa.int32(), zigzag(-(1 << 31)), -(1 << 31)),
        ("long", pa.int64(), zigzag(-(1 << 63)), -(1 << 63)),
        ("float", pa.float32(), struct.pack("<f", 1.5), 1.5),
        ("double", pa.float64(), struct.pack("<d", 1e300), 1e300),
        ("bytes", pa.binary(), string(b"\xff\0"), b"\xff\0"),
        ("string", pa.string(), string("grüße \U0001f600"), "grüße \U0001f600"),
        ({"type": "fixed", "name": "F", "size": 3}, pa.binary(3), b"abc", b"abc"),
        (
            {"type": "enum", "name": "E", "symbols": ["A", "B"]},
            pa.dictionary(pa.int32(), pa.string()),
            b"\2",
            "B",
        ),
        (
            {"type": "array", "items": "int"},
            pa.list_(pa.int32()),
            b"\4\2\4" + zigzag(-1) + b"\2\6\0",
            [1, 2, 3],
        ),
        (
            {"type": "map", "values": "int"},
            pa.map_(pa.string(), pa.int32()),
            b"\4" + string("k") + b"\2" + string("k") + b"\4\0",
            [("k", 1), ("k", 2)],
        ),
        (logical("int", "date"), pa.date32(), zigzag(-1), dt.date(1969, 12, 31)),
        (logical("int", "time-millis"), pa.time32("ms"), zigzag(1), dt.time(0, 0, 0, 1000)),
        (logical("long", "time-micros"), pa.time64("us"), zigzag(1), dt.time(0, 0, 0, 1)),
        (
            logical("long", "timestamp-millis"),
            pa.timestamp("ms", "UTC"),
            zigzag(MILLISECONDS),
            INSTANT.replace(tzinfo=UTC),
        ),
        (
            logical("long", "timestamp-micros"),
            pa.timestamp("us", "UTC"),
            zigzag(MILLISECONDS * 1000),
            INSTANT.replace(tzinfo=UTC),
        ),
        (
            logical("long", "local-timestamp-millis"),
            pa.timestamp("ms"),
            zigzag(MILLISECONDS),
            INSTANT,
        ),
        (
            logical("long", "local-timestamp-micros"),
            pa.timestamp("us"),
            zigzag(MILLISECONDS * 1000),
            INSTANT,
        ),
        (logical("string", "uuid"), pa.string(), string("1-2"), "1-2"),
        (
            logical("fixed", "uuid", name="U", size=16),
            pa.string(),
            bytes(range(16)),
            "00010203-0405-0607-0809-0a0b0c0d0e0f",
        ),
        (
            logical("fixed", "duration", name="D", size=12),
            pa.month_day_nano_interval(),
            struct.pack("<III", 1, 2, 3),
            pa.MonthDayNano((1, 2, 3_000_000)),
        ),
        (decimal(4, 2), pa.decimal128(4, 2), string(b"\xff\xff\x9c"), Decimal("-1.00")),
        (decimal(4, 0), pa.decimal128(4, 0), string(b"\x26\xac"), Decimal(9900)),
        (decimal(38, 0, 16), pa.decimal128(38, 0), b"\xff" * 16, Decimal(-1)),
        (
            decimal(76, 3, 40),
            pa.decimal256(76, 3),
            (10**76 - 1).to_bytes(40, "big"),
            Decimal("9" * 73 + ".999"),
        ),
        (
            decimal(77, 3),
            pa.string(),
            string((1 - 10**77).to_bytes(40, "big", signed=True)),
            "-" + "9" * 74 + ".999",
        ),
        (decimal(80, 3), pa.string(), string(b"\5"), "0.005"),
    ],
)
def test_a_type_becomes_an_arrow_type(
    schema: Any, arrow_type: pa.DataType, content: bytes, value: Any
) -> None:
    assert decoder_of(schema).type == arrow_type
    assert python_values(schema, [content]) == [value]


def test_nanoseconds_are_kept() -> None:
    for name, zone in (("timestamp-nanos", "UTC"), ("local-timestamp-nanos", None)):
        outcome = decode(logical("long", name), [zigzag(7)])
        assert outcome.array.type == pa.timestamp("ns", zone)
        assert outcome.array.view(pa.int64()).to_pylist() == [7]


@pytest.mark.parametrize(
    "schema",
    [
        logical("long", "date"),
        logical("string", "timestamp-millis"),
        logical("int", "no-such-type"),
        logical("bytes", "decimal"),
        logical("bytes", "decimal", precision=0),
        logical("bytes", "decimal", precision=2, scale=3),
        logical("bytes", "decimal", precision="9"),
        logical("fixed", "decimal", name="F", size=1, precision=3),
        logical("fixed", "duration", name="F", size=11),
        logical("fixed", "uuid", name="F", size=15),
    ],
)
def test_logical_types_that_are_unknown_or_invalid_are_ignored(schema: Any) -> None:
    plain = {key: attribute for key, attribute in schema.items() if key != "logicalType"}
    assert decoder_of(schema).type == decoder_of(plain).type


@pytest.mark.parametrize("digits", [18, 19, 38, 39, 76, 77, 200])
def test_decimals_have_no_more_digits_than_their_type(digits: int) -> None:
    limit = 10**digits
    numbers = [0, -1, 1, limit - 1, 1 - limit, limit, -limit, 1 << 8 * 100, -(1 << 8 * 100)]
    contents = [string(number.to_bytes(120, "big", signed=True)) for number in numbers]
    outcome = decode(decimal(digits, 0), contents)
    texts = [value if value is None else str(value) for value in outcome.array.to_pylist()]
    assert texts == [*map(str, numbers[:5]), *[None] * 4]


def test_nullable_types_are_nullable_columns_in_either_order() -> None:
    for union, null in ((["null", "string"], b"\0"), (["string", "null"], b"\2")):
        value = (b"\2" if null == b"\0" else b"\0") + string("x")
        assert decoder_of(union).type == pa.string()
        assert python_values(union, [value, null]) == ["x", None]
        assert python_values(record(union), [value, null]) == [{"a": "x"}, {"a": None}]


def test_a_union_of_one_type_is_that_type() -> None:
    assert python_values(["long"], [b"\0\4"]) == [2]
    assert python_values(record(["null"]), [b"\0"]) == [{"a": None}]


def test_unions_of_several_types_are_structs_with_a_field_for_each() -> None:
    other = {"type": "record", "name": "com.shop.Other", "fields": [{"name": "x", "type": "int"}]}
    union = ["string", "null", other, {"type": "array", "items": "int"}]
    expected = pa.struct(
        {
            "string": pa.string(),
            "Other": pa.struct({"x": pa.int32()}),
            "array": pa.list_(pa.int32()),
        }
    )
    schema = record(union)
    assert decoder_of(schema).type == pa.struct({"a": expected})
    nothing = {"string": None, "Other": None, "array": None}
    assert python_values(schema, [b"\0" + string("s"), b"\2", b"\4\x0e", b"\6\2\2\0"]) == [
        {"a": {**nothing, "string": "s"}},
        {"a": None},
        {"a": {**nothing, "Other": {"x": 7}}},
        {"a": {**nothing, "array": [1]}},
    ]


def test_branches_of_one_simple_name_have_their_full_names() -> None:
    union = [{"type": "fixed", "name": f"{place}.F", "size": 1} for place in "ab"]
    assert [field.name for field in decoder_of(union).type] == ["a.F", "b.F"]


def test_nulls_inside_of_null_records_are_written_at_every_depth() -> None:
    inner = record("string", {"type": "array", "items": "int"}, "boolean", "double", name="I")
    schema = record(["null", inner], {"type": "array", "items": ["null", "I"]})
    present = string("x") + b"\2\2\0\1" + bytes(8)
    value = {"a": "x", "b": [1], "c": True, "d": 0.0}
    contents = [b"\0\6\0\2" + present + b"\0\0", b"\2" + present + b"\0", b"\0\0"]
    assert python_values(schema, contents) == [
        {"a": None, "b": [None, value, None]},
        {"a": value, "b": []},
        {"a": None, "b": []},
    ]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_values_may_be_slices_with_nulls_and_frames_of_different_lengths(kind: pa.DataType) -> None:
    contents = [b"x" * number + string(f"value {number}") for number in range(100)]
    contents[10] = None
    values = pa.array(contents, kind).slice(5, 90)
    starts = np.arange(5, 95, dtype=np.int32)
    outcome = decoder_of("string").decode(values, starts)
    expected = [None if number == 10 else f"value {number}" for number in range(5, 95)]
    assert outcome.array.to_pylist() == expected
    assert not outcome.error_codes.any()


def test_no_values_give_an_empty_array() -> None:
    for schema in ("null", "string", record("int", {"type": "array", "items": "string"})):
        decoder = decoder_of(schema)
        for values in (pa.array([], pa.binary()), pa.array([None, None], pa.binary())):
            outcome = decoder.decode(values, 0)
            assert outcome.array.equals(pa.nulls(len(values), decoder.type))


def test_many_values_of_very_different_sizes_are_decoded() -> None:
    """The memory for all is estimated by the first ones."""
    texts = [*["x"] * 600, "y" * 100_000, *["z" * (number % 50) for number in range(3000)]]
    schema = record({"type": "array", "items": "string"}, "string")
    contents = [b"\2" + string(text) + b"\0" + string(text) for text in texts]
    outcome = decoder_of(schema).decode(pa.array(contents), 0)
    assert outcome.array.to_pylist() == [{"a": [text], "b": text} for text in texts]


LINKED = record("int", name="L")
LINKED["fields"].append({"name": "next", "type": ["null", "L"]})


@pytest.mark.parametrize(
    "schema",
    [
        LINKED,
        record({"type": "array", "items": "R"}),
        record({"type": "map", "values": ["null", "R"]}),
    ],
)
def test_recursive_schemas_are_not_columnar(schema: Any) -> None:
    with pytest.raises(NotColumnarError, match="contains itself"):
        decoder_of(schema)


def test_schemas_of_very_many_fields_are_not_columnar() -> None:
    """Each record has the one before it twice: 2^40 columns in a schema of 4 KB."""
    named = [json.dumps(record("int", name="A0"))]
    for number in range(1, 41):
        previous = f"A{number - 1}"
        named.append(json.dumps(record(previous, previous, name=f"A{number}")))
    schema = parse_schema('"A40"', named)
    with pytest.raises(NotColumnarError, match="more than 10000 fields"):
        AvroDecoder(schema)


def test_fields_without_bytes_are_limited_where_python_reads_them() -> None:
    """A value of no bytes has 2^40 nulls."""
    named = [json.dumps(record("null", name="A0"))]
    for number in range(1, 41):
        previous = f"A{number - 1}"
        named.append(json.dumps(record(previous, previous, name=f"A{number}")))
    schema = parse_schema('"A40"', named)
    outcome = AvroJsonDecoder(schema).decode(pa.array([b""]), 0)
    assert outcome.error_codes.tolist() == [11]
    skipped = AvroDecoder(schema, parse_schema(json.dumps(record(name="A40"))))
    assert skipped.decode(pa.array([b""]), 0).error_codes.tolist() == [11]


def test_recursive_fields_that_the_reader_lacks_are_skipped() -> None:
    writer = record("int", LINKED)
    outcome = AvroDecoder(
        parse_schema(json.dumps(writer)), parse_schema(json.dumps(record("long")))
    ).decode(pa.array([b"\2\2\2\4\0", b"\2\2\2"]), 0)
    assert outcome.array.to_pylist() == [{"a": 1}, None]
    assert outcome.error_codes.tolist() == [0, 1]


def json_values(schema: Any, contents: list[bytes]) -> list[Any]:
    outcome = AvroJsonDecoder(parse_schema(json.dumps(schema))).decode(pa.array(contents), 0)
    assert outcome.array.type == pa.string()
    return [None if text is None else json.loads(text) for text in outcome.array.to_pylist()]


def test_recursive_values_are_json() -> None:
    assert json_values(LINKED, [b"\2\2\4\0"]) == [{"a": 1, "next": {"a": 2, "next": None}}]


def test_recursion_is_limited() -> None:
    decoder = AvroJsonDecoder(parse_schema(json.dumps(LINKED)))
    for depth, code in ((110, 0), (111, 19), (200_000, 19)):
        outcome = decoder.decode(pa.array([b"\0\2" * (depth - 1) + b"\0\0"]), 0)
        assert outcome.error_codes.tolist() == [code]


def test_json_has_plain_forms_of_all_types() -> None:
    schema = record(
        decimal(9, 2),
        logical("int", "date"),
        logical("int", "time-millis"),
        logical("long", "timestamp-micros"),
        logical("long", "local-timestamp-millis"),
        "bytes",
        {"type": "map", "values": ["null", "double", "string"]},
        logical("fixed", "duration", name="D", size=12),
    )
    content = string(b"\5") + zigzag(0) + zigzag(3_723_004) + zigzag(-1) + zigzag(MILLISECONDS)
    content += string(b"\xff") + b"\6" + string("x") + b"\2" + struct.pack("<d", float("nan"))
    content += string("y") + b"\0" + string("z") + b"\4" + string("ü") + b"\0"
    content += struct.pack("<III", 1, 2, 3)
    assert json_values(schema, [content]) == [
        {
            "a": "0.05",
            "b": "1970-01-01",
            "c": "01:02:03.004",
            "d": "1969-12-31T23:59:59.999999Z",
            "e": "2026-09-21T14:13:20.005",
            "f": "/w==",
            "g": {"x": {"double": "NaN"}, "y": None, "z": {"string": "ü"}},
            "h": {"months": 1, "days": 2, "nanoseconds": 3_000_000},
        }
    ]


def test_json_is_limited_where_few_bytes_stand_for_much_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each item of one byte is a record with a long name and a long default."""
    writer = {"type": "array", "items": record("boolean", name="I")}
    reader = {"type": "array", "items": record("boolean", name="I")}
    reader["items"]["fields"] += [
        {"name": "n" * 1000, "type": "boolean", "default": True},
        {"name": "d", "type": "string", "default": "x" * 1000},
    ]
    monkeypatch.setattr(_decoder, "MIN_OUTPUT_BYTES", 1 << 20)
    decoder = AvroJsonDecoder(*(parse_schema(json.dumps(one)) for one in (writer, reader)))
    contents = [zigzag(count) + bytes(count) + b"\0" for count in (300, 3000, 100, 200, 1)]
    outcome = decoder.decode(pa.array(contents), 0)
    assert outcome.error_codes.tolist() == [0, 12, 0, 12, 0]
    assert outcome.array.is_valid().to_pylist() == [True, False, True, False, True]


def test_a_null_value_is_null_in_json_too() -> None:
    assert json_values(["null", "int"], [b"\0", b"\2\2"]) == [None, 1]


def test_a_long_default_of_every_value_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory for defaults of the value itself is not counted as items and strings that a value states."""
    monkeypatch.setattr(avro_columns, "MIN_OUTPUT_BYTES", 0)
    reader = record("int")
    reader["fields"].append({"name": "d", "type": "string", "default": "x" * 1000})
    outcome = decoder_of(record("int"), reader).decode(pa.array([b"\2"] * 5000), 0)
    assert not outcome.error_codes.any()
    assert outcome.array[-1].as_py() == {"a": 1, "d": "x" * 1000}
