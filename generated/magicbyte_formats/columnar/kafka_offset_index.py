# Generated from spec/kafka_offset_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 52fc966b28702b115558dcf58f379f939238b2bf9ae36c55b7b90b78b8fc95da, kaitai-struct-compiler 0.11.0
"""Rows of kafka_offset_index: bytes to columns, by NumPy alone."""

import numpy as np

TABLE = "offset_index"
HEADER = np.dtype([])
"""Empty."""
ROW = np.dtype(
    [
        ("relative_offset", ">i4"),
        ("ofs_batch", ">i4"),
    ]
)
"""`relative_offset`: Last offset of the appended batches, counted from the base offset of the
segment, which names the file.
`ofs_batch`: Position in the segment where the first of those batches starts, in bytes.
"""


def rows(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return the rows of *data*, a whole file: an array with a field per number of a row.

    They end before the first row that is incomplete or is all zeros.
    Numbers are returned as stored. Nothing is copied.
    """
    count = len(data) // 8
    rows = np.frombuffer(data, ROW, count, 0)
    is_row = rows.view(np.uint8).reshape(count, 8).any(axis=1)
    return rows if is_row.all() else rows[: is_row.argmin()]
