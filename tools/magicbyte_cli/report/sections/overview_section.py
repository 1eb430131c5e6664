"""What was read, and what became of every byte and record."""

from collections import Counter

from magicbyte_cli.report import display, document
from magicbyte_cli.report.figures import Figures
from magicbyte_cli.report.figures.partition_figures import FATES, UNREAD, PartitionFigures
from magicbyte_cli.report.figures.problem_figures import SEVERITIES
from magicbyte_cli.report.markup import Markup, element
from magicbyte_cli.report.plots import bar, key
from magicbyte_cli.report.tables import figure_card, section, table

MEANINGS = {
    "delivered": "what a consumer would have got",
    "aborted": "data of aborted transactions",
    "withheld": "at or above the last stable offset, or of a transaction without an end",
    "control": "transaction markers and other records of Kafka's own",
    "below_log_start": "deleted, the files are not yet",
    "outside_range": "outside of what was asked for",
    "damaged": "not what Kafka wrote: see the findings",
    "over_limit": "larger than a limit that can be raised",
    "superseded": "replaced by a file that cleaning made",
    "duplicate": "there twice",
    "tail": "an unfinished entry, or zeros, at a log's end",
}

UNCOUNTED = (*UNREAD, "tail")
"""What these hold in records is not known."""


def heading(figures: Figures) -> Markup:
    about = figures.about
    return document.heading(
        "magicbyte report", about.get("paths", []), str(about.get("isolation_level"))
    )


def cards(figures: Figures) -> Markup:
    """Return the first figures that anyone asks for."""
    whole = figures.whole
    delivered = whole.records["delivered"]
    rest = whole.records.total() - delivered
    severities = figures.problems.severities
    errors = severities["error"]
    others = [display.counted(severities[name], name) for name in SEVERITIES[1:]]
    left_out = display.counted(len(figures.internal), "internal one")
    first, last = whole.times
    return element(
        "div",
        figure_card(
            f"{delivered:,}",
            "records delivered",
            f"{rest:,} not delivered" if rest else "all there are",
        ),
        figure_card(
            f"{len(figures.partitions):,}",
            "partition read" if len(figures.partitions) == 1 else "partitions read",
            f"{left_out} left out" if figures.internal else None,
        ),
        figure_card(
            display.size(whole.size_bytes),
            f"in {display.counted(whole.num_segments, 'live segment')}",
            f"{whole.size_bytes:,} bytes",
        ),
        figure_card(
            element("span", f"{errors:,}", class_="error" if errors else None),
            "error" if errors == 1 else "errors",
            ", ".join(others),
        ),
        figure_card(
            "none" if first is None else display.day(first), "first record", display.clock(first)
        ),
        figure_card(
            "none" if last is None else display.day(last), "last record", display.clock(last)
        ),
        class_="cards",
    )


def fates(figures: Figures) -> Markup:
    """Return what became of the bytes and records of all that was read, with their sum."""
    whole = figures.whole
    rows = [
        (
            element("div", key(name), element("small", _meaning(name, whole)), class_="told"),
            "" if name in UNCOUNTED else f"{whole.records[name]:,}",
            f"{whole.bytes[name]:,}",
            display.percent(whole.bytes[name], whole.size_bytes),
            bar(Counter({name: whole.bytes[name]}), whole=whole.size_bytes),
        )
        for name in FATES
        if whole.bytes[name] or whole.records[name] or name in ("delivered", "damaged")
    ]
    foot = (
        element("div", element("b", "together"), element("small", _sum(figures)), class_="told"),
        f"{whole.records.total():,}",
        f"{whole.bytes.total():,}",
        display.percent(whole.bytes.total(), whole.size_bytes),
        bar(whole.bytes),
    )
    made = table(
        "Every byte of the live segments is one of these",
        ("", ">Records", ">Bytes", ">Share", ""),
        rows,
        foot=[foot],
    )
    return section("fates", "Where the bytes went", made)


def _sum(figures: Figures) -> Markup:
    """Return whether the bytes add up to the sizes of the files."""
    whole = figures.whole
    wrong = sum(bool(one.missing_bytes) for one in figures.partitions)
    segments = display.counted(whole.num_segments, "live segment")
    if not wrong:
        return element("span", f"✓ the size of {segments}, in each partition too")
    return display.severity(
        "error",
        f"the {segments} have {whole.size_bytes:,} bytes: "
        f"{display.counted(wrong, 'partition does', 'partitions do')} not add up",
    )


def _meaning(name: str, whole: PartitionFigures) -> str:
    records, unended = whole.records[name], whole.unended
    if name != "withheld" or not unended or unended.total() > records:
        return MEANINGS[name]
    parts = [f"{count:,} of {outcome} transactions" for outcome, count in unended.items()]
    if behind := records - unended.total():
        parts.append(f"{behind:,} others behind the first of these")
    return f"{MEANINGS[name]}: {', '.join(parts)}"


def files(figures: Figures) -> Markup:
    """Return all files by what they are, those too that a broker would not use."""
    rows = [
        (
            one.kind,
            "yes" if one.live else f"no: {one.why_not}",
            f"{one.num_files:,}",
            f"{one.size_bytes:,}",
        )
        for one in figures.files
    ]
    foot = (
        element("b", "together"),
        "",
        f"{sum(one.num_files for one in figures.files):,}",
        f"{sum(one.size_bytes for one in figures.files):,}",
    )
    made = table(
        "Files of all partitions, those of internal topics too; a broker uses the live ones",
        ("Kind", "Live", ">Files", ">Bytes"),
        rows,
        foot=[foot],
    )
    return section("files", "Files", made)
