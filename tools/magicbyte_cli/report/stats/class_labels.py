"""Names of the rows of `stats`, and of classes of sizes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

Row = dict[str, Any]

TOTAL = "total"
"""Name of the row with the sum of all rows."""


def named_rows(rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    """Yield *rows* with their names; rows with equal names also get their log.dirs."""
    names = [row_name(row) for row in rows]
    counts = Counter(names)
    for name, row in zip(names, rows, strict=True):
        yield f"{row['log_dir']}/{name}" if counts[name] > 1 and row["log_dir"] else name, row


def longest_delays(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """Return names and *rows* whose segments are deleted late, the longest delay first."""
    delayed = [(name, row) for name, row in named_rows(rows) if row["held_ms"]]
    return sorted(delayed, key=lambda pair: -pair[1]["held_ms"])


def row_name(row: Row) -> str:
    """Return the name of the topic, partition or segment of *row*: `orders`, `orders-0/4096`."""
    name: str = row["topic"] or "(no topic)"
    if row["partition"] is not None:
        name += f"-{row['partition']}"
    if row["file"] is None:
        return name
    # In remote storage the id of the upload follows the base offset.
    base, hyphen, upload = row["file"].partition(".")[0].partition("-")
    return f"{name}/{base.lstrip('0') or '0'}{hyphen}{upload}"


def ratio(decompressed_bytes: int | None, stored_bytes: int) -> str | None:
    """Return decompressed bytes per stored byte; None if either is unknown."""
    if decompressed_bytes is None or not stored_bytes:
        return None
    return f"{decompressed_bytes / stored_bytes:.2f}"
