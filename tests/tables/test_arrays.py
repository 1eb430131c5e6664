"""Tests that arrays built without pandas equal those that pyarrow builds."""

from typing import Any

import pyarrow as pa
import pytest

from magicbyte.tables.arrays import (
    array_of,
    batch_of,
    null_mask,
    to_numpy,
    value_lengths,
    value_offsets,
)
from magicbyte.tables.schemas import TABLES, WIRE_TYPES

HEADERS = WIRE_TYPES["headers"]

VALUES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int8(), [0, None, -128, 127]),
    (pa.int16(), [None, None]),
    (pa.int32(), [-(1 << 31), (1 << 31) - 1]),
    (pa.int64(), [-(1 << 63), None, (1 << 63) - 1]),
    (pa.uint8(), [200, None]),
    (pa.uint32(), [(1 << 32) - 1]),
    (pa.float64(), [0.5, None]),
    (pa.bool_(), [True, None, False, *[True] * 9]),
    (pa.timestamp("ms", "UTC"), [0, None, -1, 1_700_000_000_000]),
    (pa.string(), ["", None, "ключ", "\ufffd"]),
    (pa.binary(), [b"", None, b"\x00\xff"]),
    (
        HEADERS,
        [
            [],
            None,
            [{"key": "k", "value": None}, {"key": "", "value": b"v"}],
            [{"key": "é", "value": b""}],
        ],
    ),
]


@pytest.mark.parametrize(("kind", "values"), VALUES)
def test_values_are_those_of_pyarrow(kind: pa.DataType, values: list[Any]) -> None:
    for some in (values, values[:1], []):
        made = array_of(some, kind)
        made.validate(full=True)
        assert made.equals(pa.array(some, kind))
        assert made.null_count == some.count(None)


def test_all_columns_of_all_tables_have_such_types() -> None:
    for table in TABLES.values():
        schema = table.schema(table.names)
        nothing = dict.fromkeys(schema.names)
        assert batch_of([nothing], schema).equals(pa.RecordBatch.from_pylist([nothing], schema))


@pytest.mark.parametrize(("kind", "value"), [(pa.int8(), 128), (pa.int64(), 1 << 63)])
def test_value_that_does_not_fit_its_type_is_refused(kind: pa.DataType, value: int) -> None:
    with pytest.raises(OverflowError):
        array_of([value], kind)


def test_a_part_of_an_array_as_numpy() -> None:
    array = pa.array([5, 6, 7, 8], pa.int32())
    assert to_numpy(array.slice(1, 2)).tolist() == [6, 7]


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
@pytest.mark.parametrize("first", [0, 1, 3, 9, 12])
def test_nulls_and_lengths_of_a_part_are_those_of_its_values(kind: pa.DataType, first: int) -> None:
    values = [b"a", None, b"", b"abc", None, b"ab", b"x", b"y", b"z", None, b"four", b""]
    part = pa.array(values, kind).slice(first)
    expected = [-1 if value is None else len(value) for value in values[first:]]
    assert value_lengths(part).tolist() == expected
    assert null_mask(part).tolist() == [value is None for value in values[first:]]


def test_ends_of_lists_count_elements() -> None:
    lists = pa.array([[1, 2], None, [], [3]], pa.list_(pa.int8()))
    assert value_offsets(lists).tolist() == [0, 2, 2, 2, 3]
    assert value_offsets(lists.slice(2)).tolist() == [2, 2, 3]
    assert value_offsets(lists.slice(4)).tolist() == [0]
