"""Tests of the twin's varints: Kafka's limits, and encodings longer than needed."""

import copy
from typing import Any

import pytest
from construct import IntegerError

from magicbyte_construct import Record, Stored, Uvarint, Varint, Varlong

SHORTEST = [
    (Varint, 0, "00"),
    (Varint, -1, "01"),
    (Varint, 63, "7e"),
    (Varint, -64, "7f"),
    (Varint, 64, "8001"),
    (Varint, 8191, "fe7f"),
    (Varint, 2**31 - 1, "feffffff0f"),
    (Varint, -(2**31), "ffffffff0f"),
    (Varlong, 2**31, "8080808010"),
    (Varlong, 2**63 - 1, "feffffffffffffffff01"),
    (Varlong, -(2**63), "ffffffffffffffffff01"),
    (Uvarint, 127, "7f"),
    (Uvarint, 128, "8001"),
    (Uvarint, 2**32 - 1, "ffffffff0f"),
]


@pytest.mark.parametrize(("construct", "value", "data"), SHORTEST)
def test_shortest_form(construct: Any, value: int, data: str) -> None:
    assert construct.build(value).hex() == data
    parsed = construct.parse(bytes.fromhex(data))
    assert parsed == value
    assert type(parsed) is int


@pytest.mark.parametrize(
    ("construct", "value", "data"),
    [
        (Varint, 0, "8000"),
        (Varint, -1, "8180808000"),
        (Varint, -1, "8180808070"),  # bits 4 to 6 of the 5th byte are dropped
        (Varint, 2**31 - 1, "feffffff7f"),
        (Uvarint, 1, "8180808070"),
        (Varlong, 1, "82808080808080808000"),
        (Varlong, 1, "8280808080808080807e"),  # all but bit 0 of the 10th byte is dropped
    ],
)
def test_other_forms_are_read_as_kafka_reads_them_and_built_as_they_were(
    construct: Any, value: int, data: str
) -> None:
    parsed = construct.parse(bytes.fromhex(data))
    assert parsed == value
    assert isinstance(parsed, Stored)
    assert construct.build(copy.deepcopy(parsed)).hex() == data


@pytest.mark.parametrize(
    ("construct", "value"),
    [(Varint, 2**31), (Varint, -(2**31) - 1), (Varlong, 2**63), (Uvarint, -1), (Uvarint, 2**32)],
)
def test_an_integer_out_of_range_is_not_built(construct: Any, value: int) -> None:
    with pytest.raises(IntegerError, match="is not between"):
        construct.build(value)


def test_other_forms_can_be_built_into_a_record() -> None:
    fields = {"value": b"v", "len_value": Stored(1, b"\x82\x00")}
    data = Record.build(fields)
    assert data.hex() == "10000000018200" + "7600"
    parsed = Record.parse(data)
    assert (parsed.value, parsed.len_value) == (b"v", 1)
    assert Record.build(parsed) == data
