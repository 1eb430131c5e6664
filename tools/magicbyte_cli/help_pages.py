"""Help of one screen for `-h`, and man pages in roff, both from the options of the commands."""

import re
from collections.abc import Iterator
from textwrap import wrap

import click

RARE = {
    *("max-batch-bytes", "max-entry-bytes", "storage-option", "requests", "search", "replica"),
    *("no-fill", "color", "no-pager", "no-trunc", "schemas", "reader-schema", "where-header"),
    *("where-producer-id", "where-leader-epoch", "where-outcome", "include-internal", "quick"),
    *("bytes", "time", "on-damage", "disposition", "unpack-limit", "where-key", "where-value"),
    *("index-interval-bytes", "retention-ms", "max-message-bytes", "compacted", "processes"),
}
"""Options that the short help leaves out, without hyphens."""

MAX_OPTIONS = 18
"""Options that the short help shows, in the order of the long one."""


def print_short_help(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    """Print the short help of the command of *ctx*, and end; a callback for click."""
    if is_given and not ctx.resilient_parsing:
        click.echo("\n".join(short_help_lines(ctx)))
        ctx.exit()


def short_help_lines(ctx: click.Context) -> Iterator[str]:
    """Yield the usage, a sentence, and a line for each of the most used options, or each command."""
    command = ctx.command
    width = min(ctx.terminal_width or ctx.max_content_width or 80, 100)
    yield command.get_usage(ctx).replace("\n", " ")
    yield ""
    yield from wrap(
        _first_sentence(command.help or ""), width, initial_indent="  ", subsequent_indent="  "
    )
    yield ""
    if isinstance(command, click.Group):
        rows = [
            (name, each.get_short_help_str(200))
            for name in command.list_commands(ctx)
            if (each := command.get_command(ctx, name)) is not None
        ]
        more = f"Options and examples: {ctx.command_path} --help, {ctx.command_path} COMMAND -h"
    else:
        rows = [
            (record[0], _first_sentence(record[1]))
            for parameter in command.get_params(ctx)
            if isinstance(parameter, click.Option)
            and not any(name.lstrip("-") in RARE for name in parameter.opts)
            and not parameter.is_eager
            and (record := parameter.get_help_record(ctx)) is not None
        ][:MAX_OPTIONS]
        more = f"More options, and examples: {ctx.command_path} --help"
    label_width = min(max((len(label) for label, _ in rows), default=0), 34)
    for label, text in rows:
        yield _cut(f"  {_cut(label, label_width):<{label_width}}  {text}", width)
    yield ""
    yield more


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=[.;])\s", paragraph, maxsplit=1)[0].rstrip(";")


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"
