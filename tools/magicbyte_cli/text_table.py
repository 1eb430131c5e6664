"""Rows as text: aligned columns with a header, one line per row, the same on every terminal and in every file."""

from collections.abc import Sequence
from typing import IO

import pyarrow as pa

from magicbyte_cli.cell_texts import CellTexts
from magicbyte_cli.display_width import display_width, display_widths, padded
from magicbyte_cli.painter import ROW_COLOR_COLUMNS, ROW_COLORS, Painter
from magicbyte_cli.row_chunks import row_chunks

BLOCK_ROWS = 500
"""Rows that are buffered to measure how wide their columns are."""
MAX_BLOCK_ROWS = 4096
"""Most rows of a batch that are formatted together."""
MAX_COLUMN_WIDTH = 40
"""Columns are not padded beyond this, so that one long key does not push all rows apart."""


class RowColors:
    """Colors of rows, by their outcome, disposition or severity."""

    def __init__(self, names: Sequence[str], painter: Painter) -> None:
        self._indices = [names.index(name) for name in ROW_COLOR_COLUMNS if name in names]
        self._painter = painter

    def painted(self, line: str, texts: Sequence[str]) -> str:
        """Return *line* in the color of the row with *texts*."""
        if not self._painter.is_on:
            return line
        colors = [ROW_COLORS[texts[index]] for index in self._indices if texts[index] in ROW_COLORS]
        return self._painter.colored(line, colors[-1] if colors else None)


class TextWriter:
    """Writes Arrow batches to *out* as aligned columns."""

    def __init__(
        self,
        out: IO[bytes],
        schema: pa.Schema,
        *,
        cell_texts: CellTexts,
        painter: Painter,
        right_aligned: Sequence[bool] | None = None,
        num_hidden: int = 0,
    ) -> None:
        """Begin a table.

        *right_aligned*: whether each column is aligned on the right. Default: columns of integers.
        *num_hidden*: columns at the end that only decide on the color of a row.
        """
        self._out = out
        self._cell_texts = cell_texts
        self._painter = painter
        self._colors = RowColors(schema.names, painter)
        self._names = schema.names[: len(schema.names) - num_hidden]
        self._rows: list[tuple[str, ...]] = []
        self._widths = [display_width(name) for name in self._names]
        self._is_number = right_aligned or [pa.types.is_integer(field.type) for field in schema]
        self._has_header = False

    def write(self, batch: pa.RecordBatch) -> None:
        for rows in row_chunks(batch, MAX_BLOCK_ROWS):
            self._rows.extend(zip(*self._cell_texts.columns(rows), strict=True))
            if len(self._rows) >= BLOCK_ROWS:
                self.flush()

    def flush(self) -> None:
        """Write the buffered rows, after the header if no row was written before."""
        columns = list(zip(*self._rows, strict=True))[: len(self._names)] or [()] * len(self._names)
        for number, column in enumerate(columns):
            widest = max(display_widths(column), default=0)
            self._widths[number] = max(self._widths[number], min(widest, MAX_COLUMN_WIDTH))
        if not self._has_header:
            (header,) = self._lines([(name,) for name in self._names])
            self._write_lines([self._painter.strong(header)])
            self._has_header = True
        lines = map(self._colors.painted, self._lines(columns), self._rows)
        self._write_lines(list(lines))
        self._rows = []

    def _write_lines(self, lines: list[str]) -> None:
        self._out.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
        self._out.flush()

    def _lines(self, columns: Sequence[Sequence[str]]) -> list[str]:
        """Return a line for each row of *columns*."""
        return aligned_lines(columns, self._widths, self._is_number[: len(columns)])


def aligned_lines(
    columns: Sequence[Sequence[str]], widths: Sequence[int], is_number: Sequence[bool]
) -> list[str]:
    """Return a line for each row of *columns*, which are padded to *widths*."""
    cells = [
        padded(column, width, is_number=is_right)
        for column, width, is_right in zip(columns, widths, is_number, strict=True)
    ]
    return ["  ".join(row).rstrip() for row in zip(*cells, strict=True)]


def table_lines(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of *cells* under *heads* as aligned lines.

    A column whose head begins with `>` is aligned to the right.
    """
    columns = list(zip([head.removeprefix(">") for head in heads], *cells, strict=True))
    widths = [max(display_widths(column)) for column in columns]
    return aligned_lines(columns, widths, [head.startswith(">") for head in heads])
