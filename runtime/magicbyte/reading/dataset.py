"""A dataset: partitions, the options they are read with, and the tables they give.

Modules that only other tables than `records` need are imported when one is asked for: importing all
takes longer than reading the first records of a log.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from magicbyte.engines.protocol import Engine
from magicbyte.errors import InputError
from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.unread_path import UnreadPath, unreadable_findings
from magicbyte.reading._one_pass import ReadTable, after_findings, record_rows
from magicbyte.reading._times import Time, milliseconds
from magicbyte.reading.partition_tables import PartitionTables
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.results import Rows, Tally, examine_counted, read_splits
from magicbyte.reading.split import Split, select_rows
from magicbyte.reading.survey import open_or_give_up
from magicbyte.tables import schemas
from magicbyte.tables.table_definition import TableDefinition

if TYPE_CHECKING:
    import pyarrow.compute as pc

    from magicbyte.reading._scan import TableScan


SchemaPaths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
"""Paths of exports of a schema registry, of its topic, or of files of schemas."""


class OtherTopics(Protocol):
    """Topics below the paths of a dataset, selected or not."""

    @property
    def all_topics(self) -> list[str]:
        """Names of the topics that have a folder which a broker serves."""

    def of_topics(self, topics: Iterable[str]) -> "Dataset":
        """Return the dataset of these topics, as far as each is there."""


class Dataset(PartitionTables):
    """Partitions and the tables they give. Made by `magicbyte.open` and `magicbyte.from_bytes`.

    Each table is a `Rows`: iterating it reads the files again.

    Attributes:
        logs: The partitions whose records are read, by topic and number.
        all_logs: `logs`, plus the internal and half-deleted partitions.
        log_dirs: The log.dirs that hold them.
        options: The options of the read.
        num_internal: Partitions of internal topics that were left out because they were not named.
        unreadable: Findings about files outside of partitions that cannot be read; reports begin with them.
        unread: Files and folders below the paths that are not read, each an `UnreadPath` with its reason.
    Example:
        >>> dataset = mb.open("log-0", topics=["fenced"])
        >>> dataset.records().to_table().num_rows
        4
    """

    def __init__(
        self,
        logs: Sequence[PartitionLog],
        options: ReadOptions,
        *,
        log_dirs: Sequence[LogDir] = (),
        all_logs: Sequence[PartitionLog] | None = None,
        num_internal: int = 0,
        unread_paths: Sequence[UnreadPath] = (),
        planner: Planner | None = None,
        other_topics: "OtherTopics | None" = None,
    ) -> None:
        self.logs = tuple(logs)
        self.all_logs = tuple(logs if all_logs is None else all_logs)
        self.log_dirs = tuple(log_dirs)
        self.options = options
        self.num_internal = num_internal
        self.unread = tuple(unread_paths)
        self._planner = planner or Planner(options)
        self.unreadable = unreadable_findings(unread_paths) if unread_paths else []
        for log_dir in log_dirs:
            for finding in log_dir.findings:
                if finding.code == "unreadable":
                    self.unreadable.append(finding)
        self._other_topics = other_topics

    @property
    def all_topics(self) -> list[str]:
        """Names of the topics below the paths, selected or not, that have a folder which a broker serves."""
        if self._other_topics is not None:
            return self._other_topics.all_topics
        return sorted({log.topic for log in self.all_logs if log.topic and log.state is None})

    def records(
        self,
        columns: Sequence[str] | None = None,
        *,
        dispositions: Sequence[str] = ("delivered",),
        binary_view: bool = False,
    ) -> Rows:
        """Return the records, by topic, partition and offset.

        Args:
            columns: Columns of the table `records`. Default: topic, partition, offset, timestamp,
                timestamp_type, key, value, headers.
            dispositions: Dispositions of the records to return. Default: `delivered`, as to a consumer.
            binary_view: Return keys and values as Arrow's binary views, which keep some MiB alive.
        Returns:
            Rows. Iterating them raises FormatError or LimitError at damage if `on_damage` is ``"fail"``.
        Raises:
            InputError: A column or a disposition does not exist.
        Example:
            >>> dataset = mb.open("log-0", topics=["fenced"])
            >>> dataset.records(["offset"]).to_pylist()
            [{'offset': 6}, {'offset': 7}, {'offset': 8}, {'offset': 9}]
            >>> dataset.records(["offset"], dispositions=["control"]).to_pylist()
            [{'offset': 5}, {'offset': 10}, {'offset': 3}]
        """
        names, dispositions = _record_columns(columns), tuple(dispositions)
        unreadable = self.unreadable
        return record_rows(
            self._planner, self.logs, names, dispositions, unreadable=unreadable, views=binary_view
        )

    def typed_records(
        self,
        topic: str,
        *,
        key: str = "auto",
        value: str = "auto",
        schemas: SchemaPaths = None,
        reader_schema: str | int = "latest",
        columns: Sequence[str] | None = None,
        dispositions: Sequence[str] = ("delivered",),
        latest: bool = False,
        filter: "pc.Expression | None" = None,
    ) -> Rows:
        """Return the records of a topic with typed keys and values.

        What cannot be decoded is null; its bytes are in `key_bytes` or `value_bytes`, the reason in `key_error` or
        `value_error`, and the report has a finding for each reason. See docs/typed-values.md.

        Args:
            topic: Name of the topic.
            key: Form of the keys: ``"auto"`` recognizes it; ``"registry"``, ``"avro:order.avsc"`` and others name it.
            value: Form of the values.
            schemas: Files or folders with the schemas of a registry. Default: the registries below the dataset's paths.
            reader_schema: Schema of the columns, to which values of other versions are resolved: ``"latest"`` is the newest
                version in the registry, ``"union"`` has the fields of all; or an id, or the path of a file.
            columns: Columns of typed records, or others of `records`. Default: all of docs/typed-values.md but subjects.
            dispositions: Dispositions of the records, as for `records`.
            latest: Only the last record of each key of each partition, without tombstones, as by `latest`.
            filter: Arrow expression that all rows satisfy; without decoded columns, it applies before values are decoded.
        Returns:
            Rows. Form and Arrow schema are settled now, from a sample.
        Raises:
            InputError: An argument cannot be used, such as a form, a schema or a column.
        Example:
            >>> dataset = mb.open("log-0", topics=["fenced"])
            >>> rows = dataset.typed_records("fenced", key="string", columns=["offset", "key"])
            >>> rows.schema.field("key").type
            DataType(string)
        """
        from magicbyte.reading.typed_selection import typed_rows

        return typed_rows(
            self,
            self._planner,
            topic,
            key_form=key,
            value_form=value,
            schema_paths=schemas,
            reader_schema=reader_schema,
            columns=columns,
            dispositions=tuple(dispositions),
            latest=latest,
            filters=() if filter is None else (filter,),
        )

    def latest(
        self,
        columns: Sequence[str] | None = None,
        *,
        offset: int | None = None,
        time: Time | None = None,
        tombstones: bool = False,
        memory_bytes: int = 256 << 20,
    ) -> Rows:
        """Return the last record of each key of each partition: the table that a compacted topic contains.

        Args:
            columns: As for `records`.
            offset: Offset to stop before. Default: the end of the dataset's range.
            time: Stop before the first record with this timestamp or a later one, as for `open`.
            tombstones: Return the tombstone of a key that was deleted. Default: leave the key out.
            memory_bytes: Bytes of memory for keys: 150 for each. More keys are spilled to temporary files.
        Returns:
            Rows, by partition and offset, none without a key. Each iteration reads the logs twice.
        Raises:
            InputError: A column does not exist.
        Example:
            >>> mb.open("log-0", topics=["fenced"]).latest(["offset"], offset=8).to_pylist()
            [{'offset': 6}, {'offset': 7}]
        """
        from magicbyte.reading._latest import latest_rows

        end = offset, None if time is None else milliseconds(time)
        names, unreadable = _record_columns(columns), self.unreadable
        return latest_rows(
            self._planner,
            self.logs,
            names,
            end,
            unreadable,
            tombstones=tombstones,
            memory_bytes=memory_bytes,
        )

    def table(self, name: str, columns: Sequence[str] | None = None) -> Rows:
        """Return the table *name*, which may be a table of internal topics.

        Internal topics are read below the paths of the dataset, whether they were selected or not, up to
        the end of the dataset's range: the table is as of that offset or time.

        Args:
            name: Name of a table, such as ``"records"`` or ``"group_offsets"``.
            columns: Columns of the table. Default: all, but for `records` the default ones.
        Returns:
            Rows.
        Raises:
            InputError: The table or a column does not exist.
        Example:
            >>> mb.open("log-0", topics=["fenced"]).table("batches", ["base_offset"]).to_table().num_rows
            6
        """
        definition = schemas.table_named(name)
        if name in schemas.INTERNAL_TABLES:
            from magicbyte.reading._internal_tables import internal_rows

            return internal_rows(self, definition, columns)
        rows: Rows = getattr(self, definition.name)(columns)
        return rows

    def of_topics(self, topics: Iterable[str]) -> "Dataset":
        """Return a dataset of these topics below the same paths, with the same options.

        Args:
            topics: Names of topics, selected or not, internal or not. A topic that is not there has no partitions.
        Returns:
            A dataset, of no partition if none of the topics is there.
        Example:
            >>> mb.open("log-0", topics=["fenced"]).of_topics(["__consumer_offsets"])
            <Dataset of 1 partitions, read_committed>
        """
        topic_names = set(topics)
        if self._other_topics is not None:
            return self._other_topics.of_topics(topic_names)
        logs = [log for log in self.all_logs if log.topic in topic_names and log.state is None]
        return Dataset(logs, self.options, log_dirs=self.log_dirs)

    def stored(self, table: str, columns: Sequence[str] | None = None) -> Rows:
        """Return a table with the column types of exported files: times are in microseconds.

        Args:
            table: Name of a table; `records` are the delivered ones.
            columns: Columns of the table. Default: all.
        Returns:
            Rows. A time that does not fit into 64-bit microseconds is null, with a finding.
        Raises:
            InputError: The table or a column does not exist.
        Example:
            >>> mb.open("log-0").stored("records", ["timestamp"]).schema.field("timestamp").type
            TimestampType(timestamp[us, tz=UTC])
        """
        definition = schemas.table_named(table)
        names = definition.check(tuple(definition.names if columns is None else columns))
        return _stored_rows(self, definition, names)

    def scan(
        self, table: str = "records", *, dispositions: Sequence[str] = ("delivered",)
    ) -> "TableScan":
        """Return a table as a `pyarrow.dataset.Dataset`, into which DuckDB and Polars push columns and conditions.

        Args:
            table: Name of a table.
            dispositions: Dispositions of the records to return, as for `records`.
        Returns:
            A scan of all columns of the table. It decodes those that a query names. A condition on topic,
            partition and offset of `records`, and on the least timestamp, limits the bytes that are read.
        Raises:
            InputError: The table or a disposition does not exist.
        Example:
            >>> import pyarrow.dataset as ds
            >>> scan = mb.open("log-0", topics=["fenced"]).scan()
            >>> scan.count_rows(filter=ds.field("offset") >= 8)
            2
        """
        from magicbyte.reading._scan import records_scan, table_scan  # imports pyarrow.dataset
        from magicbyte.reading._scan_ranges import LogRange

        definition = schemas.table_named(table)
        if definition is schemas.RECORDS:
            log_ranges = [LogRange(log) for log in self.logs]
            return records_scan(self._planner, log_ranges, tuple(dispositions), self.unreadable)
        return table_scan(definition, self.table)

    def plan(self, max_partition_bytes: int | None = None) -> list[Split]:
        """Return the splits that together give the records, in order of rows.

        Args:
            max_partition_bytes: Largest size of a split, unless one batch is larger. Default: one per segment.
        Returns:
            Splits that cover all bytes of the live segments. `read_split` reads each of them.
        Raises:
            InputError: *max_partition_bytes* is below 1, or a file is gone.
        Example:
            >>> dataset = mb.open("log-0", topics=["fenced"])
            >>> [(split.start, split.end) for split in dataset.plan()]
            [(0, 275), (0, 372), (0, 221), (0, 78)]
        """
        return list(self.splits(max_partition_bytes))

    def splits(self, max_partition_bytes: int | None = None) -> Iterator[Split]:
        """Yield the splits of `plan` while partitions are planned, which keeps no list of them.

        Args:
            max_partition_bytes: As for `plan`.
        Returns:
            Splits, in order of rows.
        Raises:
            InputError: *max_partition_bytes* is below 1, or a file is gone.
        Example:
            >>> dataset = mb.open("log-0", topics=["fenced"])
            >>> next(dataset.splits()).file.name
            '00000000000000000000.log'
        """
        if max_partition_bytes is not None and max_partition_bytes < 1:
            raise InputError(f"max_partition_bytes {max_partition_bytes}", "at least 1")
        from magicbyte.reading.partial_plan import plan_partitions

        return plan_partitions(self._planner, self.logs, max_partition_bytes)


def _record_columns(columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return *columns* of `records`, by default the default ones; InputError names one that does not exist."""
    return schemas.RECORDS.check(tuple(schemas.RECORDS.default if columns is None else columns))


