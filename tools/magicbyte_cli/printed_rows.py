"""Prints rows of a table on stdout, in the formats of `--format`, or as a template says."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO

import click
import pyarrow as pa
from click.core import ParameterSource

from magicbyte_cli.cell_texts import CellTexts
from magicbyte_cli.csv_writer import CsvWriter
from magicbyte_cli.expanded_text import ExpandedWriter
from magicbyte_cli.ndjson import NdjsonWriter
from magicbyte_cli.pager import paged_stdout
from magicbyte_cli.painter import Painter
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.selection import (
    Decorator,
    bytes_option,
    flag_option,
    format_option,
    options_as,
    time_option,
)
from magicbyte_cli.stderr_messages import warn
from magicbyte_cli.template import RecordTemplate, TemplateWriter, parse_template
from magicbyte_cli.terminal_table import TerminalWriter
from magicbyte_cli.text_table import TextWriter

RowWriter = NdjsonWriter | CsvWriter | TextWriter | TerminalWriter | ExpandedWriter | TemplateWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintOptions:
    """Values of the options that say how rows are printed. The fields are named as the parameters are."""

    format_name: str
    bytes_as: str
    time_as: str | None
    expanded: bool
    no_trunc: bool
    no_pager: bool
    template: RecordTemplate | None = None

    @property
    def is_text(self) -> bool:
        """True if rows are text with columns, for people."""
        return self.format_name == "text" and self.template is None

    @property
    def times_as(self) -> str:
        """Format of times: by default ISO 8601 in text and CSV."""
        default = "iso" if self.is_text or self.format_name == "csv" else "ms"
        return self.time_as or default

    def settled(self, ctx: click.Context) -> "PrintOptions":
        """Return the options, in which --template and --expanded come before a default of --format.

        Raises UsageError for options that do not go together.
        """
        is_default = ctx.get_parameter_source("format_name") is not ParameterSource.COMMANDLINE
        if is_default and (self.template is not None or self.expanded):
            settled = replace(self, format_name="text")
            settled._check()
            return settled
        self._check()
        return self

    def _check(self) -> None:
        if self.template is not None and self.format_name != "text":
            raise click.UsageError(
                f"--template cannot be combined with --format {self.format_name}"
            )
        other = "--template" if self.template is not None else self.format_name
        for is_given, option in ((self.expanded, "--expanded"), (self.no_trunc, "--no-trunc")):
            if is_given and not self.is_text:
                raise click.UsageError(f"{option} applies to text, not to {other}")

    def writer(self, out: IO[bytes], schema: pa.Schema, *, num_hidden: int = 0) -> RowWriter:
        """Return a writer of rows to *out*, which goes to stdout.

        *num_hidden*: columns at the end that only decide on the color of a line of text.
        """
        if self.template is not None:
            return TemplateWriter(
                out,
                self.template,
                bytes_as=self.bytes_as,
                times_as=self.times_as,
                is_terminal=sys.stdout.isatty(),
            )
        if self.format_name == "csv":
            return CsvWriter(out, schema, bytes_as=self.bytes_as, times_as=self.times_as)
        if self.format_name == "ndjson":
            return NdjsonWriter(out, schema, bytes_as=self.bytes_as, times_as=self.times_as)
        cell_texts = CellTexts(bytes_as=self.bytes_as, times_as=self.times_as)
        if self.expanded:
            return ExpandedWriter(
                out,
                schema,
                cell_texts=cell_texts,
                painter=Painter.for_stdout(),
                num_hidden=num_hidden,
            )
        return text_writer(
            out, schema, cell_texts=cell_texts, num_hidden=num_hidden, is_cut=not self.no_trunc
        )


def text_writer(
    out: IO[bytes],
    schema: pa.Schema,
    *,
    cell_texts: CellTexts | None = None,
    right_aligned: Sequence[bool] | None = None,
    num_hidden: int = 0,
    is_cut: bool = True,
    is_folded: bool = True,
) -> TextWriter | TerminalWriter:
    """Return a writer of aligned columns to *out*: one that knows a terminal's width, or one that cuts nothing."""
    cell_texts = cell_texts or CellTexts(bytes_as="text")
    painter = Painter.for_stdout()
    if sys.stdout.isatty():
        return TerminalWriter(
            out,
            schema,
            cell_texts=cell_texts,
            painter=painter,
            right_aligned=right_aligned,
            num_hidden=num_hidden,
            is_cut=is_cut,
            is_folded=is_folded,
        )
    return TextWriter(
        out,
        schema,
        cell_texts=cell_texts,
        painter=painter,
        right_aligned=right_aligned,
        num_hidden=num_hidden,
    )


