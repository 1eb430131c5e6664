"""Tests of parsing Avro schemas: names, references, errors, hostile schemas, fingerprints."""

import json
from typing import Any

import pytest

from magicbyte.decoding.avro import AvroDecoder, AvroJsonDecoder, parse_schema
from magicbyte.errors import InputError, NotColumnarError, SchemaError

from .avro_values import record


def test_names_are_resolved_in_the_namespace_of_the_record() -> None:
    schema = {
        "type": "record",
        "name": "Order",
        "namespace": "com.shop",
        "fields": [
            {"name": "s", "type": {"type": "enum", "name": "State", "symbols": ["A"]}},
            {"name": "t", "type": "State"},
            {"name": "u", "type": "com.shop.State"},
            {"name": "v", "type": {"type": "fixed", "name": "F", "namespace": "x", "size": 1}},
            {"name": "w", "type": "x.F"},
            {"name": "x", "type": {"type": "record", "name": "y.R", "fields": []}},
            {"name": "z", "type": {"type": {"type": "State"}}},
        ],
    }
    parsed = parse_schema(json.dumps(schema))
    assert parsed.name == "com.shop.Order"
    assert len(AvroDecoder(parsed).type) == 7


def test_names_of_types_without_names_are_their_kinds() -> None:
    assert parse_schema('"string"').name == "string"
    assert parse_schema('{"type": "array", "items": "int"}').name == "array"
    assert parse_schema('["null", "int"]').name == "union"


