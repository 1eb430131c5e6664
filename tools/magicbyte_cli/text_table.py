"""Rows as text: aligned columns with a header, one line per row.

On a terminal, lines are cut at its width; otherwise the output is the same everywhere. A null is
`-`; the string `-` and the empty string are shown in quotes.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from shutil import get_terminal_size
from typing import IO, Any
from unicodedata import category, east_asian_width

import pyarrow as pa

from magicbyte.tables.json_values import json_values
from magicbyte.tables.schemas import HEADERS
from magicbyte_cli.display import iso_time, printable, printable_bytes
from magicbyte_cli.painter import Painter
from magicbyte_cli.row_chunks import MAX_ELEMENTS, element_chunks, num_elements, row_chunks

NULL = "-"
BLOCK_ROWS = 500
"""Rows that are buffered to measure how wide their columns are."""
MAX_BLOCK_ROWS = 4096
"""Most rows of a batch that are formatted together."""
MAX_COLUMN_WIDTH = 40
"""Columns are not padded beyond this, so that one long key does not push all rows apart."""


def quoted(text: str) -> str:
    """Return *text*, in quotes if it is empty or could be taken for a null or a quoted string."""
    return f'"{text}"' if text in ("", NULL) or text.startswith('"') else text


BYTE_FORMATS: dict[str, Callable[[bytes], str]] = {
    "text": lambda data: quoted(printable_bytes(data)),
    "hex": lambda data: quoted(data.hex()),
    "base64": lambda data: quoted(b64encode(data).decode("ascii")),
}
"""Formats of byte strings, by the values of `--bytes`."""


def json_cell(value: Any) -> str:
    """Return a list, map or struct as JSON of one line."""
    return printable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


class TextWriter:
    """Writes Arrow batches to *out* as aligned columns."""

    def __init__(
        self,
        out: IO[bytes],
        schema: pa.Schema,
        *,
        bytes_as: str,
        is_terminal: bool = False,
        right_aligned: Sequence[bool] | None = None,
    ) -> None:
        """*right_aligned*: whether each column is aligned on the right. Default: columns of integers."""
        self._out = out
        self._schema = schema
        self._format_bytes = BYTE_FORMATS[bytes_as]
        self._terminal = _TerminalLines(out) if is_terminal else None
        self._rows: list[tuple[str, ...]] = []
        self._widths = [_display_width(name) for name in schema.names]
        self._is_number = right_aligned or [pa.types.is_integer(field.type) for field in schema]
        self._has_header = False

    def write(self, batch: pa.RecordBatch) -> None:
        for rows in row_chunks(batch, MAX_BLOCK_ROWS):
            self._write(rows)

    def _write(self, batch: pa.RecordBatch) -> None:
        columns = [
            [NULL if value is None else format_value(value) for value in values]
            for format_value, values in (
                self._cells(field.type, column)
                for field, column in zip(self._schema, batch.columns, strict=True)
            )
        ]
        self._rows.extend(zip(*columns, strict=True))
        if len(self._rows) >= BLOCK_ROWS:
            self.flush()

    def _cells(
        self, type_: pa.DataType, column: pa.Array
    ) -> tuple[Callable[[Any], str], list[Any]]:
        """Return a function that formats a value of *column*, and the column's values."""
        if pa.types.is_timestamp(type_):
            return iso_time, column.view(pa.int64()).to_pylist()  # cast() imports pyarrow.compute
        if pa.types.is_binary(type_):
            return self._format_bytes, column.to_pylist()
        if type_ == HEADERS:
            if len(column) == 1 and num_elements(column) > MAX_ELEMENTS:
                parts = map(self._header_texts, element_chunks(column))
                return str, [f"[{', '.join(parts)}]"]
            return lambda headers: f"[{self._header_texts(headers)}]", column.to_pylist()
        if pa.types.is_boolean(type_):
            return lambda value: "true" if value else "false", column.to_pylist()
        if pa.types.is_integer(type_):
            return str, column.to_pylist()
        if pa.types.is_nested(type_):
            return json_cell, json_values(column)
        return lambda value: quoted(printable(str(value))), json_values(column)

    def _header_texts(self, headers: list[dict[str, Any]]) -> str:
        return ", ".join(
            f"{printable(header['key'])}="
            + (NULL if header["value"] is None else self._format_bytes(header["value"]))
            for header in headers
        )

    def flush(self) -> None:
        """Write the buffered rows, after the header if no row was written before."""
        columns = list(zip(*self._rows, strict=True)) or [()] * len(self._widths)
        for number, column in enumerate(columns):
            widest = max(_display_widths(column), default=0)
            self._widths[number] = max(self._widths[number], min(widest, MAX_COLUMN_WIDTH))
        if not self._has_header:
            self._write_lines(self._lines([(name,) for name in self._schema.names]), is_strong=True)
            self._has_header = True
        self._write_lines(self._lines(columns))
        self._rows = []

    def _write_lines(self, lines: list[str], *, is_strong: bool = False) -> None:
        if self._terminal is not None:
            self._terminal.write(lines, is_strong=is_strong)
            return
        self._out.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
        self._out.flush()

    def _lines(self, columns: Sequence[Sequence[str]]) -> list[str]:
        """Return a line for each row of *columns*."""
        padded = map(_padded, columns, self._widths, self._is_number)
        return ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]


def table_lines(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of *cells* under *heads* as aligned lines.

    A column whose head begins with `>` is aligned to the right.
    """
    columns = list(zip([head.removeprefix(">") for head in heads], *cells, strict=True))
    padded = [
        _padded(column, max(_display_widths(column)), head.startswith(">"))
        for head, column in zip(heads, columns, strict=True)
    ]
    return ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]


def _padded(column_cells: Sequence[str], width: int, is_number: bool) -> list[str]:
    """Return the cells of a column padded to *width*."""
    pad = str.rjust if is_number else str.ljust
    return [
        pad(cell, width + len(cell) - size)
        for cell, size in zip(column_cells, _display_widths(column_cells), strict=True)
    ]


def _display_widths(column_cells: Sequence[str]) -> Iterable[int]:
    """Return the width of each cell, in columns of a terminal."""
    return map(len if all(map(str.isascii, column_cells)) else _display_width, column_cells)


class _TerminalLines:
    """Prints lines, cut at the width of the terminal."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._painter = Painter.for_stdout()

    def write(self, lines: list[str], *, is_strong: bool) -> None:
        """Print *lines*, in bold if *is_strong*."""
        width = get_terminal_size().columns
        for line in lines:
            visible = (
                line if _display_width(line) <= width else _first_columns(line, width - 1) + "…"
            )
            text = self._painter.strong(visible) if is_strong else visible
            self._out.write(f"{text}\n".encode())
        self._out.flush()


def _first_columns(text: str, width: int) -> str:
    """Return the beginning of *text* that takes at most *width* columns of a terminal."""
    ends = accumulate(map(_character_width, text))
    return "".join(character for character, end in zip(text, ends, strict=True) if end <= width)


def _display_width(text: str) -> int:
    """Return the width of *text*, in columns of a terminal."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(character: str) -> int:
    """Return the columns that a terminal takes for *character*: 2 for a wide one, 0 for one that combines."""
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1
