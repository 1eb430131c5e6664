"""Reads the tables that Kafka's command-line tools print, whose cells are aligned below the names of columns."""

import re
from pathlib import Path

STDERR = "--- stderr"


def tool_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of all tables in the output of a tool, without what it printed on stderr."""
    return rows_of(path.read_text().partition(STDERR)[0])


def rows_of(text: str) -> list[dict[str, str]]:
    """Return the rows of all tables in *text* by column name. A table begins with a line of names in capitals."""
    rows: list[dict[str, str]] = []
    names: list[tuple[str, int]] = []
    for line in text.splitlines():
        if not line.strip():
            names = []
        elif _is_header(line):
            # "COORDINATOR (ID)" and the like are one name.
            names = [(m[0], m.start()) for m in re.finditer(r"\S+(?: \(\S+\))?", line)]
        elif names:
            starts = [_start_of_word(line, start) for _, start in names]
            ends = [*starts[1:], None]
            cells = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
            rows.append(dict(zip((name for name, _ in names), cells, strict=True)))
    return rows


def _start_of_word(line: str, position: int) -> int:
    """Return where the word at *position* of *line* begins: some cells begin before the name of their column."""
    while 0 < position < len(line) and not line[position - 1].isspace() and line[position] != " ":
        position -= 1
    return position


def _is_header(line: str) -> bool:
    return line.startswith("GROUP ") and not re.search("[a-z]", line)


def tabbed_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of the output of a tool whose cells end with tabs."""
    return tabbed_rows_of(path.read_text().partition(STDERR)[0])


def tabbed_rows_of(text: str) -> list[dict[str, str]]:
    """Return the rows of a table whose cells end with tabs, as kafka-transactions prints it."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    header, *data = ([cell.strip() for cell in line.split("\t")] for line in lines)
    return [dict(zip(header, cells, strict=False)) for cells in data]
