"""Tests of a reader's schema other than the writer's."""

import json
import struct
from typing import Any

import pyarrow as pa
import pytest

from magicbyte.decoding.avro import AvroJsonDecoder, parse_schema
from magicbyte.engines.columnar.avro_program import Fault
from magicbyte.errors import SchemaError
from magicbyte_tools.fuzz.avro_cases import zigzag

from .avro_values import decode, decoder_of, fault, python_values, record, string


def fields(*definitions: tuple[Any, ...], name: str = "R", **attributes: Any) -> Any:
    """Return a record of fields, each a name, a type and attributes."""
    listed = [
        {"name": field, "type": kind, **(more[0] if more else {})}
        for field, kind, *more in definitions
    ]
    return {"type": "record", "name": name, "fields": listed, **attributes}


def test_fields_are_matched_by_name_and_alias_and_have_the_readers_order() -> None:
    writer = fields(("a", "int"), ("gone", "string"), ("b", "string"), ("old", "long"))
    reader = fields(
        ("new", "long", {"aliases": ["older", "old"]}),
        ("b", "string"),
        ("a", "int"),
        ("more", "string", {"default": "d"}),
    )
    content = zigzag(1) + string(b"\xff") + string("b") + zigzag(2)
    expected = {"new": 2, "b": "b", "a": 1, "more": "d"}
    values = python_values(writer, [content], reader)
    assert values == [expected]
    assert list(values[0]) == list(expected)


def test_skipped_fields_are_read_to_their_last_byte() -> None:
    skipped = fields(
        ("l", {"type": "array", "items": {"type": "map", "values": ["null", "double"]}}),
        ("d", {"type": "bytes", "logicalType": "decimal", "precision": 2}),
        ("e", {"type": "enum", "name": "E", "symbols": ["A"]}),
        ("f", {"type": "fixed", "name": "F", "size": 3}),
        ("g", ["boolean", "float", "string"]),
        name="S",
    )
    writer = fields(("s", skipped), ("x", "int"))
    content = b"\2\2" + string("k") + b"\2" + bytes(8) + b"\0\0" + string(b"\x7f" * 9) + b"\0abc\2"
    content += bytes(4) + zigzag(5)
    reader = fields(("x", "int"))
    assert python_values(writer, [content], reader) == [{"x": 5}]
    assert fault(writer, content[:-1], reader)[0] == Fault.ENDS_EARLY
    assert fault(writer, content[:-6] + b"\x08" + content[-5:], reader)[0] == Fault.UNION_BRANCH


@pytest.mark.parametrize(
    ("writer", "reader", "content", "value"),
    [
        ("int", "long", zigzag(-5), -5),
        ("int", "float", zigzag(16_777_217), 16_777_216.0),
        ("int", "double", zigzag(-5), -5.0),
        ("long", "float", zigzag((1 << 62) + (1 << 38) + 1), float((1 << 62) + (1 << 39))),
        ("long", "double", zigzag((1 << 53) + 1), float(1 << 53)),
        ("float", "double", struct.pack("<f", 0.1), struct.unpack("<f", struct.pack("<f", 0.1))[0]),
        ("string", "bytes", string("ü"), "ü".encode()),
        ("bytes", "string", string("ü"), "ü"),
        ("int", ["null", "double"], zigzag(3), 3.0),
        (["null", "int"], ["null", "long"], b"\2\6", 3),
        (["int", "null"], ["null", "double"], b"\0\6", 3.0),
        (["null", "int"], "long", b"\2\6", 3),
        ("null", ["int", "null"], b"", None),
        ({"type": "array", "items": "int"}, {"type": "array", "items": "double"}, b"\2\6\0", [3.0]),
        (
            {"type": "map", "values": "int"},
            {"type": "map", "values": ["null", "long"]},
            b"\2" + string("k") + b"\6\0",
            [("k", 3)],
        ),
        ("int", ["string", "int"], zigzag(3), {"string": None, "int": 3}),
        ("int", ["long", "int"], zigzag(3), {"long": None, "int": 3}),
        (["int", "string"], ["string", "long"], b"\0\6", {"string": None, "long": 3}),
        (["int", "float"], "double", b"\0\6", 3.0),
    ],
)
def test_types_are_promoted(writer: Any, reader: Any, content: bytes, value: Any) -> None:
    assert python_values(writer, [content], reader) == [value]
    inside = [{"a": value}]
    assert python_values(record(writer), [content], record(reader)) == inside


