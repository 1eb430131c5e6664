# Generated from spec/*.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 232146531da3e2fa9eef5f46cb564151a6950b415a2f4240d320de3e4c90ff4e, kaitai-struct-compiler 0.11.0
"""Kernels of kafka_record_batch: their descriptors, state and columns."""

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
    "base_offset": 6,
    "len_batch": 7,
    "partition_leader_epoch": 8,
    "magic": 9,
    "crc": 10,
    "attributes": 11,
    "last_offset_delta": 12,
    "base_timestamp": 13,
    "max_timestamp": 14,
    "producer_id": 15,
    "producer_epoch": 16,
    "base_sequence": 17,
    "num_records": 18,
    "codec": 19,
    "timestamp_type": 20,
    "is_transactional": 21,
    "is_control": 22,
    "has_delete_horizon": 23,
    "reserved": 24,
}
WIDTH = 25
STATE = 50
MODES = (44, 45, 46, 47, 48, 49)
SLACK = 64
LEAST_ROW = 7
IS_STREAM = False
CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
TABLE = KernelTable(
    (
        KernelColumn("key", "binary", 0, None, True, {"offsets": 13, "bytes": 14, "capacity": 15, "used": 16, "valid": 17, "nulls": 18}, None),
        KernelColumn("value", "binary", 0, None, True, {"offsets": 19, "bytes": 20, "capacity": 21, "used": 22, "valid": 23, "nulls": 24}, None),
        KernelColumn("headers", "list", 0, None, False, {"offsets": 25}, KernelTable(
            (
                KernelColumn("key", "string", 0, None, False, {"offsets": 28, "bytes": 29, "capacity": 30, "used": 31, "not_ascii": 32}, None),
                KernelColumn("value", "binary", 0, None, True, {"offsets": 33, "bytes": 34, "capacity": 35, "used": 36, "valid": 37, "nulls": 38}, None),
            ),
            26,
            27,
        )),
        KernelColumn("offset", "int64", 8, None, False, {"data": 39}, None),
        KernelColumn("timestamp", "timestamp[ms, tz=UTC]", 8, -1, False, {"data": 40, "nulls": 41}, None),
        KernelColumn("sequence", "int32", 4, -1, False, {"data": 42, "nulls": 43}, None),
    ),
    11,
    12,
)
ENTRY_COLUMNS = (
    EntryColumn("timestamp_type", "string", 20, None, False, {0: "CreateTime", 1: "LogAppendTime"}),
    EntryColumn("leader_epoch", "int32", 8, -1, False, {}),
    EntryColumn("producer_id", "int64", 15, -1, False, {}),
    EntryColumn("producer_epoch", "int16", 16, -1, False, {}),
    EntryColumn("is_transactional", "bool", 21, None, False, {}),
    EntryColumn("codec", "string", 19, None, False, {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}),
    EntryColumn("magic", "int8", 9, None, False, {}),
)
SOURCE = (
    SourceColumn("key", "binary", None, {"offsets": 0, "bytes": 1, "end": 2, "valid": 3, "first_bit": 4}, ()),
    SourceColumn("value", "binary", None, {"offsets": 5, "bytes": 6, "end": 7, "valid": 8, "first_bit": 9}, ()),
    SourceColumn("headers", "list", None, {"offsets": 10, "valid": 11, "first_bit": 12}, (SourceColumn("key", "string", None, {"offsets": 13, "bytes": 14, "end": 15}, ()), SourceColumn("value", "binary", None, {"offsets": 16, "bytes": 17, "end": 18, "valid": 19, "first_bit": 20}, ()),)),
    SourceColumn("offset", "int64", None, {"data": 21}, ()),
    SourceColumn("timestamp", "timestamp[ms, tz=UTC]", -1, {"data": 22}, ()),
)
SOURCE_SLOTS = 23
