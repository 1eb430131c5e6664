"""Typed records of topics as scans for a query engine."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from magicbyte.reading._row_condition import RowCondition
from magicbyte.reading._scan import TableScan, records_scan
from magicbyte.reading._scan_ranges import LogRange
from magicbyte.reading.dataset import Dataset, planner_of
from magicbyte.reading.lost_times import LOCATION_COLUMNS, lost_times_of_rows
from magicbyte.reading.results import Report
from magicbyte.reading.typed_columns import RecordTypes
from magicbyte.reading.typed_records import (
    DELIVERED,
    TypedOptions,
    TypedReading,
    typed_reading,
)
from magicbyte.tables.stored_types import MICROSECONDS, microseconds


def typed_readings(dataset: Dataset, topic_names: Iterable[str]) -> dict[str, TypedReading]:
    """Return the decoders of each of *topic_names* that *dataset* has, by topic.

    Forms and schemas are settled now, from a sample of the topic; a topic whose registry has no subject for it is read.
    """
    known = {log.topic for log in dataset.logs}
    planner = planner_of(dataset)
    return {
        topic: typed_reading(dataset, planner, topic, TypedOptions(), RecordTypes.ALL)
        for topic in topic_names
        if topic in known
    }


def typed_scans(
    dataset: Dataset, readings: Mapping[str, TypedReading], reports: list[Report]
) -> dict[str, TableScan]:
    """Return a scan of each of *readings*, by topic. A condition limits the bytes that are read, as in `records`.

    Args:
        reports: Gets the report of each scan when it begins.
    """
    return {topic: _typed_scan(dataset, reading, reports) for topic, reading in readings.items()}


def _typed_scan(dataset: Dataset, reading: TypedReading, reports: list[Report]) -> TableScan:
    """Return the scan of the typed records of a topic; their times are in microseconds."""
    settled = reading.schema
    column = settled.get_field_index("timestamp")
    time_field = settled.field(column).with_type(MICROSECONDS)
    log_ranges = [LogRange(log) for log in reading.records.logs]
    records = records_scan(planner_of(dataset), log_ranges, DELIVERED, dataset.unreadable)

    def read(
        names: tuple[str, ...], condition: RowCondition | None, report: Report
    ) -> Iterator[pa.RecordBatch]:
        reports.append(report)
        has_times = "timestamp" in names
        located = tuple(dict.fromkeys([*names, *LOCATION_COLUMNS])) if has_times else names

        narrowed = reading.narrowed(located)
        batches = records.read_table(narrowed.decoder.sources, condition, report)
        for batch in narrowed.decoded(batches, report):
            if has_times:
                lost = lost_times_of_rows(batch.select([*LOCATION_COLUMNS, "timestamp"]))
                report.findings.extend(lost)
                number = batch.schema.get_field_index("timestamp")
                batch = batch.set_column(number, time_field, microseconds(batch.column(number)))
            yield batch.select(names)
            del batch  # frees the rows before more are read

    return TableScan(settled.set(column, time_field), read)
