"""Decodes JSON: as checked text, or as columns where a JSON Schema gives the shape."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Never

import pyarrow as pa

from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.kafka_serdes import TextDecoder
from magicbyte.engines.columnar.avro_columns import FaultCodes, Starts
from magicbyte.errors import SchemaError

MAX_DEPTH = 500
"""Arrays and objects inside of each other. Python's parser allows fewer, the deeper it is called itself."""
MAX_SHAPE_DEPTH = 32
MAX_SHAPE_COLUMNS = 10_000
BYTE_ORDER_MARK = "\ufeff"


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON")  # Python's parser accepts NaN and Infinity


class LongNumber(str):
    """Text of a number that is beyond Python's floats, or that has more digits than Python converts."""

    __slots__ = ()


def _integer(digits: str) -> int | LongNumber:
    return int(digits) if len(digits) <= MAX_DIGITS else LongNumber(digits)


def _float(digits: str) -> float | LongNumber:
    number = float(digits)
    return number if math.isfinite(number) else LongNumber(digits)


MAX_DIGITS = 4000
"""Digits of the longest integer that is converted: the time grows with the square."""
_LONG = re.compile(r"[0-9]{300}|[eE]\+?[0-9]{3}")
"""Part of every number beyond the range of floats, and of every long one."""
_PARSER = json.JSONDecoder(parse_constant=_no_constant)
_EXACT_PARSER = json.JSONDecoder(
    parse_constant=_no_constant, parse_int=_integer, parse_float=_float
)
_STRINGS_AND_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]')


