"""What `stats` has counted, as lines to read."""

from collections.abc import Iterator, Sequence
from typing import Any

import magicbyte as mb
from magicbyte_cli.report.display import counted, length, moment, percent, size
from magicbyte_cli.report.stats.class_labels import (
    TOGETHER,
    class_names,
    held_longest,
    named,
    ratio,
)
from magicbyte_cli.text import NULL, shown_time, table_lines

Row = dict[str, Any]

MOST_BAR = 24
"""Letters of the longest bar."""

MOST_HELD = 10
"""Rows whose segments are kept for longer that are told, the longest first."""


def sentences(found: mb.Statistics) -> Iterator[str]:
    """Yield what was *found*: a line for each row and for all together, then of all together."""
    yield from _sizes(found)
    if not found.quick:
        yield ""
        yield from _records(found)
    if found.total["contents"]:
        yield ""
        yield from _contents(found.total)
        for title, column, shown in (
            ("entry", "entry_bytes", size),
            ("records", "entry_records", lambda number: f"{number:,}"),
        ):
            yield ""
            yield from _classes(title, found.total[column], shown)
    yield from _held(found.rows)
    yield from _left_out(found)


def _sizes(found: mb.Statistics) -> Iterator[str]:
    heads = (
        "",
        ">segments",
        ">log",
        ">indexes",
        ">entries",
        ">records",
        ">mean entry",
        ">ratio",
        ">overhead",
    )
    rows = [
        (
            name,
            _number(row["segment_count"]),
            size(row["log_bytes"]),
            size(row["index_bytes"]),
            _number(row["entry_count"]),
            _number(row["record_count"]),
            size(row["stored_bytes"] // row["entry_count"]) if row["entry_count"] else NULL,
            ratio(row["plain_bytes"], row["stored_bytes"]) or NULL,
            _share(row["overhead_bytes"], row["plain_bytes"]),
        )
        for name, row in _shown(found)
    ]
    yield from table_lines(heads, rows)


def _records(found: mb.Statistics) -> Iterator[str]:
    heads = ("", ">null keys", ">tombstones", ">control", ">producers", "first", "last")
    rows = [
        (
            name,
            _number(row["null_key_count"]),
            _number(row["tombstone_count"]),
            _number(row["control_count"]),
            _number(row["producer_count"]),
            _moment(row["first_timestamp"]),
            _moment(row["last_timestamp"]),
        )
        for name, row in _shown(found)
    ]
    yield from table_lines(heads, rows)


def _contents(total: Row) -> Iterator[str]:
    heads = ("format", "codec", ">entries", ">records", ">stored", ">without codec", ">ratio")
    rows = [
        (
            f"v{row['magic']}",
            row["codec"] or NULL,
            _number(row["entry_count"]),
            _number(row["record_count"]),
            size(row["stored_bytes"]),
            NULL if row["plain_bytes"] is None else size(row["plain_bytes"]),
            ratio(row["plain_bytes"], row["stored_bytes"]) or NULL,
        )
        for row in total["contents"]
    ]
    yield from table_lines(heads, rows)


def _classes(title: str, classes: Sequence[Row], shown: Any) -> Iterator[str]:
    whole = sum(row["entry_count"] for row in classes)
    most = max((row["entry_count"] for row in classes), default=1)
    rows = [
        (
            name,
            _number(row["entry_count"]),
            percent(row["entry_count"], whole),
            "#" * max(MOST_BAR * row["entry_count"] // most, 1),
        )
        for name, row in zip(class_names(classes, shown), classes, strict=True)
    ]
    yield from table_lines((f">{title}", ">entries", ">", ""), rows)


def _held(rows: Sequence[Row]) -> Iterator[str]:
    """Yield where retention by time keeps segments for longer than their own times say."""
    held = held_longest(rows)
    if not held:
        return
    yield ""
    yield "retention by time keeps segments for longer than their own times would, because of:"
    lines = [
        (
            name,
            length(row["held_ms"]),
            size(row["held_bytes"]),
            f"{_file(row)} offset {row['held_by_offset']}",
            shown_time(row["held_by_timestamp"]),
        )
        for name, row in held[:MOST_HELD]
    ]
    yield from table_lines(("", ">longer by", ">bytes", "record", "time"), lines)
    if len(held) > MOST_HELD:
        yield f"and {len(held) - MOST_HELD} more: --format ndjson has all"


def _left_out(found: mb.Statistics) -> Iterator[str]:
    """Yield what is in no figure of entries."""
    total = found.total
    told = (
        (total["damaged_bytes"], "of the logs are damaged or over a limit"),
        (total["tail_bytes"], "at logs' ends are no whole entries"),
        (total["unused_bytes"], "are in files that a broker would not use"),
    )
    lines = [f"{counted(number, 'byte')} {what}" for number, what in told if number]
    if lines:
        yield ""
        yield from lines
    if found.quick:
        yield ""
        yield "headers alone were read: CRC not checked"


def _shown(found: mb.Statistics) -> Iterator[tuple[str, Row]]:
    """Yield the rows that have segments, and that of everything, with what they are called."""
    yield from named([row for row in found.rows if row["segment_count"]])
    yield TOGETHER, found.total


def _share(part: int | None, whole: int | None) -> str:
    return NULL if part is None or not whole else percent(part, whole)


def _number(value: int | None) -> str:
    return NULL if value is None else f"{value:,}"


def _moment(milliseconds: int | None) -> str:
    return NULL if milliseconds is None else str(moment(milliseconds))


def _file(row: Row) -> str:
    """Return the segment that holds *row*, which need not name the partition twice."""
    file: str = row["held_by_file"]
    return file if row["partition"] is None else file.rpartition("/")[2]
