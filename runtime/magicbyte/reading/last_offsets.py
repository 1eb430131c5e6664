"""The last offset of each key, as the log cleaner maps keys to offsets.

A key is represented by 16 bytes: one of up to 15 bytes by these and its length, a longer one by a hash of 120
bits. So memory does not depend on the size of keys. Kafka's cleaner compares MD5 hashes of all keys.
"""

import os
from hashlib import blake2b

import numpy as np
import pyarrow as pa

from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import Indices, Mask, value_offsets

Words = np.ndarray[tuple[int, int], np.dtype[np.uint64]]
"""Fingerprints of keys: two words for each."""

Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]

MAX_EXACT_BYTES = 15
"""Longest key that is stored itself."""

HASH_MARK = b"\xff"
"""Last byte of a fingerprint that is a hash; no length of a stored key equals it."""

MIN_MERGED_ROWS = 1 << 20
"""Rows that are collected before they are entered into the map together, which sorts all of it."""

SECRET = np.frombuffer(os.urandom(16), np.uint64) | np.uint64(1)
"""Multipliers of this process: so that no writer of keys can choose some with the same hash."""


def fingerprints(key_column: pa.Array) -> Words:
    """Return the fingerprints of the keys in *key_column*, bytes without nulls."""
    count = len(key_column)
    codes = np.zeros((count, MAX_EXACT_BYTES + 1), np.uint8)
    ends = value_offsets(key_column).astype(np.int64)
    starts, lengths = ends[:-1], np.diff(ends)
    buffer = key_column.buffers()[2]
    if buffer is not None and count and lengths.any():
        data = np.frombuffer(buffer, np.uint8)
        width = int(min(lengths.max(), MAX_EXACT_BYTES))
        columns = np.arange(width)
        # These bytes of a longer key are replaced below.
        at = np.minimum(starts[:, None] + columns, len(data) - 1)
        codes[:, :width] = np.where(columns < lengths[:, None], data[at], 0)
        codes[:, MAX_EXACT_BYTES] = np.minimum(lengths, MAX_EXACT_BYTES)
        long_rows = np.flatnonzero(lengths > MAX_EXACT_BYTES)
        view = memoryview(buffer)
        bounds = zip(starts[long_rows].tolist(), ends[1:][long_rows].tolist(), strict=True)
        hashes = [
            blake2b(view[begin:end], digest_size=MAX_EXACT_BYTES).digest() for begin, end in bounds
        ]
        hashed = np.frombuffer(HASH_MARK.join([*hashes, b""]), np.uint8)
        codes[long_rows] = hashed.reshape(len(hashes), MAX_EXACT_BYTES + 1)
    key_words: Words = codes.view(np.uint64)
    return key_words


