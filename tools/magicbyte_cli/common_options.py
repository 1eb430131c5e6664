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
    return subcommand
