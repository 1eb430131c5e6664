"""How transactions ended, when, and how long they took."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.schemas import OUTCOMES
from magicbyte_cli.report.figures.partition_figures import Key, PartitionFigures
from magicbyte_cli.report.figures.producer_figures import Producers
from magicbyte_cli.report.figures.scan import Sums, first_rows, scan
from magicbyte_cli.report.figures.timeline import Timeline

UNENDED = ("open", "undecided")

MAX_LONGEST = 10
"""Ended transactions that are shown one by one, the longest."""

MAX_UNENDED = 50
"""Transactions without an end that are shown one by one, those that began first."""

DURATIONS = (0, 10, 100, 1000, 10_000, 60_000, 900_000, 3_600_000, 86_400_000)
"""Milliseconds at which classes of durations begin, behind those below 0. 15 minutes are the
default of `transaction.max.timeout.ms`."""

COLUMNS = (
    "topic",
    "partition",
    "producer_id",
    "producer_epoch",
    "outcome",
    "first_offset",
    "last_offset",
    "first_timestamp",
    "marker_timestamp",
    "record_count",
    "size_bytes",
)


BY_PLACE = tuple((name, "ascending") for name in ("topic", "partition", "first_offset"))
"""What comes first of what is equal otherwise."""


@dataclass(slots=True)
class TransactionFigures:
    """What is shown of transactions."""

    outcomes: dict[str, Counter[str]]
    """`transactions`, `records` and `bytes` of each outcome that there is."""
    times: Timeline
    """Transactions by outcome, when they began; when they ended where that is not known."""
    durations: dict[str, list[int]]
    """Of committed and aborted ones, how many are in each class of `DURATIONS`, those below first."""
    longest: list[dict[str, Any]]
    """The longest ended ones: rows with `duration`, in milliseconds."""
    unended: list[dict[str, Any]]
    """Those without an end that began first."""


def read_transactions(
    folder: Path, partitions: dict[Key, PartitionFigures], producers: Producers
) -> TransactionFigures:
    """Return the figures of `transactions` in *folder*; *partitions* and *producers* learn theirs."""
    sums = Sums(
        ("topic", "partition", "outcome"),
        ("outcome", "count"),
        ("record_count", "sum"),
        ("size_bytes", "sum"),
    )
    found = TransactionFigures({}, Timeline(OUTCOMES), {}, [], [])
    for table in scan(folder / "transactions", COLUMNS):
        sums.add(table)
        producers.add_transactions(table)
        times = pc.coalesce(table.column("first_timestamp"), table.column("marker_timestamp"))
        found.times.add(times, table.column("outcome"), np.ones(table.num_rows, np.int64))
        _add_durations(found, table)
        found.unended += first_rows(
            _of(table, *UNENDED), MAX_UNENDED, ("first_timestamp", "ascending"), *BY_PLACE
        )
        found.unended.sort(key=_begun)
        del found.unended[MAX_UNENDED:]
    for row in sums.rows():
        counts = found.outcomes.setdefault(row["outcome"], Counter())
        records = row["record_count_sum"] or 0
        counts.update(
            transactions=row["outcome_count"], records=records, bytes=row["size_bytes_sum"] or 0
        )
        one = partitions.get((row["topic"], row["partition"]))
        if one is not None and row["outcome"] in UNENDED:
            one.unended[row["outcome"]] += records
    return found


def _add_durations(found: TransactionFigures, table: pa.Table) -> None:
    for outcome in ("committed", "aborted"):
        ended = _of(table, outcome)
        duration = pc.subtract(ended.column("marker_timestamp"), ended.column("first_timestamp"))
        ended = ended.append_column("duration", pc.divide(duration, 1000))
        ended = ended.filter(pc.is_valid(ended.column("duration")))
        if not ended.num_rows:
            continue
        values: Numbers = ended.column("duration").to_numpy()
        classes = np.searchsorted(np.array(DURATIONS), values, side="right")
        counts = np.bincount(classes, minlength=len(DURATIONS) + 1)
        known = found.durations.setdefault(outcome, [0] * (len(DURATIONS) + 1))
        found.durations[outcome] = (counts + known).tolist()
        found.longest += first_rows(ended, MAX_LONGEST, ("duration", "descending"), *BY_PLACE)
    found.longest.sort(key=lambda row: -row["duration"])
    del found.longest[MAX_LONGEST:]


def _of(table: pa.Table, *outcomes: str) -> pa.Table:
    return table.filter(pc.is_in(table.column("outcome"), pa.array(outcomes)))


def _begun(row: dict[str, Any]) -> tuple[bool, int]:
    """Return what puts those that began first in front, and those of no time at the end."""
    return row["first_timestamp"] is None, row["first_timestamp"] or 0