@pytest.mark.parametrize(
    ("writer", "reader", "message"),
    [
        (
            "string",
            "int",
            "int: the writer's type is string; expected a type that the reader's int",
        ),
        ("long", "int", "the writer's type is long"),
        ("double", "float", "the writer's type is double"),
        ("null", "int", "the writer's type is null"),
        ("int", ["null", "string"], "the writer's type is int"),
        (["null", "string"], ["int", "long"], "the writer's type is null"),
        (record("int"), record("string"), "R.a: the writer's type is int"),
        (record("int"), fields(("z", "int")), "R: the writer's schema has no field 'z'"),
        (
            {"type": "fixed", "name": "F", "size": 3},
            {"type": "fixed", "name": "F", "size": 4},
            "the writer's type is F",
        ),
        (
            {"type": "enum", "name": "E", "symbols": ["A"]},
            {"type": "enum", "name": "G", "symbols": ["A"]},
            "the writer's type is E",
        ),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
            {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2},
            r"logical type is decimal\(4, 2\), the reader's decimal\(6, 2\)",
        ),
        (
            {"type": "long", "logicalType": "timestamp-millis"},
            {"type": "long", "logicalType": "timestamp-micros"},
            "logical type is timestamp-millis, the reader's timestamp-micros",
        ),
        (
            record(),
            fields(("n", "int", {"default": "five"})),
            "R.n: default 'five'; expected a value of type int as the default",
        ),
        (
            record(),
            fields(("n", record("int", name="I"), {"default": {}})),
            "R.n: no 'a'; expected all fields of I as the default",
        ),
    ],
)
def test_schemas_that_do_not_fit_are_an_error_that_says_where(
    writer: Any, reader: Any, message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        decoder_of(writer, reader)


def test_a_branch_that_the_reader_lacks_is_a_fault_of_the_values_that_have_it() -> None:
    outcome = decode(
        ["null", "int", "string"], [b"\0", b"\2\6", b"\4" + string("x")], ["null", "int"]
    )
    assert outcome.array.to_pylist() == [None, 3, None]
    assert outcome.error_codes.tolist() == [0, 0, Fault.NO_READER_BRANCH]
    assert outcome.error_positions.tolist() == [0, 0, 1]
    assert fault(["null", "int"], b"\0", "int") == (Fault.NO_READER_BRANCH, 1)


def test_symbols_are_matched_by_name_or_are_the_readers_default() -> None:
    writer = {"type": "enum", "name": "a.E", "symbols": ["A", "B", "C"]}
    reader = {"type": "enum", "name": "b.E", "symbols": ["C", "A"]}
    outcome = decode(writer, [b"\0", b"\2", b"\4"], reader)
    assert outcome.array.to_pylist() == ["A", None, "C"]
    assert outcome.error_codes.tolist() == [0, Fault.NO_READER_SYMBOL, 0]
    assert python_values(writer, [b"\2"], {**reader, "default": "C"}) == ["C"]
    renamed = {**reader, "name": "b.Other", "aliases": ["a.E"]}
    assert python_values(writer, [b"\4"], renamed) == ["C"]


def test_records_of_a_union_are_matched_by_full_name_then_by_name_or_alias_then_by_fields() -> None:
    first, second = fields(("x", "int"), name="a.P"), fields(("x", "int"), name="b.P")
    nothing = {"a.P": None, "b.P": None}
    assert python_values(second, [b"\2"], [first, second]) == [{**nothing, "b.P": {"x": 1}}]
    third = fields(("x", "int"), name="c.Q", aliases=["b.P"])
    assert python_values(second, [b"\2"], [fields(("x", "int"), name="a.S"), third]) == [
        {"S": None, "Q": {"x": 1}}
    ]
    assert python_values(second, [b"\2"], [fields(("x", "long"), name="d.T")]) == [{"x": 1}]


@pytest.mark.parametrize(
    ("kind", "default", "value"),
    [
        ("null", None, None),
        ("boolean", True, True),
        ("int", -7, -7),
        ("long", 1 << 40, 1 << 40),
        ("float", 1.5, 1.5),
        ("double", 3, 3.0),
        ("bytes", "\u00ff\u0000", b"\xff\0"),
        ("string", "grüße", "grüße"),
        ({"type": "fixed", "name": "F", "size": 2}, "\u00fe\u0001", b"\xfe\1"),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B", "B"),
        ({"type": "array", "items": "int"}, [1, 2], [1, 2]),
        ({"type": "array", "items": "int"}, [], []),
        ({"type": "map", "values": "string"}, {"k": "v"}, [("k", "v")]),
        (["null", "string"], None, None),
        (["string", "null"], "x", "x"),
        (["null", "string"], "x", "x"),
        (["int", "string"], "x", {"int": None, "string": "x"}),
        (fields(("x", "int"), ("y", "int", {"default": 4}), name="I"), {"x": 3}, {"x": 3, "y": 4}),
    ],
)
def test_a_field_that_the_writer_lacks_has_its_default(kind: Any, default: Any, value: Any) -> None:
    writer = {"type": "array", "items": record("string")}
    reader = {
        "type": "array",
        "items": fields(("d", kind, {"default": default}), ("a", "string")),
    }
    content = b"\4" + string("x") + string("y") + b"\0"
    expected = [{"d": value, "a": "x"}, {"d": value, "a": "y"}]
    assert python_values(writer, [content, b"\0"], reader) == [expected, []]


def test_a_default_of_a_logical_type_is_a_value_of_it() -> None:
    kind = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
    values = python_values(record(), [b""], fields(("d", kind, {"default": "\u0001\u0000"})))
    assert str(values[0]["d"]) == "2.56"


def test_branches_may_have_different_fields_of_one_record() -> None:
    """A field that one branch has and the other lacks is read, or has the default."""
    writer = [fields(("x", "int"), name="A"), fields(("y", "int"), name="B")]
    reader = fields(("x", "int", {"default": 8}), ("y", "int", {"default": 9}), name="C")
    assert python_values(writer, [b"\0\2", b"\2\2"], reader) == [{"x": 1, "y": 9}, {"x": 8, "y": 1}]


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("string", "x" * 70_000),
        ({"type": "array", "items": "null"}, [None] * 20_000),
        (fields(("n", "R2", {"default": {}}), name="R2"), {}),
    ],
)
def test_defaults_are_limited(kind: Any, default: Any) -> None:
    writer = parse_schema(json.dumps(record()))
    reader = parse_schema(json.dumps(fields(("d", kind, {"default": default}))))
    decoder = AvroJsonDecoder
    with pytest.raises(SchemaError, match="a default of"):
        decoder(writer, reader).decode(pa.array([b""]), 0)


