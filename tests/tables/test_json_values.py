"""Tests of Arrow values as JSON."""

import json
from decimal import Decimal

import pyarrow as pa
import pytest

from magicbyte.tables.json_values import json_values


@pytest.mark.parametrize(
    ("data_type", "values", "expected"),
    [
        (pa.int64(), [2**63 - 1, None], [2**63 - 1, None]),
        (
            pa.float64(),
            [float("nan"), float("inf"), -float("inf"), 1.5],
            ["NaN", "Infinity", "-Infinity", 1.5],
        ),
        (pa.decimal128(9, 2), [Decimal("-1.50"), Decimal("0.00")], ["-1.50", "0.00"]),
        (pa.binary(), [b"\xff", b""], ["/w==", ""]),
        (pa.binary(2), [b"ab"], ["YWI="]),
        (
            pa.timestamp("us", "UTC"),
            [1, -1],
            ["1970-01-01T00:00:00.000001Z", "1969-12-31T23:59:59.999999Z"],
        ),
        (pa.timestamp("ns"), [1], ["1970-01-01T00:00:00.000000001"]),
        (pa.timestamp("ms", "UTC"), [10**17], [10**17]),
        (pa.date32(), [0, 10**7], ["1970-01-01", 10**7]),
        (pa.time32("ms"), [3_661_001, 86_400_000], ["01:01:01.001", 86_400_000]),
        (pa.duration("ns"), [-1_500_000_000, 2_000_000_000], ["-1.5s", "2s"]),
        (pa.month_day_nano_interval(), [(1, 2, 3)], [{"months": 1, "days": 2, "nanoseconds": 3}]),
        (pa.map_(pa.bool_(), pa.int32()), [[(True, 1)], None, []], [{"true": 1}, None, {}]),
        (pa.list_(pa.list_(pa.int8())), [[[1], None], []], [[[1], None], []]),
        (pa.struct([]), [{}, None], [{}, None]),
        (pa.struct([("a", pa.list_(pa.binary()))]), [{"a": [b"x"]}], [{"a": ["eA=="]}]),
        (pa.dictionary(pa.int32(), pa.string()), ["A", None], ["A", None]),
    ],
)
def test_values_are_as_json_whole_and_sliced(data_type, values, expected):
    if pa.types.is_timestamp(data_type) or pa.types.is_date(data_type):
        number_type = pa.int32() if pa.types.is_date(data_type) else pa.int64()
        array = pa.array(values, number_type).view(data_type)
    elif pa.types.is_time(data_type):
        array = pa.array(values, pa.int32()).view(data_type)
    elif pa.types.is_dictionary(data_type):
        array = pa.array(values).dictionary_encode()
    else:
        array = pa.array(values, data_type)
    assert json.loads(json.dumps(json_values(array), allow_nan=False)) == expected
    assert json_values(array.slice(1)) == expected[1:]
