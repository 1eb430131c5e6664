"""Tables of a pipeline, read a few columns and some thousand rows at a time, and sums over them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.dataset import get_partition_keys, partitioning

FOLDERS = partitioning(pa.schema([("topic", pa.string())]), flavor="hive")
"""The columns that may be names of folders."""

ROWS = 1 << 16
"""Rows that are in memory at a time."""

MERGE_AT = 1 << 17
"""Rows of partial sums that are put together, or as many as there are keys."""

MERGED_BY = {"sum": "sum", "count": "sum", "min": "min", "max": "max"}
"""How partial results of an aggregate are put together."""


def scan(folder: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield *columns* of the Parquet files in *folder*, up to `ROWS` rows at a time.

    A column that is the name of a folder there, as of `topic=orders`, is one of them. Times are
    microseconds since the epoch, as numbers: a date of Python's ends in the year 9999.
    """
    for path in sorted(folder.rglob("*.parquet")):
        of_folders = get_partition_keys(FOLDERS.parse(str(path.relative_to(folder))))
        stored = [name for name in columns if name not in of_folders]
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS, columns=stored, use_threads=False):
                table = _with_plain_times(pa.Table.from_batches([batch]))
                for name, value in of_folders.items():
                    typed = pa.scalar(value, FOLDERS.schema.field(name).type)
                    table = table.append_column(name, pa.repeat(typed, table.num_rows))
                yield table.select(list(columns))


def _with_plain_times(table: pa.Table) -> pa.Table:
    for number, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            plain = table.column(number).cast(pa.int64())
            table = table.set_column(number, field.name, plain)
    return table


def first_rows(table: pa.Table, most: int, *order: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the first *most* rows of *table* by *order*, columns and `ascending` or `descending`."""
    if not table.num_rows:
        return []
    rows: list[dict[str, Any]] = table.take(
        pc.select_k_unstable(table, most, list(order))
    ).to_pylist()
    return rows


class Sums:
    """Aggregates by keys of what is added table by table; memory grows with the keys alone."""

    def __init__(self, keys: Sequence[str], *aggregates: tuple[str, str]) -> None:
        """*aggregates* are columns, and `sum`, `count`, `min` or `max` of what is not null."""
        self.keys = list(keys)
        self.aggregates = aggregates
        self.names = [f"{column}_{kind}" for column, kind in aggregates]
        self.parts: list[pa.Table] = []

    def add(self, table: pa.Table) -> None:
        if not table.num_rows:
            return
        self.parts.append(self._grouped(table, list(self.aggregates), self.names))
        first, *others = (part.num_rows for part in self.parts)
        if sum(others) > max(MERGE_AT, first):  # else all that is known would be added up each time
            self.parts = [self.table()]

    def table(self) -> pa.Table:
        """Return a row for each key: the keys, and the aggregates as `<column>_<kind>`."""
        if len(self.parts) < 2:
            return self.parts[0] if self.parts else pa.table({})
        merges = [
            (name, MERGED_BY[kind])
            for name, (_, kind) in zip(self.names, self.aggregates, strict=True)
        ]
        return self._grouped(pa.concat_tables(self.parts), merges, self.names)

    def rows(self) -> list[dict[str, Any]]:
        """Return the same as dictionaries: for keys that are few."""
        rows: list[dict[str, Any]] = self.table().to_pylist()
        return rows

    def _grouped(
        self, table: pa.Table, aggregates: list[tuple[str, str]], names: list[str]
    ) -> pa.Table:
        made = table.group_by(self.keys, use_threads=False).aggregate(aggregates)
        found = made.select([*self.keys, *(f"{column}_{kind}" for column, kind in aggregates)])
        return found.rename_columns([*self.keys, *names])
