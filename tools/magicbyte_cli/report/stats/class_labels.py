"""What rows and classes of `stats` are called."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from magicbyte_cli.report.display import Shown, size

Row = dict[str, Any]

TOGETHER = "together"
"""What all rows as one are called."""


def named(rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    """Yield *rows* with what they are of; where several are called alike, with their log.dirs."""
    names = [name_of(row) for row in rows]
    counts = Counter(names)
    for name, row in zip(names, rows, strict=True):
        yield f"{row['log_dir']}/{name}" if counts[name] > 1 and row["log_dir"] else name, row


def held_longest(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """Return those of *rows* with segments that are held, the longest first, with their names."""
    held = [(name, row) for name, row in named(rows) if row["held_ms"]]
    return sorted(held, key=lambda pair: -pair[1]["held_ms"])


def name_of(row: Row) -> str:
    """Return what *row* is of: a segment is told by its base offset."""
    place = row["topic"] or "(no topic)"
    if row["partition"] is not None:
        place += f"-{row['partition']}"
    if row["file"] is None:
        return place
    # In remote storage the id of the upload stands behind the offset.
    base, mark, upload = row["file"].partition(".")[0].partition("-")
    return f"{place}/{base.lstrip('0') or '0'}{mark}{upload}"


def class_names(classes: Sequence[Row], shown: Shown) -> Iterator[str]:
    """Yield what each of *classes*, which double, is called; *shown* makes text of a number."""
    for row in classes:
        least = row["at_least"]
        if least < 2:
            yield shown(least)
        elif shown is size:
            yield f"{shown(least)} up to {shown(2 * least)}"
        else:
            yield f"{shown(least)} to {shown(2 * least - 1)}"


def ratio(plain: int | None, stored: int) -> str | None:
    """Return how many bytes one that is stored would be without a codec; None where nobody knows."""
    return None if plain is None or not stored else f"{plain / stored:.2f}"
