"""The last offset of each key, as the log cleaner maps keys to offsets.

Keys of up to 32 bytes are compared byte for byte; longer keys are compared by a hash of 264 bits, so that memory
does not depend on the size of keys. Kafka's cleaner compares MD5 hashes of all keys.
"""

from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import Mask, number_array, to_numpy

MAX_EXACT_BYTES = 32
"""Longest key that is stored itself. A hash has one byte more, so that no key equals it."""

MIN_MERGED_ROWS = 1 << 18
"""Entries that are collected before they are merged with the others: merging costs more than collecting."""

_KEY = pa.large_binary()


class LastOffsets:
    """The last offset of each key, for at most *max_keys* keys; 50 to 100 bytes for each."""

    def __init__(self, max_keys: int | None = None) -> None:
        self.max_keys = max_keys
        self._merged = _table(pa.array([], _KEY), np.zeros(0, np.int64))
        self._recent: list[pa.Table] = []
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
        table = _table(short_keys[:num_entered], offsets[:num_entered])
        self._recent.append(_last_by_key(table))
        self._num_recent += self._recent[-1].num_rows
        if self._num_recent > max(MIN_MERGED_ROWS, self._merged.num_rows):
            self._merge()
        return num_entered

    def offsets(self) -> Numbers:
        """Return the last offsets of all keys, sorted."""
        self._merge()
        column = self._merged.column("offset")
        chunks = [to_numpy(chunk) for chunk in column.chunks]
        return np.sort(np.concatenate([np.zeros(0, np.int64), *chunks]))

    def contain(self, key_column: pa.Array) -> Mask:
        """Return which of *key_column* are in the map; costs O(map) per call, so ask for many keys together."""
        self._merge()
        return self._contain_short(_short_keys(key_column))

    def __len__(self) -> int:
        self._merge()
        return int(self._merged.num_rows)

    def _merge(self) -> None:
        if self._recent:
            self._merged = _last_by_key(pa.concat_tables([self._merged, *self._recent]))
            self._recent, self._num_recent = [], 0

    def _contain_short(self, short_keys: pa.Array) -> Mask:
        is_in = pc.is_in(short_keys, value_set=self._merged.column("key").combine_chunks())
        mask: Mask = is_in.to_numpy(zero_copy_only=False)
        return mask

    def _num_accepted(self, short_keys: pa.Array, max_keys: int) -> int:
        """Return how many of the first *short_keys* are met by a map with fewer than *max_keys* entries."""
        if self._merged.num_rows + self._num_recent + len(short_keys) <= max_keys:
            return len(short_keys)
        self._merge()
        encoded = short_keys.dictionary_encode()
        codes = to_numpy(encoded.indices)
        first_rows = np.full(len(encoded.dictionary), len(codes), np.intp)
        np.minimum.at(first_rows, codes, np.arange(len(codes)))
        is_known = self._contain_short(encoded.dictionary)
        is_new = np.zeros(len(codes), np.int64)
        is_new[first_rows[~is_known]] = 1
        sizes_before = self._merged.num_rows + np.cumsum(is_new) - is_new
        full = np.flatnonzero(sizes_before >= max_keys)
        return int(full[0]) if len(full) else len(codes)


def _table(key_column: pa.Array, offsets: Numbers) -> pa.Table:
    return pa.table({"key": key_column, "offset": number_array(pa.int64(), offsets)})


def _last_by_key(table: pa.Table) -> pa.Table:
    """Return one row per key of *table*, with its highest offset."""
    grouped = table.group_by("key", use_threads=False).aggregate([("offset", "max")])
    return pa.table({"key": grouped.column("key"), "offset": grouped.column("offset_max")})


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
