"""Tests that encoders write what Kafka's MemoryRecordsBuilder wrote, from its recorded answers."""

import pytest

from kafka_encodings import CASES, EncodingCase, our_encoding, recorded, summary
from magicbyte.engines.factory import encoder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_columnar_encoder_writes_what_kafka_writes(case: EncodingCase) -> None:
    assert summary(our_encoding(case, encoder("columnar"))) == recorded()[case.name]


@pytest.mark.parametrize("case", CASES[::3], ids=lambda case: case.name)
def test_reference_encoder_writes_what_kafka_writes(case: EncodingCase) -> None:
    assert summary(our_encoding(case, encoder("reference"))) == recorded()[case.name]
