"""Avro values, with readers' schemas, that Avro's Java library has read, and what it read.

`tests/brokers/test_java_avro.py` asks the library, and records digests of its answers in `java_avro.json`.
"""

import json
import math
import struct
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa

from magicbyte.decoding.avro import AvroDecoder
from magicbyte.decoding.avro._types import (
    AvroArray,
    AvroEnum,
    AvroMap,
    AvroRecord,
    AvroType,
    AvroUnion,
)
from magicbyte.decoding.avro._values import ValueReader
from magicbyte.engines.columnar.avro_program import Fault
from magicbyte.errors import SchemaError
from magicbyte_tools.fuzz.avro_cases import AvroCases, Json, parsed
from magicbyte_tools.fuzz.avro_values import mutated

RECORDED = Path(__file__).with_name("java_avro.json")

NUM_PAIRS = 1000
"""Pairs of a writer's and a reader's schema."""
SOUND_VALUES, MUTATED_VALUES = 2, 3
"""Values of each pair."""

STRICTER = {
    Fault.UTF8,
    Fault.BOOLEAN,
    Fault.INT_RANGE,
    Fault.LONG_VARINT,
    Fault.EMPTY_ITEMS,
    Fault.BLOCK_COUNT,
}
"""Faults of values that the Java library may read, or take very long for. It is not asked about them."""


BITS_31 = (1 << 31) - 1


def is_stricter(reason: int, content: bytes, position: int) -> bool:
    """Return whether a value with this fault is one that the Java library is not asked about.

    It takes 32 bits of the number of a branch or symbol, and passes over a string of a negative length.
    """
    if reason in (Fault.UNION_BRANCH, Fault.ENUM_INDEX, Fault.LENGTH):
        number = ValueReader(content, position).read_long()
        return not 0 <= number <= BITS_31
    return reason in STRICTER


class JudgedValue(NamedTuple):
    """A value, and our reading of it."""

    writer: Json
    reader: Json
    value: bytes
    ours: str
    """The value as text; `!` for a fault, `?` for one of STRICTER."""

    @property
    def digest(self) -> str:
        return answer_digest(self.ours)


def answer_digest(answer: str) -> str:
    """Return what is recorded of *answer*."""
    return answer if answer in "!?" else sha256(answer.encode()).hexdigest()[:8]


def without_logical_types(schema: Json) -> Json:
    """Return *schema* without logical types, which the Java library leaves to conversions."""
    match schema:
        case dict():
            return {
                key: without_logical_types(member)
                for key, member in schema.items()
                if key not in ("logicalType", "precision", "scale")
            }
        case list():
            return [without_logical_types(member) for member in schema]
    return schema


def judged_values() -> Iterator[JudgedValue]:
    for seed in range(NUM_PAIRS):
        cases = AvroCases(Random(seed))
        schema = cases.schema()
        writer, reader = map(without_logical_types, (schema, cases.reader(schema)))
        contents = [cases.value(schema) for _ in range(SOUND_VALUES)]
        contents += [mutated(contents[0], cases.random) for _ in range(MUTATED_VALUES)]
        try:
            decoder = AvroDecoder(parsed(writer), parsed(reader))
        except SchemaError:
            continue
        outcome = decoder.decode(pa.array(contents, pa.binary()), 0)
        root = parsed(reader).root
        faults = zip(outcome.error_codes, outcome.error_positions, strict=True)
        for content, value, (reason, position) in zip(
            contents, outcome.array.to_pylist(), faults, strict=True
        ):
            if not reason:
                ours = as_text(value, root)
            else:
                ours = "?" if is_stricter(reason, content, int(position)) else "!"
            yield JudgedValue(writer, reader, content, ours)


def as_text(value: Any, avro_type: AvroType) -> str:
    """Return *value* as `AvroValues.java` writes it."""
    match avro_type:
        case AvroRecord():
            members = (as_text(value[field.name], field.type) for field in avro_type.fields)
            return f"({','.join(members)})"
        case AvroArray():
            return f"[{','.join(as_text(item, avro_type.item_type) for item in value)}]"
        case AvroMap():
            entries = {
                key.encode().hex(): as_text(item, avro_type.value_type) for key, item in value
            }
            return f"{{{','.join(f'{key}:{entries[key]}' for key in sorted(entries))}}}"
        case AvroUnion():
            return _branch_text(value, avro_type)
        case AvroEnum():
            return f"e{value}"
    match avro_type.kind:
        case "null":
            return "n"
        case "boolean":
            return "t" if value else "f"
        case "float" | "double" if math.isnan(value):
            return "F7fc00000" if avro_type.kind == "float" else "D7ff8000000000000"
        case "float":
            return f"F{struct.pack('>f', value).hex()}"
        case "double":
            return f"D{struct.pack('>d', value).hex()}"
        case "string":
            return f"s{value.encode().hex()}"
        case "bytes" | "fixed":
            return f"b{value.hex()}"
    return f"i{value}"


def _branch_text(value: Any, union: AvroUnion) -> str:
    indices = union.value_indices
    if value is None:
        return f"u{union.null_index}:n"
    if len(indices) > 1:
        indices = [index for index in indices if value[union.branch_names[index]] is not None]
        value = value[union.branch_names[indices[0]]]
    return f"u{indices[0]}:{as_text(value, union.branches[indices[0]])}"


def recorded() -> list[str]:
    """Return the digests of the Java library's answers, for each of the judged values."""
    answers: list[str] = json.loads(RECORDED.read_text())["answers"]
    return answers
