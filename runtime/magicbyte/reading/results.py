"""What a read gives: a table that can be gone through more than once, and a report."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from magicbyte.errors import MagicbyteError
from magicbyte.findings import Finding, Severity, worst


@dataclass(slots=True)
class Report:
    """What became of every byte and every record of a read, and what was found."""

    records: Counter[str] = field(default_factory=Counter)
    """Records by disposition."""
    bytes: Counter[str] = field(default_factory=Counter)
    """Bytes of live segments by disposition, and those of `tail`."""
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: "Report") -> None:
        """Take in what became of what else was read."""
        self.records.update(other.records)
        self.bytes.update(other.bytes)
        self.findings.extend(other.findings)

    @property
    def severity(self) -> Severity | None:
        return worst(self.findings)

    def __str__(self) -> str:
        counts = [f"{count} {name}" for name, count in sorted(self.records.items()) if count]
        return ", ".join(counts) or "no records"


class Rows:
    """A table made as it is read: pyarrow, pandas, Polars and DuckDB take it as it is.

    Each iteration reads the files anew.
    """

    def __init__(
        self, schema: pa.Schema, read: Callable[[Report], Iterator[pa.RecordBatch]]
    ) -> None:
        self.schema = schema
        self._read = read
        self._report: Report | None = None
        self.error: MagicbyteError | None = None
        """What ended the last pass of another library before its end: that keeps only the words."""

    @property
    def report(self) -> Report:
        """The report of the last whole pass; RuntimeError before there was one."""
        if self._report is None:
            raise RuntimeError("the report is there after a whole pass over the rows")
        return self._report

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        report = Report()
        yield from self.read_into(report)
        self._report = report

    def read_into(self, report: Report) -> Iterator[pa.RecordBatch]:
        """Yield the rows, and keep *report* up to date: for who may stop before the end."""
        yield from self._read(report)

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of Arrow record batches."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def to_table(self) -> pa.Table:
        """Return all rows in memory."""
        return pa.Table.from_batches(list(self), schema=self.schema)

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return all rows as dicts.

        A time is a datetime, or milliseconds since the Unix epoch where Python's calendar ends.
        """
        return [row for batch in self for row in _dicts(batch)]

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self._keeping_error())
        return reader.__arrow_c_stream__(requested_schema)

    def _keeping_error(self) -> Iterator[pa.RecordBatch]:
        self.error = None
        try:
            yield from self
        except MagicbyteError as error:
            # Arrow shows the whole trace behind the words, and frames would keep what was read.
            self.error = error
            error.__traceback__ = None
            raise

    def __repr__(self) -> str:
        return f"Rows({', '.join(self.schema.names)})"


def _dicts(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    columns = [_values(column) for column in batch.columns]
    names = batch.schema.names
    if not names:
        return [{} for _ in range(batch.num_rows)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: pa.Array) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
        return values
    except (OverflowError, ValueError):  # a time that no datetime holds
        return [_value(cell) for cell in column]


def _value(cell: pa.Scalar) -> Any:
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        return cell.value
