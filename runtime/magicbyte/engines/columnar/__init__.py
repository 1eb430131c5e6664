"""The columnar engine: generated kernels that write straight into Arrow's buffers.

Kernels decode sound entries in full or not at all. The reference engine decodes each entry that they
refuse, so that rows, findings and positions are the reference's by construction.
"""

from magicbyte.engines.columnar.engine import ColumnarEngine, magic_at
from magicbyte.engines.columnar.kernel_loader import (
    is_decoder_cached,
    is_header_reader_cached,
    is_scan_cached,
)

__all__ = [
    "ColumnarEngine",
    "is_decoder_cached",
    "is_header_reader_cached",
    "is_scan_cached",
    "magic_at",
]
