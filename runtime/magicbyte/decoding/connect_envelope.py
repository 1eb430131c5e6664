"""Decodes the JSON of Connect's JsonConverter and of Debezium: objects with `schema` and `payload`."""

import base64
import json
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.json_text import JsonTextDecoder, parse_json
from magicbyte.engines.columnar.avro_columns import Starts

MAX_DEPTH = 64
MAX_SCALE = 1000
"""Digits after the point of the longest decimal that is written out."""

NUMBERS = {
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float": pa.float32(),
    "float32": pa.float32(),
    "double": pa.float64(),
    "float64": pa.float64(),
}
SIMPLE = NUMBERS | {"boolean": pa.bool_(), "string": pa.string(), "bytes": pa.binary()}

MILLISECONDS, MICROSECONDS = pa.timestamp("ms", tz="UTC"), pa.timestamp("us", tz="UTC")
LOGICAL_TYPES = {
    "org.apache.kafka.connect.data.Decimal": pa.string(),
    "org.apache.kafka.connect.data.Date": pa.date32(),
    "org.apache.kafka.connect.data.Time": pa.time32("ms"),
    "org.apache.kafka.connect.data.Timestamp": MILLISECONDS,
    "io.debezium.time.Date": pa.date32(),
    "io.debezium.time.Time": pa.time32("ms"),
    "io.debezium.time.MicroTime": pa.time64("us"),
    "io.debezium.time.NanoTime": pa.time64("ns"),
    "io.debezium.time.Timestamp": pa.timestamp("ms"),
    "io.debezium.time.MicroTimestamp": pa.timestamp("us"),
    "io.debezium.time.NanoTimestamp": pa.timestamp("ns"),
}
"""Arrow types by the name of the schema; decimals are text, since each value may have its own scale."""


class EnvelopeError(ValueError):
    """A schema is not one of JsonConverter, or the payload does not fit it."""


def envelope_of(text: str) -> tuple[Any, Any] | None:
    """Return schema and payload of *text*; None if it is JSON of another form, or none."""
    try:
        payload_value = parse_json(text)
    except ValueError:
        return None
    if not isinstance(payload_value, dict) or payload_value.keys() != {"schema", "payload"}:
        return None
    return payload_value["schema"], payload_value["payload"]


def connect_type(connect_schema: Any, depth: int = 0) -> pa.DataType:
    """Return the Arrow type of a schema of JsonConverter; EnvelopeError if it is none."""
    if not isinstance(connect_schema, dict) or depth > MAX_DEPTH:
        raise EnvelopeError("no schema of JsonConverter")
    logical = LOGICAL_TYPES.get(str(connect_schema.get("name")))
    if logical is not None:
        return logical
    kind = connect_schema.get("type")
    if kind == "struct" and isinstance(connect_schema.get("fields"), list):
        return pa.struct(
            [(_name(one), connect_type(one, depth + 1)) for one in connect_schema["fields"]]
        )
    if kind == "array":
        return pa.list_(connect_type(connect_schema.get("items"), depth + 1))
    if kind == "map":
        keys = connect_type(connect_schema.get("keys"), depth + 1)
        return pa.map_(keys, connect_type(connect_schema.get("values"), depth + 1))
    if kind not in SIMPLE:
        raise EnvelopeError("no schema of JsonConverter")
    return SIMPLE[str(kind)]


def _name(member: Any) -> str:
    if not isinstance(member, dict) or not isinstance(member.get("field"), str):
        raise EnvelopeError("a field without a name")
    return str(member["field"])


def merged_type(one_type: pa.DataType, other_type: pa.DataType) -> pa.DataType:
    """Return the type that has the fields of both; text where they do not fit each other."""
    if one_type == other_type:
        return one_type
    if pa.types.is_struct(one_type) and pa.types.is_struct(other_type):
        types = {member.name: member.type for member in one_type}
        for member in other_type:
            known = types.get(member.name, member.type)
            types[member.name] = merged_type(known, member.type)
        return pa.struct(list(types.items()))
    if pa.types.is_list(one_type) and pa.types.is_list(other_type):
        return pa.list_(merged_type(one_type.value_type, other_type.value_type))
    return pa.string()


