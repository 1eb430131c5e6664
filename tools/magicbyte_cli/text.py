"""Rows as text: aligned columns under their names, a line per row.

The same on a terminal and elsewhere, except that a terminal gets lines cut at its width. A null is
`-`; what would look like one, and an empty string, stands in quotes.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import IO, Any

import pyarrow as pa

from magicbyte_cli.printable import printable, printable_bytes

NULL = "-"
BLOCK_ROWS = 500
"""Rows that are held back to see how wide their columns are."""
MAX_PADDED = 40
"""A column is not padded beyond this: one long key must not push all rows apart."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The times that a datetime can hold, in milliseconds since the Unix epoch.
MIN_TIME = (datetime.min.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)
MAX_TIME = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)


def shown(text: str) -> str:
    """Return *text* so that it cannot be taken for a null, nor for nothing at all."""
    return f'"{text}"' if text in ("", NULL) or text.startswith('"') else text


def shown_time(milliseconds: int) -> str:
    """Return a time since the Unix epoch in ISO 8601, in UTC; as it is beyond the years 1 to 9999."""
    if not MIN_TIME <= milliseconds <= MAX_TIME:
        return f"{milliseconds}ms"
    moment = EPOCH + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


BYTES: dict[str, Callable[[bytes], str]] = {
    "text": lambda data: shown(printable_bytes(data)),
    "hex": lambda data: shown(data.hex()),
    "base64": lambda data: shown(b64encode(data).decode("ascii")),
}
"""The ways to show a byte string, by their names."""


class TextWriter:
    """Writes record batches to *out* as aligned columns, cut at *width* where there is one."""

    def __init__(
        self, out: IO[bytes], schema: pa.Schema, *, bytes_as: str, is_terminal: bool = False
    ) -> None:
        self._out = out
        self._schema = schema
        self._bytes = BYTES[bytes_as]
        self._terminal = _Terminal() if is_terminal else None
        self._rows: list[tuple[str, ...]] = []
        self._widths = [_cells_of(name) for name in schema.names]
        self._is_number = [pa.types.is_integer(field.type) for field in schema]
        self._has_header = False

    def write(self, batch: pa.RecordBatch) -> None:
        columns = [
            [NULL if value is None else show(value) for value in values]
            for show, values in (
                self._cells(field.type, column)
                for field, column in zip(self._schema, batch.columns, strict=True)
            )
        ]
        self._rows.extend(zip(*columns, strict=True))
        if len(self._rows) >= BLOCK_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the rows that were held back, and the header if there were none before."""
        self._write_rows()

    def _cells(
        self, type_: pa.DataType, column: pa.Array
    ) -> tuple[Callable[[Any], str], list[Any]]:
        """Return how a value of *column* is shown, and the values."""
        if pa.types.is_timestamp(type_):
            return shown_time, column.cast(pa.int64()).to_pylist()
        if pa.types.is_binary(type_):
            return self._bytes, column.to_pylist()
        if pa.types.is_list(type_):
            return self._headers, column.to_pylist()
        if pa.types.is_boolean(type_):
            return lambda value: "true" if value else "false", column.to_pylist()
        if pa.types.is_integer(type_):
            return str, column.to_pylist()
        return lambda value: shown(printable(value)), column.to_pylist()

    def _headers(self, headers: list[dict[str, Any]]) -> str:
        parts = (
            f"{printable(header['key'])}="
            + (NULL if header["value"] is None else self._bytes(header["value"]))
            for header in headers
        )
        return f"[{', '.join(parts)}]"

    def _write_rows(self) -> None:
        columns = list(zip(*self._rows, strict=True)) or [()] * len(self._widths)
        for number, column in enumerate(columns):
            widest = max(_sizes(column), default=0)
            self._widths[number] = max(self._widths[number], min(widest, MAX_PADDED))
        if not self._has_header:
            self._write_lines(self._lines([(name,) for name in self._schema.names]), style="bold")
            self._has_header = True
        self._write_lines(self._lines(columns))
        self._rows = []

    def _write_lines(self, lines: list[str], style: str | None = None) -> None:
        if self._terminal is not None:
            self._terminal.write(lines, style)
            return
        self._out.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
        self._out.flush()

    def _lines(self, columns: Sequence[Sequence[str]]) -> list[str]:
        """Return a line for each row of *columns*."""
        padded = map(_padded, columns, self._widths, self._is_number)
        return ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return *rows* of text under *heads* as aligned lines; a head that begins with `>` is that of
    a column that ends alike, as numbers do.
    """
    columns = list(zip([head.removeprefix(">") for head in heads], *rows, strict=True))
    padded = [
        _padded(column, max(_sizes(column)), head.startswith(">"))
        for head, column in zip(heads, columns, strict=True)
    ]
    return ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]


def _padded(column: Sequence[str], width: int, is_number: bool) -> list[str]:
    """Return the cells of a column as wide as they must be."""
    pad = str.rjust if is_number else str.ljust
    return [
        pad(cell, width + len(cell) - size)
        for cell, size in zip(column, _sizes(column), strict=True)
    ]


def _sizes(column: Sequence[str]) -> Iterable[int]:
    """Return the columns of a terminal that each cell takes."""
    return map(len if all(map(str.isascii, column)) else _cells_of, column)


class _Terminal:
    """Shows lines, cut at the width of the terminal."""

    def __init__(self) -> None:
        from rich.console import Console  # takes longer to import than most reads take

        self._console = Console()

    def write(self, lines: list[str], style: str | None) -> None:
        from rich.cells import set_cell_size

        width = self._console.width
        for line in lines:
            cut = line if _cells_of(line) <= width else set_cell_size(line, width - 1) + "…"
            self._console.print(cut, style=style, markup=False, highlight=False, soft_wrap=True)


def _cells_of(text: str) -> int:
    """Return the columns that *text* takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
