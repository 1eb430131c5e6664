"""All tables of a dataset as scans for a query engine, with the column types of exported files.

All engines read times in microseconds, and a time that does not fit becomes null with a finding: one
record with a wrong time must not end a query.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.reading._row_condition import RowCondition
from magicbyte.reading._scan import ReadTable, TableScan, records_scan, table_scan
from magicbyte.reading._scan_ranges import LogRange, matching_log_ranges
from magicbyte.reading.dataset import Dataset, planner_of
from magicbyte.reading.lost_times import LOCATION_COLUMNS, lost_times_of_rows
from magicbyte.reading.results import Report
from magicbyte.tables.schemas import (
    ALL_TABLES,
    BATCHES,
    GAPS,
    PARTITIONS,
    RECORDS,
    REPLICAS,
    SEGMENTS,
    TRANSACTIONS,
)
from magicbyte.tables.stored_types import stored_schema, to_stored_batch
from magicbyte.tables.table_definition import TableDefinition

OF_PARTITIONS = (BATCHES, SEGMENTS, TRANSACTIONS, PARTITIONS, REPLICAS, GAPS)
"""Tables whose rows are each of one partition, so that a condition rules out partitions."""


def query_tables(
    dataset: Dataset, reports: list[Report], dispositions: Sequence[str] = ("delivered",)
) -> dict[str, TableScan]:
    """Return a scan of each table of *dataset*, by name. Nothing is read before a query asks for it.

    Partitions of internal topics that the dataset leaves out are read where a condition names their topic.

    Args:
        reports: Gets the report of each scan when it begins.
        dispositions: Dispositions of the records.
    """
    return {
        definition.name: _query_table(definition, _scan(dataset, definition, dispositions), reports)
        for definition in ALL_TABLES.values()
    }


def _scan(dataset: Dataset, definition: TableDefinition, dispositions: Sequence[str]) -> TableScan:
    """Return the scan of a table, of all partitions that a condition may name."""
    if definition is RECORDS:
        planner, log_ranges = planner_of(dataset), _log_ranges(dataset)
        return records_scan(planner, log_ranges, tuple(dispositions), dataset.unreadable)
    if definition in OF_PARTITIONS:
        schema = definition.schema(definition.names)
        return TableScan(schema, _reader_of_partitions(dataset, definition))
    return table_scan(definition, dataset.table)


def _log_ranges(dataset: Dataset) -> list[LogRange]:
    """Return the partitions of *dataset*, and the ones of internal topics that it leaves out."""
    folders = {log.folder for log in dataset.logs}
    left_out = [
        LogRange(log, is_left_out=True)
        for log in dataset.all_logs
        if log.topic in INTERNAL_TOPICS and log.state is None and log.folder not in folders
    ]
    return [*map(LogRange, dataset.logs), *left_out]


def _reader_of_partitions(dataset: Dataset, definition: TableDefinition) -> ReadTable:
    """Return the function that reads a table of the partitions that a condition does not rule out."""

    def read(
        names: tuple[str, ...], condition: RowCondition | None, report: Report
    ) -> Iterator[pa.RecordBatch]:
        narrowed = dataset if condition is None else _narrowed(dataset, condition)
        yield from narrowed.table(definition.name, names).read_into(report)

    return read


def _narrowed(dataset: Dataset, condition: RowCondition) -> Dataset:
    """Return *dataset* without the partitions that *condition* rules out."""
    logs, all_logs = (
        [each.log for each in matching_log_ranges(log_ranges, condition, by_offset=False)]
        for log_ranges in (_log_ranges(dataset), [*map(LogRange, dataset.all_logs)])
    )
    return Dataset(
        logs,
        dataset.options,
        log_dirs=dataset.log_dirs,
        all_logs=all_logs,
        unread_paths=dataset.unread,
        planner=planner_of(dataset),
    )


def _query_table(definition: TableDefinition, scan: TableScan, reports: list[Report]) -> TableScan:
    """Return *scan* of a table with the column types of exported files."""
    has_location = [name for name in LOCATION_COLUMNS if name in definition.names]

    def read(
        names: tuple[str, ...], condition: RowCondition | None, report: Report
    ) -> Iterator[pa.RecordBatch]:
        # Records that other tables are made from are not the ones of the result.
        reports.append(report if definition is RECORDS else Report(findings=report.findings))
        has_times = any(pa.types.is_timestamp(definition.fields[name].type) for name in names)
        located = tuple(dict.fromkeys([*names, *has_location])) if has_times else names
        for batch in scan.read_table(located, condition, report):
            if has_times:
                report.findings.extend(lost_times_of_rows(batch))
            yield to_stored_batch(batch.select(names))
            del batch  # frees the rows before more are read

    return TableScan(stored_schema(definition), read)
