"""Why a kernel that makes entries plain stopped."""

TAKEN, NOT_TAKEN, NO_ROOM = 0, -1, -2
"""All is done; an entry is left to others; more room helps."""
