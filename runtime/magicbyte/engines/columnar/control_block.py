"""What the kernel that has others take entries by turns reads and writes: a sheet of numbers."""

PLACES = (
    *("codec", "magic", "start", "end", "size", "position"),
    *("nested", "is_control", "num_records"),
)
"""What kernels that are not generated look at in a descriptor. They are told in which place it is,
which is -1 where a format has none of it."""

SCAN, SCAN_BY, SECTIONS, SECTIONS_BY, INFLATE, INFLATE_BY, DECODE, DECODE_BY = range(8)
"""Addresses of kernels, and of what each is called with."""
RESULTS, WHOLE = range(8, 10)
"""That of a place for their results; of a stream, that of the descriptor that stands for several
messages, else 0."""
CODEC, MAGIC, START, END, SIZE, POSITION, NESTED, IS_CONTROL, NUM_RECORDS = range(10, 19)
"""The places in a descriptor."""
WIDTH, IS_ALIKE = range(19, 21)
"""The bytes of a descriptor; whether all entries must be compressed or not as the first is."""

STATE, TABLE, MOST, NUMBERS, PLAIN, ROOM = range(21, 27)
"""Addresses of the state of the kernel that decodes and of all descriptors, how many those are, the
address of a place for their numbers, that of one for plain bytes, and how many it has room for."""
ADDRESS, LENGTH, LIMIT, MOST_MADE = range(27, 31)
"""Where the entries lie, in how many bytes, and where they must end, that enough bytes follow; how many
plain bytes are enough."""

COUNT, AT, MADE = range(31, 34)
"""Entries that are decoded, the byte behind them, and their plain bytes: what it begins with, and what
it has come to when it ends."""
LAST, LARGEST, HAS_CODEC, HAS_CONTROL, WHY, STATUS = range(34, 40)
"""What is written, too: where the last turn would have ended, the most plain bytes that were decoded at
once, whether any entry is compressed, or a control batch, why it ended, and what kernels ended with."""

LENGTH_OF_SHEET = 40

DONE, NO_COLUMN, NO_PLACE, ODD, AT_EDGE, WRONG = range(6)
"""Why: there is enough, or no further entry; a column has no room; there is none for plain bytes; an
entry is for others; too few bytes follow it; its checksum is wrong."""
