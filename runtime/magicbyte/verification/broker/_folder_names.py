"""Names of folders in a log.dir, as a broker parses them (LocalLog.parseTopicPartitionName)."""

import re
from typing import NamedTuple

from magicbyte.verification.broker._startup_rules import StartupRules

INDEX_CACHE_FOLDER = "remote-log-index-cache"

_MOVED = re.compile(r"\S+-\S+\.\S+-(delete|future|stray)")
_NUMBER = re.compile(r"[+-]?\d+")
MAX_NUMBER_LENGTH = 4000
"""Digits that Python converts to a number; a broker refuses far fewer."""


class BrokerFolder(NamedTuple):
    """A folder in a log.dir that a broker loads as a partition."""

    name: str
    topic: str
    partition: int
    suffix: str | None
    """`delete`, `future` or `stray`; None for the folder of the current log."""


def parse_broker_folder(name: str, rules: StartupRules) -> BrokerFolder | None:
    """Return the partition that a broker takes the folder *name* for; None if it refuses the name."""
    stem, suffix = name, None
    for known in ("delete", "future", *(("stray",) if rules.knows_strays else ())):
        if name.endswith(f"-{known}"):
            if not _MOVED.fullmatch(name):
                return None
            stem, suffix = name[: name.rindex(".")], known
    topic, _, number = stem.rpartition("-")
    if not topic or not _NUMBER.fullmatch(number) or len(number) > MAX_NUMBER_LENGTH:
        return None
    partition = int(number)
    if not -(1 << 31) <= partition < 1 << 31:
        return None
    return BrokerFolder(name, topic, partition, suffix)
