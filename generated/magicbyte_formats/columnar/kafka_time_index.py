# Generated from spec/kafka_time_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 9621e455ef176dc6b43ded002bcedb63d962298a6c76bd3158050e99fd823692, kaitai-struct-compiler 0.11.0
"""Rows of kafka_time_index: bytes to columns, by NumPy alone."""

import numpy as np

TABLE = "time_index"
HEADER = np.dtype([])
ROW = np.dtype(
    [
        ("timestamp", ">i8"),
        ("relative_offset", ">i4"),
    ]
)


def rows(data):
    count = len(data) // 12
    found = np.frombuffer(data, ROW, count, 0)
    is_row = found.view(np.uint8).reshape(count, 12).any(axis=1)
    return found if is_row.all() else found[: is_row.argmin()]
