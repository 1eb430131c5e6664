"""Scans of the tables that `pipeline` wrote, in bounded memory, and aggregates over them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

FOLDER_COLUMNS = pa.schema([("topic", pa.string())])
"""Columns that may be stored as names of folders, such as `topic=orders`."""

ParquetFiles = Iterator[tuple[str, Any]]
"""Files of a table: their paths relative to its folder, and what pyarrow.parquet reads."""

ROWS = 1 << 16
"""Largest number of rows per Arrow table that `scan` yields."""

MERGE_AT = 1 << 17
"""Rows of partial aggregates that are merged, unless there are more keys than that."""

MERGED_BY = {"sum": "sum", "count": "sum", "min": "min", "max": "max"}
"""Functions that merge partial results of an aggregate."""


def parquet_files(folder: Path) -> ParquetFiles:
    """Yield the paths of the Parquet files below *folder*: relative to it, and whole."""
    for path in sorted(folder.rglob("*.parquet")):
        yield str(path.relative_to(folder)), path


def scan(files: ParquetFiles, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield *columns* of the Parquet *files*, up to `ROWS` rows at a time.

    A column may also be stored as the name of a folder. Timestamps become numbers of microseconds
    since the epoch, since Python's datetime ends in the year 9999.
    """
    # It imports pandas where that is installed; `magicbyte stats` imports this module, and scans nothing.
    from pyarrow.dataset import get_partition_keys, partitioning

    folders = partitioning(FOLDER_COLUMNS, flavor="hive")
    for relative_path, source in files:
        folder_columns = get_partition_keys(folders.parse(relative_path))
        stored = [name for name in columns if name not in folder_columns]
        with pq.ParquetFile(source) as file:
            for batch in file.iter_batches(ROWS, columns=stored, use_threads=False):
                table = _with_numeric_times(pa.Table.from_batches([batch]))
                for name, value in folder_columns.items():
                    typed = pa.scalar(value, FOLDER_COLUMNS.field(name).type)
                    table = table.append_column(name, pa.repeat(typed, table.num_rows))
                yield table.select(list(columns))


def _with_numeric_times(table: pa.Table) -> pa.Table:
    for number, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            microseconds = table.column(number).cast(pa.int64())
            table = table.set_column(number, field.name, microseconds)
    return table


def first_rows(table: pa.Table, max_rows: int, *order: tuple[str, str]) -> list[dict[str, Any]]:
    """Sort *table* by pairs of a column and a direction; return the first *max_rows* rows."""
    if not table.num_rows:
        return []
    rows: list[dict[str, Any]] = table.take(
        pc.select_k_unstable(table, max_rows, list(order))
    ).to_pylist()
    return rows


class GroupedAggregates:
    """Aggregates by key over tables that are added one by one; memory grows with the keys."""

    def __init__(self, key_columns: Sequence[str], *aggregates: tuple[str, str]) -> None:
        """*aggregates* are pairs of a column and `sum`, `count`, `min` or `max`, without nulls."""
        self.keys = list(key_columns)
        self.aggregates = aggregates
        self.names = [f"{column}_{kind}" for column, kind in aggregates]
        self.parts: list[pa.Table] = []

    def add(self, table: pa.Table) -> None:
        if not table.num_rows:
            return
        self.parts.append(self._grouped(table, list(self.aggregates), self.names))
        merged, *unmerged = (part.num_rows for part in self.parts)
        if sum(unmerged) > max(MERGE_AT, merged):  # merging more often would be quadratic
            self.parts = [self.table()]

    def table(self) -> pa.Table:
        """Return a row per key, with the aggregates as columns `<column>_<function>`."""
        if len(self.parts) < 2:
            return self.parts[0] if self.parts else pa.table({})
        merges = [
            (name, MERGED_BY[kind])
            for name, (_, kind) in zip(self.names, self.aggregates, strict=True)
        ]
        return self._grouped(pa.concat_tables(self.parts), merges, self.names)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of `table` as dictionaries; meant for few keys."""
        rows: list[dict[str, Any]] = self.table().to_pylist()
        return rows

    def _grouped(
        self, table: pa.Table, aggregates: list[tuple[str, str]], names: list[str]
    ) -> pa.Table:
        groups = table.group_by(self.keys, use_threads=False).aggregate(aggregates)
        columns = [*self.keys, *(f"{column}_{kind}" for column, kind in aggregates)]
        return groups.select(columns).rename_columns([*self.keys, *names])
