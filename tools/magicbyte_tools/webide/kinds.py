"""Determines the format of a file in a log.dir from the file's name."""

from pathlib import Path

from magicbyte.logdir.file_names import parse_file

FORMATS = {
    "log": "kafka_log",
    "index": "kafka_offset_index",
    "timeindex": "kafka_time_index",
    "txnindex": "kafka_transaction_index",
    "snapshot": "kafka_producer_snapshot",
    "checkpoint": "kafka_kraft_snapshot",
}

NAMES = {
    "bootstrap.checkpoint": "kafka_kraft_snapshot",
    "cleaner-offset-checkpoint": "kafka_offset_checkpoint",
    "leader-epoch-checkpoint": "kafka_leader_epoch_checkpoint",
    "log-start-offset-checkpoint": "kafka_offset_checkpoint",
    "partition.metadata": "kafka_partition_metadata",
    "recovery-point-offset-checkpoint": "kafka_offset_checkpoint",
    "replication-offset-checkpoint": "kafka_offset_checkpoint",
}

TEXTS = (".kafka_cleanshutdown", "meta.properties", "quorum-state")
"""Files that no specification describes: JSON and Java properties."""


def format_of(name: str) -> str | None:
    """Return the format id of a file called *name*, None where no specification describes it."""
    return NAMES.get(name) or FORMATS.get(parse_file(name).kind)


def files_below(folder: Path, max_bytes: int | None = None) -> dict[Path, str]:
    """Return the format ids, by path, of the files at any depth below *folder*.

    Files larger than *max_bytes* are left out, as are duplicates: same format and same bytes.
    """
    paths_by_content: dict[tuple[str, bytes], Path] = {}
    for path in sorted(folder.rglob("*")):
        name = format_of(path.name) if path.is_file() else None
        if name and (max_bytes is None or path.stat().st_size <= max_bytes):
            paths_by_content.setdefault((name, path.read_bytes()), path)
    return {path: name for (name, _), path in paths_by_content.items()}
