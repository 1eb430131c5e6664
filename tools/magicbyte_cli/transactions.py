"""`magicbyte transactions`: how they ended, how long they took, and which hang."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median_low
from typing import IO, Any

import click
import pyarrow as pa

from magicbyte import Report
from magicbyte.logdir.discover import PartitionLog
from magicbyte.tables.arrays import batch_of
from magicbyte.tables.schemas import TRANSACTIONS
from magicbyte_cli.format_option import format_option
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.printable import text_line
from magicbyte_cli.selection import Selection, paths_argument, selection_options
from magicbyte_cli.stderr_messages import complain, complain_of, complain_of_internal
from magicbyte_cli.text import TextWriter

OUTCOMES = pa.schema(
    [
        *TRANSACTIONS.schema(("topic", "partition", "outcome")),
        ("transactions", pa.int64()),
        ("records", pa.int64()),
        ("size_bytes", pa.int64()),
        ("median_ms", pa.int64()),
        ("longest_ms", pa.int64()),
    ]
)

OPEN = TRANSACTIONS.schema(
    (
        "topic",
        "partition",
        "producer_id",
        "producer_epoch",
        "first_offset",
        "last_offset",
        "first_timestamp",
    )
).append(pa.field("records", pa.int64()))

MOST_NAMED = 4
"""Partitions that a line on stderr names."""


@dataclass(slots=True)
class _Outcome:
    """The transactions of a partition that ended alike."""

    transactions: int = 0
    records: int = 0
    size_bytes: int = 0
    durations: list[int] = field(default_factory=list)
    """Milliseconds from the first batch's time to the marker's."""

    def add(self, row: dict[str, Any]) -> None:
        self.transactions += 1
        self.records += row["record_count"]
        self.size_bytes += row["size_bytes"]
        begin, end = row["first_timestamp"], row["marker_timestamp"]
        if begin is not None and end is not None:
            self.durations.append(end - begin)

    def row(self, topic: str | None, partition: int | None, outcome: str) -> dict[str, Any]:
        return {
            "topic": topic,
            "partition": partition,
            "outcome": outcome,
            "transactions": self.transactions,
            "records": self.records,
            "size_bytes": self.size_bytes,
            "median_ms": median_low(self.durations) if self.durations else None,
            "longest_ms": max(self.durations, default=None),
        }


@click.command(
    short_help="Show how transactions ended, and which hang.",
    epilog="""\b
    Examples:
      magicbyte transactions /var/lib/kafka
      magicbyte transactions /var/lib/kafka --topic orders --format ndjson | jq 'select(.kind == "open")'
      magicbyte dump /var/lib/kafka --topic orders --table transactions
    """,
)
@paths_argument
@format_option("Lines to read, or a JSON object per line: `kind` is outcome or open.")
@selection_options(isolation_level="read_uncommitted", on_damage="skip")
@click.pass_context
def transactions(
    ctx: click.Context, *, paths: tuple[str, ...], format_name: str, selection: Selection
) -> None:
    """Show, for each partition, how its transactions ended, and those that are open.

    A consumer of read_committed waits for the first that is open. What ends it stands beside it: a
    command of Kafka's, for a broker that still has it; none where remote segments are read without
    the local log, in which it may have ended. Times go from the first batch, which may have
    the producer's clock, to the marker, which has the broker's.
    """
    dataset = selection.open(paths)
    report = Report()
    outcomes: dict[tuple[str | None, int | None, str], _Outcome] = {}
    open_: list[dict[str, Any]] = []
    in_part = {(log.topic, log.partition): log.name for log in dataset.logs if _is_part(log)}
    for batch in dataset.transactions().read_into(report):
        for row in _in_milliseconds(batch).to_pylist():
            place = row["topic"], row["partition"]
            outcomes.setdefault((*place, row["outcome"]), _Outcome()).add(row)
            if row["outcome"] == "open":
                abort = None if place in in_part else _abort(row)
                open_.append({**row, "records": row["record_count"], "abort": abort})
    ended = [one.row(*key) for key, one in outcomes.items()]
    out = sys.stdout.buffer
    if format_name == "ndjson":
        out.writelines(_objects(ended, open_))
    else:
        _write_text(out, ended, open_)
    out.flush()
    _complain_of_parts([in_part[place] for place in _places(open_) if place in in_part])
    complain_of_internal(dataset)
    complain_of([finding for finding in report.findings if finding.code != "transaction-open"])
    ctx.exit(1 if report.severity == "error" else 0)


def _is_part(log: PartitionLog) -> bool:
    """Return whether *log* is remote segments alone: a broker has the rest of it on its disk."""
    return all(file.is_remote for file in log.logs)


def _places(rows: list[dict[str, Any]]) -> list[tuple[str | None, int | None]]:
    return list(dict.fromkeys((row["topic"], row["partition"]) for row in rows))


def _complain_of_parts(names: list[str]) -> None:
    """Say that of the logs *names*, which have open transactions, the end is not there."""
    if names:
        told = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
        complain(
            f"{told}: remote segments without the local log, in which what is open may have ended: "
            "no command is given to abort it"
        )


def _in_milliseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _abort(row: dict[str, Any]) -> str | None:
    """Return the command that ends an open transaction; None where it is not known whose it is."""
    if row["topic"] is None:
        return None
    return (
        "kafka-transactions.sh --bootstrap-server HOST:PORT abort "
        f"--topic {row['topic']} --partition {row['partition']} --start-offset {row['first_offset']}"
    )


def _objects(ended: list[dict[str, Any]], open_: list[dict[str, Any]]) -> Iterator[bytes]:
    for row in ended:
        yield object_line({"kind": "outcome", **row})
    for row in open_:
        shown = {name: row[name] for name in OPEN.names}
        yield object_line({"kind": "open", **shown, "abort": row["abort"]})


def _write_text(out: IO[bytes], ended: list[dict[str, Any]], open_: list[dict[str, Any]]) -> None:
    if not ended:
        out.write(text_line("no transactions"))
        return
    _write_rows(out, ended, OUTCOMES)
    if not open_:
        return
    out.write(text_line("") + text_line("open, the oldest of each partition first:"))
    _write_rows(out, open_, OPEN)
    commands = [row["abort"] for row in open_ if row["abort"] is not None]
    if commands:
        out.write(text_line("") + text_line("what ends them:"))
        out.writelines(text_line(f"  {command}") for command in commands)


def _write_rows(out: IO[bytes], rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    writer = TextWriter(out, schema, bytes_as="text", is_terminal=sys.stdout.isatty())
    writer.write(batch_of(rows, schema))
    writer.flush()
