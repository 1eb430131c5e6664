"""The page docs/reference/commands.md: every command with its arguments, options and examples."""

import re
from collections.abc import Iterator
from inspect import cleandoc

import click

from magicbyte_cli import main
from magicbyte_tools.reference.anchors import anchored

NOTE = "<!-- Generated from tools/magicbyte_cli by `make docs`. Do not edit. -->"

INTRODUCTION = """\
# Commands

Every command and every option of `magicbyte`, as `magicbyte COMMAND --help` has them. Results go to stdout, everything else to
stderr; [Exit statuses](exit-statuses.md) lists what a command returns, and [NDJSON](ndjson.md) the objects that
`--format ndjson` prints.

A PATH is a segment, a partition folder, a `log.dir`, or a folder that contains any of these, on a disk or
[in an object store](../object-stores.md). No command writes below a PATH.
"""

DEFAULT_IN_HELP = re.compile(r"\s*\[default: (.*)\]$", re.DOTALL)
"""A default that an option states in its help text, because it is computed."""


def root_context() -> click.Context:
    """Return the context of the command `magicbyte`, whose settings its subcommands inherit."""
    return click.Context(main, info_name="magicbyte", **main.context_settings)


def commands() -> dict[str, click.Command]:
    """Return the subcommands by name."""
    context = root_context()
    found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def commands_page() -> str:
    """Return the page as Markdown."""
    root = root_context()
    all_commands = commands()
    lines = [NOTE, INTRODUCTION, "| command | |", "|---|---|"]
    for name, command in all_commands.items():
        link = f"[`magicbyte {name}`](#magicbyte-{name})"
        lines.append(f"| {link} | {cell(command.get_short_help_str(200))} |")
    lines += ["", "## magicbyte", "", *_description(main)]
    lines += _options(main, root, "magicbyte")
    for name, command in all_commands.items():
        context = click.Context(command, info_name=name, parent=root)
        lines += [f"## magicbyte {name}", "", *_description(command)]
        lines += ["```text", usage(command, context), "```", ""]
        lines += _options(command, context, name)
        lines += _examples(command)
    return "\n".join(lines).rstrip() + "\n"


def usage(command: click.Command, context: click.Context) -> str:
    """Return the line that shows how *command* is called."""
    return f"{context.command_path} {' '.join(command.collect_usage_pieces(context))}"


def _description(command: click.Command) -> Iterator[str]:
    """Yield the paragraphs of the help text of *command*, each as one line."""
    for paragraph in re.split(r"\n\s*\n", cleandoc(command.help or "")):
        if paragraph.startswith("\b"):
            yield from ("```text", paragraph.removeprefix("\b").strip("\n"), "```", "")
        else:
            yield from (prose(" ".join(paragraph.split())), "")


def _options(command: click.Command, context: click.Context, name: str) -> Iterator[str]:
    rows = [row for each in command.get_params(context) if (row := option_row(each, context, name))]
    if rows:
        yield from ("| option | |", "|---|---|", *rows, "")


def option_row(parameter: click.Parameter, context: click.Context, command_name: str) -> str | None:
    """Return the row of an option in the table of its command; None for an argument or a hidden option."""
    if not isinstance(parameter, click.Option) or parameter.hidden:
        return None
    words = ", ".join([*parameter.opts, *parameter.secondary_opts])
    sentence, stated_default = sentence_of(parameter)
    default = stated_default or str(parameter.get_help_extra(context).get("default", ""))
    parts = [cell(sentence)]
    if isinstance(parameter.type, click.Choice):
        parts.append(f"One of {' '.join(f'`{choice}`' for choice in parameter.type.choices)}.")
    elif not (parameter.is_flag or parameter.count):
        words = f"{words} {parameter.make_metavar(context)}"
    if parameter.multiple and "repeated" not in sentence:
        parts.append("May be repeated.")
    if parameter.required:
        parts.append("Required.")
    elif default:
        parts.append(f"Default: {cell(default) if ' ' in default else f'`{default}`'}.")
    name = anchored(option_anchor(command_name, parameter), f"`{words}`".replace("|", "\\|"))
    return f"| {name} | {' '.join(parts)} |"


def option_anchor(command_name: str, option: click.Option) -> str:
    """Return the anchor of an option: the names of command and option, which no heading has."""
    return f"{command_name}.{max(option.opts, key=len)}"


def sentence_of(option: click.Option) -> tuple[str, str]:
    """Return the help text of *option* without the default that it states, and that default."""
    text = " ".join((option.help or "").split())
    match = DEFAULT_IN_HELP.search(text)
    return (text[: match.start()], match[1]) if match else (text, "")


NAME_IN_HELP = re.compile(r"(?<![\w-])(--[a-z][a-z-]*[a-z]|MAGICBYTE_[A-Z_]+)")
"""Options and environment variables, which help screens name without backquotes."""


def prose(text: str) -> str:
    """Return *text* of a help screen in Markdown: names of options are code, and nothing is emphasis."""
    parts = re.split(r"(`[^`]*`)", text)
    for number in range(0, len(parts), 2):
        escaped = re.sub(r"([<>*])", r"\\\1", parts[number])
        words = NAME_IN_HELP.split(escaped)
        words[0::2] = [word.replace("_", "\\_") for word in words[0::2]]
        words[1::2] = [f"`{word}`" for word in words[1::2]]
        parts[number] = "".join(words)
    return "".join(parts)


def cell(text: str) -> str:
    """Return *text* in Markdown as the cell of a table."""
    return prose(text).replace("|", "\\|")


def _examples(command: click.Command) -> Iterator[str]:
    """Yield the examples of *command*, from the end of its help text."""
    text = cleandoc((command.epilog or "").replace("\b", "").lstrip("\n"))
    heading, _, examples = text.partition("\n")
    if heading.strip() == "Examples:":
        yield from ("```text", cleandoc(examples), "```", "")
