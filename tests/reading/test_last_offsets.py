"""Tests of the map from keys to their last offsets."""

import random

import numpy as np
import pyarrow as pa
import pytest

from magicbyte.reading import last_offsets
from magicbyte.reading.last_offsets import LastOffsets, fingerprints

LONG = b"k" * 16
KEYS = [
    b"",
    b"\0",
    b"\0\0",
    b"a",
    b"b" * 15,
    LONG,
    LONG + b"x",
    *(b"%d" % number for number in range(20)),
]


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
    assert offsets.contain(fingerprints(array([*KEYS, b"none"]))).tolist() == [
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


def test_different_keys_have_different_fingerprints() -> None:
    keys = [
        *KEYS,
        *(b"x" * size for size in range(1, 40)),
        *(b"\0" * size for size in range(3, 40)),
    ]
    assert len({bytes(words) for words in fingerprints(array(keys))}) == len(keys)
    sliced = fingerprints(array([b"before", *keys, b"after"]).slice(1, len(keys)))
    assert (sliced == fingerprints(array(keys))).all()


def test_keys_with_the_same_hash_are_different_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_offsets, "hashes_of", lambda words: words[:, 0] & np.uint64(1))
    rng = random.Random(3)
    offsets, expected = LastOffsets(), {}
    for first in range(0, 100, 10):
        keys = rng.choices(KEYS[:-5], k=10)
        put(offsets, keys, first)
        expected |= {key: first + index for index, key in enumerate(keys)}
        found = offsets.contain(fingerprints(array(KEYS))).tolist()
        assert found == [key in expected for key in KEYS]
    assert offsets.offsets().tolist() == sorted(expected.values())
