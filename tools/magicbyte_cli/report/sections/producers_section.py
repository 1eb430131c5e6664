"""Producers with the most bytes."""

from magicbyte_cli import display
from magicbyte_cli.report import cells
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.figures.producer_figures import ProducerFigures, ProducerSums
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.tables import Row, section, soft, table

MAX_PRODUCERS = 30
"""Producers that have a row."""

HEADS = (
    "Producer id",
    ">Epochs",
    ">Batches",
    ">Records",
    ">Aborted records",
    ">Bytes",
    ">Transactions",
    ">Aborted transactions",
    ">Open or undecided",
    "First and last time, UTC",
)


def producers(sums: ProducerSums) -> Markup:
    largest, num_producers = sums.largest(MAX_PRODUCERS)
    num_with_id = sum(figures.producer_id is not None for figures in largest)
    if not largest:
        return section("producers", "Producers", soft("No batches."))
    caption = f"{display.counted(num_producers, 'producer')} with an id"
    return section(
        "producers",
        "Producers",
        table(
            cells.partial_caption(
                caption, num_with_id, num_producers, "batches", "those with the most bytes"
            ),
            HEADS,
            [_row(figures) for figures in largest],
        ),
    )


def _row(figures: ProducerFigures) -> Row:
    return (
        "none" if figures.producer_id is None else element("b", str(figures.producer_id)),
        _epochs(figures),
        f"{figures.batches:,}",
        f"{figures.records:,}",
        _part(figures.aborted_records, figures.records),
        f"{figures.bytes:,}",
        f"{figures.transactions:,}" if figures.transactions else DASH,
        _part(figures.aborted, figures.transactions),
        f"{figures.unended:,}" if figures.unended else DASH,
        cells.time_range(figures.times),
    )


def _epochs(figures: ProducerFigures) -> Content:
    first, last = figures.epochs
    if figures.producer_id is None or first is None:
        return DASH
    return str(first) if first == last else f"{first} to {last}"


def _part(part: int, whole: int) -> Content:
    return cells.stacked(f"{part:,}", display.percent(part, whole)) if part else DASH
