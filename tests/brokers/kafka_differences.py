"""Differences from Kafka's Java classes that are known, each with its row in docs/differences.md."""

from collections.abc import Collection
from typing import Any

from magicbyte_formats.wire import Codec, EntryHeader, RecordBatchHeader

MAGIC_AT = EntryHeader.POSITIONS["magic"]
CODEC_AT = RecordBatchHeader.POSITIONS["attributes"] + 1

SIZE_AT = 8
SIZES_OVER_2_GIB = range((1 << 31) - 12, 1 << 31)
"""Size fields to which Kafka's reader cannot add the 12 bytes before it without an overflow."""

CODECS_WITH_A_HEADER = (Codec.GZIP, Codec.SNAPPY, Codec.LZ4)
"""Codecs whose streams are never empty."""


def of_entry(data: bytes, codes: Collection[str], error: str | None) -> str | None:
    """Return the row for the log entry *data*, which Kafka reads otherwise; None if there is none.

    *codes* are of our findings; *error* is Kafka's exception, None where it accepts the entry.
    """
    if error is None and "checksum-mismatch" in codes and data[MAGIC_AT] < 2:
        return "D42"
    is_batch = data[MAGIC_AT] == 2
    if error is not None and int.from_bytes(data[SIZE_AT : SIZE_AT + 4]) in SIZES_OVER_2_GIB:
        return "D19"
    if error is None and "codec-error" in codes and is_batch and data[CODEC_AT] & 7 == Codec.ZSTD:
        return "D31"
    if error is not None and "inner-message-cut" in codes:
        return "D25"
    has_header_alone = is_batch and len(data) == RecordBatchHeader.SIZE
    is_empty_stream = has_header_alone and data[CODEC_AT] & 7 in CODECS_WITH_A_HEADER
    if error is not None and ("bytes-unread" in codes or is_empty_stream):
        return "D3"
    return None


def of_file(kind: str, data: bytes, ours: list[Any] | None, theirs: list[Any] | None) -> str | None:
    """Return the row for a companion file, which Kafka reads otherwise; None if there is none.

    *ours* and *theirs* are the entries; None where the file is refused.
    """
    match kind:
        case "kafka_time_index" if theirs is None and data.endswith(bytes(12)):
            return "D44"
        case "kafka_offset_index" | "kafka_time_index" if ours is None:
            return "D45"
        case "kafka_transaction_index" if ours is None:
            return "D46" if len(data) % 34 else "D36"
        case "kafka_producer_snapshot" if ours is None and len(data) > 10 + 46 * len(theirs or ()):
            return "D48"
        case "kafka_partition_metadata" if theirs is None and not data.startswith(b"version: 0"):
            return "D49"
    return None


ROWS = ("D3", "D25", "D31", "D36", "D44", "D45", "D46", "D48", "D49", "D42", "D19")
"""Rows of `of_entry` and `of_file`."""
