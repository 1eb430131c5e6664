# Generated from spec/kafka_transaction_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 786a8159ad5435c45854d760aef43679353b61779db33298f46cca01579c915f, kaitai-struct-compiler 0.11.0
"""Rows of kafka_transaction_index: bytes to columns, by NumPy alone."""

import numpy as np

TABLE = "aborted_transactions"
HEADER = np.dtype([])
ROW = np.dtype(
    [
        ("version", ">i2"),
        ("producer_id", ">i8"),
        ("first_offset", ">i8"),
        ("last_offset", ">i8"),
        ("last_stable_offset", ">i8"),
    ]
)


def rows(data):
    count = len(data) // 34
    found = np.frombuffer(data, ROW, count, 0)
    is_row = (found["version"] == 0)
    return found if is_row.all() else found[: is_row.argmin()]
