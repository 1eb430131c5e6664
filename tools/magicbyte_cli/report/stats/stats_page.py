"""The page: what was counted in, HTML out."""

from collections import Counter
from collections.abc import Sequence

import magicbyte as mb
from magicbyte_cli.report import display
from magicbyte_cli.report.display import DASH
from magicbyte_cli.report.document import document, heading
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.plots import bar, key
from magicbyte_cli.report.stats.class_labels import (
    TOGETHER,
    Row,
    class_names,
    held_longest,
    named,
    ratio,
)
from magicbyte_cli.report.tables import figure_card, section, soft, table

CONTENTS = {
    "bytes": "Bytes",
    "rows": "Where they are",
    "codecs": "Codecs",
    "sizes": "Batch sizes",
    "retention": "Retention",
}
"""The parts of the page, in their order."""

MAX_ROWS = 200
"""Rows that are shown, those with most bytes; all others are in what is together."""


def render(found: mb.Statistics, paths: Sequence[str]) -> str:
    """Return the page that shows what was *found* in *paths*."""
    how = "headers alone, CRC not checked" if found.quick else "all records"
    return document(
        "magicbyte stats",
        paths,
        CONTENTS,
        heading("magicbyte stats", paths, how),
        _cards(found),
        _bytes(found.total),
        _rows(found),
        _codecs(found.total),
        _sizes(found.total),
        _retention(found.rows),
    )


def _cards(found: mb.Statistics) -> Markup:
    total = found.total
    errors = sum(finding.severity == "error" for finding in found.findings)
    first, last = total["first_timestamp"], total["last_timestamp"]
    records, entries = total["record_count"], total["entry_count"]
    files = ("index_bytes", "other_bytes", "unused_bytes")
    return element(
        "div",
        figure_card(
            display.size(total["log_bytes"]),
            f"in {display.counted(total['segment_count'], 'live segment')}",
            f"{display.size(sum(total[name] for name in files))} in other files",
        ),
        figure_card(
            DASH if records is None else f"{records:,}",
            "records",
            f"in {display.counted(entries, 'entry', 'entries')}",
        ),
        figure_card(
            ratio(total["plain_bytes"], total["stored_bytes"]) or DASH,
            "compression ratio",
            "without a codec / as stored",
        ),
        figure_card(
            element("span", f"{errors:,}", class_="error" if errors else None),
            "error" if errors == 1 else "errors",
            f"{display.size(total['damaged_bytes'])} damaged",
        ),
        figure_card(
            DASH if first is None else display.day(first), "first record", display.clock(first)
        ),
        figure_card(
            DASH if last is None else display.day(last), "last record", display.clock(last)
        ),
        class_="cards",
    )


def _held(row: Row) -> Counter[str]:
    """Return what the bytes of the entries of *row* would be without codecs; nothing if unread."""
    parts = {
        "keys": "key_bytes",
        "values": "value_bytes",
        "headers": "header_bytes",
        "format": "overhead_bytes",
    }
    return Counter({name: row[column] or 0 for name, column in parts.items()})


def _bytes(total: Row) -> Markup:
    """Return what the entries hold."""
    held = _held(total)
    meanings = {
        "keys": "of records with data",
        "values": "of the same",
        "headers": "their keys and values",
        "format": "all else in batches and messages: their headers, lengths, offsets, times",
    }
    rows = [
        (
            element("div", key(name), element("small", meanings[name]), class_="told"),
            f"{number:,}",
            display.percent(number, held.total()),
            bar(Counter({name: number}), whole=held.total()),
        )
        for name, number in held.items()
    ]
    foot = (element("b", "together"), f"{held.total():,}", "", bar(held))
    return section(
        "bytes",
        "What the bytes hold",
        soft(
            f"{display.counted(total['control_count'], 'control batch', 'control batches')} with "
            f"{display.counted(total['control_bytes'], 'byte')}, what is damaged, and tails are left out."
        ),
        table(
            "Entries with data, as they would be without a codec",
            ("", ">Bytes", ">Share", ""),
            rows if held.total() else [],
            foot=[foot] if held.total() else [],
        ),
    )


