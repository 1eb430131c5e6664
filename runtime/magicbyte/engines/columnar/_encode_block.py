"""Numbers that Python and the kernel `encode_batches` share: the options of a call, and a row per batch."""

SET_FIELDS, MOST, IS_ESTIMATED = range(3)
"""Bits of the header fields that the caller has set; most bytes of a batch's records; whether the records
are counted as compressed against that limit."""
TO, END, SCRATCH, SCRATCH_END = range(3, 7)
"""Addresses of the output and of the memory for records before compression, with those after their ends."""
OFFSETS, TIMESTAMPS = range(7, 9)
"""Addresses of the numbers in the columns `offset` and `timestamp`."""
CODEC, LEVEL, FUNCTION, CONTEXT = range(9, 13)
"""Codec of the batches: 0, lz4 or zstd; its level, the address of the library's function and of its context."""
NUM_OPTIONS = 13

BASE_OFFSET, LAST_OFFSET_DELTA, BASE_TIMESTAMP, MAX_TIMESTAMP = 1, 2, 4, 8
"""Bits of SET_FIELDS. Fields without their bit are derived from the records of each batch."""

LAST_ROW, SIZE = range(2)
"""Numbers of a batch in the table of batches: the row after its last one, and its bytes."""
NUM_BATCH_NUMBERS = 2

SPARE_SHIFT, MIN_SPARE = 7, 1 << 12
"""Capacity for records that a codec makes longer: one byte in 2^SPARE_SHIFT, and MIN_SPARE bytes."""