class LastOffsets:
    """The last offset of each key, for at most *max_keys* keys.

    A key takes 32 bytes, and about 150 while keys are entered.
    """

    def __init__(self, max_keys: int | None = None) -> None:
        self.max_keys = max_keys
        self._words: Words = np.zeros((0, 2), np.uint64)
        """Fingerprints of all keys, in the order of their hashes."""
        self._hashes: Hashes = np.zeros(0, np.uint64)
        self._offsets = np.zeros(0, np.int64)
        """Last offset of each of them."""
        self._recent: list[tuple[Words, Numbers]] = []
        self._num_recent = 0

    def put(self, key_column: pa.Array, offsets: Numbers) -> int:
        """Enter *offsets*, which increase, for *key_column*, which is not null; return how many were entered.

        These are all, unless the map is full: then the first row is refused that is met by a full map,
        even if its key is known, as by Kafka's cleaner.
        """
        if not len(key_column):
            return 0
        return self.put_words(fingerprints(key_column), offsets)

    def put_words(self, key_words: Words, offsets: Numbers) -> int:
        """Enter *offsets* for keys with these fingerprints, as `put` does."""
        num_entered = len(key_words)
        if self.max_keys is not None:
            num_entered = self._num_accepted(key_words, self.max_keys)
        self._recent.append((key_words[:num_entered], offsets[:num_entered]))
        self._num_recent += num_entered
        if self._num_recent > max(MIN_MERGED_ROWS, len(self._words)):
            self._merge()
        return num_entered

    @property
    def num_rows(self) -> int:
        """Rows in memory: keys, and rows that were entered since they were last merged."""
        return len(self._words) + self._num_recent

    def rows(self) -> tuple[Words, Numbers]:
        """Return the fingerprint and the last offset of each key."""
        self._merge()
        return self._words, self._offsets

    def offsets(self) -> Numbers:
        """Return the last offsets of all keys, sorted."""
        self._merge()
        return np.sort(self._offsets)

    def contain(self, key_words: Words) -> Mask:
        """Return which of the fingerprints *key_words* are in the map."""
        self._merge()
        found = np.zeros(len(key_words), np.bool_)
        if not len(self._words):
            return found
        hashes = hashes_of(key_words)
        at = np.searchsorted(self._hashes, hashes)
        rows = np.arange(len(key_words))
        # More than one step is needed only where different keys have the same hash.
        while len(rows):
            is_inside = at < len(self._hashes)
            rows, at = rows[is_inside], at[is_inside]
            has_same_hash = self._hashes[at] == hashes[rows]
            rows, at = rows[has_same_hash], at[has_same_hash]
            is_same = (self._words[at] == key_words[rows]).all(axis=1)
            found[rows[is_same]] = True
            rows, at = rows[~is_same], at[~is_same] + 1
        return found

    def __len__(self) -> int:
        self._merge()
        return len(self._words)

    def _merge(self) -> None:
        """Enter the recent rows into the map."""
        if not self._recent:
            return
        key_words = np.concatenate([self._words, *(each for each, _ in self._recent)])
        offsets = np.concatenate([self._offsets, *(each for _, each in self._recent)])
        self._recent, self._num_recent = [], 0
        hashes = hashes_of(key_words)
        order, is_first = _grouped(key_words, hashes)
        # Offsets increase in the order of entry, which the sort keeps among equal keys.
        last = order[np.append(is_first[1:], True)]
        self._words, self._hashes, self._offsets = key_words[last], hashes[last], offsets[last]

    def _num_accepted(self, key_words: Words, max_keys: int) -> int:
        """Return how many of the first *key_words* are met by a map with fewer than *max_keys* entries."""
        if self.num_rows + len(key_words) <= max_keys:
            return len(key_words)
        self._merge()
        order, is_first = _grouped(key_words, hashes_of(key_words))
        first_rows = order[is_first]
        is_new = np.zeros(len(key_words), np.int64)
        is_new[first_rows[~self.contain(key_words[first_rows])]] = 1
        sizes_before = len(self._words) + np.cumsum(is_new) - is_new
        full = np.flatnonzero(sizes_before >= max_keys)
        return int(full[0]) if len(full) else len(key_words)


def are_in(offsets: Numbers, ordered: Numbers) -> Mask:
    """Return which of *offsets* are in *ordered*."""
    if not len(ordered):
        return np.zeros(len(offsets), np.bool_)
    at = np.minimum(np.searchsorted(ordered, offsets), len(ordered) - 1)
    mask: Mask = ordered[at] == offsets
    return mask


def hashes_of(key_words: Words) -> Hashes:
    """Return a hash of 64 bits for each of *key_words*; different keys may have the same one."""
    hashes: Hashes = _mixed(key_words[:, 0] * SECRET[0]) + key_words[:, 1] * SECRET[1]
    return _mixed(hashes)


def _mixed(hashes: Hashes) -> Hashes:
    """Return *hashes* with the upper bits of each spread to the lower ones."""
    mixed: Hashes = (hashes ^ (hashes >> np.uint64(32))) * SECRET[0]
    return mixed ^ (mixed >> np.uint64(29))


def _grouped(key_words: Words, hashes: Hashes) -> tuple[Indices, Mask]:
    """Return an order that brings equal *key_words* together, and which begin a group; it keeps their own order."""
    order = np.argsort(hashes, kind="stable")
    is_first = np.ones(len(order), np.bool_)
    ordered = hashes[order]
    is_first[1:] = ordered[1:] != ordered[:-1]
    ordered_words = key_words[order]
    differs = (ordered_words[1:] != ordered_words[:-1]).any(axis=1)
    if (differs & ~is_first[1:]).any():  # different keys have the same hash
        order = np.lexsort((key_words[:, 1], key_words[:, 0], hashes))
        ordered_words = key_words[order]
        differs = (ordered_words[1:] != ordered_words[:-1]).any(axis=1)
    is_first[1:] = differs
    return order, is_first
