# Generated from spec/kafka_offset_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 05e6da70de43438af62e6a5177b2749d8318d411155111b111912f8159bbdfbe, kaitai-struct-compiler 0.11.0
import numpy as np

TABLE: str
HEADER: np.dtype[np.void]
"""Nothing."""
ROW: np.dtype[np.void]
"""`relative_offset`: Last offset of the appended batches, counted from the base offset of the
segment, which names the file.
`ofs_batch`: Position in the segment where the first of those batches starts, in bytes.
"""

def rows(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return the rows of *data*, a whole file: an array with a field for each number of a row.

    It ends before the first row that is not whole or all zeros.
    Numbers are as they are stored. Nothing is copied.
    """