class ConnectDecoder:
    """Decodes envelopes into columns with the fields of several schemas.

    Args:
        connect_schemas: Schemas of some values, such as the ones in a sample.
    """

    def __init__(self, connect_schemas: Iterable[Any]) -> None:
        data_type = None
        for connect_schema in connect_schemas:
            found = connect_type(connect_schema)
            data_type = found if data_type is None else merged_type(data_type, found)
        self.type: pa.DataType = pa.string() if data_type is None else data_type

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        texts = JsonTextDecoder().decode(values, starts)
        codes = texts.error_codes
        rows: list[Any] = []
        for row, text in enumerate(texts.array.to_pylist()):
            envelope = None if text is None else envelope_of(text)
            try:
                if text is not None and envelope is None:
                    raise EnvelopeError("no envelope")
                rows.append(None if envelope is None else self._value(*envelope))
            except (ValueError, ArithmeticError, pa.ArrowException):
                codes[row] = DecodeFault.ENVELOPE
                rows.append(None)
        return DecodedValues(_array(rows, self.type), codes, texts.error_positions)

    def _value(self, connect_schema: Any, payload_value: Any) -> Any:
        """Return *payload_value* as Python values of the column's type."""
        if connect_schema is None:
            return (
                _text(payload_value)
                if pa.types.is_string(self.type)
                else _checked(payload_value, self.type)
            )
        return _checked(_converted(payload_value, connect_schema, self.type, 0), self.type)


def _array(rows: list[Any], data_type: pa.DataType) -> pa.Array:
    return pa.array(rows, data_type)


def _checked(payload_value: Any, data_type: pa.DataType) -> Any:
    pa.array(
        [payload_value], data_type
    )  # raises for a value that does not fit, such as a number too large
    return payload_value


def _converted(payload_value: Any, connect_schema: Any, data_type: pa.DataType, depth: int) -> Any:
    if payload_value is None:
        return None
    if not isinstance(connect_schema, dict) or depth > MAX_DEPTH:
        raise EnvelopeError("no schema of JsonConverter")
    kind, name = connect_schema.get("type"), str(connect_schema.get("name"))
    if name == "org.apache.kafka.connect.data.Decimal":
        return _decimal(payload_value, connect_schema)
    if kind == "struct" and pa.types.is_struct(data_type):
        if not isinstance(payload_value, dict) or not isinstance(
            connect_schema.get("fields"), list
        ):
            raise EnvelopeError("no object")
        types = {member.name: member.type for member in data_type}
        return {
            _name(one): _converted(payload_value.get(_name(one)), one, types[_name(one)], depth + 1)
            for one in connect_schema["fields"]
            if _name(one) in types
        }
    if kind == "array" and pa.types.is_list(data_type):
        if not isinstance(payload_value, list):
            raise EnvelopeError("no array")
        items = connect_schema.get("items")
        return [_converted(one, items, data_type.value_type, depth + 1) for one in payload_value]
    if kind == "map" and pa.types.is_map(data_type):
        return _map(payload_value, connect_schema, data_type, depth)
    if pa.types.is_string(data_type):
        return _text(payload_value)
    if kind == "bytes":
        return base64.b64decode(payload_value, validate=True)
    return payload_value


def _map(
    payload_value: Any, connect_schema: Any, data_type: pa.DataType, depth: int
) -> list[tuple[Any, Any]]:
    """Return the entries of a map: an object if its keys are strings, else an array of pairs."""
    pairs = list(payload_value.items()) if isinstance(payload_value, dict) else payload_value
    if not isinstance(pairs, list) or not all(len(pair) == 2 for pair in pairs):
        raise EnvelopeError("no map")
    return [
        (
            _converted(key, connect_schema.get("keys"), data_type.key_type, depth + 1),
            _converted(item, connect_schema.get("values"), data_type.item_type, depth + 1),
        )
        for key, item in pairs
    ]


def _decimal(payload_value: Any, connect_schema: dict[str, Any]) -> str:
    """Return a decimal as text: base64 of its digits as a signed integer, or a number (`decimal.format`)."""
    if isinstance(payload_value, int | float):
        return str(payload_value)
    parameters = connect_schema.get("parameters")
    scale = (
        int(parameters["scale"]) if isinstance(parameters, dict) and "scale" in parameters else 0
    )
    if abs(scale) > MAX_SCALE:
        raise EnvelopeError("a scale beyond the limit")
    digits = base64.b64decode(payload_value, validate=True)
    if len(digits) > MAX_SCALE:
        raise EnvelopeError("a decimal beyond the limit")
    number = int.from_bytes(digits, signed=True)
    sign, text = ("-" if number < 0 else ""), str(abs(number))
    if scale <= 0:
        return sign + text + "0" * -scale if number else "0"
    text = text.zfill(scale + 1)
    return f"{sign}{text[:-scale]}.{text[-scale:]}"


def _text(payload_value: Any) -> str | None:
    if payload_value is None or isinstance(payload_value, str):
        return payload_value
    return json.dumps(payload_value, ensure_ascii=False, separators=(",", ":"))
