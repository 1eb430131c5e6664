"""From paths to the logs that are read: discovered, chosen, and whole."""

import os
from collections.abc import Callable, Iterable, Sequence

from magicbyte.errors import InputError
from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.discover import PartitionLog, described, discover
from magicbyte.logdir.remote import with_remote
from magicbyte.storage import Storage


def find_logs(
    paths: Iterable[str | os.PathLike[str]],
    *,
    topics: Iterable[str] | None,
    partitions: Iterable[int] | None,
    storage: Storage,
    strict: bool,
    choose: Callable[[list[PartitionLog], list[LogDir]], list[PartitionLog]] | None = None,
) -> tuple[list[PartitionLog], list[LogDir]]:
    """Return the logs of *topics* and *partitions* that *paths* name, with their remote segments,
    and all log.dirs.

    *choose* chooses among all that was discovered; by default every replica counts. If *strict*, a
    damaged manifest is raised. Raises InputError where a path is no log, or a topic is not there.
    """
    logs, log_dirs = discover((str(path) for path in paths), storage)
    if choose is not None:
        logs = choose(logs, log_dirs)
    logs = described(_of(logs, topics, partitions), storage)
    return with_remote(logs, storage, strict=strict), log_dirs


def _of(
    logs: Sequence[PartitionLog],
    topics: Iterable[str] | None,
    partitions: Iterable[int] | None,
) -> list[PartitionLog]:
    """Return those of *logs* that are of *topics* and *partitions*; InputError if one is not there."""
    names = None if topics is None else [topics] if isinstance(topics, str) else list(topics)
    numbers = None if partitions is None else list(partitions)
    there = sorted({log.topic for log in logs if log.topic is not None})
    for name in names or ():
        if name not in there:
            raise InputError(f"no topic {name!r}", f"one of {', '.join(there) or 'none'}")
    return [
        log
        for log in logs
        if (names is None or log.topic in names) and (numbers is None or log.partition in numbers)
    ]
