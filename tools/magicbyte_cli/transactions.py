"""`magicbyte transactions`: outcomes and durations of transactions, and which are open."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median_low
from typing import IO, Any

import click
import pyarrow as pa

from magicbyte import Report
from magicbyte.reading.transactional_ids import KnownProducer, producers_of_ids
from magicbyte.tables.arrays import batch_of
from magicbyte.tables.schemas import TRANSACTIONS
from magicbyte_cli.abort_command import abort_command
from magicbyte_cli.display import duration, iso_time, text_line
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.selection import Selection, paths_argument, selection_options
from magicbyte_cli.stderr_messages import (
    exit_status,
    warn,
    warn_of_findings,
    warn_of_internal_topics,
)
from magicbyte_cli.text_layout import TextLayout, layout_options
from magicbyte_cli.unread_messages import warn_of_unread

Row = dict[str, Any]

SUM_COLUMNS = "transactions records size_bytes median_ms longest_ms"

OUTCOME_COLUMNS = pa.schema(
    [
        *TRANSACTIONS.schema(("topic", "partition", "outcome")),
        *((name, pa.int64()) for name in SUM_COLUMNS.split()),
    ]
)

TRANSACTION_COLUMNS = (
    "topic partition producer_id producer_epoch first_offset last_offset first_timestamp"
)

OPEN_COLUMNS = pa.schema(
    [
        *TRANSACTIONS.schema(tuple(TRANSACTION_COLUMNS.split())),
        ("records", pa.int64()),
        ("transactional_id", pa.string()),
        ("state", pa.string()),
        ("hangs", pa.bool_()),
    ]
)
"""Columns of open transactions; the last three are what `__transaction_state` knows of the producer."""

COORDINATOR_MEMBERS = ("start_timestamp", "timeout_ms")
"""More members of NDJSON, from `__transaction_state`."""

LEAST_IMPORTANT = (
    *("producer_epoch", "last_offset", "records", "producer_id", "state", "first_offset"),
    *("size_bytes", "median_ms"),
)
"""Columns that a narrow terminal leaves out first."""

ONGOING = "Ongoing"
"""State of a transaction that its producer has neither committed nor aborted yet."""

IF_THEY_HANG = (
    "commands that abort them, only for those that hang (without __transaction_state below the paths, that is "
    "not known):"
)

MAX_NAMES = 4
"""Partitions that one line on stderr names."""


@dataclass(slots=True)
class OutcomeFigures:
    """Sums over the transactions of a partition with the same outcome."""

    num_transactions: int = 0
    records: int = 0
    size_bytes: int = 0
    durations_ms: list[int] = field(default_factory=list)
    """Milliseconds from the first batch's timestamp to the marker's."""

    def add(self, row: Row) -> None:
        self.num_transactions += 1
        self.records += row["record_count"]
        self.size_bytes += row["size_bytes"]
        start, end = row["first_timestamp"], row["marker_timestamp"]
        if start is not None and end is not None:
            self.durations_ms.append(end - start)

    def row(self, topic: str | None, partition: int | None, outcome: str) -> Row:
        return {
            "topic": topic,
            "partition": partition,
            "outcome": outcome,
            "transactions": self.num_transactions,
            "records": self.records,
            "size_bytes": self.size_bytes,
            "median_ms": median_low(self.durations_ms) if self.durations_ms else None,
            "longest_ms": max(self.durations_ms, default=None),
        }


@click.command(
    short_help="Print how transactions ended, and which hang.",
    epilog="""\b
    Examples:
      magicbyte transactions /var/lib/kafka
      magicbyte transactions /var/lib/kafka --topic orders --format ndjson | jq 'select(.kind == "open")'
      magicbyte dump /var/lib/kafka --topic orders --table transactions
    """,
)
@paths_argument
@layout_options("Aligned tables, or one JSON object per line, whose `kind` is outcome or open.")
@selection_options()
@click.pass_context
def transactions(
    ctx: click.Context, *, paths: tuple[str, ...], text_layout: TextLayout, selection: Selection
) -> None:
    """Print for each partition how its transactions ended, and which are open.

    A read_committed consumer waits for the first open transaction of a partition. With __transaction_state
    below the PATHs, its transactional id is printed, and who ends it: the producer or the coordinator, or, if
    it hangs, the command of Kafka that aborts it on a running broker. Without, that command is printed, since
    the transaction may hang. No command is printed for remote segments without the local log, since the
    transaction may have ended there. Durations run from the timestamp of the first batch, which may
    be from the producer's clock, to the marker's timestamp, which is from the broker's clock.
    """
    text_layout = text_layout.settled(ctx)
    dataset = selection.open(paths)
    report = Report()
    by_outcome: dict[tuple[str | None, int | None, str], OutcomeFigures] = {}
    open_rows: list[Row] = []
    # The local log of a remote partition, on a broker's disk, may hold the end of a transaction.
    remote_only = {
        (log.topic, log.partition): log.name
        for log in dataset.logs
        if all(file.is_remote for file in log.logs)
    }
    for batch in dataset.transactions().read_into(report):
        for row in _in_milliseconds(batch).to_pylist():
            partition = row["topic"], row["partition"]
            by_outcome.setdefault((*partition, row["outcome"]), OutcomeFigures()).add(row)
            if row["outcome"] == "open":
                abort = None if partition in remote_only else abort_command(row)
                open_rows.append({**row, "records": row["record_count"], "abort": abort})
    known_producers = producers_of_ids(dataset, report) if open_rows else None
    for row in open_rows:
        _add_owner(row, known_producers)
    outcome_rows = [sums.row(*key) for key, sums in by_outcome.items()]
    out = sys.stdout.buffer
    if text_layout.format_name == "ndjson":
        out.writelines(_ndjson_lines(outcome_rows, open_rows))
    else:
        _write_text(out, outcome_rows, open_rows, text_layout)
    out.flush()
    open_partitions = dict.fromkeys((row["topic"], row["partition"]) for row in open_rows)
    _warn_of_remote_only([remote_only[key] for key in open_partitions if key in remote_only])
    warn_of_internal_topics(dataset)
    warn_of_unread(dataset.unread)
    warn_of_findings([finding for finding in report.findings if finding.code != "transaction-open"])
    ctx.exit(exit_status(report.findings, dataset.unread))


def _add_owner(row: Row, known_producers: Mapping[int, KnownProducer] | None) -> None:
    """Add to an open transaction what `__transaction_state` knows of it; no command if the coordinator has it."""
    known = (known_producers or {}).get(row["producer_id"])
    row["transactional_id"] = None if known is None else known.transactional_id
    row["state"] = None if known is None else known.state_name
    row["hangs"] = row["start_timestamp"] = row["timeout_ms"] = None
    if known is not None and (row["topic"], row["partition"]) in known.transaction_partitions:
        row["hangs"] = False
        row["abort"] = None
        row["start_timestamp"], row["timeout_ms"] = known.start_timestamp, known.timeout_ms
    elif known_producers is not None:
        row["hangs"] = True


def _warn_of_remote_only(names: list[str]) -> None:
    """Print that the logs *names* have open transactions whose end may be in the local log."""
    if names:
        some = ", ".join(names[:MAX_NAMES]) + (", …" if len(names) > MAX_NAMES else "")
        warn(
            f"{some}: only remote segments were read, and the open transactions may have ended in "
            "the local log: no command to abort them is printed"
        )


def _in_milliseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _ndjson_lines(outcome_rows: list[Row], open_rows: list[Row]) -> Iterator[bytes]:
    for row in outcome_rows:
        yield object_line({"kind": "outcome", **row})
    for row in open_rows:
        columns = {name: row[name] for name in (*OPEN_COLUMNS.names, *COORDINATOR_MEMBERS)}
        yield object_line({"kind": "open", **columns, "abort": row["abort"]})


def _write_text(
    out: IO[bytes], outcome_rows: list[Row], open_rows: list[Row], text_layout: TextLayout
) -> None:
    if not outcome_rows:
        out.write(text_line("no transactions"))
        return
    text_layout.print_batch(batch_of(outcome_rows, OUTCOME_COLUMNS), left_out_first=LEAST_IMPORTANT)
    if not open_rows:
        return
    out.write(text_line("") + text_line("open transactions, the oldest of each partition first:"))
    text_layout.print_batch(batch_of(open_rows, OPEN_COLUMNS), left_out_first=LEAST_IMPORTANT)
    owned = [row for row in open_rows if row["hangs"] is False]
    if owned:
        out.write(text_line("") + text_line("who ends them:"))
        out.writelines(text_line(f"  {_ending(row)}") for row in owned)
    out.writelines(text_line(_hanging(row)) for row in open_rows if row["hangs"])
    commands = [row for row in open_rows if row["abort"] is not None]
    if commands:
        # Without __transaction_state, nothing is known of any of them.
        title = "commands that abort those that hang:" if commands[0]["hangs"] else IF_THEY_HANG
        out.write(text_line("") + text_line(title))
        out.writelines(text_line(f"  {row['abort']}") for row in commands)


def _ending(row: Row) -> str:
    """Return who ends an open transaction that the coordinator has."""
    transaction = (
        f"{row['topic']}-{row['partition']}, the transaction from offset {row['first_offset']}"
    )
    transactional_id = row["transactional_id"]
    if row["state"] != ONGOING:
        return (
            f"{transaction}: the coordinator, which has transactional id {transactional_id} in state {row['state']} "
            "and writes the marker"
        )
    start = row["start_timestamp"]
    return (
        f"{transaction}: the producer with transactional id {transactional_id}, or the coordinator when the timeout "
        f"has passed: {duration(row['timeout_ms'])} from {'its start' if start is None else iso_time(start)}, by the "
        "coordinator's clock"
    )


def _hanging(row: Row) -> str:
    """Return the reason why no coordinator will end an open transaction."""
    if row["transactional_id"] is None:
        reason = f"no transactional id knows producer id {row['producer_id']}"
    else:
        reason = (
            f"transactional id {row['transactional_id']}, in state {row['state']}, has no transaction in this "
            "partition"
        )
    return (
        f"{row['topic']}-{row['partition']}: the transaction from offset {row['first_offset']} hangs (KAFKA-12671): "
        f"{reason}, so that no coordinator will end it"
    )
