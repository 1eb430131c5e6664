"""Layout of rows of text: lines that fit a terminal, whole lines, or blocks; and its options for all commands with rows."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, Any, Self

import click
import pyarrow as pa
from click.core import ParameterSource

from magicbyte_cli.cell_texts import CellTexts
from magicbyte_cli.expanded_text import ExpandedWriter
from magicbyte_cli.painter import Painter
from magicbyte_cli.selection import Decorator, flag_option, format_option, options_as
from magicbyte_cli.stderr_messages import warn
from magicbyte_cli.terminal_table import LEFT_OUT_FIRST, RUN_COLUMNS, TerminalWriter
from magicbyte_cli.text_table import TextWriter

layout_flags: tuple[Decorator, ...] = (
    flag_option(
        "--expanded",
        "-x",
        help="Print each row as a block with a line for each column, as psql does with \\x. Nothing is cut.",
    ),
    flag_option(
        "--no-trunc",
        help="On a terminal, print whole cells, and all columns, however narrow the terminal is. Elsewhere "
        "nothing is ever cut.",
    ),
)
"""Decorators that add `--expanded` and `--no-trunc`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLayout:
    """Values of the options `--format`, `--expanded` and `--no-trunc`. The fields are named as the parameters are."""

    format_name: str
    expanded: bool
    no_trunc: bool

    @property
    def is_text(self) -> bool:
        """True if rows are text with columns, for people."""
        return self.format_name == "text"

    def settled(self, ctx: click.Context) -> Self:
        """Return the options, in which --expanded comes before a default of --format.

        Raises UsageError for options that do not go together.
        """
        is_default = ctx.get_parameter_source("format_name") is not ParameterSource.COMMANDLINE
        settled = replace(self, format_name="text") if is_default and self.expanded else self
        settled.check_layout(settled.format_name)
        return settled

    def check_layout(self, chosen_form: str) -> None:
        """Raise UsageError if options of text were given for *chosen_form*, which is no text with columns."""
        for is_given, option in ((self.expanded, "--expanded"), (self.no_trunc, "--no-trunc")):
            if is_given and not self.is_text:
                raise click.UsageError(f"{option} applies to text, not to {chosen_form}")

    def table_writer(
        self,
        out: IO[bytes],
        schema: pa.Schema,
        *,
        cell_texts: CellTexts | None = None,
        right_aligned: Sequence[bool] | None = None,
        num_hidden: int = 0,
        is_folded: bool = True,
        is_file: bool = False,
        run_columns: Sequence[str] = RUN_COLUMNS,
        left_out_first: Sequence[str] = LEFT_OUT_FIRST,
    ) -> TextWriter | TerminalWriter | ExpandedWriter:
        """Return a writer of text to *out*, which goes to stdout unless it is a file.

        *right_aligned*: whether each column is aligned on the right. Default: columns of integers.
        *num_hidden*: columns at the end that only decide on the color of a row.
        *is_folded*: whether columns with one value are in a heading on a terminal.
        *is_file*: whether *out* is a file, which gets whole lines without colors.
        *run_columns*: columns by which the rows are sorted: a terminal has a heading where one changes.
        *left_out_first*: columns that are left out first on a narrow terminal.
        """
        cell_texts = cell_texts or CellTexts(bytes_as="text")
        painter = Painter(False) if is_file else Painter.for_stdout()
        if self.expanded:
            return ExpandedWriter(
                out, schema, cell_texts=cell_texts, painter=painter, num_hidden=num_hidden
            )
        if sys.stdout.isatty() and not is_file:
            return TerminalWriter(
                out,
                schema,
                cell_texts=cell_texts,
                painter=painter,
                right_aligned=right_aligned,
                num_hidden=num_hidden,
                is_cut=not self.no_trunc,
                is_folded=is_folded,
                run_columns=run_columns,
                left_out_first=left_out_first,
            )
        return TextWriter(
            out,
            schema,
            cell_texts=cell_texts,
            painter=painter,
            right_aligned=right_aligned,
            num_hidden=num_hidden,
        )

    def print_batch(
        self,
        batch: pa.RecordBatch,
        *,
        run_columns: Sequence[str] = RUN_COLUMNS,
        left_out_first: Sequence[str] = LEFT_OUT_FIRST,
    ) -> None:
        """Print the rows of *batch* on stdout as text. `table_writer` has the same parameters."""
        writer = self.table_writer(
            sys.stdout.buffer,
            batch.schema,
            run_columns=run_columns,
            left_out_first=left_out_first,
        )
        writer.write(batch)
        finish(writer)
        warn_of_left_out(writer)


def layout_options(format_help: str, *more_formats: str) -> Decorator:
    """Return a decorator that adds the options of TextLayout and passes them on as `text_layout`."""
    return options_as(
        TextLayout, format_option(format_help, *more_formats), *layout_flags, argument="text_layout"
    )


def finish(writer: Any) -> None:
    """Write the buffered rows of *writer*, and the names of the columns if there were no rows."""
    if isinstance(writer, TerminalWriter):
        writer.finish()
    else:
        writer.flush()


def warn_of_left_out(writer: object) -> None:
    """Print which columns did not fit the terminal."""
    if isinstance(writer, TerminalWriter) and writer.left_out:
        names = ", ".join(writer.left_out)
        warn(f"columns that do not fit this terminal: {names}; --expanded and --no-trunc show them")
