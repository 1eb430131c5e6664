# Generated from spec/kafka_producer_snapshot.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 09d97d702f99ed0424cb1cf20af63eca600431d6f3bc914ed10ea6ecf1fa5eba, kaitai-struct-compiler 0.11.0
"""Rows of kafka_producer_snapshot: bytes to columns, by NumPy alone."""

import numpy as np

TABLE = "producers"
HEADER = np.dtype(
    [
        ("version", ">i2"),
        ("crc", ">u4"),
        ("num_producers", ">i4"),
    ]
)
"""`version`: Version of the file; always 1. Not covered by `crc`.
`crc`: CRC-32C (Castagnoli) of all bytes after this field.
`num_producers`: Producers that follow. Covered by `crc`.
"""
ROW = np.dtype(
    [
        ("producer_id", ">i8"),
        ("epoch", ">i2"),
        ("last_sequence", ">i4"),
        ("last_offset", ">i8"),
        ("offset_delta", ">i4"),
        ("timestamp", ">i8"),
        ("coordinator_epoch", ">i4"),
        ("current_transaction_first_offset", ">i8"),
    ]
)
"""`producer_id`: Number of the producer, given out by the cluster. Covered by `crc`.
`epoch`: Its newest epoch that was seen. Covered by `crc`.
`last_sequence`: Sequence number of the last record of its last batch; -1 stands for none.
Covered by `crc`.
`last_offset`: Offset of that record; -1 stands for none, as where only a marker was seen.
Covered by `crc`.
`offset_delta`: Offsets and sequence numbers from the first record of its last batch to the
last. Covered by `crc`.
`timestamp`: Largest timestamp of its last batch or marker, in milliseconds since the Unix
epoch; -1 stands for none. Covered by `crc`.
`coordinator_epoch`: Epoch of the transaction coordinator that wrote its last marker; -1 stands
for none. Covered by `crc`.
`current_transaction_first_offset`: First offset of its open transaction; -1 where it has none.
Covered by `crc`.
"""


def rows(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return the rows of *data*, a whole file: an array with a field per number of a row.

    They end before the first row that is incomplete, and after the stated count.
    Numbers are returned as stored. Nothing is copied.
    """
    if len(data) < 10:
        return np.empty(0, ROW)
    header = np.frombuffer(data, HEADER, 1)[0]
    if not ((header["version"] == 1) & (header["num_producers"] >= 0)):
        return np.empty(0, ROW)
    count = max(0, min(int(header["num_producers"]), (len(data) - 10) // 46))
    rows = np.frombuffer(data, ROW, count, 10)
    return rows
