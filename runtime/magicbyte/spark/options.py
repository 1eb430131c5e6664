"""The options of the data source: those of Spark's Kafka source, by its rules, and ours."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from magicbyte.errors import InputError
from magicbyte.limits import MIB
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.dataset import (
    ISOLATION_LEVELS,
    ON_DAMAGE,
    TRANSACTIONS,
    Dataset,
    open_paths,
)
from magicbyte.spark import limits, values
from magicbyte.spark.limits import Limit
from magicbyte.spark.stores import STORAGE, storage_options
from magicbyte.spark.values import Partition
from magicbyte.storage import NO_OPTIONS, Storage, StorageOptions, is_url, local_path
from magicbyte.tables import schemas

MAX_PARTITION_BYTES = 128 * MIB
"""As much of a segment as one task reads, by default; that of Spark's file sources."""

MAX_TRIGGER_DELAY_MS = 15 * 60_000
"""How long a stream waits for `minOffsetsPerTrigger`, by default; that of Spark's Kafka source."""


CHOOSING = ("assign", "subscribe", "subscribePattern")
STARTINGS = (
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
)
ENDINGS = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp")

READERS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "assign": ("assigned", values.partitions),
    "subscribe": ("topics", values.topics),
    "subscribePattern": ("pattern", values.pattern),
    "isolationLevel": ("isolation_level", values.one_of(*ISOLATION_LEVELS)),
    "kafka.isolation.level": ("isolation_level", values.one_of(*ISOLATION_LEVELS)),
    "includeHeaders": ("include_headers", values.flag),
    "failOnDataLoss": ("fail_on_data_loss", values.flag),
    "minPartitions": ("min_partitions", values.count),
    "maxRecordsPerPartition": ("max_records", values.count),
    "maxOffsetsPerTrigger": ("max_offsets", values.count),
    "minOffsetsPerTrigger": ("min_offsets", values.count),
    "maxTriggerDelay": ("max_trigger_delay_ms", values.duration),
    "table": ("table", values.one_of(*schemas.TABLES)),
    "columns": ("columns", values.names),
    "onDamage": ("on_damage", values.one_of(*ON_DAMAGE)),
    "transactions": ("transactions", values.one_of(*TRANSACTIONS)),
    "includeInternal": ("include_internal", values.flag),
    "replica": ("replica", lambda _, value: value),
    "maxPartitionBytes": ("max_partition_bytes", values.size_in_bytes),
    "planPath": ("plan_path", values.file),
}
"""By option, the attribute of ReadOptions that it sets, and what reads its value."""

UNDERSTOOD = ("path", "paths", *READERS, *STARTINGS, *ENDINGS, f"{STORAGE}<name>")

