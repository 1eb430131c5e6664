"""Options that all commands have, and the environment variables of all options."""

import click

from magicbyte_cli.defaults import name_variables
from magicbyte_cli.help_pages import print_short_help

COLORS = {"auto": None, "always": True, "never": False}
"""Values of `--color`; None leaves the decision to the environment and the terminal."""


def short_help_option() -> click.Option:
    """Return the option `-h`."""
    return click.Option(
        ["-h"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=print_short_help,
        help="Show the most used options on one screen, and exit.",
    )


def _set_color(ctx: click.Context, _: click.Parameter, name: str) -> None:
    ctx.color = COLORS[name]


def with_common_options(subcommand: click.Command, name: str) -> click.Command:
    """Add the options that all commands have to the subcommand called *name*, unless it has them already."""
    names = {parameter.name for parameter in subcommand.params}
    if "color" in names:
        return subcommand
    if "paths" in names:
        _read_archives(subcommand)
    subcommand.params.append(
        click.Option(
            ["--color"],
            type=click.Choice(tuple(COLORS)),
            default="auto",
            expose_value=False,
            is_eager=True,
            callback=_set_color,
            help="Print with colors: always, never, or on a terminal only. The environment variables NO_COLOR and "
            "FORCE_COLOR do the same.",
        )
    )
    name_variables(subcommand, name)
    subcommand.params.append(short_help_option())
    return subcommand


def _read_archives(subcommand: click.Command) -> None:
    """Let the paths of *subcommand* be archives and standard input."""
    # `magicbyte --version` needs no storage.
    from magicbyte_cli import parameters
    from magicbyte_cli.unpacked_paths import keep_limit, unpacked

    for parameter in subcommand.params:
        if parameter.name == "paths":
            parameter.callback = unpacked
    subcommand.params.append(
        click.Option(
            ["--unpack-limit"],
            type=parameters.size,
            default="16GiB",
            metavar="SIZE",
            expose_value=False,
            is_eager=True,
            callback=keep_limit,
            help="Most bytes that are unpacked from archives (.gz, .zst, .tar, .tar.gz, .tar.zst, .zip) and from standard "
            "input, the PATH -, to a temporary folder below TMPDIR, else /var/tmp.",
        )
    )
