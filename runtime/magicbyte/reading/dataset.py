"""A dataset: partitions, the options they are read with, and the tables they give.

Modules that only other tables than `records` need are imported when one is asked for: importing all
takes longer than reading the first records of a log.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from magicbyte.engines.protocol import Engine
from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.unread_path import UnreadPath, unreadable_findings
from magicbyte.reading._one_pass import ReadTable, after_findings, record_rows
from magicbyte.reading._times import Time, milliseconds
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.results import Report, Row, Rows, Tally, examine_counted, read_splits
from magicbyte.reading.split import Split, header_result, select_rows
from magicbyte.reading.survey import open_or_give_up
from magicbyte.reading.table_rows import (
    batch_rows,
    partition_row,
    problem_rows,
    replica_rows,
    rows_of_table,
    segment_row,
    transaction_rows,
)
from magicbyte.tables import schemas

if TYPE_CHECKING:
    from magicbyte.reading.partition_tally import PartitionTally


class Dataset:
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

    def __repr__(self) -> str:
        return f"<Dataset of {len(self.logs)} partitions, {self.options.isolation_level}>"

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

    def latest(
        self,
        columns: Sequence[str] | None = None,
        *,
        offset: int | None = None,
        time: Time | None = None,
        tombstones: bool = False,
    ) -> Rows:
        """Return the last record of each key of each partition; memory grows with the number of keys.

        Args:
            columns: As for `records`.
            offset: Offset to stop before. Default: the end of the dataset's range.
            time: Stop before the first record with this timestamp or a later one, as for `open`.
            tombstones: Return the tombstone of a key that was deleted. Default: leave the key out.
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
        return latest_rows(self._planner, self.logs, names, end, unreadable, tombstones=tombstones)

    def batches(self, columns: Sequence[str] | None = None, *, quick: bool = False) -> Rows:
        """Return the batches and messages of the live segments, of every disposition.

        Args:
            columns: Columns of the table `batches`. Default: all.
            quick: Read headers only. Columns that need the payload are null; no checksum is verified.
        Returns:
            Rows, in the order of the files.
        Raises:
            InputError: A column does not exist.
        Example:
            >>> dataset = mb.open("log-0", topics=["fenced"])
            >>> dataset.batches(["record_count"], quick=True).to_table().num_rows
            6
        """

        read = _batches_of(self._planner, self.logs, quick=quick)
        return rows_of_table(schemas.BATCHES, columns, after_findings(self.unreadable, read))

    def segments(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the files of the partitions, with the bytes of live segments by disposition.

        Args:
            columns: Columns of the table `segments`. Default: all.
        Returns:
            Rows, by partition and file.
        Raises:
            InputError: A column does not exist.
        Example:
            >>> dataset = mb.open("log-0", topics=["fenced"])
            >>> rows = dataset.segments(["file", "file_kind", "sound_bytes"]).to_pylist()
            >>> [(row["file"], row["sound_bytes"]) for row in rows if row["file_kind"] == "log"][0]
            ('00000000000000000000.log', 275)
        """

        def read(report: Report) -> Iterator[Row]:
            for log in self.all_logs:
                tally = _tally(self._planner, log)
                report.add(tally.report)
                for file in log.listed_files:
                    yield segment_row(log, file, tally.survey, tally.by_path.get(file.path))

        return rows_of_table(schemas.SEGMENTS, columns, after_findings(self.unreadable, read))

    def transactions(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the transactions of the partitions.

        Args:
            columns: Columns of the table `transactions`. Default: all.
        Returns:
            Rows, by partition and first offset.
        Raises:
            InputError: A column does not exist.
        Example:
            >>> dataset = mb.open("log-0", topics=["fenced"])
            >>> dataset.transactions(["first_offset", "outcome"]).to_pylist()[0]
            {'first_offset': 0, 'outcome': 'aborted'}
        """

        def read(report: Report) -> Iterator[Row]:
            for log in self.logs:
                survey = self._planner.survey(log, by_markers=True)
                report.findings.extend(survey.findings)
                yield from transaction_rows(survey)

        return rows_of_table(schemas.TRANSACTIONS, columns, after_findings(self.unreadable, read))

    def partitions(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the partitions with their offsets, and their records by disposition.

        Args:
            columns: Columns of the table `partitions`. Default: all. Without a column of records,
                records are not read.
        Returns:
            Rows, by topic and number.
        Raises:
            InputError: A column does not exist.
        Example:
            >>> dataset = mb.open("log-0", topics=["fenced"])
            >>> dataset.partitions(["partition", "log_end_offset"]).to_pylist()
            [{'partition': 0, 'log_end_offset': 11}, {'partition': 1, 'log_end_offset': 4}]
        """
        counts = columns is None or any(name.startswith("records_") for name in columns)

        read = partial(_partitions_of, self._planner, self.all_logs, counts)
        return rows_of_table(schemas.PARTITIONS, columns, after_findings(self.unreadable, read))

    def problems(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the findings of a read of everything.

        Args:
            columns: Columns of the table `problems`. Default: all.
        Returns:
            Rows, by partition, file and position.
        Raises:
            InputError: A column does not exist.
        Example:
            >>> dataset = mb.open("log-0", topics=["fenced"])
            >>> dataset.problems(["code", "file", "position"]).to_pylist()
            []
        """

        def read(report: Report) -> Iterator[Row]:
            report.findings.extend(findings_outside_partitions(self))
            yield from problem_rows(report.findings)
            for log in self.logs:
                findings = _tally(self._planner, log).report.findings
                report.findings.extend(findings)
                yield from problem_rows(findings)

        return rows_of_table(schemas.PROBLEMS, columns, read)

    def replicas(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the replicas of the partitions, and how many offsets are read from each.

        Args:
            columns: Columns of the table `replicas`. Default: all.
        Returns:
            Rows, by partition and rank.
        Example:
            >>> mb.open("log-0", topics=["fenced"]).replicas(["rank", "log_end_offset"]).to_pylist()
            [{'rank': 1, 'log_end_offset': 11}, {'rank': 1, 'log_end_offset': 4}]
        """
        read = after_findings(self.unreadable, partial(_replicas_of, self._planner, self.all_logs))
        return rows_of_table(schemas.REPLICAS, columns, read)

    def gaps(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the ranges of offsets that no record has, each with the reason.

        Args:
            columns: Columns of the table `gaps`. Default: all.
        Returns:
            Rows, by partition and offset. All records are read.
        Example:
            >>> mb.open("log-0", topics=["fenced"]).gaps(["reason"]).to_pylist()
            []
        """
        read = after_findings(self.unreadable, partial(_gaps_of, self._planner, self.logs))
        return rows_of_table(schemas.GAPS, columns, read)

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


def findings_outside_partitions(dataset: Dataset) -> list[Finding]:
    """Return the findings of *dataset* about its log.dirs, and about paths that cannot be read."""
    findings = unreadable_findings(dataset.unread)
    for log_dir in dataset.log_dirs:
        findings.extend(log_dir.findings)
    return findings


def _partitions_of(
    planner: Planner, logs: Sequence[PartitionLog], has_counts: bool, report: Report
) -> Iterator[Row]:
    """Yield the rows of `partitions`, and add findings to *report*; *has_counts*: with numbers of records."""
    for log in logs:
        if log.state is not None:
            continue
        records: Counter[str] | None = None
        if has_counts:
            tally = _tally(planner, log)
            survey, records = tally.survey, tally.report.records
            report.add(tally.report)
        else:
            survey = planner.survey(log)
            report.findings.extend(survey.findings)
        yield partition_row(survey, records)


def _batches_of(planner: Planner, logs: Sequence[PartitionLog], *, quick: bool) -> ReadTable:
    """Return the function that yields the rows of `batches`."""

    def of_split(split: Split, engine: Engine, tally: Tally) -> Iterator[list[Row]]:
        pieces = (
            map(header_result, planner.headers_of_split(split, engine))
            if quick
            else examine_counted(planner, split, None, engine, tally)
        )
        for piece in pieces:
            yield list(batch_rows(split, piece, quick=quick))

    def read(report: Report) -> Iterator[Row]:
        for rows in read_splits(planner, logs, of_split, report, quick=quick):
            yield from rows

    return read


def _stored_rows(
    dataset: Dataset, definition: schemas.TableDefinition, names: tuple[str, ...]
) -> Rows:
    """Return the columns *names* of a table, with the types of exported files."""
    from magicbyte.reading.lost_times import LOCATION_COLUMNS, lost_times_of_rows
    from magicbyte.tables.stored_types import stored_schema, to_stored_batch

    schema = stored_schema(definition, names)
    if definition is schemas.RECORDS:
        return Rows(
            schema,
            after_findings(
                dataset.unreadable, _stored_records(dataset._planner, dataset.logs, names)
            ),
        )
    has_times = any(pa.types.is_timestamp(field.type) for field in schema)
    more = [name for name in LOCATION_COLUMNS if has_times and name in definition.names]
    rows = getattr(dataset, definition.name)(tuple(dict.fromkeys([*names, *more])))

    def read(report: Report) -> Iterator[pa.RecordBatch]:
        for batch in rows.read_into(report):
            report.findings.extend(lost_times_of_rows(batch))
            yield to_stored_batch(batch.select(names))

    return Rows(schema, read)


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


def _tally(planner: Planner, log: PartitionLog) -> "PartitionTally":
    """Return the tally of *log*: all of it is read."""
    from magicbyte.reading.partition_tally import tally_partition

    return tally_partition(planner, log)


def _replicas_of(planner: Planner, logs: Sequence[PartitionLog], report: Report) -> Iterator[Row]:
    """Yield the rows of `replicas`, and add the findings about the choice between them to *report*."""
    for log in logs:
        survey = None if log.measured_replicas or log.state else planner.survey(log)
        report.findings.extend(log.findings if survey is None else survey.findings)
        yield from replica_rows(log, survey)


def _gaps_of(planner: Planner, logs: Sequence[PartitionLog], report: Report) -> Iterator[Row]:
    """Yield the rows of `gaps`, and add findings and totals to *report*."""
    from magicbyte.reading._gap_rows import gap_rows

    for log in logs:
        yield from gap_rows(planner, log, report)


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

    Its records may be in a file that has replaced it since: only who reads once should go on.
    """
    dataset._planner = Planner(dataset.options, open_or_give_up)
    return dataset
