"""`magicbyte man`: prints manual pages, or writes them to a folder."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from magicbyte import __version__
from magicbyte_cli import parameters
from magicbyte_cli.defaults import CONFIG, long_options, variable_name
from magicbyte_cli.display import counted
from magicbyte_cli.exit_statuses import EXIT_STATUSES
from magicbyte_cli.option_completion import complete_command
from magicbyte_cli.output_files import check_writable, write_whole
from magicbyte_cli.stderr_messages import warn

ENVIRONMENT = (
    (CONFIG, "Configuration file with defaults of options, in TOML; empty for none."),
    ("MAGICBYTE_COMMAND_OPTION", "Default of an option, such as MAGICBYTE_DUMP_FORMAT=ndjson."),
    ("MAGICBYTE_PAGER, PAGER", "Pager for text on a terminal; empty or cat for none."),
    ("NO_COLOR, FORCE_COLOR", "Print without, or with, colors, unless --color says otherwise."),
    ("MAGICBYTE_TRACEBACK", "With any value, an unexpected error shows its traceback."),
    ("TMPDIR", "Folder of temporary files; else /var/tmp."),
)
"""Environment variables that all commands read."""


@click.command(
    short_help="Print the manual page of a command.",
    epilog="""\b
    Examples:
      magicbyte man dump | man -l -
      magicbyte man -o ~/.local/share/man/man1
    """,
)
@click.argument("name", metavar="[COMMAND]", required=False, shell_complete=complete_command)
@click.option(
    "-o",
    "folder",
    metavar="DIR",
    type=parameters.OutPath(),
    help="Write the pages of all commands to this folder, such as ~/.local/share/man/man1.",
)
@click.option("--overwrite", is_flag=True, help="Replace pages in DIR that exist.")
@click.pass_context
def man(ctx: click.Context, name: str | None, folder: Path | None, overwrite: bool) -> None:
    """Print the manual page of COMMAND, or of magicbyte itself, in the format of man.

    The pages have the same texts as --help.
    """
    root_context = ctx.find_root()
    group = root_context.command
    assert isinstance(group, click.Group)
    if folder is None:
        page = command_page(root_context, name) if name is not None else main_page(root_context)
        click.echo(page, nl=False)
        return
    if name is not None:
        raise click.UsageError("-o writes all pages and cannot be combined with COMMAND")
    pages = {"magicbyte.1": main_page(root_context)}
    for command_name in group.list_commands(root_context):
        pages[f"magicbyte-{command_name}.1"] = command_page(root_context, command_name)
    folder.mkdir(parents=True, exist_ok=True)
    for file_name in pages:
        check_writable(folder / file_name, replace=overwrite)
    for file_name, page in pages.items():
        write_whole(folder / file_name, page.encode())
    warn(f"{folder}: {counted(len(pages), 'page')}")


def main_page(root_context: click.Context) -> str:
    """Return the page of `magicbyte`, with a list of the commands."""
    group = root_context.command
    assert isinstance(group, click.Group)
    lines = [*_head("magicbyte", "read Kafka log directories without a broker")]
    lines += [".SH SYNOPSIS", r"\fBmagicbyte\fR \fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]"]
    lines += [".SH DESCRIPTION", *_paragraphs(group.help or ""), ".SH COMMANDS"]
    names = group.list_commands(root_context)
    for name in names:
        command = group.get_command(root_context, name)
        assert command is not None
        lines += [".TP", rf"\fB{_escaped(name)}\fR", _escaped(command.get_short_help_str(200))]
    lines += [*_options(group, root_context), *_examples(group.epilog or "")]
    lines += [
        *_closing(),
        ".SH SEE ALSO",
        ", ".join(rf"\fBmagicbyte-{_escaped(n)}\fR(1)" for n in names),
    ]
    return "\n".join(lines) + "\n"


def command_page(root_context: click.Context, name: str) -> str:
    """Return the page of the command *name*; UsageError if there is none."""
    group = root_context.command
    assert isinstance(group, click.Group)
    _, command, _ = group.resolve_command(root_context, [name])
    assert command is not None
    with click.Context(command, info_name=name, parent=root_context) as ctx:
        usage = " ".join(command.collect_usage_pieces(ctx))
        lines = [*_head(f"magicbyte-{name}", command.get_short_help_str(200).rstrip("."))]
        lines += [".SH SYNOPSIS", rf"\fBmagicbyte {_escaped(name)}\fR {_escaped(usage)}"]
        lines += [".SH DESCRIPTION", *_paragraphs(command.help or "")]
        lines += [*_options(command, ctx), *_examples(command.epilog or "")]
    variables = [variable_name(name, option_name) for option_name, _ in long_options(command)]
    lines += [*_closing(variables[0] if variables else None), ".SH SEE ALSO", r"\fBmagicbyte\fR(1)"]
    return "\n".join(lines) + "\n"


def _head(title: str, sentence: str) -> Iterator[str]:
    yield f'.TH "{title.upper()}" 1 "" "magicbyte {__version__}" "magicbyte"'
    yield ".ad l"
    yield ".SH NAME"
    yield rf"{_escaped(title)} \- {_escaped(sentence[:1].lower() + sentence[1:])}"


def _options(subcommand: click.Command, ctx: click.Context) -> Iterator[str]:
    yield ".SH OPTIONS"
    for parameter in subcommand.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None and record[1]:
            yield ".TP"
            yield rf"\fB{_escaped(record[0])}\fR"
            yield _escaped(" ".join(record[1].split()))


def _examples(epilog: str) -> Iterator[str]:
    lines = [line.strip() for line in epilog.replace("\b", "").splitlines()]
    examples = [line for line in lines if line and line != "Examples:"]
    if examples:
        yield ".SH EXAMPLES"
        yield ".nf"
        yield from map(_escaped, examples)
        yield ".fi"


def _closing(variable: str | None = None) -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for status, sentence in EXIT_STATUSES.items():
        yield ".TP"
        yield rf"\fB{status}\fR"
        yield _escaped(sentence)
    yield ".SH ENVIRONMENT"
    if variable is not None:
        yield _escaped(f"Each option has a variable with its default, such as {variable}.")
    for names, sentence in ENVIRONMENT:
        yield ".TP"
        yield rf"\fB{_escaped(names)}\fR"
        yield _escaped(sentence)
    yield ".SH FILES"
    yield ".TP"
    yield r"\fI~/.config/magicbyte/config.toml\fR"
    yield _escaped(
        'Defaults of options: a table for each command, such as [dump], with lines such as format = "ndjson". '
        "It is below XDG_CONFIG_HOME if that is set."
    )


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.replace("\b", "").strip().split("\n\n")):
        if number:
            yield ".PP"
        yield _escaped(" ".join(paragraph.split()))


def _escaped(text: str) -> str:
    """Return *text* as roff shows it: backslashes, hyphens, and dots and quotes at the beginning of a line."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped, flags=re.MULTILINE)