def test_recursive_schemas_are_resolved_for_json() -> None:
    writer = fields(("v", "int"), ("next", ["null", "R"]))
    reader = fields(
        ("next", ["null", "R"]), ("w", "long", {"aliases": ["v"]}), ("d", "int", {"default": 1})
    )
    decoder = AvroJsonDecoder(*(parse_schema(json.dumps(one)) for one in (writer, reader)))
    outcome = decoder.decode(pa.array([b"\2\2\4\0"]), 0)
    assert json.loads(outcome.array[0].as_py()) == {
        "next": {"next": None, "w": 2, "d": 1},
        "w": 1,
        "d": 1,
    }


def test_records_that_do_not_fit_are_tried_once() -> None:
    """Each record tries the one before it twice: 2^45 times in all, if failures were forgotten."""

    def chain(kind: str) -> Any:
        named = [json.dumps(record(kind, name="A0"))]
        for number in range(1, 46):
            previous = f"A{number - 1}"
            named.append(json.dumps(record(["null", previous], previous, name=f"A{number}")))
        return parse_schema('"A45"', named)

    with pytest.raises(SchemaError, match="the writer's type is string"):
        AvroJsonDecoder(chain("string"), chain("int"))


def test_comparisons_of_large_unions_are_limited() -> None:
    """Each branch of one union is compared with each of the other: a million pairs."""

    def union(letter: str, field: str) -> Any:
        return [fields((field, "int"), name=f"{letter}{number}") for number in range(1000)]

    assert len(decoder_of(union("A", "x")).type) == 1000
    for field in ("x", "y"):
        with pytest.raises(SchemaError, match="more than 100000 pairs of types"):
            decoder_of(union("A", "x"), union("B", field))
