"""`--format` of the commands that show something: lines to read, or NDJSON."""

import click

from magicbyte_tools.cli.selection import Decorator


def format_option(help_text: str) -> Decorator:
    """Return the option, passed on as `format_name`: `text`, the default, or `ndjson`."""
    return click.option(
        "--format",
        "format_name",
        type=click.Choice(("text", "ndjson")),
        default="text",
        show_default=True,
        help=help_text,
    )
