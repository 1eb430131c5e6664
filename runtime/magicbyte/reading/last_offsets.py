"""The last offset of each key, as the log cleaner maps keys to offsets.

Keys of up to 32 bytes are compared byte for byte; longer keys are compared by a hash of 264 bits, so that memory
does not depend on the size of keys. Kafka's cleaner compares MD5 hashes of all keys.
"""

from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import Mask, to_numpy

MAX_EXACT_BYTES = 32
"""Longest key that is stored itself. A hash has one byte more, so that no key equals it."""

MIN_MERGED_ROWS = 1 << 20
"""Rows that are collected before they are entered into the map together, which encodes all keys again."""

_KEY = pa.large_binary()


class LastOffsets:
    """The last offset of each key, for at most *max_keys* keys; 50 to 100 bytes for each."""

    def __init__(self, max_keys: int | None = None) -> None:
        self.max_keys = max_keys
        self._keys: pa.Array = pa.array([], _KEY)
        """Distinct keys, in no order."""
        self._offsets = np.zeros(0, np.int64)
        """Last offset of each of them."""
        self._recent: list[tuple[pa.Array, Numbers]] = []
        self._num_recent = 0

    def put(self, key_column: pa.Array, offsets: Numbers) -> int:
        """Enter *offsets*, which increase, for *key_column*, which are not null; return how many were entered.

        These are all, unless the map is full: then the first row is refused that is met by a full map,
        even if its key is known, as by Kafka's cleaner.
        """
        if not len(key_column):
            return 0
        short_keys = _short_keys(key_column)
        num_entered = len(short_keys)
        if self.max_keys is not None:
            num_entered = self._num_accepted(short_keys, self.max_keys)
        self._recent.append((short_keys[:num_entered], offsets[:num_entered]))
        self._num_recent += num_entered
        if self._num_recent > max(MIN_MERGED_ROWS, len(self._keys)):
            self._merge()
        return num_entered

    def offsets(self) -> Numbers:
        """Return the last offsets of all keys, sorted."""
        self._merge()
        return np.sort(self._offsets)

    def contain(self, key_column: pa.Array) -> Mask:
        """Return which of *key_column* are in the map; costs O(map) per call, so ask for many keys together."""
        self._merge()
        return self._contain_short(_short_keys(key_column))

    def __len__(self) -> int:
        self._merge()
        return len(self._keys)

    def _merge(self) -> None:
        """Enter the recent rows into the map; dictionaries take a fifth of the time of Arrow's `group_by`."""
        if not self._recent:
            return
        encoded = pa.concat_arrays([self._keys, *(part for part, _ in self._recent)])
        encoded = encoded.dictionary_encode()
        offsets = np.concatenate([self._offsets, *(part for _, part in self._recent)])
        self._recent, self._num_recent = [], 0
        self._keys = encoded.dictionary
        self._offsets = np.empty(len(self._keys), np.int64)
        # NumPy assigns the last of several values for an index, and offsets increase.
        self._offsets[to_numpy(encoded.indices)] = offsets

    def _contain_short(self, short_keys: pa.Array) -> Mask:
        is_in = pc.is_in(short_keys, value_set=self._keys)
        mask: Mask = is_in.to_numpy(zero_copy_only=False)
        return mask

    def _num_accepted(self, short_keys: pa.Array, max_keys: int) -> int:
        """Return how many of the first *short_keys* are met by a map with fewer than *max_keys* entries."""
        if len(self._keys) + self._num_recent + len(short_keys) <= max_keys:
            return len(short_keys)
        self._merge()
        encoded = short_keys.dictionary_encode()
        codes = to_numpy(encoded.indices)
        first_rows = np.full(len(encoded.dictionary), len(codes), np.intp)
        np.minimum.at(first_rows, codes, np.arange(len(codes)))
        is_known = self._contain_short(encoded.dictionary)
        is_new = np.zeros(len(codes), np.int64)
        is_new[first_rows[~is_known]] = 1
        sizes_before = len(self._keys) + np.cumsum(is_new) - is_new
        full = np.flatnonzero(sizes_before >= max_keys)
        return int(full[0]) if len(full) else len(codes)


def are_in(offsets: Numbers, ordered: Numbers) -> Mask:
    """Return which of *offsets* are in *ordered*."""
    if not len(ordered):
        return np.zeros(len(offsets), np.bool_)
    at = np.minimum(np.searchsorted(ordered, offsets), len(ordered) - 1)
    mask: Mask = ordered[at] == offsets
    return mask


def _short_keys(key_column: pa.Array) -> pa.Array:
    """Return *key_column*, with a hash in place of each that is longer than MAX_EXACT_BYTES."""
    key_column = key_column.cast(_KEY)
    if len(key_column) == 0 or not (_lengths(key_column) > MAX_EXACT_BYTES).any():
        return key_column
    encoded = key_column.dictionary_encode()
    hashes = [_short_key(key) for key in encoded.dictionary.to_pylist()]
    return pa.array(hashes, _KEY).take(encoded.indices)


def _short_key(key: bytes) -> bytes:
    if len(key) <= MAX_EXACT_BYTES:
        return key
    return blake2b(key, digest_size=MAX_EXACT_BYTES + 1).digest()


def _lengths(key_column: pa.Array) -> Numbers:
    lengths: Numbers = to_numpy(pc.binary_length(key_column))
    return lengths
