# Generated from spec/*.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 232146531da3e2fa9eef5f46cb564151a6950b415a2f4240d320de3e4c90ff4e, kaitai-struct-compiler 0.11.0
"""Kernels of kafka_message: their descriptors, state and columns."""

from magicbyte_kernels.kernel_interface import (
    EntryColumn,
    KernelColumn,
    KernelTable,
    SourceColumn,
)

NAMES = {
    "position": 0,
    "size": 1,
    "start": 2,
    "end": 3,
    "rows": 4,
    "nested": 5,
    "offset": 6,
    "len_message": 7,
    "crc": 8,
    "magic": 9,
    "attributes": 10,
    "codec": 11,
    "timestamp_type": 12,
    "reserved": 13,
    "timestamp": 14,
    "row_timestamp_type": 15,
    "row_is_transactional": 16,
}
WIDTH = 17
STATE = 32
MODES = (28, 29, 30, 31)
SLACK = 64
LEAST_ROW = 26
IS_STREAM = True
CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4"}
TABLE = KernelTable(
    (
        KernelColumn("timestamp", "timestamp[ms, tz=UTC]", 8, -1, False, {"data": 13, "nulls": 14}, None),
        KernelColumn("key", "binary", 0, None, True, {"offsets": 15, "bytes": 16, "capacity": 17, "used": 18, "valid": 19, "nulls": 20}, None),
        KernelColumn("value", "binary", 0, None, True, {"offsets": 21, "bytes": 22, "capacity": 23, "used": 24, "valid": 25, "nulls": 26}, None),
        KernelColumn("offset", "int64", 8, None, False, {"data": 27}, None),
    ),
    11,
    12,
)
ENTRY_COLUMNS = (
    EntryColumn("timestamp_type", "string", 15, None, True, {0: "CreateTime", 1: "LogAppendTime"}),
    EntryColumn("is_transactional", "bool", 16, None, False, {}),
    EntryColumn("codec", "string", 11, None, False, {0: "none", 1: "gzip", 2: "snappy", 3: "lz4"}),
    EntryColumn("magic", "int8", 9, None, False, {}),
)
SOURCE = (
    SourceColumn("timestamp", "timestamp[ms, tz=UTC]", -1, {"data": 0}, ()),
    SourceColumn("key", "binary", None, {"offsets": 1, "bytes": 2, "end": 3, "valid": 4, "first_bit": 5}, ()),
    SourceColumn("value", "binary", None, {"offsets": 6, "bytes": 7, "end": 8, "valid": 9, "first_bit": 10}, ()),
    SourceColumn("offset", "int64", None, {"data": 11}, ()),
)
SOURCE_SLOTS = 12
