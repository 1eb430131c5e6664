"""What a read gives: a table that can be gone through more than once, and a report."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from magicbyte.findings import Finding, Severity, worst


@dataclass(slots=True)
class Report:
    """What became of every byte and every record of a read, and what was found."""

    records: Counter[str] = field(default_factory=Counter)
    """Records by disposition."""
    bytes: Counter[str] = field(default_factory=Counter)
    """Bytes of live segments by disposition, and those of `tail`."""
    findings: list[Finding] = field(default_factory=list)

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

    @property
    def report(self) -> Report:
        """The report of the last whole pass; RuntimeError before there was one."""
        if self._report is None:
            raise RuntimeError("the report is there after a whole pass over the rows")
        return self._report

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        report = Report()
        yield from self._read(report)
        self._report = report

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of Arrow record batches."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def to_table(self) -> pa.Table:
        """Return all rows in memory."""
        return pa.Table.from_batches(list(self), schema=self.schema)

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return all rows as dicts."""
        rows: list[dict[str, Any]] = self.to_table().to_pylist()
        return rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"Rows({', '.join(self.schema.names)})"
