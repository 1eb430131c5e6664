"""Colors on a terminal, and plain text everywhere else."""

import os
import sys

import click

from magicbyte_cli.display import printable

SEVERITY_COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}

ROW_COLORS = {
    **{"aborted": "red", "damaged": "red", "unreadable": "red", "over_limit": "red"},
    **{"open": "yellow", "undecided": "yellow", "withheld": "yellow"},
    **{"control": "magenta", "superseded": "bright_black", "duplicate": "bright_black"},
    **{"below_log_start": "bright_black", "outside_range": "bright_black"},
    **SEVERITY_COLORS,
}
"""Colors of rows, by outcome, disposition or severity; rows with another one are not colored."""

ROW_COLOR_COLUMNS = ("outcome", "disposition", "severity")
"""Columns that decide on the color of a row: the last one with a color in ROW_COLORS."""


class Painter:
    """Styles parts of a line if *is_on*; otherwise only escapes unprintable characters."""

    def __init__(self, is_on: bool) -> None:
        self.is_on = is_on

    @classmethod
    def for_stdout(cls) -> "Painter":
        """Return a painter for stdout: on as `--color` says, else as NO_COLOR or FORCE_COLOR say, else on a terminal."""
        context = click.get_current_context(silent=True)
        if context is not None and context.color is not None:
            return cls(context.color)
        if os.environ.get("NO_COLOR"):
            return cls(False)
        force = os.environ.get("FORCE_COLOR")
        return cls(force != "0" if force else sys.stdout.isatty())

    def severity(self, name: str) -> str:
        return self._styled(name, SEVERITY_COLORS[name], bold=name == "error")

    def bad(self, text: str) -> str:
        return self._styled(text, "red", bold=True)

    def good(self, text: str) -> str:
        return self._styled(text, "green")

    def strong(self, text: str) -> str:
        return self._styled(text, None, bold=True)

    def colored(self, text: str, color: str | None) -> str:
        return text if color is None else self._styled(text, color)

    def _styled(self, text: str, color: str | None, *, bold: bool = False) -> str:
        """Return *text*, whose unprintable characters are escaped, in *color*."""
        text = printable(text)
        return click.style(text, fg=color, bold=bold or None) if self.is_on else text
