"""Choose the partition of records as Kafka's producer does (BuiltInPartitioner, Utils.murmur2)."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import null_mask, to_numpy, value_offsets

SEED, MULTIPLIER = np.uint32(0x9747B28C), np.uint32(0x5BD1E995)
"""Constants of Kafka's 32-bit MurmurHash2."""

WORD = 4
"""Bytes that the hash mixes at a time, as a little-endian number."""

POSITIVE = np.uint32(0x7FFFFFFF)
"""Mask of Utils.toPositive."""

RECORD_OVERHEAD = 10
"""Bytes of a small record besides its value, about."""

Hashes = np.ndarray[tuple[int], np.dtype[np.uint32]]


def murmur2(key_array: pa.Array) -> Hashes:
    """Return the hash of each of *key_array*, an array of `binary`; the hash of a null has no meaning.

    All keys are hashed together, word by word: after the n-th word, only keys that have more are left.
    """
    ends = value_offsets(key_array).astype(np.int64)
    starts, lengths = ends[:-1], np.diff(ends)
    lengths[null_mask(key_array)] = 0
    hashes: Hashes = SEED ^ lengths.astype(np.uint32)
    buffer = key_array.buffers()[2]
    if buffer is None or not len(key_array):
        content = np.zeros(0, np.uint8)
    else:
        content = np.frombuffer(buffer, np.uint8)
    num_words = lengths // WORD
    longest_first = np.argsort(-num_words, kind="stable")
    sorted_words = -num_words[longest_first]
    with np.errstate(over="ignore"):
        if len(content) >= WORD:
            # A word begins at any byte: overlapping views of the content, without a copy.
            words = np.ndarray((len(content) - WORD + 1,), "<u4", content, strides=(1,))
            for number in range(-int(sorted_words[0])):
                count = int(np.searchsorted(sorted_words, -number, "left"))
                rows = longest_first[:count]
                word = words[starts[rows] + WORD * number].astype(np.uint32) * MULTIPLIER
                word = (word ^ (word >> np.uint32(24))) * MULTIPLIER
                hashes[rows] = (hashes[rows] * MULTIPLIER) ^ word
        rest = lengths % WORD
        for byte in range(WORD - 2, -1, -1):
            rows = np.flatnonzero(rest > byte)
            tail = content[starts[rows] + lengths[rows] - rest[rows] + byte].astype(np.uint32)
            hashes[rows] ^= tail << np.uint32(8 * byte)
        hashes[rest > 0] *= MULTIPLIER
        hashes ^= hashes >> np.uint32(13)
        hashes *= MULTIPLIER
        hashes ^= hashes >> np.uint32(15)
    return hashes


class Partitioner:
    """Distributes records over the partitions of a topic.

    Records with a key go where Kafka's producer would send them. Records without a key go to one partition until
    they fill a batch, then to the next one, so that batches are full also where partitions are many.
    """

    def __init__(self, num_partitions: int, *, batch_bytes: int, first_partition: int = 0) -> None:
        """*first_partition* gets the first records without a key."""
        self._num_partitions, self._batch_bytes = num_partitions, batch_bytes
        self._first_partition = first_partition
        self._keyless_bytes = 0

    def partitions(self, key_array: pa.Array, value_array: pa.Array) -> Numbers:
        """Return the partition of each record; *key_array* and *value_array* are arrays of `binary`."""
        is_keyless = null_mask(key_array)
        numbers: Numbers = (murmur2(key_array) & POSITIVE).astype(np.int64) % self._num_partitions
        if is_keyless.any():
            sizes = to_numpy(pc.fill_null(pc.binary_length(value_array), 0)).astype(np.int64)
            sizes = sizes[is_keyless] + RECORD_OVERHEAD
            begins = self._keyless_bytes + np.cumsum(sizes) - sizes
            batches = begins // self._batch_bytes
            numbers[is_keyless] = (self._first_partition + batches) % self._num_partitions
            self._keyless_bytes += int(sizes.sum())
        return numbers