OF_RECORDS = (
    *("includeHeaders", "failOnDataLoss", "minPartitions", "maxRecordsPerPartition"),
    "planPath",
)
OF_STREAMS = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")
"""What a batch makes nothing of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What `option(...)` and `load(...)` said."""

    paths: tuple[str, ...]
    table: str = "records"
    columns: tuple[str, ...] | None = None
    topics: tuple[str, ...] | None = None
    pattern: "re.Pattern[str] | None" = None
    assigned: frozenset[Partition] | None = None
    """Of these three, one at most is given. All partitions are read where none is."""
    isolation_level: str = "read_committed"
    on_damage: str = "fail"
    transactions: str = "markers"
    include_internal: bool = False
    include_headers: bool = False
    replica: str | None = None
    fail_on_data_loss: bool = True
    min_partitions: int | None = None
    max_records: int | None = None
    """Offsets that one task spans, at most."""
    max_partition_bytes: int = MAX_PARTITION_BYTES
    plan_path: Path | None = None
    """Where the plan of a batch is, or is to be kept."""
    max_offsets: int | None = None
    """Offsets of all partitions that one batch of a stream takes, at most."""
    min_offsets: int | None = None
    """Offsets that a stream waits for before it takes any."""
    max_trigger_delay_ms: int = MAX_TRIGGER_DELAY_MS
    """How long it waits for those."""
    storage_options: StorageOptions = NO_OPTIONS
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The options themselves but those of stores, their names in lower case."""

    @property
    def batch(self) -> tuple[Limit, Limit]:
        """Where a batch begins and ends; InputError where none can."""
        start, end = limits.starting(self.given, "earliest"), limits.ending(self.given)
        limits.check_batch(start, end)
        return start, end

    @property
    def stream_start(self) -> Limit:
        """Where a stream begins that has no checkpoint; InputError where it is told to end."""
        for name in ENDINGS:
            if name.lower() in self.given:
                raise InputError(f"{name} in a stream", "none: a stream does not end")
        if self.plan_path is not None:
            raise InputError("planPath in a stream", "none: each of its batches has its own plan")
        return limits.starting(self.given, "latest")

    def open(self) -> Dataset:
        """Return the dataset; InputError where a path is no log or a topic is not there."""
        topics = self.topics
        if self.assigned is not None:
            topics = tuple(sorted({topic for topic, _ in self.assigned}))
        dataset = open_paths(
            *self.paths,
            topics=topics,
            isolation_level=self.isolation_level,
            on_damage=self.on_damage,
            transactions=self.transactions,
            include_internal=self.include_internal,
            replica=self.replica,
            storage_options=self.storage_options,
        )
        return dataset.only(self._is_wanted)

    def _is_wanted(self, log: PartitionLog) -> bool:
        if self.pattern is not None:
            return log.topic is not None and self.pattern.search(log.topic) is not None
        return self.assigned is None or (log.topic, log.partition) in self.assigned


def parse(options: Mapping[str, str]) -> ReadOptions:
    """Return *options*, whose names have no case, taken at their word.

    Raises InputError for an option that is not understood, a value that is not one, options that
    exclude one another, and for a path that is missing or that cannot be read.
    """
    given = {name.lower(): value for name, value in options.items()}
    known = {name.lower() for name in UNDERSTOOD}
    for name in given:
        if name not in known and not name.startswith(STORAGE):
            raise InputError(f"no option {name!r}", f"some of {', '.join(UNDERSTOOD)}")
    read: dict[str, Any] = {"paths": _paths(given), "storage_options": storage_options(given)}
    for name, (attribute, reader) in READERS.items():
        if name.lower() not in given:
            continue
        value = reader(name, given[name.lower()])
        if read.setdefault(attribute, value) != value:
            raise InputError(f"{name} {value!r}", f"the {read[attribute]!r} of isolationLevel")
    chosen = [name for name in CHOOSING if name.lower() in given]
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)}", "one of them")
    if read.get("min_offsets", 0) > read.get("max_offsets", 1 << 63):
        raise InputError(
            f"minOffsetsPerTrigger {read['min_offsets']}",
            f"{read['max_offsets']} or less, which is maxOffsetsPerTrigger",
        )
    table = read.get("table", "records")
    if table != "records":
        for name in (*STARTINGS, *ENDINGS, *OF_RECORDS):
            if name.lower() in given:
                raise InputError(f"{name} with the table {table}", "the table records")
    if read.get("transactions") == "index":
        if table not in ("records", "batches"):
            raise InputError(f"transactions index with the table {table}", "records or batches")
        if read.get("on_damage") == "stop":
            raise InputError("transactions index with onDamage stop", "onDamage fail or skip")
    Storage(read["storage_options"]).check(read["paths"])
    shown = {name: value for name, value in given.items() if not name.startswith(STORAGE)}
    return ReadOptions(**read, given=shown)


def _paths(given: Mapping[str, str]) -> tuple[str, ...]:
    if "path" in given and "paths" in given:
        raise InputError("both path and paths", "one of them")
    paths = [given["path"]] if "path" in given else json.loads(given.get("paths", "[]"))
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise InputError(f"paths {given['paths']!r}", "a JSON list of strings")
    if not paths or not all(paths):
        # Spark loses the options of CREATE TABLE ... USING magicbyte OPTIONS (...).
        raise InputError("no path", "load(path), or the option path")
    local = tuple(local_path(path) for path in paths)
    for path in local:
        if not is_url(path):  # to ask a store takes time, and planning does
            Storage().kind_of(path)  # raises where there is nothing
    return local
