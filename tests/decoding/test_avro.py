"""Tests of the Avro decoder: fastavro is the judge of random schemas, values and readers' schemas."""

import io
import json
import os
from random import Random
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from fastavro.read import SchemaResolutionError

from magicbyte.decoding.avro import AvroDecoder
from magicbyte.errors import SchemaError
from magicbyte_tools.fuzz.avro_cases import AvroCases, parsed

from .avro_judge import plain
from .avro_values import assert_same

NUM_SCHEMAS = 10_000 if os.environ.get("MAGICBYTE_WIDE") else 500
NUM_GROUPS = 10
VALUES_OF_A_SCHEMA = 6


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
        assert_same(outcome, decoder._decode_in_python(values, len(frame)))


@pytest.mark.parametrize("group", range(NUM_GROUPS))
def test_random_values_are_resolved_to_a_readers_schema_as_by_fastavro(group: int) -> None:
    random = Random(1000 + group)
    num_equal = num_faults = 0
    for _ in range(NUM_SCHEMAS // NUM_GROUPS):
        cases = AvroCases(random, is_for_fastavro=True)
        schema = cases.schema()
        reader = cases.reader(schema)
        contents = [cases.value(schema) for _ in range(VALUES_OF_A_SCHEMA)]
        reader_schema = parsed(reader)
        try:
            decoder = AvroDecoder(parsed(schema), reader_schema)
        except SchemaError:
            continue
        values = pa.array(contents, pa.binary())
        outcome = decoder.decode(values, 0)
        assert_same(outcome, decoder._decode_in_python(values, 0))
        writer_judge, reader_judge = (
            fastavro.parse_schema(json.loads(json.dumps(one))) for one in (schema, reader)
        )
        for value, error_code, content in zip(
            outcome.array.to_pylist(), outcome.error_codes, contents, strict=True
        ):
            if error_code:
                num_faults += 1
                with pytest.raises((SchemaResolutionError, UnicodeDecodeError)):
                    read_by_fastavro(content, writer_judge, reader_judge)
            else:
                expected = read_by_fastavro(content, writer_judge, reader_judge)
                assert plain(value, reader_schema.root) == expected, (schema, reader)
                num_equal += 1
    assert num_equal > 3 * NUM_SCHEMAS // NUM_GROUPS
    assert num_faults
