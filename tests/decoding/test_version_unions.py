"""Tests of the union of all versions of a schema: fields of each version, in order of first appearance."""

import json
from typing import Any

import pyarrow as pa
import pytest

from magicbyte.decoding.avro import AvroDecoder, AvroSchema, parse_schema, union_of_versions
from magicbyte.errors import SchemaError
from magicbyte_tools.fuzz.avro_cases import zigzag

from .avro_values import string


def version(*fields: dict[str, Any], name: str = "R", **more: Any) -> AvroSchema:
    return parse_schema(
        json.dumps({"type": "record", "name": name, "fields": list(fields), **more})
    )


def of(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def rows(content: bytes, writer: AvroSchema, union: AvroSchema) -> dict[str, Any]:
    decoded = AvroDecoder(writer, union).decode(pa.array([content], pa.binary()), 0)
    assert decoded.error_codes.tolist() == [0]
    (row,) = decoded.array.to_pylist()
    return dict(row)


FIRST = version(of("a", "int"), of("customer", "string"), of("gone", "long"))
SECOND = version(of("b", "double"), of("customer", "string"), of("a", "long"))
THIRD = version(of("a", "float"), of("buyer", "string", aliases=["customer"]), of("n", "boolean"))


def test_fields_of_all_versions_are_in_order_of_first_appearance_and_null_elsewhere() -> None:
    union = union_of_versions([FIRST, SECOND, THIRD])
    assert rows(zigzag(1) + string("x") + zigzag(7), FIRST, union) == {
        **{"a": 1.0, "buyer": "x", "gone": 7, "b": None, "n": None},
    }
    assert list(AvroDecoder(union).type.names) == ["a", "buyer", "gone", "b", "n"]
    assert AvroDecoder(union).type.field("a").type == pa.float32()
    assert rows(bytes(8) + string("y") + zigzag(2), SECOND, union) == {
        **{"a": 2.0, "buyer": "y", "gone": None, "b": 0.0, "n": None},
    }
    assert rows(bytes(4) + string("z") + b"\1", THIRD, union)["n"] is True


def test_name_counts_before_an_alias_as_in_avro() -> None:
    newer = version(of("buyer", "string", aliases=["customer"]), of("customer", "string"))
    union = union_of_versions([FIRST, newer])
    assert rows(string("new") + string("same"), newer, union)["customer"] == "same"
    assert rows(zigzag(1) + string("x") + zigzag(7), FIRST, union)["customer"] == "x"


def test_nested_records_enums_unions_and_containers_are_merged() -> None:
    def inner(*fields: dict[str, Any]) -> dict[str, Any]:
        return {"type": "record", "name": "I", "fields": list(fields)}

    def symbols(*names: str) -> dict[str, Any]:
        return {"type": "enum", "name": "E", "symbols": list(names)}

    earlier = version(
        of("i", {"type": "array", "items": inner(of("x", "int"))}),
        of("e", symbols("A", "B")),
        of("m", {"type": "map", "values": "int"}),
        of("u", ["int", "string"]),
        of("i2", "I"),
        name="old.R",
    )
    newer = version(
        of("i", {"type": "array", "items": inner(of("y", "int"), of("x", "long"))}),
        of("e", ["null", symbols("C", "B")]),
        of("m", {"type": "map", "values": "long"}),
        of("u", ["null", "string", "boolean"]),
        name="new.R",
    )
    union = union_of_versions([earlier, newer])
    content = b"\2" + zigzag(5) + b"\0" + b"\0" + b"\2" + string("k") + zigzag(3) + b"\0"
    content += b"\0" + zigzag(9) + zigzag(6)
    row = rows(content, earlier, union)
    assert row["i"] == [{"x": 5, "y": None}]
    assert (row["e"], dict(row["m"]), row["i2"]) == ("A", {"k": 3}, {"x": 6, "y": None})
    assert [one for one in row["u"].values() if one is not None] == [9]


def test_recursive_schemas_and_logical_types_are_merged() -> None:
    amount = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    node = [
        version(of("next", ["null", "R"]), of("v", amount)),
        version(of("next", ["null", "R"]), of("v", amount), of("w", "int")),
    ]
    union = union_of_versions(node)
    text = json.loads(union.text)
    assert [one["name"] for one in text["fields"]] == ["next", "v", "w"]
    assert text["fields"][1]["type"][1] == amount
    assert text["fields"][0]["type"] == ["null", "R"]


@pytest.mark.parametrize(
    ("earlier", "newer", "message"),
    [
        ("int", "string", "int in one version and string in a later one"),
        ("bytes", "string", "bytes in one version and string"),
        ("int", {"type": "array", "items": "int"}, "int in one version and array"),
        ({"type": "int", "logicalType": "date"}, "long", "int as date in one version and long"),
        (
            {"type": "fixed", "name": "F", "size": 2},
            {"type": "fixed", "name": "F", "size": 3},
            "F in one version and F in a later one",
        ),
    ],
)
def test_types_that_cannot_be_promoted_are_an_error_that_names_the_field(
    earlier: Any, newer: Any, message: str
) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        union_of_versions([version(of("v", earlier)), version(of("v", newer))])
    assert "R.v" in str(caught.value) or "F" in str(caught.value)
