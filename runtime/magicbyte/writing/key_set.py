"""A set of millions of keys, in little memory: hashes are compared first, and then the keys themselves."""

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import Mask, null_mask

HASHED_BYTES = 8 << 20
"""Bytes of keys that are hashed together; hashing takes 24 times as much memory."""

MULTIPLIER = 0x9E3779B97F4A7C15
"""An odd number whose powers weigh the bytes of a key (2^64 over the golden ratio)."""

Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]


class KeySet:
    """Distinct byte strings: 10 million of 16 bytes take 330 MB."""

    def __init__(self, key_column: pa.Array) -> None:
        """*key_column* is a binary array; nulls are left out."""
        self._keys = key_column.cast(pa.large_binary()).drop_null()
        hashes = _hashes(self._keys)
        self._order = np.argsort(hashes, kind="stable").astype(np.uint32)
        self._hashes = hashes[self._order]

    @classmethod
    def of(cls, byte_strings: Iterable[bytes]) -> "KeySet":
        """Return the set of *byte_strings*."""
        return cls(pa.array(list(byte_strings), pa.large_binary()))

    @classmethod
    def of_lines(cls, data: bytes) -> "KeySet":
        """Return the set of the lines of *data*; an empty last line is none."""
        data = data.replace(b"\r\n", b"\n")
        if data and not data.endswith(b"\n"):
            data += b"\n"
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        offsets = np.zeros(len(ends) + 1, np.int64)
        offsets[1:] = ends - np.arange(len(ends))  # the ends of lines are not stored
        contents = data.replace(b"\n", b"")
        del data, ends
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(contents)]
        keys = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
        return cls(keys)

    def __len__(self) -> int:
        return len(self._keys)

    def digest(self) -> bytes:
        """Return a digest of the keys, in no order."""
        return hashlib.sha256(self._hashes.tobytes()).digest()

    def contain(self, column: pa.Array) -> Mask:
        """Return a mask of the values of the binary *column* that are in the set; null never is."""
        mask = np.zeros(len(column), np.bool_)
        if not len(self._hashes):
            return mask
        hashes = _hashes(column.cast(pa.large_binary()))
        first = np.searchsorted(self._hashes, hashes)
        known = self._hashes[np.minimum(first, len(self._hashes) - 1)] == hashes
        for number in np.flatnonzero(known & ~null_mask(column)).tolist():
            mask[number] = self._has(column[number].as_py(), hashes[number], int(first[number]))
        return mask

    def _has(self, key: bytes, key_hash: np.uint64, place: int) -> bool:
        """Return whether *key* is in the set; keys of its hash are from index *place* on."""
        while place < len(self._hashes) and self._hashes[place] == key_hash:
            if self._keys[int(self._order[place])].as_py() == key:
                return True
            place += 1
        return False


def _hashes(key_column: pa.Array) -> Hashes:
    """Return a hash of each of *key_column*: the bytes, weighed by powers of an odd number, modulo 2^64."""
    if not len(key_column):
        return np.zeros(0, np.uint64)
    return np.concatenate([_hashes_of_part(part) for part in _parts(key_column)])


def _parts(key_column: pa.Array) -> Iterator[pa.Array]:
    """Yield slices of *key_column* of about HASHED_BYTES."""
    ends = _offsets(key_column)[1:] - _offsets(key_column)[0]
    first = 0
    while first < len(key_column):
        limit = (int(ends[first - 1]) if first else 0) + HASHED_BYTES
        end = max(int(np.searchsorted(ends, limit, "right")), first + 1)
        yield key_column.slice(first, end - first)
        first = end


def _hashes_of_part(key_column: pa.Array) -> Hashes:
    offsets = _offsets(key_column)
    lengths = np.diff(offsets)
    total = int(offsets[-1] - offsets[0])
    hashes = lengths.astype(np.uint64)
    if total:
        contents = np.frombuffer(key_column.buffers()[2], np.uint8)[int(offsets[0]) :][:total]
        longest = int(lengths.max())
        with np.errstate(over="ignore"):
            powers = np.cumprod(np.full(longest, MULTIPLIER, np.uint64))
            starts = np.cumsum(lengths) - lengths
            weights = powers[np.arange(total) - np.repeat(starts, lengths)]
            weighed = contents.astype(np.uint64) * weights
            has_bytes = lengths > 0
            sums = np.add.reduceat(weighed, starts[has_bytes])
            hashes[has_bytes] += sums
    return hashes ^ (hashes >> np.uint64(29))


def _offsets(key_column: pa.Array) -> Numbers:
    """Return the n + 1 offsets of the n *key_column*, of Arrow's type large_binary, in their bytes."""
    offsets: Numbers = np.frombuffer(key_column.buffers()[1], np.int64)
    return offsets[key_column.offset : key_column.offset + len(key_column) + 1]
