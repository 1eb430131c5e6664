"""`--format` of the commands that show something: lines to read, NDJSON, or more."""

import click

from magicbyte_cli.selection import Decorator


def format_option(help_text: str, *others: str) -> Decorator:
    """Return the option, passed on as `format_name`: `text`, the default, `ndjson`, or of *others*."""
    return click.option(
        "--format",
        "format_name",
        type=click.Choice(("text", "ndjson", *others)),
        default="text",
        show_default=True,
        help=help_text,
    )