def test_referenced_schemas_define_types_for_those_after_them() -> None:
    money = json.dumps(record("long", name="com.shop.Money"))
    line = json.dumps(record("com.shop.Money", "int", name="com.shop.Line"))
    order = json.dumps(record({"type": "array", "items": "com.shop.Line"}, name="com.shop.Order"))
    schema = parse_schema(order, [money, line])
    assert str(AvroDecoder(schema).type) == (
        "struct<a: list<item: struct<a: struct<a: int64>, b: int32>>>"
    )
    with pytest.raises(SchemaError, match=r"referenced schema 1.*unknown type 'com.shop.Money'"):
        parse_schema(order, [line, money])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "not JSON"),
        ("1", "Avro schema: 1; expected the name of a type"),
        ("null", "None; expected the name of a type"),
        ("{}", "{}; expected the name of a type, a union, or an object with `type`"),
        ('"strng"', "Avro schema: unknown type 'strng'"),
        ("[]", "a union of 0 branches"),
        ('["int", ["null"]]', "a union in a union"),
        ('["int", {"type": "int"}]', "two branches of type int in a union"),
        ('{"type": "array"}', "no 'items'"),
        ('{"type": "map"}', "no 'values'"),
        ('{"type": "record", "name": "R"}', "no 'fields'"),
        ('{"type": "record", "fields": []}', "no 'name'"),
        ('{"type": "record", "name": "", "fields": []}', "name ''; expected a name"),
        ('{"type": "record", "name": "R", "fields": 1}', "fields 1; expected a list of fields"),
        ('{"type": "record", "name": "R", "fields": [1]}', "field 1; expected an object"),
        ('{"type": "record", "name": "int", "fields": []}', "a definition of int"),
        ('{"type": "enum", "name": "E", "symbols": []}', "0 symbols"),
        ('{"type": "enum", "name": "E", "symbols": ["A", "A"]}', "2 symbols, 1 of them different"),
        ('{"type": "enum", "name": "E", "symbols": ["\\ud800"]}', "expected a list of names"),
        ('{"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}', "default 'B'"),
        ('{"type": "fixed", "name": "F"}', "no 'size'"),
        ('{"type": "fixed", "name": "F", "size": -1}', "size -1 of a fixed type"),
        ('{"type": "fixed", "name": "F", "size": 1e3}', "size 1000.0 of a fixed type"),
        (json.dumps(record("int", "strng")), "R.b: unknown type 'strng'"),
        (json.dumps(record({"type": "array", "items": "X"})), r"R.a\[\]: unknown type 'X'"),
        (json.dumps(record(["null", {"type": "map", "values": "X"}])), "R.a, branch 1{}: unknown"),
        (json.dumps(record(record("int"))), "R.a: a second definition of R"),
    ],
)
def test_a_bad_schema_is_an_error_that_says_where(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        parse_schema(text)
    assert isinstance(caught.value, InputError)


def test_two_fields_of_one_name_are_an_error() -> None:
    fields = [{"name": "x", "type": "int"}] * 2
    with pytest.raises(SchemaError, match="two fields 'x'"):
        parse_schema(json.dumps({"type": "record", "name": "R", "fields": fields}))


def nested(depth: int) -> Any:
    schema: Any = "int"
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def test_depth_is_limited_across_referenced_schemas_too() -> None:
    AvroDecoder(parse_schema(json.dumps(nested(100))))
    with pytest.raises(SchemaError, match="types nested 101 deep"):
        parse_schema(json.dumps(nested(101)))
    named = [json.dumps(record("int", name="A0"))]
    for number in range(1, 300):
        named.append(json.dumps(record(f"A{number - 1}", name=f"A{number}")))
    AvroDecoder(parse_schema('"A90"', named[:91]))
    with pytest.raises(SchemaError, match="types nested 101 deep"):
        parse_schema('"A299"', named)


def test_pairs_of_recursive_schemas_are_bounded() -> None:
    """Cycles of 49 and 50 records give 2450 pairs of records, each inside of the one before it."""

    def cycle(length: int) -> Any:
        schema: Any = "X0"
        for number in reversed(range(length)):
            schema = record(["null", schema], name=f"X{number}")
        return parse_schema(json.dumps(schema))

    with pytest.raises(SchemaError, match="types nested too deeply"):
        AvroJsonDecoder(cycle(49), cycle(50))


def test_sizes_of_schemas_are_limited() -> None:
    with pytest.raises(SchemaError, match="a union of 100000 branches"):
        parse_schema(json.dumps(["int"] * 100_000))
    with pytest.raises(SchemaError, match="characters"):
        parse_schema(" " * (17 << 20))
    fields = [{"name": f"f{number}", "type": "int"} for number in range(250_000)]
    with pytest.raises(SchemaError, match="more than 200000 types"):
        parse_schema(json.dumps({"type": "record", "name": "R", "fields": fields}))
    wide = {"type": "record", "name": "R", "fields": fields[:50_000]}
    with pytest.raises(NotColumnarError, match="more than 10000 fields"):
        AvroDecoder(parse_schema(json.dumps(wide)))


@pytest.mark.parametrize(
    ("schema", "fingerprint"),
    [
        # From Avro's own share/test/data/schema-tests.txt.
        ('"null"', 7195948357588979594),
        ('{"type": "boolean"}', -6970731678124411036),
        ('"int"', 8247732601305521295),
        ('{"type":"fixed", "name":"foo", "size":15}', 1756455273707447556),
        (
            '{"type":"record", "name":"foo", "fields":[{"name":"f1", "type":"boolean"}]}',
            7843277075252814651,
        ),
    ],
)
def test_fingerprints_are_those_of_avros_own_tests(schema: str, fingerprint: int) -> None:
    assert parse_schema(schema).canonical_fingerprint() == fingerprint % (1 << 64)


def test_the_canonical_form_has_full_names_and_no_other_attributes() -> None:
    schema = {
        **record("int", ["null", "R"]),
        "doc": "text",
        "aliases": ["Old"],
        "namespace": "com.shop",
    }
    schema["fields"][0] |= {"default": 5, "doc": "text"}
    assert parse_schema(json.dumps(schema)).canonical_form() == (
        '{"name":"com.shop.R","type":"record","fields":[{"name":"a","type":"int"},'
        '{"name":"b","type":["null","com.shop.R"]}]}'
    )
