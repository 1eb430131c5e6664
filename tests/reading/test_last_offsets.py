"""Tests of the map from keys to their last offsets."""

import random

import numpy as np
import pyarrow as pa
import pytest

from magicbyte.reading import last_offsets
from magicbyte.reading.last_offsets import LastOffsets

LONG = b"k" * 33
KEYS = [b"", b"a", b"b" * 32, LONG, LONG + b"x", *(b"%d" % number for number in range(20))]


def array(keys: list[bytes]) -> pa.Array:
    return pa.array(keys, pa.binary())


def put(offsets: LastOffsets, keys: list[bytes], first: int) -> int:
    return offsets.put(array(keys), np.arange(first, first + len(keys), dtype=np.int64))


@pytest.mark.parametrize("merged_rows", [1, 1 << 18])
def test_map_has_the_last_offset_of_each_key(
    merged_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_offsets, "MIN_MERGED_ROWS", merged_rows)
    rng = random.Random(1)
    offsets, expected, first = LastOffsets(), {}, 0
    for _ in range(20):
        keys = rng.choices(KEYS, k=rng.randrange(10))
        assert put(offsets, keys, first) == len(keys)
        expected |= {key: first + index for index, key in enumerate(keys)}
        first += len(keys)
    assert offsets.offsets().tolist() == sorted(expected.values())
    assert len(offsets) == len(expected)
    assert offsets.contain(array([*KEYS, b"none"])).tolist() == [
        *(key in expected for key in KEYS),
        False,
    ]


def test_full_map_refuses_the_next_record_even_of_a_known_key() -> None:
    offsets = LastOffsets(2)
    assert put(offsets, [b"a", LONG, b"a"], 0) == 2
    assert put(offsets, [b"a"], 2) == 0
    assert offsets.offsets().tolist() == [0, 1]


def test_map_is_full_in_the_same_row_however_records_are_divided() -> None:
    rng = random.Random(2)
    keys = rng.choices(KEYS, k=200)
    for max_keys in range(1, 20):
        whole = put(LastOffsets(max_keys), keys, 0)
        in_parts, offsets = 0, LastOffsets(max_keys)
        for begin in range(0, len(keys), 7):
            entered = put(offsets, keys[begin : begin + 7], begin)
            in_parts += entered
            if entered < len(keys[begin : begin + 7]):
                break
        assert in_parts == whole
        assert len(set(keys[:whole])) == max_keys


def test_hash_of_a_long_key_equals_no_short_key() -> None:
    offsets = LastOffsets()
    put(offsets, [LONG], 0)
    assert len(offsets) == 1
    (stored,) = offsets._keys.to_pylist()
    assert len(stored) == last_offsets.MAX_EXACT_BYTES + 1
    assert not offsets.contain(array([stored, stored[:32]])).any()
