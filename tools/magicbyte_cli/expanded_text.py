r"""Rows as blocks, a line for each column, as psql prints them with `\x`: for long values and many columns."""

from typing import IO

import pyarrow as pa

from magicbyte_cli.cell_texts import CellTexts
from magicbyte_cli.display_width import display_width
from magicbyte_cli.painter import Painter
from magicbyte_cli.row_chunks import row_chunks
from magicbyte_cli.text_table import RowColors

TITLE_WIDTH = 60
CHUNK_ROWS = 100


class ExpandedWriter:
    """Writes Arrow batches to *out*, each row as a block under a line that names it. Nothing is cut."""

    def __init__(
        self,
        out: IO[bytes],
        schema: pa.Schema,
        *,
        cell_texts: CellTexts,
        painter: Painter,
        num_hidden: int = 0,
    ) -> None:
        """Begin. *num_hidden*: columns at the end that only decide on the color of a row."""
        self._out = out
        self._cell_texts = cell_texts
        self._painter = painter
        self._colors = RowColors(schema.names, painter)
        self._all_names = schema.names
        self._names = schema.names[: len(schema.names) - num_hidden]
        width = max(map(display_width, self._names), default=0)
        self._labels = [name.ljust(width) for name in self._names]
        self._num_rows = 0

    def write(self, batch: pa.RecordBatch) -> None:
        for chunk in row_chunks(batch, CHUNK_ROWS):
            lines = []
            for row in zip(*self._cell_texts.columns(chunk), strict=True):
                self._num_rows += 1
                title = f"-[ {self._title(row)} ]".ljust(TITLE_WIDTH, "-")
                lines.append(self._painter.strong(title))
                lines += (
                    self._colors.painted(f"{label}  {text}", row)
                    for label, text in zip(self._labels, row, strict=False)
                )
            self._out.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
            self._out.flush()

    def _title(self, texts: tuple[str, ...]) -> str:
        """Return the name of a row: `orders-0 offset 5` if it has one, else its number."""
        cells = dict(zip(self._all_names, texts, strict=True))
        if "offset" not in cells:
            return f"row {self._num_rows:,}"
        partition = "-".join(cells[name] for name in ("topic", "partition") if name in cells)
        return f"{partition} offset {cells['offset']}".lstrip()

    def flush(self) -> None:
        self._out.flush()
