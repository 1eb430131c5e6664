"""The columnar engine: generated kernels that write straight into Arrow's buffers.

Kernels decode sound entries in full or not at all. The reference engine decodes each entry that they
refuse, so that rows, findings and positions are the reference's by construction.
"""

from magicbyte.engines.columnar.engine import ColumnarEngine

__all__ = ["ColumnarEngine"]
