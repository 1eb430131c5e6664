"""Control block of the fused kernel: 41 int64 slots that Python and machine code share."""

DESCRIPTOR_FIELDS = (
    *("codec", "magic", "start", "end", "size", "position"),
    *("nested", "is_control", "num_records"),
)
"""Descriptor fields that hand-written kernels access. The control block holds the index of each in a
descriptor of the format; -1 where the format has no such field."""

SCAN, SCAN_ARGS, SECTIONS, SECTIONS_ARGS = range(4)
DECOMPRESS, DECOMPRESS_ARGS, DECODE, DECODE_ARGS = range(4, 8)
"""Addresses of kernels, and of the words that each is called with."""
RESULTS, RUN_DESCRIPTOR = range(8, 10)
"""Address of the kernels' return values; for v0/v1, address of the descriptor that stands for a run of
uncompressed messages, 0 for v2."""
CODEC, MAGIC, START, END, SIZE, POSITION, NESTED, IS_CONTROL, NUM_RECORDS = range(10, 19)
"""Indices of DESCRIPTOR_FIELDS."""
DESCRIPTOR_BYTES, IS_VIEWED, VERIFY = range(19, 22)
"""Size of a descriptor; whether columns are views of the buffer, so that no entry may be compressed;
whether checksums are verified."""

STATE, TABLE, TABLE_CAPACITY, NUMBERS, SCRATCH, SCRATCH_CAPACITY = range(22, 28)
"""Address of the decode kernel's state; address of the descriptor table, and its capacity in descriptors;
address of as many entry numbers; address of the memory for decompressed payloads, and its bytes."""
ADDRESS, LENGTH, LIMIT, MAX_BYTES = range(28, 32)
"""Address of the buffer, and its bytes; address after which no entry may end, because kernels read some
bytes more; decompressed bytes at which decoding ends."""

COUNT, NEXT, NUM_BYTES = range(32, 35)
"""Input and output: entries decoded so far, position of the next one, decompressed bytes so far."""
LAST, LARGEST, HAS_CODEC, HAS_CONTROL, STOP_REASON, STATUS = range(35, 41)
"""Output: entry after the chunk that was not decoded whole; most bytes decoded in one call; whether any
entry is compressed, or a control batch; the stop reason; the bitwise or of the kernels' statuses."""

NUM_SLOTS = 41

DONE, COLUMN_FULL, SCRATCH_FULL, UNSUPPORTED, NEAR_END, NOT_VIEWABLE = range(6)
"""Stop reasons: enough is decoded, or no sound entry follows; a column has no capacity left; nor has the
memory for decompressed payloads; these kernels do not support the next entry; it ends above LIMIT; it is
compressed, and columns are views."""
