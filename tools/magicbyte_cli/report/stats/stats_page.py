"""The page that `stats --format html` writes."""

from collections import Counter
from collections.abc import Sequence

import magicbyte as mb
from magicbyte_cli import display
from magicbyte_cli.report import cells
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.document import document, heading
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.page_origin import PageOrigin
from magicbyte_cli.report.plots import bar, histogram, key
from magicbyte_cli.report.stats.class_labels import (
    TOTAL,
    Row,
    longest_delays,
    named_rows,
    ratio,
)
from magicbyte_cli.report.tables import figure_card, section, soft, table

CONTENTS = {
    "bytes": "Bytes",
    "rows": "Sizes",
    "codecs": "Codecs",
    "sizes": "Batch sizes",
    "retention": "Retention",
}
"""Names of the parts of the page by anchor, in order."""

MAX_ROWS = 200
"""Rows that are shown, those with the most bytes; the total includes all rows."""


def render(
    statistics: mb.Statistics, paths: Sequence[str], page_origin: PageOrigin | None = None
) -> str:
    """Return the page of *statistics* of the logs in *paths*; its heading has *page_origin*."""
    mode = "headers only, CRC not checked" if statistics.quick else "all records"
    return document(
        "magicbyte stats",
        paths,
        CONTENTS,
        heading("magicbyte stats", paths, mode, page_origin),
        _cards(statistics),
        _bytes(statistics.total),
        _rows(statistics),
        _codecs(statistics.total),
        _sizes(statistics.total),
        _retention(statistics.rows),
    )


def _cards(statistics: mb.Statistics) -> Markup:
    total = statistics.total
    errors = sum(finding.severity == "error" for finding in statistics.findings)
    num_records, num_entries = total["record_count"], total["entry_count"]
    other_files = ("index_bytes", "other_bytes", "unused_bytes")
    return element(
        "div",
        figure_card(
            display.byte_size(total["log_bytes"]),
            f"in {display.counted(total['segment_count'], 'live segment')}",
            f"{display.byte_size(sum(total[name] for name in other_files))} in other files",
        ),
        figure_card(
            DASH if num_records is None else f"{num_records:,}",
            "records",
            f"in {display.counted(num_entries, 'entry', 'entries')}",
        ),
        figure_card(
            ratio(total["plain_bytes"], total["stored_bytes"]) or DASH,
            "compression ratio",
            "decompressed / stored bytes",
        ),
        cells.error_card(errors, f"{display.byte_size(total['damaged_bytes'])} damaged"),
        *cells.time_cards(total["first_timestamp"], total["last_timestamp"], absent=DASH),
        class_="cards",
    )


def _content_bytes(row: Row) -> Counter[str]:
    """Return the decompressed bytes of the entries of *row* by content; zeros if not read."""
    columns = {
        "keys": "key_bytes",
        "values": "value_bytes",
        "headers": "header_bytes",
        "format": "overhead_bytes",
    }
    return Counter({name: row[column] or 0 for name, column in columns.items()})


def _bytes(total: Row) -> Markup:
    """Return a section that divides the decompressed bytes of all data batches by content."""
    contents = _content_bytes(total)
    meanings = {
        "keys": "keys of data records",
        "values": "values of data records",
        "headers": "keys and values of their headers",
        "format": "the rest of batches and messages: batch headers, lengths, offsets, timestamps",
    }
    rows = [
        (
            element("div", key(name), element("small", meanings[name]), class_="prose"),
            f"{number:,}",
            display.percent(number, contents.total()),
            bar(Counter({name: number}), total=contents.total()),
        )
        for name, number in contents.items()
    ]
    foot = (element("b", "total"), f"{contents.total():,}", "", bar(contents))
    return section(
        "bytes",
        "What the bytes contain",
        soft(
            f"{display.counted(total['control_count'], 'control batch', 'control batches')} with "
            f"{display.counted(total['control_bytes'], 'byte')}, damaged ranges and incomplete tails "
            "are left out."
        ),
        table(
            "Data batches and messages, decompressed",
            ("", ">Bytes", ">Share", ""),
            rows if contents.total() else [],
            foot=[foot] if contents.total() else [],
        ),
    )


