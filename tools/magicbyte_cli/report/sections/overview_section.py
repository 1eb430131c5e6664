"""Overview of the report: totals, dispositions of all bytes and records, files."""

from collections import Counter

from magicbyte.findings import SEVERITIES
from magicbyte.tables.schemas import LOST
from magicbyte_cli import display
from magicbyte_cli.report import cells, document
from magicbyte_cli.report.figures import ReportFigures
from magicbyte_cli.report.figures.partition_figures import (
    BYTE_DISPOSITIONS,
    PartitionFigures,
)
from magicbyte_cli.report.markup import Markup, element
from magicbyte_cli.report.page_origin import PageOrigin
from magicbyte_cli.report.plots import bar, key
from magicbyte_cli.report.tables import figure_card, section, table

MEANINGS = {
    "delivered": "what a consumer would have got",
    "aborted": "data of aborted transactions",
    "withheld": "at or above the last stable offset, or in a transaction without an end",
    "control": "transaction markers and other control records",
    "below_log_start": "deleted, but the files still contain it",
    "outside_range": "outside of the requested range",
    "damaged": "not valid: see the findings",
    "unreadable": "not delivered by the disk or the store",
    "over_limit": "larger than a limit, which can be raised",
    "superseded": "replaced by a file that the log cleaner wrote",
    "duplicate": "contained twice",
    "tail": "an incomplete entry, or zeros, at the end of a log",
}

WITHOUT_RECORD_COUNT = (*LOST, "tail")
"""Dispositions whose number of records is unknown."""


def heading(figures: ReportFigures, page_origin: PageOrigin | None) -> Markup:
    settings = figures.plan_settings
    return document.heading(
        "magicbyte report",
        settings.get("paths", []),
        str(settings.get("isolation_level")),
        page_origin,
    )


def cards(figures: ReportFigures) -> Markup:
    """Return cards with totals: records, partitions, bytes, errors, and the range of times."""
    total = figures.total
    delivered = total.records["delivered"]
    control = total.records["control"]
    undelivered = total.records.total() - delivered - control
    others = [f"{undelivered:,} not delivered"] if undelivered else []
    others += [display.counted(control, "control record")] if control else []
    severities = figures.problems.severities
    lesser = [display.counted(severities[name], name) for name in SEVERITIES[1:]]
    left_out = display.counted(len(figures.internal), "internal partition")
    return element(
        "div",
        figure_card(
            f"{delivered:,}",
            "records delivered",
            ", ".join(others) or "all records",
        ),
        figure_card(
            f"{len(figures.partitions):,}",
            "partition read" if len(figures.partitions) == 1 else "partitions read",
            f"{left_out} left out" if figures.internal else None,
        ),
        figure_card(
            display.byte_size(total.size_bytes),
            f"in {display.counted(total.num_segments, 'live segment')}",
            f"{total.size_bytes:,} bytes",
        ),
        cells.error_card(severities["error"], ", ".join(lesser)),
        *cells.time_cards(*total.times, absent="none"),
        class_="cards",
    )


def dispositions(figures: ReportFigures) -> Markup:
    """Return the bytes and records of all partitions by disposition, with their sums."""
    total = figures.total
    rows = [
        (
            element("div", key(name), element("small", _meaning(name, total)), class_="prose"),
            "" if name in WITHOUT_RECORD_COUNT else f"{total.records[name]:,}",
            f"{total.bytes[name]:,}",
            display.percent(total.bytes[name], total.size_bytes),
            bar(Counter({name: total.bytes[name]}), total=total.size_bytes),
        )
        for name in BYTE_DISPOSITIONS
        if total.bytes[name] or total.records[name] or name in ("delivered", "damaged")
    ]
    foot = (
        element("div", element("b", "total"), element("small", _sum(figures)), class_="prose"),
        f"{total.records.total():,}",
        f"{total.bytes.total():,}",
        display.percent(total.bytes.total(), total.size_bytes),
        bar(total.bytes),
    )
    by_disposition = table(
        "Every byte of the live segments is one of these",
        ("", ">Records", ">Bytes", ">Share", ""),
        rows,
        foot=[foot],
    )
    return section("bytes", "Where the bytes went", by_disposition)


def _sum(figures: ReportFigures) -> Markup:
    """Return a sentence that says whether all bytes add up to the sizes of the live segments."""
    total = figures.total
    num_wrong = sum(bool(partition.missing_bytes) for partition in figures.partitions)
    segments = display.counted(total.num_segments, "live segment")
    if not num_wrong:
        return element("span", f"✓ equals the size of {segments}, also in each partition")
    return cells.severity(
        "error",
        f"the {segments} have {total.size_bytes:,} bytes: "
        f"{display.counted(num_wrong, 'partition does', 'partitions do')} not add up",
    )


def _meaning(name: str, total: PartitionFigures) -> str:
    records, unended = total.records[name], total.unended
    if name != "withheld" or not unended or unended.total() > records:
        return MEANINGS[name]
    parts = [f"{count:,} in {outcome} transactions" for outcome, count in unended.items()]
    if num_later := records - unended.total():
        parts.append(f"{num_later:,} others after the first of these")
    return f"{MEANINGS[name]}: {', '.join(parts)}"


def files(figures: ReportFigures) -> Markup:
    """Return the number and size of all files by kind, including files a broker would not use."""
    rows = [
        (
            row["file_kind"],
            "yes" if row["live"] else f"no: {row['why_not']}",
            f"{row['size_bytes_count']:,}",
            f"{row['size_bytes_sum'] or 0:,}",
        )
        for row in figures.files
    ]
    foot = (
        element("b", "total"),
        "",
        f"{sum(row['size_bytes_count'] for row in figures.files):,}",
        f"{sum(row['size_bytes_sum'] or 0 for row in figures.files):,}",
    )
    by_kind = table(
        "Files of all partitions, including internal topics; a broker uses the live ones",
        ("Kind", "Live", ">Files", ">Bytes"),
        rows,
        foot=[foot],
    )
    return section("files", "Files", by_kind)