def print_rows(
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    print_as: PrintOptions,
    limit: int | None,
    *,
    num_hidden: int = 0,
) -> None:
    """Write the rows of *batches* to stdout, or to a pager, at most *limit*.

    Messages on stderr belong after it: a pager would hide them.
    """
    is_text = print_as.is_text or print_as.template is not None
    with paged_stdout(is_wanted=is_text and not print_as.no_pager) as out:
        writer = print_as.writer(out, schema, num_hidden=num_hidden)
        write_rows(writer, batches, limit)
    _warn_of_left_out(writer, "--expanded and --no-trunc show them")


def write_rows(writer: RowWriter, batches: Iterator[pa.RecordBatch], limit: int | None) -> None:
    """Write the rows of *batches*, at most *limit*, and show the progress if they do not go to a terminal."""
    num_rows = 0
    with ProgressBar(is_shown=sys.stderr.isatty() and not sys.stdout.isatty()) as bar:
        for batch in batches:
            is_last = limit is not None and num_rows + batch.num_rows >= limit
            if limit is not None and is_last:
                writer.write(batch.slice(0, limit - num_rows))
            else:
                writer.write(batch)
            num_rows += batch.num_rows
            bar.show(num_rows)
            if is_last:
                break
    finish(writer)


def finish(writer: RowWriter) -> None:
    """Write the buffered rows of *writer*, and the names of the columns if there were no rows."""
    if isinstance(writer, TerminalWriter):
        writer.finish()
    else:
        writer.flush()


def print_text(batch: pa.RecordBatch) -> None:
    """Print the rows of *batch* on stdout as aligned columns."""
    writer = text_writer(sys.stdout.buffer, batch.schema, is_folded=False)
    writer.write(batch)
    finish(writer)
    _warn_of_left_out(writer, "a wider one shows them, and a pipe into `less -S`")


def _warn_of_left_out(writer: RowWriter, advice: str) -> None:
    """Print which columns did not fit the terminal."""
    if isinstance(writer, TerminalWriter) and writer.left_out:
        warn(f"columns that do not fit this terminal: {', '.join(writer.left_out)}; {advice}")


def _template(
    ctx: click.Context, parameter: click.Parameter, text: str | None
) -> RecordTemplate | None:
    return None if text is None else parse_template(text)


template_option = click.option(
    "--template",
    "-f",
    callback=_template,
    metavar="TEMPLATE",
    help="Print each record as TEMPLATE says, with the letters of kcat: %t topic, %p partition, %o offset, %k key, "
    "%s value, %K and %S their sizes in bytes (-1 for null), %T timestamp, %h headers, %% a percent sign; \\n, \\t, "
    "\\r, \\0, \\xNN. A line feed follows unless TEMPLATE ends in such an escape.",
)


def print_options(format_help: str, *decorators: Decorator) -> Decorator:
    """Return a decorator that adds the options of PrintOptions and passes them on as `print_as`.

    *decorators* add more of them.
    """
    return options_as(
        PrintOptions,
        format_option(format_help, "csv"),
        *decorators,
        bytes_option,
        time_option,
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
        flag_option(
            "--no-pager",
            help="On a terminal, print longer output at once instead of in a pager, which is the command in "
            "MAGICBYTE_PAGER or PAGER, else less.",
        ),
        argument="print_as",
    )
