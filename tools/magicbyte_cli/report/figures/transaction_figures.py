"""Outcomes, times and durations of transactions."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.tables.schemas import OUTCOMES
from magicbyte_cli.report.figures.partition_figures import Key, PartitionFigures
from magicbyte_cli.report.figures.producer_figures import ProducerSums
from magicbyte_cli.report.figures.scan import GroupedAggregates, first_rows, parquet_files, scan
from magicbyte_cli.report.figures.timeline import Int64Array, Timeline

UNENDED = ("open", "undecided")

MAX_LONGEST = 10
"""Ended transactions that are shown one by one, the longest first."""

MAX_UNENDED = 50
"""Open and undecided transactions that are shown one by one, the oldest first."""

DURATIONS = (0, 10, 100, 1000, 10_000, 60_000, 900_000, 3_600_000, 86_400_000)
"""Lower bounds of the classes of durations, in milliseconds; one more class is below 0.
15 minutes are the default of `transaction.max.timeout.ms`."""

COLUMNS = (
    "topic partition producer_id producer_epoch outcome first_offset last_offset "
    "first_timestamp marker_timestamp record_count size_bytes"
)


TIE_ORDER = tuple((name, "ascending") for name in ("topic", "partition", "first_offset"))
"""Columns that order transactions with the same duration or begin."""


@dataclass(slots=True)
class TransactionFigures:
    """Figures of the report about all transactions."""

    outcomes: dict[str, Counter[str]]
    """Numbers of `transactions`, `records` and `bytes` by outcome."""
    times: Timeline
    """Transactions by outcome, at their begin, or at their end if the begin is unknown."""
    durations: dict[str, list[int]]
    """Number per class of `DURATIONS` for committed and aborted transactions, negative ones first."""
    longest: list[dict[str, Any]]
    """Longest ended transactions: rows with `duration`, in milliseconds."""
    unended: list[dict[str, Any]]
    """Oldest open and undecided transactions."""


def read_transactions(
    folder: Path, figures_by_partition: dict[Key, PartitionFigures], producers: ProducerSums
) -> TransactionFigures:
    """Return the figures of `transactions` in *folder*; add sums to *figures_by_partition* and *producers*."""
    sums = GroupedAggregates(
        ("topic", "partition", "outcome"),
        ("outcome", "count"),
        ("record_count", "sum"),
        ("size_bytes", "sum"),
    )
    transactions = TransactionFigures({}, Timeline(OUTCOMES), {}, [], [])
    for table in scan(parquet_files(folder / "transactions"), COLUMNS.split()):
        sums.add(table)
        producers.add_transactions(table)
        times = pc.coalesce(table.column("first_timestamp"), table.column("marker_timestamp"))
        transactions.times.add(times, table.column("outcome"), np.ones(table.num_rows, np.int64))
        _add_durations(transactions, table)
        transactions.unended += first_rows(
            _with_outcome(table, *UNENDED),
            MAX_UNENDED,
            ("first_timestamp", "ascending"),
            *TIE_ORDER,
        )
        transactions.unended.sort(key=_begin_order)
        del transactions.unended[MAX_UNENDED:]
    for row in sums.rows():
        counts = transactions.outcomes.setdefault(row["outcome"], Counter())
        records = row["record_count_sum"] or 0
        counts.update(
            transactions=row["outcome_count"], records=records, bytes=row["size_bytes_sum"] or 0
        )
        partition = figures_by_partition.get((row["topic"], row["partition"]))
        if partition is not None and row["outcome"] in UNENDED:
            partition.unended[row["outcome"]] += records
    return transactions


def _add_durations(figures: TransactionFigures, table: pa.Table) -> None:
    for outcome in ("committed", "aborted"):
        ended = _with_outcome(table, outcome)
        duration = pc.subtract(ended.column("marker_timestamp"), ended.column("first_timestamp"))
        ended = ended.append_column("duration", pc.divide(duration, 1000))
        ended = ended.filter(pc.is_valid(ended.column("duration")))
        if not ended.num_rows:
            continue
        values: Int64Array = ended.column("duration").to_numpy()
        classes = np.searchsorted(np.array(DURATIONS), values, side="right")
        counts = np.bincount(classes, minlength=len(DURATIONS) + 1)
        previous = figures.durations.setdefault(outcome, [0] * (len(DURATIONS) + 1))
        figures.durations[outcome] = (counts + previous).tolist()
        figures.longest += first_rows(ended, MAX_LONGEST, ("duration", "descending"), *TIE_ORDER)
    figures.longest.sort(key=lambda row: -row["duration"])
    del figures.longest[MAX_LONGEST:]


def _with_outcome(table: pa.Table, *outcomes: str) -> pa.Table:
    return table.filter(pc.is_in(table.column("outcome"), pa.array(outcomes)))


def _begin_order(row: dict[str, Any]) -> tuple[bool, int]:
    """Sort key of transactions: the oldest first, those without a timestamp last."""
    return row["first_timestamp"] is None, row["first_timestamp"] or 0