def _rows(found: mb.Statistics) -> Markup:
    rows = sorted(named(found.rows), key=lambda pair: -pair[1]["log_bytes"])
    most = rows[0][1]["log_bytes"] if rows else 0
    heads = (
        "",
        "",
        ">Segments",
        ">Log bytes",
        ">Index bytes",
        ">Unused bytes",
        ">Entries",
        ">Records",
        ">Ratio",
        "Holds",
        ">Format",
        ">Null keys",
        ">Tombstones",
        ">Producers",
        ">First",
        ">Last",
    )
    caption = "Sizes and records"
    if len(rows) > MAX_ROWS:
        caption = f"The {MAX_ROWS} of {len(rows):,} with most bytes; NDJSON has all"
    return section(
        "rows",
        "Where they are",
        table(
            caption,
            heads,
            (_cells(name, row, most) for name, row in rows[:MAX_ROWS]),
            foot=[_cells(TOGETHER, found.total, found.total["log_bytes"])],
        ),
    )


def _cells(name: str, row: Row, most: int) -> tuple[Content, ...]:
    held = _held(row)
    plain = row["plain_bytes"]
    return (
        element("b", name),
        bar(Counter(delivered=row["log_bytes"]), whole=most),
        f"{row['segment_count']:,}",
        f"{row['log_bytes']:,}",
        f"{row['index_bytes']:,}",
        f"{row['unused_bytes']:,}",
        f"{row['entry_count']:,}",
        display.number(row["record_count"]),
        ratio(plain, row["stored_bytes"]) or DASH,
        bar(held) if held.total() else DASH,
        display.percent(held["format"], plain) if plain and held.total() else DASH,
        display.number(row["null_key_count"]),
        display.number(row["tombstone_count"]),
        display.number(row["producer_count"]),
        display.moment(row["first_timestamp"]),
        display.moment(row["last_timestamp"]),
    )


def _codecs(total: Row) -> Markup:
    contents = total["contents"]
    rows = [
        (
            element("b", f"v{one['magic']} {one['codec'] or 'unknown'}"),
            bar(Counter(delivered=one["stored_bytes"]), whole=total["stored_bytes"]),
            display.percent(one["stored_bytes"], total["stored_bytes"]),
            f"{one['entry_count']:,}",
            display.number(one["record_count"]),
            f"{one['stored_bytes']:,}",
            display.number(one["plain_bytes"]),
            ratio(one["plain_bytes"], one["stored_bytes"]) or DASH,
        )
        for one in contents
    ]
    heads = (
        "Format and codec",
        "",
        ">Share",
        ">Entries",
        ">Records",
        ">Stored bytes",
        ">Without codec",
        ">Ratio",
    )
    return section("codecs", "Formats and codecs", table("Entries with data", heads, rows))


def _sizes(total: Row) -> Markup:
    return section(
        "sizes",
        "Batch sizes",
        element(
            "div",
            _classes("Bytes of an entry", total["entry_bytes"], display.size),
            _classes("Records in an entry", total["entry_records"], lambda value: f"{value:,}"),
            class_="pair",
        ),
    )


def _classes(caption: str, classes: Sequence[Row], shown: display.Shown) -> Markup:
    whole = sum(row["entry_count"] for row in classes)
    weight = sum(row["sum"] for row in classes)
    most = max((row["entry_count"] for row in classes), default=0)
    rows = [
        (
            name,
            bar(Counter(delivered=row["entry_count"]), "entry", most),
            f"{row['entry_count']:,}",
            display.percent(row["entry_count"], whole),
            display.percent(row["sum"], weight),
        )
        for name, row in zip(class_names(classes, shown), classes, strict=True)
    ]
    mean = f"{caption}: {weight / whole:,.1f} on average" if whole else f"{caption}: there are none"
    return table(mean, ("", "", ">Entries", ">Of entries", ">Of the sum"), rows)


def _retention(rows: Sequence[Row]) -> Markup:
    held = held_longest(rows)
    longest = held[0][1]["held_ms"] if held else 0
    cells = [
        (
            element("b", name),
            bar(Counter(aborted=row["held_ms"]), "millisecond", longest),
            display.length(row["held_ms"]),
            f"{row['held_bytes']:,}",
            display.two(row["held_by_file"], f"offset {row['held_by_offset']}"),
            display.moment(row["held_by_timestamp"]),
        )
        for name, row in held[:MAX_ROWS]
    ]
    return section(
        "retention",
        "What retention by time keeps for longer",
        soft(
            "A broker deletes segments from the oldest on, and stops at the first whose largest time "
            "is not old enough: that keeps all behind it, whatever their own times."
        ),
        table(
            "Segments that are kept longer than by their own times, and the record that keeps them"
            if cells
            else "There are none: no segment has a larger time than one behind it",
            ("", "", ">Longer by", ">Bytes", "Record", ">Its time"),
            cells,
        ),
    )