def parse_json(text: str, *, is_exact: bool = False) -> Any:
    """Return the value of *text*.

    Args:
        is_exact: A number beyond Python's is a `LongNumber`, else infinite or an error.
    Raises:
        ValueError: It is no JSON, or nested too deeply.
    """
    text = text.removeprefix(BYTE_ORDER_MARK).strip(" \t\r\n")
    if _is_deep(text):
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    try:
        return (_EXACT_PARSER if is_exact and _LONG.search(text) else _PARSER).decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _is_deep(text: str) -> bool:
    """Return whether *text* has too many levels; the depth of the caller does not count."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for match in _STRINGS_AND_BRACKETS.finditer(text):
        mark = match[0]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif mark in "]}":
            depth -= 1
    return False


def json_text(json_value: Any) -> str:
    """Return *json_value* of `parse_json` as JSON; text with half a surrogate pair is escaped."""
    text = _joined(json_value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return _joined(json_value, is_ascii=True)
    return text


def _joined(json_value: Any, *, is_ascii: bool = False) -> str:
    match json_value:
        case LongNumber():
            return str(json_value)
        case dict():
            members = (
                f"{json.dumps(name, ensure_ascii=is_ascii)}:{_joined(one, is_ascii=is_ascii)}"
                for name, one in json_value.items()
            )
            return f"{{{','.join(members)}}}"
        case list():
            return f"[{','.join(_joined(one, is_ascii=is_ascii) for one in json_value)}]"
    return json.dumps(json_value, ensure_ascii=is_ascii)


class JsonTextDecoder(TextDecoder):
    """Checks that values are JSON, and returns their text, without a byte order mark."""

    def _check(self, text_array: pa.Array, fault_codes: FaultCodes) -> pa.Array:
        texts = text_array.to_pylist()
        is_changed = False
        for row, text in enumerate(texts):
            if text is not None:
                try:
                    parse_json(text, is_exact=True)
                except ValueError:
                    fault_codes[row], texts[row], is_changed = DecodeFault.JSON, None, True
                else:
                    if text.startswith(BYTE_ORDER_MARK):
                        texts[row], is_changed = text.removeprefix(BYTE_ORDER_MARK), True
        return pa.array(texts, pa.string()) if is_changed else text_array


@dataclass(frozen=True, slots=True)
class JsonShape:
    """Shape of a part of a JSON value."""

    kind: str
    """Type of JSON Schema; `json` for a part that the schema leaves open."""
    type: pa.DataType
    inner_shapes: "dict[str, JsonShape]"
    """Shapes of the members of an object; of the items of an array, by an empty name."""


OPEN_SHAPE = JsonShape("json", pa.string(), {})
SIMPLE_TYPES = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
}


class JsonShapeDecoder:
    """Decodes JSON into the columns of a JSON Schema: `properties`, `items` and `type` of objects.

    A part whose type the schema leaves open, or that contains itself, is a column of JSON text. Members that the
    schema does not have are left out.

    Args:
        text: JSON Schema.
        label: Name of the schema for errors.
    Raises:
        SchemaError: The text is no JSON Schema.
    """

    def __init__(self, text: str, label: str) -> None:
        try:
            json_schema = parse_json(text)
            self._shape = _ShapeBuilder(json_schema).shape(json_schema, ("#",))
        except UnicodeEncodeError as error:
            raise SchemaError(
                "a name with half a surrogate pair", "a JSON Schema", where=label
            ) from error
        except ValueError as error:
            raise SchemaError(f"no JSON: {error}", "a JSON Schema", where=label) from error
        self.type = self._shape.type

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        texts = JsonTextDecoder().decode(values, starts)
        codes = texts.error_codes
        rows: list[Any] = []
        for row, text in enumerate(texts.array.to_pylist()):
            value = None
            try:
                value = (
                    None if text is None else _fitted(parse_json(text, is_exact=True), self._shape)
                )
            except UnicodeEncodeError:
                codes[row] = DecodeFault.UTF8
            except ValueError:
                codes[row] = DecodeFault.JSON_SHAPE
            rows.append(value)
        return DecodedValues(pa.array(rows, self.type), codes, texts.error_positions)


class _ShapeBuilder:
    def __init__(self, json_schema: Any) -> None:
        self._root = json_schema
        self._spare_columns = MAX_SHAPE_COLUMNS

    def shape(self, json_schema: Any, references: tuple[str, ...]) -> JsonShape:
        """Return the shape of *json_schema*, which is inside of the parts that *references* name."""
        part, inner = self._resolved(json_schema, references)
        self._spare_columns -= 1
        if part is None or len(inner) > MAX_SHAPE_DEPTH or self._spare_columns < 0:
            return OPEN_SHAPE
        types = part.get("type")
        kinds = [one for one in (types if isinstance(types, list) else [types]) if one != "null"]
        kind = kinds[0] if len(kinds) == 1 and isinstance(kinds[0], str) else ""
        inner = (*inner, "")
        if kind == "object" and isinstance(part.get("properties"), dict):
            members = {name: self.shape(one, inner) for name, one in part["properties"].items()}
            fields = [(name, member.type) for name, member in members.items()]
            return JsonShape(kind, pa.struct(fields), members)
        if kind == "array":
            item = self.shape(part.get("items"), inner)
            return JsonShape(kind, pa.list_(item.type), {"": item})
        if kind in SIMPLE_TYPES:
            return JsonShape(kind, SIMPLE_TYPES[kind], {})
        return OPEN_SHAPE

    def _resolved(
        self, json_schema: Any, references: tuple[str, ...]
    ) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
        """Return the schema that *json_schema* stands for, and the references to it; None if it leaves the type open.

        It may be a `$ref` to a part of the root, or a choice between null and one schema, as generators of schemas
        write what may be null.
        """
        for _ in range(MAX_SHAPE_DEPTH):
            if not isinstance(json_schema, dict):
                return None, references
            reference = json_schema.get("$ref")
            if isinstance(reference, str):
                if reference in references or not reference.startswith("#"):
                    return None, references
                references = (*references, reference)
                json_schema = self._part(reference)
                continue
            only = _only_choice(json_schema)
            if only is None:
                return json_schema, references
            json_schema = only
        return None, references

    def _part(self, pointer: str) -> Any:
        part = self._root
        for step in pointer[2:].split("/") if pointer != "#" else []:
            name = step.replace("~1", "/").replace("~0", "~")
            part = part.get(name) if isinstance(part, dict) else None
        return part


def _only_choice(json_schema: dict[str, Any]) -> Any:
    """Return the schema of `oneOf` or `anyOf` that is not null, if there is one of them; else None."""
    choices = json_schema.get("oneOf", json_schema.get("anyOf"))
    if "type" in json_schema or not isinstance(choices, list):
        return None
    others = [one for one in choices if not (isinstance(one, dict) and one.get("type") == "null")]
    return others[0] if len(others) == 1 else None


def _fitted(json_value: Any, json_shape: JsonShape) -> Any:
    """Return *json_value* as a Python value of the type of *json_shape*; ValueError if it does not fit."""
    if json_value is None:
        return None
    kind, inner_shapes = json_shape.kind, json_shape.inner_shapes
    if kind == "object" and isinstance(json_value, dict):
        return {name: _fitted(json_value.get(name), one) for name, one in inner_shapes.items()}
    if kind == "array" and isinstance(json_value, list):
        return [_fitted(one, inner_shapes[""]) for one in json_value]
    if kind == "json":
        return json_text(json_value)
    if kind == "string" and type(json_value) is str:
        json_value.encode()  # fails for half a surrogate pair
        return json_value
    if isinstance(json_value, bool):
        if kind == "boolean":
            return json_value
    elif kind == "number" and isinstance(json_value, int | float | LongNumber):
        return _as_float(json_value)
    elif kind == "integer" and isinstance(json_value, int | float):
        number = int(json_value)
        if json_value == number and -(1 << 63) <= number < 1 << 63:
            return number
    raise ValueError(f"no {kind}")


def _as_float(json_number: Any) -> float:
    try:
        return float(json_number)
    except OverflowError:  # of an int
        return math.inf if json_number > 0 else -math.inf
