"""Who wrote it: idempotent and transactional producers, and those without an id."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from magicbyte_cli.report.figures.scan import Sums, first_rows

SUMS = (
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
class Producer:
    """What is shown of a producer, or of some together."""

    producer_id: int | None
    """None is all that has no producer id."""
    epochs: tuple[int | None, int | None]
    batches: int
    records: int
    bytes: int
    aborted_records: int
    times: tuple[int | None, int | None]
    """The first and the last time of its batches, in milliseconds since the epoch."""
    transactions: int = 0
    aborted: int = 0
    unended: int = 0


class Producers:
    """Adds up batches and transactions by producer id; memory grows with the producers alone."""

    def __init__(self) -> None:
        self.batches = Sums(("producer_id",), *SUMS)
        self.transactions = Sums(
            ("producer_id",),
            *((name, "sum") for name in ("transactions", "aborted", "unended")),
        )

    def add(self, batches: pa.Table) -> None:
        """Add *batches* with data, rows of the table."""
        is_aborted = pc.equal(batches.column("disposition"), "aborted")
        aborted = pc.if_else(is_aborted, batches.column("record_count"), 0)
        self.batches.add(batches.append_column("aborted_records", aborted))

    def add_transactions(self, transactions: pa.Table) -> None:
        outcome = transactions.column("outcome")
        flags = {
            "transactions": pc.is_valid(outcome),
            "aborted": pc.equal(outcome, "aborted"),
            "unended": pc.is_in(outcome, pa.array(["open", "undecided"])),
        }
        ids = {"producer_id": transactions.column("producer_id")}
        numbers = {name: flag.cast(pa.int64()) for name, flag in flags.items()}
        self.transactions.add(pa.table(ids | numbers))

    def largest(self, most: int) -> tuple[list[Producer], int]:
        """Return the *most* producers with the most bytes, and how many there are.

        What has no producer id is none, and comes first.
        """
        table = self.batches.table()
        if not table.num_rows:
            return [], 0
        has_id = pc.is_valid(table.column("producer_id"))
        named = table.filter(has_id)
        order = ("size_bytes_sum", "descending"), ("producer_id", "ascending")
        rows = [*table.filter(pc.invert(has_id)).to_pylist(), *first_rows(named, most, *order)]
        ids = pa.array([row["producer_id"] for row in rows], pa.int64())
        ended = self.transactions.table()
        of_those: dict[int | None, dict[str, Any]] = {}
        if ended.num_rows:
            matching = ended.filter(pc.is_in(ended.column("producer_id"), ids))
            of_those = {row["producer_id"]: row for row in matching.to_pylist()}
        return [
            _producer(row, of_those.get(row["producer_id"], {})) for row in rows
        ], named.num_rows


def _producer(row: dict[str, Any], ended: dict[str, Any]) -> Producer:
    first, last = row["max_timestamp_min"], row["max_timestamp_max"]
    return Producer(
        row["producer_id"],
        (row["producer_epoch_min"], row["producer_epoch_max"]),
        row["size_bytes_count"],
        row["record_count_sum"] or 0,
        row["size_bytes_sum"] or 0,
        row["aborted_records_sum"] or 0,
        (None if first is None else first // 1000, None if last is None else last // 1000),
        *(ended.get(f"{name}_sum") or 0 for name in ("transactions", "aborted", "unended")),
    )
