"""Prints rows of a table on stdout, in the formats of `--format`, or as a template says."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, Self

import click
import pyarrow as pa
from click.core import ParameterSource

from magicbyte_cli.cell_texts import CellTexts
from magicbyte_cli.csv_writer import CsvWriter
from magicbyte_cli.expanded_text import ExpandedWriter
from magicbyte_cli.ndjson import NdjsonWriter
from magicbyte_cli.pager import paged_stdout
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.selection import (
    Decorator,
    bytes_option,
    flag_option,
    format_option,
    options_as,
    time_option,
)
from magicbyte_cli.template import RecordTemplate, TemplateWriter, parse_template
from magicbyte_cli.terminal_table import TerminalWriter
from magicbyte_cli.text_layout import TextLayout, finish, layout_flags, warn_of_left_out
from magicbyte_cli.text_table import TextWriter

RowWriter = NdjsonWriter | CsvWriter | TextWriter | TerminalWriter | ExpandedWriter | TemplateWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintOptions(TextLayout):
    """Values of the options that say how rows are printed. The fields are named as the parameters are."""

    bytes_as: str
    time_as: str | None
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

    def settled(self, ctx: click.Context) -> Self:
        """Return the options, in which --template and --expanded come before a default of --format.

        Raises UsageError for options that do not go together.
        """
        is_default = ctx.get_parameter_source("format_name") is not ParameterSource.COMMANDLINE
        if is_default and (self.template is not None or self.expanded):
            settled = replace(self, format_name="text")
        else:
            settled = self
        if self.template is not None and settled.format_name != "text":
            raise click.UsageError(
                f"--template cannot be combined with --format {settled.format_name}"
            )
        settled.check_layout("--template" if self.template is not None else settled.format_name)
        return settled

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
        return self.table_writer(out, schema, cell_texts=cell_texts, num_hidden=num_hidden)


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
    warn_of_left_out(writer)


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
        *layout_flags,
        flag_option(
            "--no-pager",
            help="On a terminal, print longer output at once instead of in a pager, which is the command in "
            "MAGICBYTE_PAGER or PAGER, else less.",
        ),
        argument="print_as",
    )
