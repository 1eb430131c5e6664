"""Results of a read: rows that can be iterated more than once, and a report."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from magicbyte.errors import MagicbyteError
from magicbyte.findings import Finding, Severity, worst


@dataclass(slots=True)
class Report:
    """Totals and findings of a read: every byte and every record has a disposition.

    Attributes:
        records: Records by disposition.
        bytes: Bytes of live segments by disposition, and of their `tail`.
        findings: Findings, in the order of the read.
    Example:
        >>> rows = mb.open("log-0", topics=["fenced"]).records()
        >>> table = rows.to_table()
        >>> print(rows.report)
        8 aborted, 3 control, 4 delivered
    """

    records: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: "Report") -> None:
        """Add the totals and findings of another read.

        Args:
            other: Its findings go to the end.
        Example:
            >>> report = mb.Report()
            >>> for batch in mb.open("log-0", topics=["fenced"]).records().read_into(report):
            ...     pass
            >>> total = mb.Report()
            >>> total.add(report)
            >>> total.records["delivered"]
            4
        """
        self.records.update(other.records)
        self.bytes.update(other.bytes)
        self.findings.extend(other.findings)

    @property
    def severity(self) -> Severity | None:
        """The gravest severity of the findings; None if there are none."""
        return worst(self.findings)

    def __str__(self) -> str:
        counts = [f"{count} {name}" for name, count in sorted(self.records.items()) if count]
        return ", ".join(counts) or "no records"


class Rows:
    """A table that is read while it is iterated. pyarrow, pandas, Polars and DuckDB can read it.

    Each iteration reads the files again.

    Attributes:
        schema: The Arrow schema.
        error: The error that ended the last read by another library, which shows its text only.
            None if there was none.
    Example:
        >>> import pyarrow as pa
        >>> pa.table(mb.open("log-0", topics=["fenced"]).records(["offset"])).num_rows
        4
    """

    def __init__(
        self, schema: pa.Schema, read_batches: Callable[[Report], Iterator[pa.RecordBatch]]
    ) -> None:
        self.schema = schema
        self._read_batches = read_batches
        self._report: Report | None = None
        self.error: MagicbyteError | None = None

    @property
    def report(self) -> Report:
        """The report of the last complete iteration. RuntimeError if there was none."""
        if self._report is None:
            raise RuntimeError("no report yet: iterate all rows first")
        return self._report

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        report = Report()
        yield from self._read_batches(report)
        self._report = report

    def read_into(self, report: Report) -> Iterator[pa.RecordBatch]:
        """Yield the rows, and keep a report up to date, also if the iteration ends early.

        Args:
            report: Gets totals and findings while the rows are read.
        Returns:
            Arrow record batches.
        Example:
            >>> report = mb.Report()
            >>> first = next(mb.open("log-0").records().read_into(report))
            >>> report.severity is None
            True
        """
        yield from self._read_batches(report)

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of Arrow record batches."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def to_table(self) -> pa.Table:
        """Return all rows as an Arrow table in memory."""
        return pa.Table.from_batches(list(self), schema=self.schema)

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return all rows as dicts.

        A time is a datetime; if Python's calendar does not have it, milliseconds since the Unix
        epoch.
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
            # Arrow appends the traceback to the message, and its frames would keep memory alive.
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
    except (OverflowError, ValueError):  # a time outside of the years 1 to 9999
        return [_value(cell) for cell in column]


def _value(cell: pa.Scalar) -> Any:
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        return cell.value
