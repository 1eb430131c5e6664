"""Specification that describes a file in a log.dir, by the name of the file."""

from magicbyte.logdir.file_names import KINDS, parse_file

FORMATS_BY_SUFFIX = {
    ".log": "kafka_log",
    ".index": "kafka_offset_index",
    ".timeindex": "kafka_time_index",
    ".txnindex": "kafka_transaction_index",
    ".snapshot": "kafka_producer_snapshot",
    ".checkpoint": "kafka_kraft_snapshot",
}
"""Specifications of the files that are named for an offset, by the end of the name."""

FORMATS_BY_NAME = {
    "bootstrap.checkpoint": "kafka_kraft_snapshot",
    "cleaner-offset-checkpoint": "kafka_offset_checkpoint",
    "leader-epoch-checkpoint": "kafka_leader_epoch_checkpoint",
    "log-start-offset-checkpoint": "kafka_offset_checkpoint",
    "partition.metadata": "kafka_partition_metadata",
    "recovery-point-offset-checkpoint": "kafka_offset_checkpoint",
    "replication-offset-checkpoint": "kafka_offset_checkpoint",
}
"""Specifications of the files that have a fixed name."""

_SUFFIXES = {kind: suffix for suffix, kind in KINDS.items()}


def format_of(name: str) -> str | None:
    """Return the format id of a file called *name*, None where no specification describes it."""
    return FORMATS_BY_NAME.get(name) or FORMATS_BY_SUFFIX.get(
        _SUFFIXES.get(parse_file(name).kind, "")
    )
