# Generated from spec/kafka_transaction_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 f51c638d173eeb6d6e2291beb268afc8a71f41e1fbd7a46bdd98ecf38e2a96de, kaitai-struct-compiler 0.11.0
"""Rows of kafka_transaction_index: bytes to columns, by NumPy alone."""

import numpy as np

TABLE = "aborted_transactions"
HEADER = np.dtype([])
"""Empty."""
ROW = np.dtype(
    [
        ("version", ">i2"),
        ("producer_id", ">i8"),
        ("first_offset", ">i8"),
        ("last_offset", ">i8"),
        ("last_stable_offset", ">i8"),
    ]
)
"""`version`: Version of the entry; always 0.
`producer_id`: Number of the producer whose transaction it was.
`first_offset`: Offset of the transaction's first record in the partition, which may lie in an
earlier segment.
`last_offset`: Offset of the abort marker, which lies in this segment.
`last_stable_offset`: First offset of the oldest other transaction that was open when the marker
was written, or else the offset after the marker. The transactions of later entries begin there
or higher, which tells a search when it may stop.
"""


def rows(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return the rows of *data*, a whole file: an array with a field per number of a row.

    They end before the first row that is incomplete or has a number that `valid` forbids.
    Numbers are returned as stored. Nothing is copied.
    """
    count = len(data) // 34
    rows = np.frombuffer(data, ROW, count, 0)
    is_row = (rows["version"] == 0)
    return rows if is_row.all() else rows[: is_row.argmin()]
