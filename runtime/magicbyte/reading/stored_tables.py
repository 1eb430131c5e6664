"""Rows of tables with the column types of exported files."""

from collections.abc import Callable, Iterator

import pyarrow as pa

from magicbyte.reading.lost_times import LOCATION_COLUMNS, lost_times_of_rows
from magicbyte.reading.results import Report, Rows
from magicbyte.tables.stored_types import stored_schema, to_stored_batch
from magicbyte.tables.table_definition import TableDefinition


def stored_table(
    rows_of: Callable[[tuple[str, ...]], Rows], definition: TableDefinition, names: tuple[str, ...]
) -> Rows:
    """Return the columns *names* of a table: times are in microseconds, and null, with a finding, if they do not fit.

    Args:
        rows_of: Returns columns of the table.
    """
    schema = stored_schema(definition, names)
    has_times = any(pa.types.is_timestamp(field.type) for field in schema)
    more = [name for name in LOCATION_COLUMNS if has_times and name in definition.names]
    rows = rows_of(tuple(dict.fromkeys([*names, *more])))

    def read(report: Report) -> Iterator[pa.RecordBatch]:
        for batch in rows.read_into(report):
            report.findings.extend(lost_times_of_rows(batch))
            yield to_stored_batch(batch.select(names))
            del batch  # frees the rows before more are read

    return Rows(schema, read)
