"""Options of the data source: Spark's Kafka options, with the same rules, and our own."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TypeVar

from magicbyte.decoding.decode_option import DecodeForm
from magicbyte.errors import InputError
from magicbyte.limits import MIB
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading import opening
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import (
    DAMAGE_POLICIES,
    ISOLATION_LEVELS,
    TRANSACTION_SOURCES,
    ReadOptions,
    alternatives,
)
from magicbyte.spark import _offset_bounds, _option_values
from magicbyte.spark._conditions import input_errors_have, with_condition
from magicbyte.spark._offset_bounds import OffsetBound
from magicbyte.spark._option_values import Partition
from magicbyte.storage import NO_OPTIONS, Storage, StorageOptions, is_url, local_path
from magicbyte.storage.globs import expand
from magicbyte.tables import schemas

MAX_PARTITION_BYTES = 128 * MIB
"""Default bytes of a segment that one task reads; the same as for Spark's file sources."""

MAX_TRIGGER_DELAY_MS = 15 * 60_000
"""Default time that a stream waits for `minOffsetsPerTrigger`; the same as for the Kafka source."""

STORAGE_PREFIX = "storage."
"""Prefix of options for the file system of a store."""

DEFAULT_READ = ReadOptions()

Value = TypeVar("Value")
Default = TypeVar("Default")

TOPIC_OPTIONS = ("assign", "subscribe", "subscribePattern")
START_OPTIONS = (
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
)
END_TIME_OPTION = "endingTimestamp"
END_OPTIONS = ("endingOffsets", END_TIME_OPTION, "endingOffsetsByTimestamp")

DECODE_OPTIONS = ("decode", "schemas", "readerSchema", "mode")
"""Options of typed keys and values; `mode` as for Spark's `from_avro`."""

MODES = ("failfast", "permissive")
LATEST_SCHEMA = "latest"

ALL_OPTIONS = (
    *("path", "paths", *TOPIC_OPTIONS, "isolationLevel", "kafka.isolation.level", "includeHeaders"),
    *("failOnDataLoss", "minPartitions", "maxRecordsPerPartition", "maxOffsetsPerTrigger"),
    *("minOffsetsPerTrigger", "maxTriggerDelay", "table", "columns", "onDamage", "transactions"),
    *("includeInternal", "replica", "fill", "maxPartitionBytes", "planPath"),
    *("filterPushdown", *DECODE_OPTIONS),
    *(*START_OPTIONS, *END_OPTIONS, f"{STORAGE_PREFIX}<name>"),
)

LATEST_TABLE = "latest"
"""Table of the last record of each key: the state of a partition at the end of the read."""

