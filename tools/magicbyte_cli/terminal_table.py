"""Rows on a terminal: columns that fit its width, the last one which takes the width that is left.

Columns that have one value for many rows are not repeated: they are in a heading line, such as
`topic orders, partition 0`. A cell that is too long is cut, with an ellipsis.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from shutil import get_terminal_size
from time import monotonic
from typing import IO

import pyarrow as pa

from magicbyte_cli.cell_texts import NULL, CellTexts
from magicbyte_cli.display_width import cut_at_end, cut_in_middle, display_width, display_widths
from magicbyte_cli.painter import Painter
from magicbyte_cli.row_chunks import row_chunks
from magicbyte_cli.text_table import MAX_COLUMN_WIDTH, RowColors, aligned_lines

BLOCK_ROWS = 500
"""Rows that are laid out together, after the first screen."""

MAX_DELAY_S = 0.5
"""Seconds after which rows are printed, however few there are."""

ROWS_PER_HEADING = 4
"""Least rows, on average, for which a heading pays."""

RUN_COLUMNS = ("topic", "partition")
"""Columns by which most tables are sorted."""

EMPTY = (NULL, "[]")
"""Texts of nulls and of no headers, which need no place of their own."""

NEVER_FOLDED = ("offset", "value")

NAMES_CUT_IN_MIDDLE = ("topic", "file", "log_dir", "subject", "group", "value_schema", "key_schema")
"""Columns of names, whose ends tell them apart as well as their beginnings."""

LEFT_OUT_FIRST = ("headers", "timestamp")
"""Columns of records that matter less to a reader than keys and values."""

SEPARATOR = 2
"""Columns of the terminal between two cells."""

MIN_TEXT_WIDTH = 12
"""Least width to which a column of text is cut."""
GOOD_LAST_WIDTH = 24
"""Width of the last column for which others are cut."""

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Columns of the heading, and columns of the lines with their widths."""

    folded: tuple[int, ...]
    visible: tuple[int, ...]
    widths: tuple[int, ...]


