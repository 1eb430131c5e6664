"""Why a kernel that makes entries plain stopped, and what it says of blocks; no Numba here."""

TAKEN, NOT_TAKEN, NO_ROOM = 0, -1, -2
"""All is done; an entry is left to others; more room helps."""

ENTRY, START, END, SIZE = range(4)
"""What is said of a block: its entry, its first byte, the one behind it, and its plain bytes."""
LEN_BLOCK = 4
"""The numbers of that."""
