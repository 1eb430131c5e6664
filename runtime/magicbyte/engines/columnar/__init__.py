"""The columnar engine: the generated kernels, straight into Arrow's buffers.

A kernel only ever succeeds. What it does not take in full and without remark, the reference
engine decodes, an entry at a time, and its rows take their place among the others. So rows,
problems and positions are those of the reference by construction.
"""

from magicbyte.engines.columnar.engine import ColumnarEngine, magic_at
from magicbyte.engines.columnar.kernel_loader import (
    INFLATED,
    is_compiled,
    is_pass_over_compiled,
    is_scan_compiled,
)

__all__ = [
    "INFLATED",
    "ColumnarEngine",
    "is_compiled",
    "is_pass_over_compiled",
    "is_scan_compiled",
    "magic_at",
]