def _stored_rows(dataset: Dataset, definition: TableDefinition, names: tuple[str, ...]) -> Rows:
    """Return the columns *names* of a table, with the types of exported files."""
    if definition is not schemas.RECORDS:
        from magicbyte.reading.stored_tables import stored_table

        return stored_table(partial(dataset.table, definition.name), definition, names)
    from magicbyte.tables.stored_types import stored_schema

    return Rows(
        stored_schema(definition, names),
        after_findings(dataset.unreadable, _stored_records(dataset._planner, dataset.logs, names)),
    )


def _stored_records(
    planner: Planner, logs: Sequence[PartitionLog], names: tuple[str, ...]
) -> ReadTable:
    """Return the function that yields the delivered records with the columns *names* of stored files."""
    from magicbyte.reading.lost_times import lost_times_of_piece
    from magicbyte.tables.stored_types import to_stored_batch

    has_times = "timestamp" in names
    columns = tuple(dict.fromkeys([*names, "position"])) if has_times else names

    def of_split(split: Split, engine: Engine, tally: Tally) -> Iterator[pa.RecordBatch]:
        for piece in examine_counted(planner, split, columns, engine, tally, ordered=False):
            if has_times:
                tally.findings.extend(lost_times_of_piece(split, piece))
            for rows in select_rows(piece, ("delivered",)):
                yield to_stored_batch(rows.select(names))
                del rows
            del piece  # frees the memory before the next piece is made

    return partial(read_splits, planner, logs, of_split, only_wanted=True)


def planner_of(dataset: Dataset) -> Planner:
    """Return the planner of *dataset*, which caches the surveys of its partitions."""
    return dataset._planner


def failing_at_damage(dataset: Dataset) -> Dataset:
    """Return *dataset*, which was opened without its unreadable paths, with `on_damage="fail"` for all others."""
    return Dataset(
        dataset.logs,
        replace(dataset.options, on_damage="fail"),
        log_dirs=dataset.log_dirs,
        all_logs=dataset.all_logs,
        num_internal=dataset.num_internal,
        unread_paths=dataset.unread,
    )


def skip_gone_files(dataset: Dataset) -> Dataset:
    """Return *dataset* changed so that a file that is gone since it was listed is a finding, no error.

    Its records may be in a file that has replaced it since: only a caller that reads once should go on.
    """
    dataset._planner = Planner(dataset.options, open_or_give_up)
    return dataset
