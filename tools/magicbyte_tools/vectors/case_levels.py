"""Derives the levels of a test vector, and the features that a reader needs for it, from its bytes.

magicbyte_tools.conformance.level_scores says what each level claims.
"""

import sys
from collections.abc import Iterable, Iterator

from magicbyte_tools.vectors.case import VectorCase

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
FEATURES = (
    "v0",
    "v1",
    "v2",
    *CODECS[1:],
    "control",
    "limits",
    "transactions",
    "encode",
    "coordinators",
)
"""Features in the order in which a case lists them."""

FILES = (
    "kafka_kraft_snapshot",
    "kafka_leader_epoch_checkpoint",
    "kafka_offset_checkpoint",
    "kafka_offset_index",
    "kafka_partition_metadata",
    "kafka_producer_snapshot",
    "kafka_time_index",
    "kafka_transaction_index",
)
"""Formats of whole files other than logs. Parts of formats, such as a varint, count in no level."""

OTHER_LEVELS = {
    "kafka_encoded": ["encode"],
    "kafka_fetched": ["v2-committed"],
    "kafka_produced": ["write"],
    "log_dir": ["directory"],
}
"""Levels of formats that are neither logs nor companion files."""

LOG_FORMATS = ("kafka_encoded", "kafka_fetched", "kafka_log", "kafka_produced")
"""Formats of single files that hold log entries."""

NOT_STRICT = ("order", "limits")
"""Checks that Kafka's record classes do not make, so that v2-strict does not ask for them."""

# Positions in a log entry, and the bytes of its offset and size, which the size does not count.
SIZE, MAGIC, MESSAGE_ATTRIBUTES, BATCH_ATTRIBUTES, FRAME = 8, 16, 17, 21, 12
MIN_MESSAGE_SIZE, MIN_BATCH_SIZE = 14, 49
MIN_SIZES = {0: MIN_MESSAGE_SIZE, 1: MIN_MESSAGE_SIZE + 8, 2: MIN_BATCH_SIZE}
CODEC_BITS, CONTROL_BIT = 0x07, 0x20


def needs(case: VectorCase) -> list[str]:
    """Return the features that a reader needs to be judged by *case*, in the order of FEATURES."""
    found = set(_features_of_logs(_logs(case)))
    if case.limits:
        found.add("limits")
    if case.format == "kafka_fetched":
        found.add("transactions")
    if case.encode is not None:
        found.add("encode")
    if case.format == "kafka_coordinator_record":
        found.add("coordinators")
    return [name for name in FEATURES if name in found]


def levels(case: VectorCase) -> list[str]:
    """Return the levels in which *case* counts; none for a part of a format."""
    if case.format == "kafka_log":
        return _log_levels(case)
    if case.format in FILES:
        return ["files"]
    return OTHER_LEVELS.get(case.format, [])


def _log_levels(case: VectorCase) -> list[str]:
    if {"v0", "v1"} & set(needs(case)):
        return ["legacy"]
    if case.verdict == "valid":
        return ["v2-read"]
    assert case.fault is not None, case.path
    is_strict = case.verdict == "invalid" and case.fault.caught_by not in NOT_STRICT
    return ["v2-safe", "v2-strict"] if is_strict else ["v2-safe"]


def _logs(case: VectorCase) -> Iterable[bytes]:
    if not isinstance(case.data, bytes):
        return [data for name, data in case.data.items() if name.endswith(".log")]
    return [case.data] if case.format in LOG_FORMATS else []


def _features_of_logs(logs: Iterable[bytes]) -> Iterator[str]:
    for log in logs:
        position = 0
        while len(log) > position + BATCH_ATTRIBUTES + 1:
            size = int.from_bytes(log[position + SIZE : position + MAGIC - 4], signed=True)
            yield from _features_of_entry(log[position:], size)
            if size < MIN_SIZES.get(log[position + MAGIC], sys.maxsize):
                break
            position += FRAME + size


def _features_of_entry(entry_bytes: bytes, size: int) -> Iterator[str]:
    """Yield the features of the log entry at the start of *entry_bytes*, which may be damaged."""
    magic = entry_bytes[MAGIC]
    if magic in (0, 1) and size >= MIN_MESSAGE_SIZE:
        yield f"v{magic}"
        yield from _codec(entry_bytes[MESSAGE_ATTRIBUTES])
    elif magic == 2 and size >= MIN_BATCH_SIZE:
        yield "v2"
        attributes = entry_bytes[BATCH_ATTRIBUTES + 1]
        yield from _codec(attributes)
        if attributes & CONTROL_BIT:
            yield "control"


def _codec(attributes: int) -> Iterator[str]:
    number = attributes & CODEC_BITS
    if 0 < number < len(CODECS):
        yield CODECS[number]
