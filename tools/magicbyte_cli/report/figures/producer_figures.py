"""Batches and transactions by producer: idempotent, transactional, and without an id."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from magicbyte_cli.report.figures.scan import GroupedAggregates, first_rows

BATCH_AGGREGATES = (
    ("size_bytes", "count"),
    ("size_bytes", "sum"),
    ("record_count", "sum"),
    ("aborted_records", "sum"),
    ("producer_epoch", "min"),
    ("producer_epoch", "max"),
    ("max_timestamp", "min"),
    ("max_timestamp", "max"),
)


@dataclass(slots=True)
class ProducerFigures:
    """Figures of one producer, or of all batches without a producer id."""

    producer_id: int | None
    """None: batches without a producer id."""
    epochs: tuple[int | None, int | None]
    """Smallest and largest producer epoch."""
    batches: int
    records: int
    bytes: int
    aborted_records: int
    times: tuple[int | None, int | None]
    """Smallest and largest timestamp of a batch, in milliseconds since the epoch."""
    num_transactions: int = 0
    aborted_transactions: int = 0
    unended: int = 0


class ProducerSums:
    """Sums of batches and transactions by producer id; memory grows with the number of ids."""

    def __init__(self) -> None:
        self.batches = GroupedAggregates(("producer_id",), *BATCH_AGGREGATES)
        self.transactions = GroupedAggregates(
            ("producer_id",),
            *((name, "sum") for name in ("transactions", "aborted", "unended")),
        )

    def add(self, batch_table: pa.Table) -> None:
        """Add data batches: rows of the table `batches`."""
        is_aborted = pc.equal(batch_table.column("disposition"), "aborted")
        aborted = pc.if_else(is_aborted, batch_table.column("record_count"), 0)
        self.batches.add(batch_table.append_column("aborted_records", aborted))

    def add_transactions(self, table: pa.Table) -> None:
        outcome = table.column("outcome")
        flags = {
            "transactions": pc.is_valid(outcome),
            "aborted": pc.equal(outcome, "aborted"),
            "unended": pc.is_in(outcome, pa.array(["open", "undecided"])),
        }
        ids = {"producer_id": table.column("producer_id")}
        numbers = {name: flag.cast(pa.int64()) for name, flag in flags.items()}
        self.transactions.add(pa.table(ids | numbers))

    def largest(self, max_rows: int) -> tuple[list[ProducerFigures], int]:
        """Return the *max_rows* producers with the most bytes, and the number of producers.

        Batches without a producer id come first, and are not counted.
        """
        table = self.batches.table()
        if not table.num_rows:
            return [], 0
        has_id = pc.is_valid(table.column("producer_id"))
        with_id = table.filter(has_id)
        order = ("size_bytes_sum", "descending"), ("producer_id", "ascending")
        rows = [
            *table.filter(pc.invert(has_id)).to_pylist(),
            *first_rows(with_id, max_rows, *order),
        ]
        ids = pa.array([row["producer_id"] for row in rows], pa.int64())
        transactions = self.transactions.table()
        by_id: dict[int | None, dict[str, Any]] = {}
        if transactions.num_rows:
            matching = transactions.filter(pc.is_in(transactions.column("producer_id"), ids))
            by_id = {row["producer_id"]: row for row in matching.to_pylist()}
        figures = [_figures(row, by_id.get(row["producer_id"], {})) for row in rows]
        return figures, with_id.num_rows


def _figures(batches: dict[str, Any], sums: dict[str, Any]) -> ProducerFigures:
    first, last = batches["max_timestamp_min"], batches["max_timestamp_max"]
    return ProducerFigures(
        batches["producer_id"],
        (batches["producer_epoch_min"], batches["producer_epoch_max"]),
        batches["size_bytes_count"],
        batches["record_count_sum"] or 0,
        batches["size_bytes_sum"] or 0,
        batches["aborted_records_sum"] or 0,
        (None if first is None else first // 1000, None if last is None else last // 1000),
        *(sums.get(f"{name}_sum") or 0 for name in ("transactions", "aborted", "unended")),
    )
