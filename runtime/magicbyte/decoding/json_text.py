"""Decodes JSON: as checked text, or as columns where a JSON Schema gives the shape."""

import json
from typing import Any, Never

import numpy as np
import pyarrow as pa

from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.kafka_serdes import TextDecoder
from magicbyte.engines.columnar.avro_columns import FaultCodes, Starts
from magicbyte.errors import SchemaError

MAX_SHAPE_DEPTH = 32


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON")  # Python's parser accepts NaN and Infinity


_PARSER = json.JSONDecoder(parse_constant=_no_constant)


def parse_json(text: str) -> Any:
    """Return the value of *text*; ValueError if it is no JSON, or nested too deeply."""
    try:
        return _PARSER.decode(text.strip(" \t\r\n"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


class JsonTextDecoder(TextDecoder):
    """Checks that values are JSON, and returns their text."""

    def _check(self, text_array: pa.Array, fault_codes: FaultCodes) -> pa.Array:
        is_bad = np.zeros(len(text_array), np.bool_)
        for row, text in enumerate(text_array.to_pylist()):
            if text is not None:
                try:
                    parse_json(text)
                except ValueError:
                    is_bad[row], fault_codes[row] = True, DecodeFault.JSON
        return text_array if not is_bad.any() else _without(text_array, is_bad)


def _without(
    text_array: pa.Array, is_bad: "np.ndarray[tuple[int], np.dtype[np.bool_]]"
) -> pa.Array:
    indexes = pa.array(np.arange(len(text_array)), mask=is_bad)
    return text_array.take(indexes)


class JsonShapeDecoder:
    """Decodes JSON into the columns of a JSON Schema: `properties`, `items` and `type` of objects.

    A part whose type the schema leaves open is a column of JSON text. Members that the schema does not have are
    left out.

    Args:
        text: JSON Schema.
        label: Name of the schema for errors.
    Raises:
        SchemaError: The text is no JSON Schema.
    """

    def __init__(self, text: str, label: str) -> None:
        try:
            json_schema = parse_json(text)
        except ValueError as error:
            raise SchemaError(f"no JSON: {error}", "a JSON Schema", where=label) from error
        self._root = json_schema
        self.type = self._arrow_type(json_schema, 0)

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        texts = JsonTextDecoder().decode(values, starts)
        codes = texts.error_codes
        rows: list[Any] = []
        for row, text in enumerate(texts.array.to_pylist()):
            try:
                rows.append(None if text is None else _fitted(parse_json(text), self.type))
            except ValueError:
                codes[row] = DecodeFault.JSON_SHAPE
                rows.append(None)
        return DecodedValues(pa.array(rows, self.type), codes, texts.error_positions)

    def _arrow_type(self, json_schema: Any, depth: int) -> pa.DataType:
        open_schema = self._resolved(json_schema)
        types = open_schema.get("type") if isinstance(open_schema, dict) else None
        names = [name for name in (types if isinstance(types, list) else [types]) if name != "null"]
        name = names[0] if len(names) == 1 else None
        if depth > MAX_SHAPE_DEPTH or not isinstance(open_schema, dict):
            return pa.string()
        if name == "object" and isinstance(open_schema.get("properties"), dict):
            members = open_schema["properties"].items()
            return pa.struct([(key, self._arrow_type(one, depth + 1)) for key, one in members])
        if name == "array":
            return pa.list_(self._arrow_type(open_schema.get("items"), depth + 1))
        simple = {"integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}
        return simple.get(name or "", pa.string())

    def _resolved(self, json_schema: Any) -> Any:
        """Return *json_schema*, or the part of the root that its `$ref` names."""
        for _ in range(MAX_SHAPE_DEPTH):
            reference = json_schema.get("$ref") if isinstance(json_schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#/"):
                return json_schema
            json_schema = self._root
            for step in reference[2:].split("/"):
                json_schema = json_schema.get(step) if isinstance(json_schema, dict) else None
        return None


def _fitted(json_value: Any, data_type: pa.DataType) -> Any:
    """Return *json_value* with the Python types of *data_type*; ValueError if it does not fit."""
    if json_value is None:
        return None
    if pa.types.is_struct(data_type):
        if not isinstance(json_value, dict):
            raise ValueError("no object")
        return {one.name: _fitted(json_value.get(one.name), one.type) for one in data_type}
    if pa.types.is_list(data_type):
        if not isinstance(json_value, list):
            raise ValueError("no array")
        return [_fitted(one, data_type.value_type) for one in json_value]
    if pa.types.is_string(data_type):
        if isinstance(json_value, str):
            return json_value
        return json.dumps(json_value, ensure_ascii=False, separators=(",", ":"))
    is_boolean = isinstance(json_value, bool)
    if pa.types.is_boolean(data_type) and is_boolean:
        return json_value
    if pa.types.is_floating(data_type) and isinstance(json_value, int | float) and not is_boolean:
        return float(json_value)
    is_number = isinstance(json_value, int | float) and not is_boolean
    if pa.types.is_integer(data_type) and is_number and abs(json_value) < 1 << 63:
        if json_value == int(json_value):
            return int(json_value)
        raise ValueError("no integer")
    raise ValueError("another type")
