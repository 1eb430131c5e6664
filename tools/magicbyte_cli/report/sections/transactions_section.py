"""How transactions ended, when, and how long they took."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from magicbyte.tables.schemas import OUTCOMES
from magicbyte_cli.report import display
from magicbyte_cli.report.display import DASH
from magicbyte_cli.report.figures import Figures
from magicbyte_cli.report.figures.transaction_figures import DURATIONS, UNENDED, TransactionFigures
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.plots import bar, lanes
from magicbyte_cli.report.sections.time_section import scales, untimed
from magicbyte_cli.report.tables import Row, section, soft, table

HEADS = ("Partition", ">Producer id", ">Epoch", "Outcome", ">Offsets", ">Records", "Begun, UTC")


def transactions(figures: Figures) -> Markup:
    found = figures.transactions
    if not found.outcomes:
        return section("transactions", "Transactions", soft("There are none."))
    parts = [element("div", _outcomes(found), *_durations(found), class_="pair")]
    if panels := found.times.panels():
        title = "Transactions by outcome, when they began"
        parts += [lanes(title, panels, "transaction"), *scales(len(panels))]
    parts += untimed(found.times, "transaction")
    if found.unended:
        parts.append(_unended(figures))
    if found.longest:
        parts.append(_longest(found.longest))
    return section("transactions", "Transactions", *parts)


def _outcomes(found: TransactionFigures) -> Markup:
    def row(name: Content, counts: Counter[str]) -> Row:
        return name, *(f"{counts[column]:,}" for column in ("transactions", "records", "bytes"))

    rows = [
        row(element("b", name), found.outcomes[name]) for name in OUTCOMES if name in found.outcomes
    ]
    whole = sum(found.outcomes.values(), Counter[str]())
    return table(
        "How they ended",
        ("Outcome", ">Transactions", ">Records", ">Bytes"),
        rows,
        foot=[row(element("b", "together"), whole)],
    )


def _durations(found: TransactionFigures) -> list[Markup]:
    if not found.durations:
        return []
    kinds = list(found.durations)
    most = max(max(counts) for counts in found.durations.values())
    all_counts = list(zip(*found.durations.values(), strict=True))
    filled = [number for number, counts in enumerate(all_counts) if any(counts)]
    rows = []
    for number in range(filled[0], filled[-1] + 1):
        cells: list[Content] = [_classes()[number]]
        for kind, count in zip(kinds, all_counts[number], strict=True):
            cells += [bar(Counter({kind: count}), "transaction", most), f"{count:,}"]
        rows.append(cells)
    heads = [head for kind in kinds for head in (kind.capitalize(), ">")]
    return [
        table(
            "How long, from the first batch's time to the marker's: a producer's clock and a broker's",
            ("Duration", *heads),
            rows,
        )
    ]


def _classes() -> list[str]:
    names = ["negative: the clocks disagree"]
    for first, end in pairwise(DURATIONS):
        names.append(
            f"{display.length(first)} up to {display.length(end)}"
            if first
            else f"below {display.length(end)}"
        )
    return [*names, f"{display.length(DURATIONS[-1])} or more"]


def _unended(figures: Figures) -> Markup:
    found = figures.transactions
    lasts = {(one.topic, one.partition): one.last_time for one in figures.partitions}
    rows = []
    for row in found.unended:
        begun, last = _begun(row), lasts.get((row["topic"], row["partition"]))
        waited = DASH if begun is None or last is None else display.length(max(last - begun, 0))
        rows.append((*_cells(row), waited))
    number = sum(found.outcomes[name]["transactions"] for name in UNENDED if name in found.outcomes)
    return table(
        display.part("Without an end", len(rows), number, "transactions", "that began first"),
        (*HEADS, ">Until the partition's last time"),
        rows,
    )


def _longest(longest: Sequence[dict[str, Any]]) -> Markup:
    rows = [(*_cells(row), display.length(row["duration"])) for row in longest]
    return table("The longest that ended", (*HEADS, ">Duration"), rows)


def _cells(row: dict[str, Any]) -> Row:
    return (
        display.place(row["topic"], row["partition"]),
        display.plain(row["producer_id"]),
        display.plain(row["producer_epoch"]),
        row["outcome"],
        f"{row['first_offset']} to {row['last_offset']}",
        display.number(row["record_count"]),
        display.moment(_begun(row)),
    )


def _begun(row: dict[str, Any]) -> int | None:
    return None if row["first_timestamp"] is None else row["first_timestamp"] // 1000
