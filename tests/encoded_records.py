"""Records drawn at random to be encoded, as Arrow data and as Python values."""

import random
from typing import Any

import numpy as np
import pyarrow as pa

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
    ]
)
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1
TIME = 1_714_000_000_000
LOWEST_TIME = INT64_MIN + TIME
"""Lowest time whose difference to TIME has 64 bits."""


def drawn_records(
    seed: int, count: int = 100, *, first_offset: int = 0, has_headers: bool = True
) -> pa.RecordBatch:
    """Return records with nulls, empty and long values, headers, gaps between offsets and odd times."""
    chance = random.Random(seed)

    def content() -> bytes | None:
        size = chance.choice((0, 1, 7, 63, 64, 65, 127, 128, 300, 9000))
        return chance.choice((None, b"", chance.randbytes(size), bytes(size)))

    rows: list[dict[str, Any]] = []
    offset = first_offset
    for number in range(count):
        pairs = [
            {"key": chance.choice(("", "h", "né", "k" * 70)), "value": content()}
            for _ in range(chance.choice((0, 0, 1, 3)))
        ]
        times = (TIME + number, TIME - number, -1, 0, LOWEST_TIME, INT64_MAX)
        rows.append(
            {
                "key": content(),
                "value": content(),
                "headers": pairs if has_headers else [],
                "offset": offset,
                "timestamp": chance.choice(times)
                if number and chance.random() < 0.3
                else TIME + number,
            }
        )
        offset += chance.choice((1, 1, 1, 2, 1000))
    return pa.RecordBatch.from_pylist(rows, SCHEMA)


def rows_to_build(records: pa.RecordBatch) -> list[dict[str, Any]]:
    """Return *records* as the Construct twin's builders take them."""
    return [
        {
            **row,
            "headers": [(header["key"].encode(), header["value"]) for header in row["headers"]],
        }
        for row in records.to_pylist()
    ]


def plain_records(count: int, value_bytes: int = 100) -> pa.RecordBatch:
    """Return *count* records with consecutive offsets and values of *value_bytes*, without headers."""
    values = [b"%09d " % number * (value_bytes // 10 + 1) for number in range(count)]
    return pa.record_batch(
        {
            "key": pa.array([b"key-%06d" % number for number in range(count)], pa.binary()),
            "value": pa.array([value[:value_bytes] for value in values], pa.binary()),
            "offset": pa.array(np.arange(count)),
            "timestamp": pa.array(TIME + np.arange(count)),
        }
    )
