"""Options that all commands have."""

import click

COLORS = {"auto": None, "always": True, "never": False}
"""Values of `--color`; None leaves the decision to the environment and the terminal."""


def _set_color(ctx: click.Context, _: click.Parameter, name: str) -> None:
    ctx.color = COLORS[name]


def with_common_options(subcommand: click.Command) -> click.Command:
    """Add the options that all commands have to *subcommand*, unless it has them already."""
    names = {parameter.name for parameter in subcommand.params}
    if "color" not in names:
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
    if "paths" in names and "unpack_limit" not in names:
        _read_archives(subcommand)
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
