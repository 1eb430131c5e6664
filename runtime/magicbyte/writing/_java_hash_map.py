"""The order in which Java iterates over the keys of a `HashMap<Long, ...>`."""

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import Indices

MIN_CAPACITY = 16


def iteration_order(keys: Numbers) -> Indices:
    """Return the indices of the distinct *keys*, which were inserted in their order, as a HashMap iterates over them.

    A bucket with more than eight keys, which Java turns into a tree, keeps the order of insertion here. Producer
    ids are numbered consecutively, so that none of their buckets has so many.
    """
    capacity = MIN_CAPACITY
    while len(keys) > capacity * 3 // 4:
        capacity *= 2
    bits = keys.astype(np.uint64)
    hashes = (bits ^ (bits >> np.uint64(32))) & np.uint64(0xFFFFFFFF)  # Long.hashCode
    hashes ^= hashes >> np.uint64(16)  # HashMap.hash
    return np.argsort(hashes & np.uint64(capacity - 1), kind="stable")
