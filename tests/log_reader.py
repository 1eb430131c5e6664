"""Reads whole logs for tests, and finds where their entries begin and end."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

import magicbyte as mb
from magicbyte.tables.schemas import DISPOSITIONS

COLUMNS = (
    *("offset", "timestamp", "timestamp_type", "key", "value", "headers"),
    *("sequence", "magic", "codec", "position", "disposition", "outcome"),
)


def spans(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield (begin, end) of each entry of undamaged *data*, by the size fields alone."""
    position = 0
    while position < len(data):
        end = position + 12 + int.from_bytes(data[position + 8 : position + 12], "big")
        yield position, end
        position = end


def plain(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of *table*, times as integers: Python's datetime cannot hold them all."""
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            times = table.column(index).cast(pa.int64())
            table = table.set_column(index, field.name, times)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


class Read:
    """The rows, report and findings of a whole read; damage in bytes in memory is skipped."""

    engine = "auto"
    dispositions: tuple[str, ...] = DISPOSITIONS

    def __init__(self, source: bytes | mb.Dataset, **options: Any) -> None:
        if isinstance(source, bytes):
            options = {"on_damage": "skip", "engine": self.engine} | options
            self.dataset = mb.from_bytes(source, **options)
        else:
            self.dataset = source
        rows = self.dataset.records(COLUMNS, dispositions=self.dispositions)
        self.rows = plain(rows.to_table())
        self.report = rows.report
        self.findings = self.report.findings

    @property
    def values(self) -> list[bytes | None]:
        return [row["value"] for row in self.rows if row["disposition"] == "delivered"]

    @property
    def offsets(self) -> list[int]:
        return [row["offset"] for row in self.rows if row["disposition"] == "delivered"]

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.findings]

    def at(self, code: str) -> list[int | None]:
        """Return the positions of the findings with this code."""
        return [finding.position for finding in self.findings if finding.code == code]

    @property
    def errors(self) -> list[tuple[str, int | None]]:
        return [(f.code, f.position) for f in self.findings if f.severity == "error"]
