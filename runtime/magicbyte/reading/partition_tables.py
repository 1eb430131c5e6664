"""The tables of a dataset that describe partitions: batches, segments, transactions, findings and others."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from magicbyte.engines.protocol import Engine
from magicbyte.findings import Finding
from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.unread_path import UnreadPath, unreadable_findings
from magicbyte.reading._one_pass import ReadTable, after_findings
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.results import Report, Row, Rows, Tally, examine_counted, read_splits
from magicbyte.reading.split import Split, header_result
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


class PartitionTables:
    """Partitions and the tables that describe them; `Dataset` adds their records."""

    logs: tuple[PartitionLog, ...]
    all_logs: tuple[PartitionLog, ...]
    log_dirs: Sequence[LogDir]
    options: ReadOptions
    unread: tuple[UnreadPath, ...]
    unreadable: list[Finding]
    _planner: Planner

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.logs)} partitions, {self.options.isolation_level}>"

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


def findings_outside_partitions(dataset: PartitionTables) -> list[Finding]:
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
