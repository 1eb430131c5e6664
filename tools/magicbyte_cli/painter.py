"""Colors on a terminal, and plain text everywhere else."""

import os
import sys

import click

from magicbyte_cli.display import printable

SEVERITY_COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}


class Painter:
    """Styles parts of a line if *is_on*; otherwise only escapes unprintable characters."""

    def __init__(self, is_on: bool) -> None:
        self.is_on = is_on

    @classmethod
    def for_stdout(cls) -> "Painter":
        """Return a painter for stdout: on if that is a terminal, and NO_COLOR is not set."""
        return cls(sys.stdout.isatty() and not os.environ.get("NO_COLOR"))

    def severity(self, name: str) -> str:
        return self._styled(name, SEVERITY_COLORS[name], bold=name == "error")

    def bad(self, text: str) -> str:
        return self._styled(text, "red", bold=True)

    def good(self, text: str) -> str:
        return self._styled(text, "green")

    def strong(self, text: str) -> str:
        return self._styled(text, None, bold=True)

    def _styled(self, text: str, color: str | None, *, bold: bool = False) -> str:
        """Return *text*, whose unprintable characters are escaped, in *color*."""
        text = printable(text)
        return click.style(text, fg=color, bold=bold or None) if self.is_on else text
