"""Tests of the Avro decoder: fastavro is the judge of random schemas, values and readers' schemas."""

import io
import json
import os
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from magicbyte.decoding.avro import AvroDecoder, DecodedValues
from magicbyte.decoding.avro._decoder import Starts
from magicbyte_tools.fuzz.avro_cases import AvroCases, parsed

from .avro_judge import plain

fastavro = pytest.importorskip("fastavro", reason="fastavro, the judge, is not installed")

NUM_SCHEMAS = 10_000 if os.environ.get("MAGICBYTE_WIDE") else 1000
NUM_GROUPS = 10
VALUES_OF_A_SCHEMA = 6


def decoded_in_python(
    decoder: AvroDecoder, values: pa.Array, starts: Starts | int
) -> DecodedValues:
    return decoder._decode_in_python(values, starts)


def assert_same(one: DecodedValues, other: DecodedValues) -> None:
    one.array.validate(full=True)
    other.array.validate(full=True)
    assert one.array.type == other.array.type
    assert one.error_codes.tolist() == other.error_codes.tolist()
    assert one.error_positions.tolist() == other.error_positions.tolist()
    assert repr(one.array.to_pylist()) == repr(other.array.to_pylist())


def read_by_fastavro(content: bytes, schema: Any, reader: Any = None) -> Any:
    return fastavro.schemaless_reader(io.BytesIO(content), schema, reader)


@pytest.mark.parametrize("group", range(NUM_GROUPS))
def test_random_values_are_as_fastavro_reads_them(group: int) -> None:
    random = Random(group)
    for _ in range(NUM_SCHEMAS // NUM_GROUPS):
        cases = AvroCases(random)
        schema = cases.schema()
        contents = [cases.value(schema) for _ in range(VALUES_OF_A_SCHEMA)]
        frame = random.randbytes(random.randint(0, 9))
        values = pa.array([frame + content for content in contents], pa.binary())
        avro_schema = parsed(schema)
        decoder = AvroDecoder(avro_schema)
        outcome = decoder.decode(values, len(frame))
        assert outcome.array.type == decoder.type
        assert not outcome.error_codes.any()
        ours = [plain(value, avro_schema.root) for value in outcome.array.to_pylist()]
        judge = fastavro.parse_schema(json.loads(json.dumps(schema)))
        assert ours == [read_by_fastavro(content, judge) for content in contents], schema
        assert_same(outcome, decoded_in_python(decoder, values, len(frame)))
