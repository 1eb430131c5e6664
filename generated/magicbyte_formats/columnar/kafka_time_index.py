# Generated from spec/kafka_time_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 51e5317788d2f05f7808ba4d0e076e45bc9b3c02c0ca1531995322ec787d52ff, kaitai-struct-compiler 0.11.0
"""Rows of kafka_time_index: bytes to columns, by NumPy alone."""

import numpy as np

TABLE = "time_index"
HEADER = np.dtype([])
"""Empty."""
ROW = np.dtype(
    [
        ("timestamp", ">i8"),
        ("relative_offset", ">i4"),
    ]
)
"""`timestamp`: Largest timestamp so far, in milliseconds since the Unix epoch.
`relative_offset`: Last offset of the batch that holds it, or, from older releases, the offset
of the record itself; counted from the base offset of the segment, which names the file.
"""


def rows(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return the rows of *data*, a whole file: an array with a field per number of a row.

    They end before the first row that is incomplete or is all zeros.
    Numbers are returned as stored. Nothing is copied.
    """
    count = len(data) // 12
    rows = np.frombuffer(data, ROW, count, 0)
    is_row = rows.view(np.uint8).reshape(count, 12).any(axis=1)
    return rows if is_row.all() else rows[: is_row.argmin()]