def _rows(statistics: mb.Statistics) -> Markup:
    rows = sorted(named_rows(statistics.rows), key=lambda pair: -pair[1]["log_bytes"])
    largest = rows[0][1]["log_bytes"] if rows else 0
    heads = (
        "||>Segments|>Log bytes|>Index bytes|>Unused bytes|>Entries|>Records|>Ratio|Contents|"
        ">Format|>Null keys|>Tombstones|>Producers|>First|>Last"
    )
    caption = "Sizes and records"
    if len(rows) > MAX_ROWS:
        caption = f"The {MAX_ROWS} of {len(rows):,} with the most bytes; NDJSON has all"
    return section(
        "rows",
        "Sizes and records",
        table(
            caption,
            heads.split("|"),
            (_row_cells(name, row, largest) for name, row in rows[:MAX_ROWS]),
            foot=[_row_cells(TOTAL, statistics.total, statistics.total["log_bytes"])],
        ),
    )


def _row_cells(name: str, row: Row, largest: int) -> tuple[Content, ...]:
    contents = _content_bytes(row)
    decompressed = row["plain_bytes"]
    return (
        element("b", name),
        bar(Counter(delivered=row["log_bytes"]), total=largest),
        f"{row['segment_count']:,}",
        f"{row['log_bytes']:,}",
        f"{row['index_bytes']:,}",
        f"{row['unused_bytes']:,}",
        f"{row['entry_count']:,}",
        cells.number(row["record_count"]),
        ratio(decompressed, row["stored_bytes"]) or DASH,
        bar(contents) if contents.total() else DASH,
        display.percent(contents["format"], decompressed)
        if decompressed and contents.total()
        else DASH,
        cells.number(row["null_key_count"]),
        cells.number(row["tombstone_count"]),
        cells.number(row["producer_count"]),
        cells.time(row["first_timestamp"]),
        cells.time(row["last_timestamp"]),
    )


def _codecs(total: Row) -> Markup:
    rows = [
        (
            element("b", f"v{row['magic']} {row['codec'] or 'unknown'}"),
            bar(Counter(delivered=row["stored_bytes"]), total=total["stored_bytes"]),
            display.percent(row["stored_bytes"], total["stored_bytes"]),
            f"{row['entry_count']:,}",
            cells.number(row["record_count"]),
            f"{row['stored_bytes']:,}",
            cells.number(row["plain_bytes"]),
            ratio(row["plain_bytes"], row["stored_bytes"]) or DASH,
        )
        for row in total["contents"]
    ]
    heads = "Format and codec||>Share|>Entries|>Records|>Stored bytes|>Decompressed bytes|>Ratio"
    return section(
        "codecs", "Formats and codecs", table("Data batches and messages", heads.split("|"), rows)
    )


def _sizes(total: Row) -> Markup:
    return section(
        "sizes",
        "Batch sizes",
        element(
            "div",
            histogram("Bytes per entry", "bytes", total["entry_bytes"], display.byte_size),
            histogram("Records per entry", "records", total["entry_records"], "{:,}".format),
            class_="pair",
        ),
    )


def _retention(rows: Sequence[Row]) -> Markup:
    delays = longest_delays(rows)
    longest = delays[0][1]["held_ms"] if delays else 0
    delay_rows = [
        (
            element("b", name),
            bar(Counter(aborted=row["held_ms"]), "millisecond", longest),
            display.duration(row["held_ms"]),
            f"{row['held_bytes']:,}",
            cells.stacked(row["held_by_file"], f"offset {row['held_by_offset']}"),
            cells.time(row["held_by_timestamp"]),
        )
        for name, row in delays[:MAX_ROWS]
    ]
    return section(
        "retention",
        "Segments kept past their retention time",
        soft(
            "A broker deletes segments from the oldest on and stops at the first whose largest "
            "timestamp is not old enough. That segment keeps all later ones, whatever their "
            "timestamps."
        ),
        table(
            "Segments kept longer than their own timestamps require, and the record that keeps them"
            if delay_rows
            else "None: no segment has a larger timestamp than a later segment",
            ("", "", ">Longer by", ">Bytes", "Record", ">Its timestamp"),
            delay_rows,
        ),
    )
