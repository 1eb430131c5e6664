"""Headers of v2 batches, read one after another: nothing of what lies between them."""

from magicbyte.engines.entry import LEAST_SIZES, OVERHEAD
from magicbyte_formats.wire import RecordBatchHeader
from magicbyte_kernels.primitives import call5, s4be, u1

LEN_HEADER, LEAST = RecordBatchHeader.SIZE, LEAST_SIZES[2]
LEN_BATCH, MAGIC = (RecordBatchHeader.POSITIONS[name] for name in ("len_batch", "magic"))


def pass_over(pread: int, descriptor: int, position: int, end: int, most: int, to: int) -> int:
    """Read headers of batches back to back from *position* of a file to at most *end*.

    They are written to address *to*, one behind the other, and at most so many. *pread* is the
    address of that function. Returns how many there are.

    Ends before the first that is none, is of another format or does not end there, and where the
    file has become shorter.
    """
    count = 0
    while count < most and position <= end - LEN_HEADER:
        if call5(pread, descriptor, to, LEN_HEADER, position, 0) != LEN_HEADER:
            break
        length = s4be(to + LEN_BATCH)
        if u1(to + MAGIC) != 2 or length < LEAST or length > end - position - OVERHEAD:
            break
        position += OVERHEAD + length
        to += LEN_HEADER
        count += 1
    return count
