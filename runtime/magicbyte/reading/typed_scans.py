"""Typed records of topics as scans for a query engine."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from magicbyte.reading._row_condition import RowCondition
from magicbyte.reading._scan import TableScan
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.lost_times import LOCATION_COLUMNS, lost_times_of_rows
from magicbyte.reading.results import Report
from magicbyte.tables.stored_types import MICROSECONDS, microseconds


def typed_scans(
    dataset: Dataset, topic_names: Iterable[str], reports: list[Report]
) -> dict[str, TableScan]:
    """Return a scan of the typed records of each of *topic_names* that *dataset* has, by topic.

    Forms and schemas are settled now, from a sample of the topic. A scan reads all of its topic.

    Args:
        reports: Gets the report of each scan when it begins.
    """
    known = {log.topic for log in dataset.logs}
    return {topic: _typed_scan(dataset, topic, reports) for topic in topic_names if topic in known}


def _typed_scan(dataset: Dataset, topic: str, reports: list[Report]) -> TableScan:
    """Return the scan of the typed records of *topic*; their times are in microseconds."""
    settled = dataset.typed_records(topic).schema
    column = settled.get_field_index("timestamp")
    time_field = settled.field(column).with_type(MICROSECONDS)

    def read(
        names: tuple[str, ...], _: RowCondition | None, report: Report
    ) -> Iterator[pa.RecordBatch]:
        reports.append(report)
        has_times = "timestamp" in names
        located = tuple(dict.fromkeys([*names, *LOCATION_COLUMNS])) if has_times else names
        for batch in dataset.typed_records(topic, columns=located).read_into(report):
            if has_times:
                lost = lost_times_of_rows(batch.select([*LOCATION_COLUMNS, "timestamp"]))
                report.findings.extend(lost)
                number = batch.schema.get_field_index("timestamp")
                batch = batch.set_column(number, time_field, microseconds(batch.column(number)))
            yield batch.select(names)
            del batch  # frees the rows before more are read

    return TableScan(settled.set(column, time_field), read)
