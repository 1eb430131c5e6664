"""The text format of `magicbyte stats`: aligned tables."""

from collections.abc import Iterator, Sequence
from typing import Any

import magicbyte as mb
from magicbyte_cli.cell_texts import NULL
from magicbyte_cli.display import (
    NumberFormat,
    byte_size,
    counted,
    duration,
    iso_time,
    percent,
    utc_time,
)
from magicbyte_cli.report.plots import class_names
from magicbyte_cli.report.stats.class_labels import (
    TOTAL,
    longest_delays,
    named_rows,
    ratio,
)
from magicbyte_cli.text_table import table_lines

Row = dict[str, Any]

MAX_BAR_WIDTH = 24
"""Characters of the longest bar."""

MAX_DELAYS = 10
"""Rows with a delayed deletion that are printed, the longest delays first."""


MAX_DIRTY = 10
"""Compacted rows that are printed."""


def statistics_lines(statistics: mb.Statistics) -> Iterator[str]:
    """Yield a line for each row and for the total, then tables of the total."""
    yield from _sizes(statistics)
    if not statistics.quick:
        yield ""
        yield from _records(statistics)
    if statistics.total["contents"]:
        yield ""
        yield from _contents(statistics.total)
        for title, column, number_format in (
            ("entry", "entry_bytes", byte_size),
            ("records", "entry_records", lambda number: f"{number:,}"),
        ):
            yield ""
            yield from _classes(title, statistics.total[column], number_format)
    yield from _delays(statistics.rows)
    yield from _dirty(statistics.rows)
    yield from _uncounted(statistics)


def _sizes(statistics: mb.Statistics) -> Iterator[str]:
    heads = "|>segments|>log|>indexes|>entries|>records|>mean entry|>ratio|>overhead"
    rows = [
        (
            name,
            _number(row["segment_count"]),
            byte_size(row["log_bytes"]),
            byte_size(row["index_bytes"]),
            _number(row["entry_count"]),
            _number(row["record_count"]),
            byte_size(row["stored_bytes"] // row["entry_count"]) if row["entry_count"] else NULL,
            ratio(row["plain_bytes"], row["stored_bytes"]) or NULL,
            _share(row["overhead_bytes"], row["plain_bytes"]),
        )
        for name, row in _rows_and_total(statistics)
    ]
    yield from table_lines(heads.split("|"), rows)


def _records(statistics: mb.Statistics) -> Iterator[str]:
    heads = ("", ">null keys", ">tombstones", ">control", ">producers", "first", "last")
    rows = [
        (
            name,
            _number(row["null_key_count"]),
            _number(row["tombstone_count"]),
            _number(row["control_count"]),
            _number(row["producer_count"]),
            _time(row["first_timestamp"]),
            _time(row["last_timestamp"]),
        )
        for name, row in _rows_and_total(statistics)
    ]
    yield from table_lines(heads, rows)


def _contents(total: Row) -> Iterator[str]:
    heads = ("format", "codec", ">entries", ">records", ">stored", ">decompressed", ">ratio")
    rows = [
        (
            f"v{row['magic']}",
            row["codec"] or NULL,
            _number(row["entry_count"]),
            _number(row["record_count"]),
            byte_size(row["stored_bytes"]),
            NULL if row["plain_bytes"] is None else byte_size(row["plain_bytes"]),
            ratio(row["plain_bytes"], row["stored_bytes"]) or NULL,
        )
        for row in total["contents"]
    ]
    yield from table_lines(heads, rows)


def _classes(title: str, size_classes: Sequence[Row], number_format: NumberFormat) -> Iterator[str]:
    total = sum(row["entry_count"] for row in size_classes)
    largest = max((row["entry_count"] for row in size_classes), default=1)
    rows = [
        (
            name,
            _number(row["entry_count"]),
            percent(row["entry_count"], total),
            "#" * max(MAX_BAR_WIDTH * row["entry_count"] // largest, 1),
        )
        for name, row in zip(class_names(size_classes, number_format), size_classes, strict=True)
    ]
    yield from table_lines((f">{title}", ">entries", ">", ""), rows)


def _delays(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the segments whose deletion a record with a late timestamp delays."""
    delays = longest_delays(rows)
    if not delays:
        return
    yield ""
    yield "segments kept past their retention time by a record with a late timestamp:"
    cells = [
        (
            name,
            duration(row["held_ms"]),
            byte_size(row["held_bytes"]),
            f"{_file(row)} offset {row['held_by_offset']}",
            iso_time(row["held_by_timestamp"]),
        )
        for name, row in delays[:MAX_DELAYS]
    ]
    yield from table_lines(("", ">longer by", ">bytes", "record", "timestamp"), cells)
    if len(delays) > MAX_DELAYS:
        yield f"and {len(delays) - MAX_DELAYS:,} more: see --format ndjson"


def _dirty(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how much of each compacted row the log cleaner has not cleaned, the most bytes first."""
    dirty = [(name, row) for name, row in named_rows(rows) if row["dirty_bytes"]]
    if not dirty:
        return
    yield ""
    yield "compacted, and not cleaned yet:"
    cells = [
        (
            name,
            byte_size(row["dirty_bytes"]),
            f"{row['dirty_ratio']:.2f}",
            _number(row["first_dirty_offset"]),
        )
        for name, row in sorted(dirty, key=lambda pair: -pair[1]["dirty_bytes"])[:MAX_DIRTY]
    ]
    yield from table_lines(("", ">dirty", ">ratio", ">from offset"), cells)
    if len(dirty) > MAX_DIRTY:
        yield f"and {len(dirty) - MAX_DIRTY:,} more: see --format ndjson"


def _uncounted(statistics: mb.Statistics) -> Iterator[str]:
    """Yield the numbers of bytes that the counts of entries do not include."""
    total = statistics.total
    causes = (
        (total["damaged_bytes"], "of the logs are damaged or exceed a limit"),
        (total["tail_bytes"], "at the ends of logs are not a whole entry"),
        (total["unused_bytes"], "are in files that a broker would not use"),
    )
    lines = [f"{counted(number, 'byte')} {cause}" for number, cause in causes if number]
    if lines:
        yield ""
        yield from lines
    if statistics.quick:
        yield ""
        yield "only headers were read: CRC not checked"


def _rows_and_total(statistics: mb.Statistics) -> Iterator[tuple[str, Row]]:
    """Yield the rows that have segments, and the total, with their names."""
    yield from named_rows([row for row in statistics.rows if row["segment_count"]])
    yield TOTAL, statistics.total


def _share(count: int | None, whole: int | None) -> str:
    return NULL if count is None or not whole else percent(count, whole)


def _number(value: int | None) -> str:
    return NULL if value is None else f"{value:,}"


def _time(milliseconds: int | None) -> str:
    return NULL if milliseconds is None else utc_time(milliseconds)


def _file(row: Row) -> str:
    """Return the segment with the late record, without the partition if *row* names that."""
    file: str = row["held_by_file"]
    return file if row["partition"] is None else file.rpartition("/")[2]
