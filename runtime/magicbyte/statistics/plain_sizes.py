"""Sizes of entries without compression: the definition of compression ratio in all outputs."""

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte_formats.wire import RecordBatchHeader


def plain_sizes(magics: Numbers, codecs: Numbers, sizes: Numbers, decompressed: Numbers) -> Numbers:
    """Return the bytes that entries would have without compression.

    *sizes* are their stored bytes, *decompressed* the bytes of their payloads. Without compression a
    batch has the same header, and there is no wrapper message.
    """
    headers = np.where(magics == 2, RecordBatchHeader.SIZE, 0)
    plain: Numbers = np.where(codecs == 0, sizes, headers + decompressed)
    return plain
