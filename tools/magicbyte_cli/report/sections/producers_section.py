"""Section of the report about the producers with the most bytes."""

from magicbyte_cli import display
from magicbyte_cli.report import cells
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.figures.producer_figures import ProducerFigures, ProducerSums
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.tables import Row, section, soft, table

MAX_PRODUCERS = 30
"""Largest number of producers that have a row."""

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


def producers(producer_sums: ProducerSums) -> Markup:
    largest, num_producers = producer_sums.largest(MAX_PRODUCERS)
    num_with_id = sum(producer.producer_id is not None for producer in largest)
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
            [_row(producer) for producer in largest],
        ),
    )


def _row(producer: ProducerFigures) -> Row:
    return (
        "none" if producer.producer_id is None else element("b", str(producer.producer_id)),
        _epochs(producer),
        f"{producer.batches:,}",
        f"{producer.records:,}",
        _part(producer.aborted_records, producer.records),
        f"{producer.bytes:,}",
        f"{producer.num_transactions:,}" if producer.num_transactions else DASH,
        _part(producer.aborted_transactions, producer.num_transactions),
        f"{producer.unended:,}" if producer.unended else DASH,
        cells.time_range(producer.times),
    )


def _epochs(producer: ProducerFigures) -> Content:
    first, last = producer.epochs
    if producer.producer_id is None or first is None:
        return DASH
    return str(first) if first == last else f"{first} to {last}"


def _part(part: int, whole: int) -> Content:
    return cells.stacked(f"{part:,}", display.percent(part, whole)) if part else DASH
