"""Kernel that reads the headers of v2 batches from a file, and skips the records between them."""

from magicbyte.engines.entry import LEAST_SIZES, OVERHEAD
from magicbyte_formats.wire import RecordBatchHeader
from magicbyte_kernels.primitives import call5, s4be, u1

LEN_HEADER, MIN_LENGTH = RecordBatchHeader.SIZE, LEAST_SIZES[2]
LEN_BATCH, MAGIC = (RecordBatchHeader.POSITIONS[name] for name in ("len_batch", "magic"))


def read_headers(pread: int, descriptor: int, position: int, end: int, most: int, to: int) -> int:
    """Read at most *most* headers of batches back to back in [position, end) of a file.

    They are written to address *to*, back to back. *pread* is the address of C's function. Returns the
    number of headers.

    Ends before bytes that are no v2 batch, before a batch that ends after *end*, and at the end of a
    file that has been truncated.
    """
    count = 0
    while count < most and position <= end - LEN_HEADER:
        if call5(pread, descriptor, to, LEN_HEADER, position, 0) != LEN_HEADER:
            break
        length = s4be(to + LEN_BATCH)
        if u1(to + MAGIC) != 2 or length < MIN_LENGTH or length > end - position - OVERHEAD:
            break
        position += OVERHEAD + length
        to += LEN_HEADER
        count += 1
    return count
