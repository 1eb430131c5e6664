"""Section of the report about transactions: outcomes, times, durations, and missing ends."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from magicbyte.tables.schemas import OUTCOMES
from magicbyte_cli import display
from magicbyte_cli.abort_command import abort_command
from magicbyte_cli.report import cells
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.figures import ReportFigures
from magicbyte_cli.report.figures.transaction_figures import DURATIONS, UNENDED, TransactionFigures
from magicbyte_cli.report.markup import Content, Markup, element, escaped
from magicbyte_cli.report.plots import bar, lanes
from magicbyte_cli.report.sections.time_section import scales, untimed
from magicbyte_cli.report.tables import Row, section, soft, table

HEADS = ("Partition", ">Producer id", ">Epoch", "Outcome", ">Offsets", ">Records", "Begin, UTC")


def transactions(figures: ReportFigures) -> Markup:
    transaction_figures = figures.transaction_figures
    if not transaction_figures.outcomes:
        return section("transactions", "Transactions", soft("No transactions."))
    tables = _outcomes(transaction_figures), *_durations(transaction_figures)
    parts = [element("div", *tables, class_="pair")]
    if panels := transaction_figures.times.panels():
        title = "Transactions by outcome, at their begin"
        parts += [lanes(title, panels, "transaction"), *scales(len(panels))]
    parts += untimed(transaction_figures.times, "transaction")
    if transaction_figures.unended:
        parts += _unended(figures)
    if transaction_figures.longest:
        parts.append(_longest(transaction_figures.longest))
    return section("transactions", "Transactions", *parts)


def _outcomes(transaction_figures: TransactionFigures) -> Markup:
    def row(name: Content, totals: Counter[str]) -> Row:
        return name, *(f"{totals[column]:,}" for column in ("transactions", "records", "bytes"))

    rows = [
        row(element("b", name), transaction_figures.outcomes[name])
        for name in OUTCOMES
        if name in transaction_figures.outcomes
    ]
    total = sum(transaction_figures.outcomes.values(), Counter[str]())
    return table(
        "Outcomes",
        ("Outcome", ">Transactions", ">Records", ">Bytes"),
        rows,
        foot=[row(element("b", "total"), total)],
    )


def _durations(transaction_figures: TransactionFigures) -> list[Markup]:
    if not transaction_figures.durations:
        return []
    outcomes = list(transaction_figures.durations)
    largest_count = max(max(counts) for counts in transaction_figures.durations.values())
    counts_by_class = list(zip(*transaction_figures.durations.values(), strict=True))
    filled = [number for number, counts in enumerate(counts_by_class) if any(counts)]
    names = _class_names()
    rows = []
    for number in range(filled[0], filled[-1] + 1):
        row_cells: list[Content] = [names[number]]
        for outcome, count in zip(outcomes, counts_by_class[number], strict=True):
            row_cells += [
                bar(Counter({outcome: count}), "transaction", largest_count),
                f"{count:,}",
            ]
        rows.append(row_cells)
    heads = [head for outcome in outcomes for head in (outcome.capitalize(), ">")]
    return [
        table(
            "Durations, from the first batch's timestamp (the producer's clock) to the marker's "
            "(the broker's clock)",
            ("Duration", *heads),
            rows,
        )
    ]


def _class_names() -> list[str]:
    names = ["negative: the clocks disagree"]
    for start, end in pairwise(DURATIONS):
        names.append(
            f"{display.duration(start)} up to {display.duration(end)}"
            if start
            else f"below {display.duration(end)}"
        )
    return [*names, f"{display.duration(DURATIONS[-1])} or more"]


def _unended(figures: ReportFigures) -> Iterator[Markup]:
    transaction_figures = figures.transaction_figures
    last_times = {
        (partition.topic, partition.partition): partition.last_time
        for partition in figures.partitions
    }
    rows = []
    for row in transaction_figures.unended:
        begin, last = _begin_ms(row), last_times.get((row["topic"], row["partition"]))
        age = DASH if begin is None or last is None else display.duration(max(last - begin, 0))
        rows.append((*_transaction_cells(row), age))
    num_unended = sum(
        transaction_figures.outcomes[name]["transactions"]
        for name in UNENDED
        if name in transaction_figures.outcomes
    )
    caption = cells.partial_caption(
        "Without an end", len(rows), num_unended, "transactions", "the oldest"
    )
    yield table(caption, (*HEADS, ">Age at the partition's last timestamp"), rows)
    open_rows = (row for row in transaction_figures.unended if row["outcome"] == "open")
    commands = [command for row in open_rows if (command := abort_command(row)) is not None]
    if commands:
        yield soft(
            "Commands that abort the open ones, if a running broker still has them. Use one only if the transaction "
            "hangs: ",
            element("code", "magicbyte transactions"),
            " says it. Replace HOST:PORT:",
        )
        yield element("pre", Markup("\n".join(map(escaped, commands))), class_="card", tabindex="0")


def _longest(longest: Sequence[dict[str, Any]]) -> Markup:
    rows = [(*_transaction_cells(row), display.duration(row["duration"])) for row in longest]
    return table("Longest transactions that ended", (*HEADS, ">Duration"), rows)


def _transaction_cells(row: dict[str, Any]) -> Row:
    return (
        cells.partition(row["topic"], row["partition"]),
        cells.identifier(row["producer_id"]),
        cells.identifier(row["producer_epoch"]),
        row["outcome"],
        f"{row['first_offset']} to {row['last_offset']}",
        cells.number(row["record_count"]),
        cells.time(_begin_ms(row)),
    )


def _begin_ms(row: dict[str, Any]) -> int | None:
    return None if row["first_timestamp"] is None else row["first_timestamp"] // 1000
