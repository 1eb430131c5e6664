"""Codes for offsets, leader epochs, sequences and timestamps."""

from magicbyte._finding_codes._code import COMPARE, OUR_RULE, Code

OFFSETS = (
    Code(
        "offset-out-of-order",
        "error",
        "Offsets do not increase from entry to entry.",
        cause="Batches were moved, repeated or overwritten.",
        consequence="The entries are delivered as they are in the file, so offsets may repeat or go back.",
        remedy="Check which side of the break other replicas agree with.",
        source="UnifiedLog.append",
    ),
    Code(
        "offset-outside-segment",
        "error",
        "An offset is outside the range of its segment.",
        cause="The file has the name or the content of another segment, or an offset was overwritten.",
        consequence="The entries are delivered as they are in the file. A broker may refuse to start, or split the segment.",
        remedy="Compare name and first offset with another replica.",
        source="LogSegment",
    ),
    Code(
        "offset-gap",
        "error",
        "Offsets are missing, and compaction does not explain it.",
        cause="A segment was left out of the copy, or records are lost.",
        consequence="The records of these offsets are missing. A consumer skips them without an error.",
        remedy="Check whether a segment was left out of the copy, then compare with another replica.",
        source=OUR_RULE,
    ),
    Code(
        "offset-gap-cleaned",
        "note",
        "Offsets are missing; the segment looks compacted.",
        cause="The log cleaner removed older values of the same keys.",
        consequence="Nothing is lost in a compacted topic.",
        remedy="If this topic is not compacted, records are missing: compare with another replica.",
        source=OUR_RULE,
    ),
    Code(
        "range-outside-log",
        "note",
        "The log has none of the requested offsets or times.",
        cause="The requested range begins after the end of the log, or ends before its start.",
        consequence="No record of this partition is delivered.",
        remedy="Check the range: the finding says where the log begins or ends.",
        source=OUR_RULE,
    ),
    Code(
        "leader-epoch-back",
        "warning",
        "A leader epoch is lower than that of an earlier batch.",
        cause="The epoch was overwritten, or batches were moved; no checksum covers the epoch.",
        consequence="Rows are right. A follower that truncates by epochs may truncate at the wrong offset.",
        remedy=COMPARE,
        source="LeaderEpochFileCache",
    ),
    Code(
        "leader-epoch-mismatch",
        "warning",
        "Batches disagree with the leader epoch checkpoint.",
        cause="The checkpoint or the epoch of a batch was overwritten, or they are of different dates.",
        consequence="Rows are right. A follower that truncates by epochs may truncate at the wrong offset.",
        remedy="Compare the epochs and the checkpoint with another replica.",
        source="LeaderEpochFileCache",
    ),
    Code(
        "sequence-out-of-order",
        "warning",
        "The sequence of a batch does not follow the producer's previous batch.",
        cause="Batches of this producer are missing or repeated: no broker appends such a batch.",
        consequence="Records of this producer may be missing or duplicated.",
        remedy=COMPARE,
        source="ProducerAppendInfo",
    ),
)

TIMES = (
    Code(
        "timestamp-ahead",
        "note",
        "A segment has timestamps in the future.",
        cause="The producer's clock is wrong, or its unit is not milliseconds.",
        consequence="retention.ms keeps the segment and all later ones until that time; retention.bytes and delete-records are not affected.",
        remedy="If the timestamp is thousands of years off, its unit is not milliseconds: correct the producer.",
        source="LogValidator, KIP-937",
    ),
    Code(
        "timestamp-out-of-range",
        "warning",
        "A timestamp that the reader's type cannot hold became null.",
        cause="The producer's unit is probably not milliseconds.",
        consequence="The record is delivered with a null timestamp.",
        remedy="`magicbyte dump` shows the number.",
        source="a limit of Spark",
    ),
)
