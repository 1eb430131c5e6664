"""Writer of generated Python that keeps track of the indentation."""

from collections.abc import Iterator
from contextlib import contextmanager

from magicbyte_tools.generate.columnar.arithmetic import Expression


class SourceWriter:
    """Lines of Python at the current indentation."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def add(self, *lines: str) -> None:
        """Add *lines*, indented."""
        for line in lines:
            self._lines.append("    " * self._depth + line if line else "")

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        """Add *opening*, and indent the lines that are added in the block."""
        self.add(opening)
        self._depth += 1
        yield
        self._depth -= 1

    def when(self, condition: str, *lines: str) -> None:
        """Add *lines* under *condition*."""
        with self.block(f"if {condition}:"):
            self.add(*lines)

    @contextmanager
    def under(self, condition: Expression | None) -> Iterator[None]:
        """Put the lines of the block under *condition*, if there is one."""
        if condition is None:
            yield
        else:
            with self.block(f"if {condition.source}:"):
                yield

    def text(self) -> str:
        """Return all lines as one text."""
        return "\n".join(self._lines)
