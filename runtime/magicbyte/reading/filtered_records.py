"""Records of some partitions that satisfy an Arrow expression."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pds

from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._row_condition import RowCondition, used_columns
from magicbyte.reading._scan import records_scan
from magicbyte.reading._scan_ranges import LogRange
from magicbyte.reading.planner import Planner
from magicbyte.reading.results import Report, Rows
from magicbyte.tables.schemas import RECORDS


def filtered_records(
    planner: Planner,
    logs: Sequence[PartitionLog],
    names: tuple[str, ...],
    dispositions: tuple[str, ...],
    arrow_filter: pc.Expression,
    unreadable: Sequence[Finding] = (),
) -> Rows:
    """Return the records of *logs* that satisfy *arrow_filter*, an expression about columns of `records`.

    A condition on topic, partition and offset limits the bytes that are read.

    Args:
        names: Columns of the rows.
        dispositions: Dispositions of the rows.
        unreadable: Findings with which the report begins.
    Raises:
        InputError: A disposition does not exist, or the expression is not about columns of `records`.
    """
    scan = records_scan(planner, [LogRange(log) for log in logs], dispositions, unreadable)
    condition = RowCondition(arrow_filter, scan.schema)

    def rows_of(columns: tuple[str, ...]) -> Rows:
        return Rows(RECORDS.schema(columns), partial(scan.read_table, columns, condition))

    return filtered_rows(rows_of, names, arrow_filter)


def filtered_rows(
    rows_of: Callable[[tuple[str, ...]], Rows], names: tuple[str, ...], arrow_filter: pc.Expression
) -> Rows:
    """Return the records of *rows_of*, which takes columns, that satisfy *arrow_filter*; errors as for `filtered_records`."""
    used = columns_of(arrow_filter, RECORDS.schema(RECORDS.names))
    rows = rows_of(tuple(dict.fromkeys((*names, *used))))

    def read(report: Report) -> Iterator[pa.RecordBatch]:
        for batch in rows.read_into(report):
            for matching in matching_rows(batch, arrow_filter):
                yield matching.select(list(names))
            del batch  # frees the rows before more are read

    return Rows(RECORDS.schema(names), read)


def columns_of(arrow_filter: pc.Expression, schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns of *schema* that *arrow_filter* depends on; InputError if it does not fit *schema*."""
    try:
        return used_columns(schema, [], arrow_filter)
    except (pa.ArrowException, KeyError, ValueError, TypeError) as error:
        raise InputError(
            f"the filter {arrow_filter}: {error}", f"an expression about {', '.join(schema.names)}"
        ) from error


def matching_rows(batch: pa.RecordBatch, arrow_filter: pc.Expression) -> Iterator[pa.RecordBatch]:
    """Yield the rows of *batch* that satisfy *arrow_filter*, if there are any."""
    scanner: Any = pds.InMemoryDataset([batch]).scanner(
        filter=arrow_filter, batch_size=max(batch.num_rows, 1), use_threads=False
    )
    for matching in scanner.to_batches():
        if matching.num_rows:
            yield matching
