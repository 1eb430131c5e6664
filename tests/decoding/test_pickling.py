"""Tests that decoders can be sent to another process."""

import pickle

import pyarrow as pa
import pytest

import magicbyte as mb
from magicbyte.reading.typed_columns import RecordTypes
from magicbyte.reading.typed_records import TypedOptions, typed_reading
from paths import shared

LOGS = shared() / "meaning-data" / "registry-karapace-4.3" / "log-0"


@pytest.mark.skipif(not LOGS.is_dir(), reason="needs the folder shared")
@pytest.mark.parametrize("topic", ["orders", "payments", "mixed", "in-headers", "debezium"])
def test_decoders_of_a_topic_give_the_same_in_another_process(topic: str) -> None:
    dataset = mb.open(str(LOGS))
    reading = typed_reading(dataset, dataset._planner, topic, TypedOptions(), RecordTypes.ALL)
    for side, choice in reading.decoder.sides.items():
        copy = pickle.loads(pickle.dumps(choice)).side_decoder
        values, headers = reading.records.sample(side)
        expected = choice.side_decoder.decode(values, headers)
        decoded = copy.decode(values, headers)
        assert copy.field_type == choice.side_decoder.field_type
        assert decoded.array.equals(expected.array)
        assert decoded.fault_codes.tolist() == expected.fault_codes.tolist()
        assert isinstance(decoded.array, pa.Array)
