"""Random JSON: Python's own parser is the judge of texts, and the words of the page of columns."""

import json
import math
import os
from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from magicbyte.decoding.faults import fault_name
from magicbyte.decoding.json_text import MAX_DEPTH, JsonShapeDecoder, JsonTextDecoder
from magicbyte_tools.fuzz.json_cases import JsonCases

NUM_VALUES = 10_000 if os.environ.get("MAGICBYTE_WIDE") else 2_000
VALUES_OF_A_SCHEMA = 10
DOES_NOT_FIT = object()


def binary(texts: list[str]) -> pa.Array:
    return pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.binary())


def test_random_texts_stay_and_mean_what_python_reads() -> None:
    cases = JsonCases(Random(1))
    texts = [cases.text() for _ in range(NUM_VALUES)]
    decoded = JsonTextDecoder().decode(binary(texts), 0)
    assert not decoded.error_codes.any()
    for text, value in zip(texts, decoded.array.to_pylist(), strict=True):
        assert value == text.removeprefix("\ufeff")
        json.loads(value)


def expected(value: Any, json_schema: Any) -> Any:
    """Return *value* of json.loads as the columns of *json_schema* have it; DOES_NOT_FIT if they cannot."""
    choices = (
        None
        if not isinstance(json_schema, dict)
        else json_schema.get("oneOf") or json_schema.get("anyOf")
    )
    if choices:
        return expected(value, choices[1])
    types = json_schema.get("type") if isinstance(json_schema, dict) else None
    kinds = [one for one in (types if isinstance(types, list) else [types]) if one != "null"]
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match kinds:
        case ["object"] if isinstance(value, dict):
            members = {
                name: expected(value.get(name), one)
                for name, one in json_schema["properties"].items()
            }
            return DOES_NOT_FIT if DOES_NOT_FIT in members.values() else members
        case ["array"] if isinstance(value, list):
            items = [expected(one, json_schema["items"]) for one in value]
            return DOES_NOT_FIT if any(one is DOES_NOT_FIT for one in items) else items
        case ["string"] if isinstance(value, str):
            has_half = any("\ud800" <= char <= "\udfff" for char in value)
            return DOES_NOT_FIT if has_half else value
        case ["boolean"] if isinstance(value, bool):
            return value
        case ["number"] if is_number:
            try:
                return float(value)
            except OverflowError:
                return math.inf if value > 0 else -math.inf
        case ["integer"] if is_number and math.isfinite(value) and value == int(value):
            return int(value) if -(1 << 63) <= value < 1 << 63 else DOES_NOT_FIT
        case ["object" | "array" | "string" | "boolean" | "number" | "integer"]:
            return DOES_NOT_FIT
    return ("JSON", value)  # a part that the schema leaves open is JSON text


def is_as_expected(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return repr(json.loads(value)) == repr(wanted[1])
    if isinstance(wanted, dict):
        return list(value) == list(wanted) and all(
            is_as_expected(value[name], wanted[name]) for name in wanted
        )
    if isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(is_as_expected, value, wanted))
    return repr(value) == repr(wanted)


def test_random_values_of_random_schemas_are_as_python_reads_them() -> None:
    counts: Counter[str] = Counter()
    for number in range(NUM_VALUES // VALUES_OF_A_SCHEMA):
        cases = JsonCases(Random(number))
        json_schema = cases.schema()
        decoder = JsonShapeDecoder(json.dumps(json_schema), "random.json")
        texts = [cases.value_of(json_schema) for _ in range(VALUES_OF_A_SCHEMA)]
        decoded = decoder.decode(binary(texts), 0)
        decoded.array.validate(full=True)
        for text, value, code in zip(
            texts, decoded.array.to_pylist(), decoded.error_codes.tolist(), strict=True
        ):
            wanted = expected(json.loads(text), json_schema)
            if wanted is DOES_NOT_FIT:
                assert value is None and fault_name(code) in ("json-shape", "utf8"), text
                counts["fault"] += 1
            else:
                assert not code and is_as_expected(value, wanted), (text, value, json_schema)
                counts["value"] += 1
    assert counts["value"] > NUM_VALUES // 2
    assert counts["fault"] > NUM_VALUES // 100


def shape_outcome(json_schema: Any, text: str) -> Any:
    decoded = JsonShapeDecoder(json.dumps(json_schema), "s.json").decode(binary([text]), 0)
    code = int(decoded.error_codes[0])
    return fault_name(code) if code else decoded.array[0].as_py()


@pytest.mark.parametrize(
    ("json_schema", "text", "value"),
    [
        ({"type": "integer"}, "-9223372036854775808", -(1 << 63)),
        ({"type": "integer"}, "1e400", "json-shape"),
        ({"type": "number"}, "9" * 5000, math.inf),
        ({"type": "number"}, "-1e400", -math.inf),
        ({"type": "string"}, r'"\ud800"', "utf8"),
        ({"type": "string"}, "5", "json-shape"),
        ({}, '"5"', '"5"'),
        ({}, r'["\ud800"]', r'["\ud800"]'),
        ({}, "[1e400]", "[1e400]"),
        ({}, "9" * 5000, "9" * 5000),
        ({"type": "object", "properties": {}}, '{"a":1}', {}),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, "5", 5),
    ],
)
def test_value_that_python_or_arrow_cannot_hold_is_kept_or_a_fault(
    json_schema: Any, text: str, value: Any
) -> None:
    assert shape_outcome(json_schema, text) == value


def test_number_of_levels_does_not_depend_on_the_caller() -> None:
    deepest, deeper = (
        "[" * MAX_DEPTH + "]" * MAX_DEPTH,
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
    )
    many = "[" + ",".join(['"[[{"', "[]"] * 1000) + "]"

    def codes(depth: int) -> list[int]:
        if depth:
            return codes(depth - 1)
        return JsonTextDecoder().decode(binary([deepest, deeper, many]), 0).error_codes.tolist()  # type: ignore[no-any-return]

    assert [fault_name(code) if code else "" for code in codes(0)] == ["", "json", ""]
    assert codes(0) == codes(200)


def test_schema_that_refers_to_itself_twice_is_built_at_once() -> None:
    node = {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}
    decoder = JsonShapeDecoder(json.dumps(node), "loop.json")
    assert decoder.type == pa.struct([("a", pa.string()), ("b", pa.string())])
    definitions = {"d0": {"type": "integer"}}
    for number in range(1, 31):
        inner = {"$ref": f"#/definitions/d{number - 1}"}
        definitions[f"d{number}"] = {"type": "object", "properties": {"a": inner, "b": inner}}  # type: ignore[dict-item]
    doubling = {"definitions": definitions, "$ref": "#/definitions/d30"}
    assert JsonShapeDecoder(json.dumps(doubling), "wide.json").type.num_fields == 2


def test_schema_whose_names_arrow_cannot_hold_is_refused() -> None:
    bad = {"type": "object", "properties": {"\ud800": {"type": "integer"}}}
    with pytest.raises(mb.InputError, match=r"bad\.json: a name with half a surrogate pair"):
        JsonShapeDecoder(json.dumps(bad), "bad.json")
