"""Tests of the conversion of decoded values to the Arrow types that Spark takes."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from magicbyte.spark._spark_arrays import spark_arrow_type, to_spark_array
from magicbyte.spark._spark_columns import spark_type

ENUM = pa.dictionary(pa.int32(), pa.string())

CASES: list[tuple[pa.DataType, list[Any], str, list[Any]]] = [
    (pa.int64(), [1, None], "bigint", [1, None]),
    (pa.float32(), [1.5, None], "float", [1.5, None]),
    (ENUM, ["a", None, "b"], "string", ["a", None, "b"]),
    (pa.binary(2), [b"ab", None], "binary", [b"ab", None]),
    (pa.large_string(), ["x"], "string", ["x"]),
    (pa.null(), [None], "string", [None]),
    (pa.date32(), [None], "date", [None]),
    (pa.time32("ms"), [None, 86_399_999], "int", [None, 86_399_999]),
    (pa.time64("us"), [5], "bigint", [5]),
    (pa.uint32(), [4294967295], "bigint", [4294967295]),
    (pa.uint64(), [2**64 - 1], "decimal(20,0)", [Decimal(2**64 - 1)]),
    (pa.decimal128(5, 2), [Decimal("1.25")], "decimal(5,2)", [Decimal("1.25")]),
    (pa.decimal256(40, 1), [Decimal("0.5"), None], "string", ["0.5", None]),
    (pa.timestamp("ns", "UTC"), [1_999, -1, None], "timestamp", [1, -1, None]),
    (pa.timestamp("ms", "UTC"), [1, 1 << 62], "timestamp", [1000, None]),
    (pa.timestamp("ms"), [1, 1 << 62], "timestamp_ntz", [1000, None]),
    (pa.list_(pa.uint8()), [[1, None], None, []], "array<smallint>", [[1, None], None, []]),
    (
        pa.map_(pa.string(), pa.time32("ms")),
        [[("a", 1)], None],
        "map<string,int>",
        [[("a", 1)], None],
    ),
    (
        pa.struct([("e", pa.list_(ENUM)), ("n", pa.int32())]),
        [{"e": ["x"], "n": 1}, None, {"e": None, "n": None}],
        "struct<e:array<string>,n:int>",
        [{"e": ["x"], "n": 1}, None, {"e": None, "n": None}],
    ),
]


@pytest.mark.parametrize(("arrow_type", "values", "spark_name", "expected"), CASES, ids=str)
def test_values_keep_their_meaning_in_a_type_of_spark(
    arrow_type: pa.DataType, values: list[Any], spark_name: str, expected: list[Any]
) -> None:
    array = pa.array([*values[:1], *values], arrow_type)
    for part, wanted in ((array, [expected[0], *expected]), (array.slice(1), expected)):
        converted = to_spark_array(part)
        converted.validate(full=True)
        assert converted.type == spark_arrow_type(arrow_type)
        assert spark_type(converted.type).simpleString() == spark_name
        numbers = converted.cast("int64") if pa.types.is_timestamp(converted.type) else converted
        assert numbers.to_pylist() == wanted


def test_an_interval_is_a_struct_of_its_parts() -> None:
    array = pa.array([(0, 0, 0), (1, -2, 3), None], pa.month_day_nano_interval()).slice(1)
    assert to_spark_array(array).to_pylist() == [
        {"months": 1, "days": -2, "nanoseconds": 3},
        None,
    ]
