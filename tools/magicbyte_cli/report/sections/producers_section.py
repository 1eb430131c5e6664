"""Who wrote it."""

from magicbyte_cli.report import display
from magicbyte_cli.report.display import DASH
from magicbyte_cli.report.figures.producer_figures import Producer, Producers
from magicbyte_cli.report.markup import Content, Markup, element, joined
from magicbyte_cli.report.tables import Row, section, soft, table

MAX_PRODUCERS = 30
"""Producers that have a row."""

HEADS = (
    "Producer id",
    ">Epochs",
    ">Batches",
    ">Records",
    ">Of these aborted",
    ">Bytes",
    ">Transactions",
    ">Of these aborted",
    ">Without an end",
    "First and last time, UTC",
)


def producers(found: Producers) -> Markup:
    shown, number = found.largest(MAX_PRODUCERS)
    named = sum(one.producer_id is not None for one in shown)
    if not shown:
        return section("producers", "Producers", soft("No batches, no producers."))
    caption = f"{display.counted(number, 'producer')} with an id"
    return section(
        "producers",
        "Producers",
        table(
            display.part(caption, named, number, "batches", "with most bytes"),
            HEADS,
            [_row(one) for one in shown],
        ),
    )


def _row(one: Producer) -> Row:
    first, last = one.times
    return (
        "none" if one.producer_id is None else element("b", str(one.producer_id)),
        _epochs(one),
        f"{one.batches:,}",
        f"{one.records:,}",
        _part(one.aborted_records, one.records),
        f"{one.bytes:,}",
        f"{one.transactions:,}" if one.transactions else DASH,
        _part(one.aborted, one.transactions),
        f"{one.unended:,}" if one.unended else DASH,
        DASH
        if first is None
        else joined((display.moment(first), element("div", display.moment(last)))),
    )


def _epochs(one: Producer) -> Content:
    first, last = one.epochs
    if one.producer_id is None or first is None:
        return DASH
    return str(first) if first == last else f"{first} to {last}"


def _part(part: int, whole: int) -> Content:
    return display.two(f"{part:,}", display.percent(part, whole)) if part else DASH