RECORDS_OPTIONS = (
    *("includeHeaders", "failOnDataLoss", "minPartitions", "maxRecordsPerPartition"),
    *("planPath", "filterPushdown", *DECODE_OPTIONS),
)
IGNORED_OPTIONS = (
    *("groupIdPrefix", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs"),
    "kafkaConsumer.pollTimeoutMs",
)
"""Options of the Kafka source about its broker, beside those for its client; they have no meaning here."""

CLIENT_PREFIX = "kafka."
"""Prefix of options for the Kafka source's client. One has a meaning here: `kafka.isolation.level`."""

LEVEL_OPTIONS = {name: f"kafka.compression.{name}.level" for name in ("gzip", "lz4", "zstd")}
"""Option for the compression level of each codec that has levels (KIP-390)."""

SINK_OPTIONS = (
    *("path", "topic", "partitions", "startingOffset", "leaderEpoch", "kafka.compression.type"),
    *LEVEL_OPTIONS.values(),
    *("kafka.batch.size", "kafka.segment.bytes", "kafka.index.interval.bytes"),
    "kafka.message.timestamp.type",
)
"""Options of a write. A read ignores those for the client or the topic, as others of that prefix."""

SINK_NAMES = frozenset(name.lower() for name in SINK_OPTIONS)

TABLE_PROPERTIES = ("owner", "location", "provider", "external", "is_managed_location")
"""Properties of a table in Spark's catalog. Spark hands them to the source for CREATE TABLE alone."""

STREAM_OPTIONS = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")
"""Options that a batch read ignores, with a warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """Parsed options of the data source: the arguments of `option(...)` and `load(...)`."""

    paths: tuple[str, ...]
    table: str = "records"
    columns: tuple[str, ...] | None = None
    topics: tuple[str, ...] | None = None
    pattern: "re.Pattern[str] | None" = None
    assigned: frozenset[Partition] | None = None
    """At most one of *topics*, *pattern* and *assigned* is set. Default: all partitions."""
    read: ReadOptions = DEFAULT_READ
    include_internal: bool = False
    include_headers: bool = False
    replica: tuple[str, ...] = ()
    fill: bool = True
    fail_on_data_loss: bool = True
    min_partitions: int | None = None
    max_records: int | None = None
    """Limit of the offsets that one task covers."""
    max_partition_bytes: int = MAX_PARTITION_BYTES
    plan_path: str | None = None
    """File with the plan of a batch, local or in a store; it is written if it does not exist."""
    filter_pushdown: bool = False
    """Plan only what may match the filters of a query."""
    decode: Mapping[str, DecodeForm] | None = None
    """Forms of `key` and `value`; None: both are bytes."""
    schema_paths: tuple[str, ...] | None = None
    reader_schema: str = LATEST_SCHEMA
    fails_on_bad_values: bool = True
    """Raise an error at a value that cannot be decoded."""
    max_offsets: int | None = None
    """Limit of the offsets, of all partitions, in one batch of a stream."""
    min_offsets: int | None = None
    """Number of new offsets that a stream waits for before it starts a batch."""
    max_trigger_delay_ms: int = MAX_TRIGGER_DELAY_MS
    """Longest time to wait for *min_offsets*."""
    storage_options: StorageOptions = NO_OPTIONS
    raw: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Options as text, by lower-case name, without those for stores."""

    @property
    def batch_bounds(self) -> tuple[OffsetBound, OffsetBound]:
        """Start and end of a batch; InputError if a batch cannot have them."""
        start = _offset_bounds.starting_bound(self.raw, "earliest")
        end = _offset_bounds.ending_bound(self.raw)
        _offset_bounds.check_batch(start, end)
        return start, end

    @property
    def stream_start(self) -> OffsetBound:
        """Start of a stream without a checkpoint; InputError for options that a stream cannot have."""
        for name in END_OPTIONS:
            if name.lower() in self.raw:
                raise InputError(f"{name} in a stream", "none: a stream does not end")
        if self.plan_path is not None:
            raise InputError(
                "planPath in a stream", "none: each batch of a stream has its own plan"
            )
        if self.filter_pushdown:
            raise InputError(
                "filterPushdown in a stream",
                "none: Spark hands no filters to the source of a stream",
            )
        return _offset_bounds.starting_bound(self.raw, "latest")

    def check_topics(self) -> None:
        """Raise TopicError if a topic is named that does not exist; stores are not asked."""
        topics = self.named_topics
        if topics is not None and not any(map(is_url, self.paths)):
            opening.check_topics(self.paths, topics, Storage())

    @property
    def named_topics(self) -> tuple[str, ...] | None:
        """Topics of `subscribe` or `assign`."""
        if self.assigned is not None:
            return tuple(sorted({topic for topic, _ in self.assigned}))
        return self.topics

    def open(self) -> Dataset:
        """Open the dataset; InputError if a path is not a log or a topic does not exist."""
        dataset = opening.open(
            *self.paths,
            topics=self.named_topics,
            times=(None, self._end_time),
            isolation_level=self.read.isolation_level,
            on_damage=self.read.on_damage,
            transactions=self.read.transactions,
            include_internal=self.include_internal,
            replica=self.replica,
            fill=self.fill,
            storage_options=self.storage_options if any(map(is_url, self.paths)) else NO_OPTIONS,
        )
        return Dataset(
            list(filter(self._is_selected, dataset.logs)),
            dataset.options,
            log_dirs=dataset.log_dirs,
            all_logs=list(filter(self._is_selected, dataset.all_logs)),
            num_internal=dataset.num_internal,
            unread_paths=dataset.unread,
            planner=Planner(dataset.options),  # a plan whose files are gone is made again
            other_topics=dataset,
        )

    @property
    def _end_time(self) -> int | None:
        """Time in milliseconds at which tables of internal topics end."""
        if self.table not in schemas.INTERNAL_TABLES:
            return None
        bound = _offset_bounds.ending_bound(self.raw)
        return bound.everywhere if bound.is_time else None

    def _is_selected(self, log: PartitionLog) -> bool:
        if self.pattern is not None:
            return log.topic is not None and self.pattern.search(log.topic) is not None
        return self.assigned is None or (log.topic, log.partition) in self.assigned


def ignored_options(spark_options: Mapping[str, str]) -> list[str]:
    """Return the names of the options that only make sense for the Kafka source."""
    known = {name.lower() for name in ALL_OPTIONS}
    spelled = {name.lower(): name for name in IGNORED_OPTIONS}
    return [
        spelled.get(name.lower(), name)
        for name in spark_options
        if name.lower() not in known
        and (name.lower() in spelled or name.lower().startswith(CLIENT_PREFIX))
    ]


@input_errors_have("MAGICBYTE_INVALID_OPTION")
def parse(spark_options: Mapping[str, str]) -> SourceOptions:
    """Return the values of *spark_options*, whose names are case-insensitive.

    Raises InputError for an unknown option, a value that is not allowed, options that exclude one
    another, and for a path that is missing or cannot be read.
    """
    ignored = {name.lower() for name in ignored_options(spark_options)}
    raw = {
        name.lower(): value for name, value in spark_options.items() if name.lower() not in ignored
    }
    _check_names(raw)

    def value(name: str, reader: Callable[[str, str], Value], fallback: Default) -> Value | Default:
        text = raw.get(name.lower())
        return fallback if text is None else reader(name, text)

    parsed = SourceOptions(
        paths=_paths(raw),
        table=value("table", _option_values.one_of(*schemas.ALL_TABLES, LATEST_TABLE), "records"),
        columns=value("columns", _option_values.names, None),
        topics=value("subscribe", _option_values.topics, None),
        pattern=value("subscribePattern", _option_values.pattern, None),
        assigned=value("assign", _option_values.partitions, None),
        read=_read_options(value),
        include_internal=value("includeInternal", _option_values.flag, False),
        include_headers=value("includeHeaders", _option_values.flag, False),
        replica=value("replica", _option_values.paths, ()),
        fill=value("fill", _option_values.flag, True),
        fail_on_data_loss=value("failOnDataLoss", _option_values.flag, True),
        min_partitions=value("minPartitions", _option_values.count, None),
        max_records=value("maxRecordsPerPartition", _option_values.count, None),
        max_partition_bytes=value(
            "maxPartitionBytes", _option_values.size_in_bytes, MAX_PARTITION_BYTES
        ),
        plan_path=value("planPath", _option_values.file, None),
        filter_pushdown=value("filterPushdown", _option_values.flag, False),
        decode=value("decode", _option_values.decode_forms, None),
        schema_paths=value("schemas", _option_values.paths, None),
        reader_schema=raw.get("readerschema", LATEST_SCHEMA),
        fails_on_bad_values=value("mode", _option_values.one_of(*MODES), MODES[0]) == MODES[0],
        max_offsets=value("maxOffsetsPerTrigger", _option_values.count, None),
        min_offsets=value("minOffsetsPerTrigger", _option_values.count, None),
        max_trigger_delay_ms=value(
            "maxTriggerDelay", _option_values.duration, MAX_TRIGGER_DELAY_MS
        ),
        storage_options=StorageOptions(
            {
                name.removeprefix(STORAGE_PREFIX): text
                for name, text in raw.items()
                if name.startswith(STORAGE_PREFIX)
            }
        ),
        raw={name: text for name, text in raw.items() if not name.startswith(STORAGE_PREFIX)},
    )
    _check(parsed)
    return parsed


def _check_names(names: Iterable[str]) -> None:
    """Raise InputError for a name, in lower case, that is no option."""
    known = {name.lower(): name for name in ALL_OPTIONS}
    for name in names:
        if name in known or name.startswith(STORAGE_PREFIX):
            continue
        if name in TABLE_PROPERTIES:
            raise with_condition(
                InputError(
                    "CREATE TABLE: Spark does not keep the options of such a table",
                    "CREATE TEMPORARY VIEW name USING magicbyte OPTIONS (path '...')",
                ),
                "MAGICBYTE_NOT_A_TABLE",
            )
        raise unknown_option(name, ALL_OPTIONS)


def unknown_option(name: str, all_options: Sequence[str]) -> InputError:
    """Return the error for *name*, in lower case, which is none of *all_options*."""
    known = {each.lower(): each for each in all_options}
    similar = get_close_matches(name, known, 3)
    choices = alternatives([known[one] for one in similar]) if similar else ", ".join(all_options)
    error = InputError(f"no option {name!r}", choices if similar else f"some of {choices}")
    return with_condition(error, "MAGICBYTE_UNKNOWN_OPTION")


def _read_options(value: Callable[..., str | None]) -> ReadOptions:
    levels = _option_values.one_of(*ISOLATION_LEVELS)
    own, kafka = (value(name, levels, None) for name in ("isolationLevel", "kafka.isolation.level"))
    if own is not None and kafka is not None and own != kafka:
        raise InputError(f"kafka.isolation.level {kafka!r}", f"the {own!r} of isolationLevel")
    on_damage = value("onDamage", _option_values.one_of(*DAMAGE_POLICIES), None)
    transactions = value("transactions", _option_values.one_of(*TRANSACTION_SOURCES), None)
    if transactions == "index" and on_damage == "stop":
        raise InputError("transactions index with onDamage stop", "onDamage fail or skip")
    return ReadOptions(
        isolation_level=own or kafka or DEFAULT_READ.isolation_level,
        on_damage=on_damage or DEFAULT_READ.on_damage,
        transactions=transactions or DEFAULT_READ.transactions,
    )


def _check(parsed: SourceOptions) -> None:
    """Raise InputError if options exclude one another."""
    selectors = [name for name in TOPIC_OPTIONS if name.lower() in parsed.raw]
    if len(selectors) > 1:
        raise InputError(f"{' and '.join(selectors)}", "one of them")
    least, most = parsed.min_offsets, parsed.max_offsets
    if least is not None and most is not None and least > most:
        raise InputError(
            f"minOffsetsPerTrigger {least}", f"{most} or less, which is maxOffsetsPerTrigger"
        )
    if parsed.table != "records":
        for name in _excluded_options(parsed.table):
            if name.lower() in parsed.raw:
                raise InputError(f"{name} with the table {parsed.table}", "the table records")
    if parsed.decode is None:
        for name in DECODE_OPTIONS:
            if name.lower() in parsed.raw:
                raise InputError(f"{name} without decode", "the option decode, such as auto")
    if parsed.filter_pushdown and parsed.plan_path is not None:
        raise InputError("filterPushdown with planPath", "one of them: a filter changes the plan")
    if parsed.read.transactions == "index" and parsed.table not in ("records", "batches"):
        raise InputError(f"transactions index with the table {parsed.table}", "records or batches")
    _offset_bounds.starting_bound(parsed.raw, "earliest")  # raises InputError
    _offset_bounds.ending_bound(parsed.raw)
    plan_paths = () if parsed.plan_path is None else (parsed.plan_path,)
    Storage(parsed.storage_options).check((*parsed.paths, *plan_paths))


def _excluded_options(table: str) -> Iterator[str]:
    """Yield the options that apply to `records`, and not to *table*."""
    allowed: tuple[str, ...] = ()
    if table == LATEST_TABLE:
        allowed = *END_OPTIONS, "includeHeaders", "failOnDataLoss"
    elif table in schemas.INTERNAL_TABLES:
        allowed = (END_TIME_OPTION,)
    for name in (*START_OPTIONS, *END_OPTIONS, *RECORDS_OPTIONS):
        if name not in allowed:
            yield name


def _paths(raw: Mapping[str, str]) -> tuple[str, ...]:
    if "path" in raw and "paths" in raw:
        raise InputError("both path and paths", "one of them")
    paths = [raw["path"]] if "path" in raw else json.loads(raw.get("paths", "[]"))
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise InputError(f"paths {raw['paths']!r}", "a JSON list of strings")
    if not paths or not all(paths):
        # Spark loses the options of CREATE TABLE ... USING magicbyte OPTIONS (...).
        raise InputError("no path", "load(path), or the option path")
    with input_errors_have("MAGICBYTE_NO_SUCH_PATH"):
        local = tuple(match for path in paths for match in expand(local_path(path)))
    for path in local:
        if not is_url(path):  # a request to a store is slow; planning makes it anyway
            Storage().kind_of(path)  # raises MissingError
    return local
