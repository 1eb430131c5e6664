"""The options of the data source: those of Spark's Kafka source, by its rules, and ours."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from magicbyte.errors import InputError
from magicbyte.limits import MIB
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading import opening
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.options import (
    DAMAGE_POLICIES,
    ISOLATION_LEVELS,
    TRANSACTION_SOURCES,
    ReadOptions,
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

DEFAULT_READ = ReadOptions()

Value = TypeVar("Value")
Default = TypeVar("Default")

CHOOSING = ("assign", "subscribe", "subscribePattern")
STARTINGS = (
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
)
ENDINGS = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp")

UNDERSTOOD = (
    *("path", "paths", *CHOOSING, "isolationLevel", "kafka.isolation.level", "includeHeaders"),
    *("failOnDataLoss", "minPartitions", "maxRecordsPerPartition", "maxOffsetsPerTrigger"),
    *("minOffsetsPerTrigger", "maxTriggerDelay", "table", "columns", "onDamage", "transactions"),
    *("includeInternal", "replica", "maxPartitionBytes", "planPath"),
    *(*STARTINGS, *ENDINGS, f"{STORAGE}<name>"),
)

OF_RECORDS = (
    *("includeHeaders", "failOnDataLoss", "minPartitions", "maxRecordsPerPartition"),
    "planPath",
)
OF_STREAMS = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")
"""Options that a batch read ignores, with a warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """The options of the data source, as `option(...)` and `load(...)` gave them."""

    paths: tuple[str, ...]
    table: str = "records"
    columns: tuple[str, ...] | None = None
    topics: tuple[str, ...] | None = None
    pattern: "re.Pattern[str] | None" = None
    assigned: frozenset[Partition] | None = None
    """Of these three, one at most is given. All partitions are read where none is."""
    read: ReadOptions = DEFAULT_READ
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
        dataset = opening.open(
            *self.paths,
            topics=topics,
            isolation_level=self.read.isolation_level,
            on_damage=self.read.on_damage,
            transactions=self.read.transactions,
            include_internal=self.include_internal,
            replica=self.replica,
            storage_options=self.storage_options,
        )
        return Dataset(
            list(filter(self._is_wanted, dataset.logs)),
            dataset.options,
            log_dirs=dataset.log_dirs,
            all_logs=list(filter(self._is_wanted, dataset.all_logs)),
            num_internal=dataset.num_internal,
        )

    def _is_wanted(self, log: PartitionLog) -> bool:
        if self.pattern is not None:
            return log.topic is not None and self.pattern.search(log.topic) is not None
        return self.assigned is None or (log.topic, log.partition) in self.assigned


def parse(options: Mapping[str, str]) -> SourceOptions:
    """Return the values of *options*, whose names are case-insensitive.

    Raises InputError for an unknown option, a value that is not allowed, options that exclude one
    another, and for a path that is missing or cannot be read.
    """
    given = {name.lower(): value for name, value in options.items()}
    known = {name.lower() for name in UNDERSTOOD}
    for name in given:
        if name not in known and not name.startswith(STORAGE):
            raise InputError(f"no option {name!r}", f"some of {', '.join(UNDERSTOOD)}")

    def value(name: str, reader: Callable[[str, str], Value], default: Default) -> Value | Default:
        text = given.get(name.lower())
        return default if text is None else reader(name, text)

    parsed = SourceOptions(
        paths=_paths(given),
        table=value("table", values.one_of(*schemas.TABLES), "records"),
        columns=value("columns", values.names, None),
        topics=value("subscribe", values.topics, None),
        pattern=value("subscribePattern", values.pattern, None),
        assigned=value("assign", values.partitions, None),
        read=_read_options(value),
        include_internal=value("includeInternal", values.flag, False),
        include_headers=value("includeHeaders", values.flag, False),
        replica=given.get("replica"),
        fail_on_data_loss=value("failOnDataLoss", values.flag, True),
        min_partitions=value("minPartitions", values.count, None),
        max_records=value("maxRecordsPerPartition", values.count, None),
        max_partition_bytes=value("maxPartitionBytes", values.size_in_bytes, MAX_PARTITION_BYTES),
        plan_path=value("planPath", values.file, None),
        max_offsets=value("maxOffsetsPerTrigger", values.count, None),
        min_offsets=value("minOffsetsPerTrigger", values.count, None),
        max_trigger_delay_ms=value("maxTriggerDelay", values.duration, MAX_TRIGGER_DELAY_MS),
        storage_options=storage_options(given),
        given={name: text for name, text in given.items() if not name.startswith(STORAGE)},
    )
    _check(parsed)
    return parsed


def _read_options(value: Callable[..., str | None]) -> ReadOptions:
    levels = values.one_of(*ISOLATION_LEVELS)
    own, kafka = (value(name, levels, None) for name in ("isolationLevel", "kafka.isolation.level"))
    if own is not None and kafka is not None and own != kafka:
        raise InputError(f"kafka.isolation.level {kafka!r}", f"the {own!r} of isolationLevel")
    on_damage = value("onDamage", values.one_of(*DAMAGE_POLICIES), None)
    transactions = value("transactions", values.one_of(*TRANSACTION_SOURCES), None)
    if transactions == "index" and on_damage == "stop":
        raise InputError("transactions index with onDamage stop", "onDamage fail or skip")
    return ReadOptions(
        isolation_level=own or kafka or DEFAULT_READ.isolation_level,
        on_damage=on_damage or DEFAULT_READ.on_damage,
        transactions=transactions or DEFAULT_READ.transactions,
    )


def _check(parsed: SourceOptions) -> None:
    """Raise InputError where options exclude one another."""
    chosen = [name for name in CHOOSING if name.lower() in parsed.given]
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)}", "one of them")
    least, most = parsed.min_offsets, parsed.max_offsets
    if least is not None and most is not None and least > most:
        raise InputError(
            f"minOffsetsPerTrigger {least}", f"{most} or less, which is maxOffsetsPerTrigger"
        )
    if parsed.table != "records":
        for name in (*STARTINGS, *ENDINGS, *OF_RECORDS):
            if name.lower() in parsed.given:
                raise InputError(f"{name} with the table {parsed.table}", "the table records")
    if parsed.read.transactions == "index" and parsed.table not in ("records", "batches"):
        raise InputError(f"transactions index with the table {parsed.table}", "records or batches")
    Storage(parsed.storage_options).check(parsed.paths)


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