class TerminalWriter:
    """Writes Arrow batches to *out*, which a terminal shows."""

    def __init__(
        self,
        out: IO[bytes],
        schema: pa.Schema,
        *,
        cell_texts: CellTexts,
        painter: Painter,
        right_aligned: Sequence[bool] | None = None,
        num_hidden: int = 0,
        is_cut: bool = True,
        is_folded: bool = True,
        run_columns: Sequence[str] = RUN_COLUMNS,
        left_out_first: Sequence[str] = LEFT_OUT_FIRST,
    ) -> None:
        """Begin a table.

        *right_aligned*: whether each column is aligned on the right. Default: columns of integers.
        *num_hidden*: columns at the end that only decide on the color of a row.
        *is_cut*: whether cells are cut to fit the terminal.
        *is_folded*: whether columns with one value are in a heading.
        *run_columns*: columns by which the rows are sorted: a heading is printed where one changes.
        *left_out_first*: columns that matter least, which are left out first where the terminal is too narrow.
        """
        self._out = out
        self._cell_texts = cell_texts
        self._painter = painter
        self._colors = RowColors(schema.names, painter)
        self._names = schema.names[: len(schema.names) - num_hidden]
        self._is_number = right_aligned or [pa.types.is_integer(field.type) for field in schema]
        # Numbers, times and flags are worthless if they are cut.
        self._can_be_cut = [
            not (pa.types.is_integer(field.type) or pa.types.is_timestamp(field.type))
            and not pa.types.is_boolean(field.type)
            for field in schema
        ]
        self._is_cut = is_cut
        self._is_folded = is_folded
        self._run_columns = run_columns
        self._left_out_first = left_out_first
        self._rows: list[Row] = []
        self._layout: RowLayout | None = None
        self._heading: Row | None = None
        self._has_lines = False
        self._widest = [display_width(name) for name in self._names]
        self._left_out: dict[str, None] = {}
        self._last_flush = monotonic()

    def write(self, batch: pa.RecordBatch) -> None:
        for rows in row_chunks(batch, BLOCK_ROWS):
            self._rows.extend(zip(*self._cell_texts.columns(rows), strict=True))
            is_first = self._layout is None
            enough = get_terminal_size().lines if is_first else BLOCK_ROWS
            if len(self._rows) >= enough or monotonic() > self._last_flush + MAX_DELAY_S:
                self.flush()

    @property
    def left_out(self) -> list[str]:
        """Columns for which the terminal has been too narrow."""
        return list(self._left_out)

    def finish(self) -> None:
        """Write the buffered rows; without any rows, the names of the columns."""
        if self._rows or self._layout is None:
            self._write_rows()

    def flush(self) -> None:
        """Write the buffered rows."""
        if self._rows:
            self._write_rows()

    def _write_rows(self) -> None:
        self._last_flush = monotonic()
        lines: list[str] = []
        row_layout = self._layout_of(self._rows)
        if self._layout is None or row_layout.visible != self._layout.visible:
            header = self._lines([tuple(self._names)], row_layout)[0]
            self._heading = None
        else:
            header = None
        self._layout = row_layout
        for heading, group in groupby(
            self._rows, lambda row: tuple(row[column] for column in row_layout.folded)
        ):
            rows = list(group)
            if heading != self._heading and row_layout.folded:
                if self._has_lines or lines:
                    lines.append("")
                lines.append(self._heading_line(heading, row_layout))
            self._heading = heading
            if header is not None:
                lines.append(self._painter.strong(header))
                header = None
            lines += map(self._colors.painted, self._lines(rows, row_layout), rows)
        if header is not None:
            lines.append(self._painter.strong(header))
        self._out.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
        self._out.flush()
        self._has_lines = True
        self._rows = []

    def _heading_line(self, heading: Row, row_layout: RowLayout) -> str:
        parts = zip(row_layout.folded, heading, strict=True)
        return ", ".join(
            f"{self._names[column]} {self._painter.strong(text)}" for column, text in parts
        )

    def _layout_of(self, rows: Sequence[Row]) -> RowLayout:
        """Return the layout for *rows*: the former one, as far as it still fits."""
        columns = list(zip(*rows, strict=True)) or [()] * len(self._names)
        folded = self._folded(rows, columns)
        visible = [column for column in range(len(self._names)) if column not in folded]
        for column in visible:
            widest = max(display_widths(columns[column]), default=0)
            self._widest[column] = max(self._widest[column], widest)
        visible, widths = self._fitting(visible)
        return RowLayout(tuple(folded), tuple(visible), tuple(widths))

    def _folded(self, rows: Sequence[Row], columns: Sequence[Sequence[str]]) -> list[int]:
        """Return the columns that are not repeated in each line."""
        if not rows or not self._is_folded:
            return []
        if self._layout is None:
            can_fold = [
                column
                for column, name in enumerate(self._names)
                if name not in (*self._run_columns, *NEVER_FOLDED)
                and (columns[column][0] in EMPTY or (len(rows) > 1 and name != "key"))
                and columns[column].count(columns[column][0]) == len(rows)
            ]
        else:
            can_fold = [
                each for each in self._layout.folded if self._names[each] not in self._run_columns
            ]
        folded = self._folded_runs(columns)
        folded += [column for column in can_fold if self._is_steady([columns[column]])]
        return sorted(folded) if len(folded) < len(self._names) else sorted(folded)[:-1]

    def _folded_runs(self, columns: Sequence[Sequence[str]]) -> list[int]:
        """Return the columns by which rows are sorted, as far as a heading pays; a partition is nothing without a topic."""
        runs = [column for column, name in enumerate(self._names) if name in self._run_columns]
        may_fold = runs if self._layout is None else [c for c in runs if c in self._layout.folded]
        while may_fold and not self._is_steady([columns[column] for column in may_fold]):
            may_fold.pop()
        return may_fold

    def _is_steady(self, columns: Sequence[Sequence[str]]) -> bool:
        """Return whether the values of *columns*, taken together, change so seldom that a heading pays."""
        values = list(zip(*columns, strict=True))
        num_changes = sum(before != after for before, after in pairwise(values))
        return not num_changes or num_changes + 1 <= len(values) // ROWS_PER_HEADING

    def _fitting(self, visible: list[int]) -> tuple[list[int], list[int]]:
        """Return the columns of *visible* that fit the terminal, and their widths."""
        if not self._is_cut:
            return visible, [min(self._widest[column], MAX_COLUMN_WIDTH) for column in visible]
        total = get_terminal_size().columns
        visible = list(visible)
        while True:
            widths = self._widths(visible, total)
            if sum(widths) + SEPARATOR * (len(visible) - 1) <= total or len(visible) == 1:
                return visible, [min(width, total) for width in widths]
            column = self._dispensable(visible)
            visible.remove(column)
            self._left_out[self._names[column]] = None

    def _dispensable(self, visible: Sequence[int]) -> int:
        """Return the column to leave out first."""
        names = [self._names[column] for column in visible]
        for name in self._left_out_first:
            if name in names:
                return visible[names.index(name)]
        # The last column stays if it is the one with the contents.
        return visible[-2 if self._can_be_cut[visible[-1]] else -1]

    def _widths(self, visible: Sequence[int], total: int) -> list[int]:
        """Return widths of columns that fit *total*, if texts can be cut to the least widths."""
        *others, last = visible
        total -= SEPARATOR * len(others)
        widths = {column: min(self._widest[column], MAX_COLUMN_WIDTH) for column in others}
        widths[last] = self._widest[last]
        texts = [column for column in visible if self._can_be_cut[column]]
        least = {column: min(widths[column], MIN_TEXT_WIDTH) for column in texts}
        wanted = widths[last]
        if self._can_be_cut[last]:
            widths[last] = min(wanted, GOOD_LAST_WIDTH)
        while (excess := sum(widths.values()) - total) > 0:
            column = max(texts, key=lambda each: widths[each] - least[each], default=None)
            if column is None or widths[column] <= least[column]:
                break
            widths[column] -= 1
        if self._can_be_cut[last] and excess < 0:
            widths[last] = min(widths[last] - excess, wanted)
        return [widths[column] for column in visible]

    def _lines(self, rows: Sequence[Row], row_layout: RowLayout) -> list[str]:
        """Return a line for each of *rows*."""
        columns = [
            [self._cut(row[column], column, width) for row in rows]
            for column, width in zip(row_layout.visible, row_layout.widths, strict=True)
        ]
        return aligned_lines(
            columns, row_layout.widths, [self._is_number[i] for i in row_layout.visible]
        )

    def _cut(self, text: str, index: int, width: int) -> str:
        if not self._is_cut:
            return text
        cut: Callable[[str, int], str] = (
            cut_in_middle if self._names[index] in NAMES_CUT_IN_MIDDLE else cut_at_end
        )
        return cut(text, width)
