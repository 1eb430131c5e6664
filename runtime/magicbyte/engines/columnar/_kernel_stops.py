"""Position at which a decode kernel has stopped in an entry, and the negative lengths counted before."""

from magicbyte.engines._record_rows import RecordStop
from magicbyte.engines.entry_columns import Numbers
from magicbyte_kernels.kernel_interface import (
    LAST_NEGATIVE_ROW,
    NEGATIVE_BEFORE,
    NEGATIVE_POSITION,
    NEGATIVE_ROW,
    NUM_NEGATIVE,
    STOP_ELEMENT,
    STOP_ELEMENT_POSITION,
    STOP_POSITION,
    STOP_ROW,
)


def record_stop(slots: Numbers) -> RecordStop:
    """Return where a lenient decode kernel with these state *slots* has stopped."""
    row, num_negative = int(slots[STOP_ROW]), int(slots[NUM_NEGATIVE])
    if num_negative and slots[LAST_NEGATIVE_ROW] == row:
        num_negative = int(slots[NEGATIVE_BEFORE])  # the others are in the invalid record
    return RecordStop(
        row,
        int(slots[STOP_POSITION]),
        int(slots[STOP_ELEMENT]),
        int(slots[STOP_ELEMENT_POSITION]),
        num_negative,
        int(slots[NEGATIVE_ROW]),
        int(slots[NEGATIVE_POSITION]),
    )


def end_of_records(slots: Numbers, num_rows: int, size: int) -> RecordStop:
    """Return the end of a payload of *size* bytes that a lenient kernel has decoded, with all negative lengths."""
    return RecordStop(
        num_rows,
        size,
        0,
        0,
        int(slots[NUM_NEGATIVE]),
        int(slots[NEGATIVE_ROW]),
        int(slots[NEGATIVE_POSITION]),
    )
