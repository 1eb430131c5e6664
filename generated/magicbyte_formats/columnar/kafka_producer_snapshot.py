# Generated from spec/kafka_producer_snapshot.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 2968673abed811bede9248ac283926baabb303f1f3d7e92f67fdc90fafa04896, kaitai-struct-compiler 0.11.0
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


def rows(data):
    if len(data) < 10:
        return np.empty(0, ROW)
    header = np.frombuffer(data, HEADER, 1)[0]
    if not ((header["version"] == 1) & (header["num_producers"] >= 0)):
        return np.empty(0, ROW)
    count = max(0, min(int(header["num_producers"]), (len(data) - 10) // 46))
    found = np.frombuffer(data, ROW, count, 10)
    return found
