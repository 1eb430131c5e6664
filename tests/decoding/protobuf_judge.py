"""Values that docs/typed-values.md promises for Protobuf messages, from google.protobuf's own view of them.

The expected values share no code with the decoder: they come from the fields of messages and the rules of the page.
"""

import json
from itertools import pairwise
from typing import Any

import pyarrow as pa
from google.protobuf import json_format

from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.protobuf import ProtobufDecoder

LAST_NANOSECOND = (1 << 63) - 1


class TimeRangeError(ValueError):
    """A time is outside of the years 1677 to 2262."""


def is_recursive(descriptor: Any, above: tuple[str, ...] = ()) -> bool:
    """Return whether a message of *descriptor* may contain itself."""
    if descriptor.full_name in above:
        return True
    inner = (*above, descriptor.full_name)
    return any(
        is_recursive(field.message_type, inner) for field in descriptor.fields if field.message_type
    )


def expected_value(message: Any) -> dict[str, Any]:
    """Return *message* as `plain` returns the row of it. Raises TimeRangeError."""
    cls = type(message)
    values: dict[str, Any] = {}
    for field in cls.DESCRIPTOR.fields:  # a field of the message may have this name
        content = getattr(message, field.name)
        if field.is_repeated:
            if field.message_type is not None and field.message_type.GetOptions().map_entry:
                members = field.message_type.fields_by_name
                values[field.name] = {
                    _scalar(members["key"], key): _scalar(members["value"], content[key])
                    for key in content
                }
            else:
                values[field.name] = [_scalar(field, item) for item in content]
        elif field.has_presence and not cls.HasField(message, field.name):
            values[field.name] = None
        else:
            values[field.name] = _scalar(field, content)
    return values


def _scalar(field: Any, content: Any) -> Any:
    if field.enum_type is not None:
        named = [one.name for one in field.enum_type.values if one.number == content]
        return named[0] if named else str(content)
    if field.message_type is None:
        return repr(content) if isinstance(content, float) else content
    kind = field.message_type.full_name.removeprefix("google.protobuf.")
    if kind in ("Timestamp", "Duration"):
        nanoseconds = content.seconds * 10**9 + content.nanos
        if abs(nanoseconds) >= LAST_NANOSECOND:
            raise TimeRangeError
        return nanoseconds
    if kind.removesuffix("Value") in (
        *("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"),
    ):
        return _scalar(content.DESCRIPTOR.fields_by_name["value"], content.value)
    return expected_value(content)


def expected_json(message: Any) -> Any:
    """Return Protobuf's JSON of *message*; NotImplemented if google.protobuf has none."""
    pool = type(message).DESCRIPTOR.file.pool
    try:
        return json_format.MessageToDict(
            message, preserving_proto_field_name=True, descriptor_pool=pool
        )
    except Exception:  # also of its own: of fields that have names of methods
        return NotImplemented


def plain(array: pa.Array) -> list[Any]:
    """Return *array* as Python values: floats as text, so that NaN is equal, times as nanoseconds, maps as dicts."""
    kind = array.type
    if pa.types.is_struct(kind):
        members = [plain(array.field(number)) for number in range(kind.num_fields)]
        names = [field.name for field in kind]
        rows: list[Any] = [dict(zip(names, row, strict=True)) for row in zip(*members, strict=True)]
        if not names:
            rows = [{} for _ in array]
    elif pa.types.is_map(kind):
        keys, items = plain(array.keys), plain(array.items)
        bounds = array.offsets.to_pylist()
        rows = []
        for first, last in pairwise(bounds):
            row = dict(zip(keys[first:last], items[first:last], strict=True))
            assert len(row) == last - first, "a key occurs twice in a map"
            rows.append(row)
    elif pa.types.is_list(kind):
        items, bounds = plain(array.values), array.offsets.to_pylist()
        rows = [items[first:last] for first, last in pairwise(bounds)]
    elif pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        rows = array.cast(pa.int64()).to_pylist()
    elif pa.types.is_floating(kind):
        rows = [None if one is None else repr(one) for one in array.to_pylist()]
    else:
        return array.to_pylist()  # type: ignore[no-any-return]
    return [
        row if valid else None
        for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)
    ]


def json_rows(array: pa.Array) -> list[Any]:
    return [None if text is None else json.loads(text) for text in array.to_pylist()]


def by_google_protobuf(decoder: ProtobufDecoder, values: pa.Array, start: int) -> DecodedValues:
    """Return what *decoder* returns for *values* where it does not use the kernel."""
    decoder._decode_usual = lambda values, starts: decoder._undecoded(values)  # type: ignore[method-assign]
    try:
        return decoder.decode(values, start)
    finally:
        del decoder._decode_usual
