"""`magicbyte groups`: positions and lag of groups, their members and states, without a broker."""

import csv
import io
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import click
import pyarrow as pa

from magicbyte import Dataset, InputError, Report
from magicbyte.internal_topics.group_coordinator import OFFSETS_TOPIC
from magicbyte.internal_topics.groups import SHARE, STREAMS
from magicbyte.internal_topics.reset_plan import reset_plan
from magicbyte.reading.group_positions import group_positions
from magicbyte.tables.arrays import batch_of
from magicbyte_cli.display import counted, iso_time, text_line
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.output_files import check_writable, write_whole
from magicbyte_cli.selection import (
    GroupSelection,
    flag_option,
    group_options,
    paths_argument,
)
from magicbyte_cli.stderr_messages import exit_status, warn, warn_of_findings
from magicbyte_cli.text_layout import TextLayout, layout_options
from magicbyte_cli.topic_patterns import has_topic
from magicbyte_cli.unread_messages import warn_of_unread

Row = dict[str, Any]

POSITION_COLUMNS = (
    *("group", "type", "topic", "partition", "offset", "log_end_offset", "lag", "member_id"),
    *("client_host", "client_id", "pending_offset", "pending_producer_id"),
    *("pending_transactional_id", "leader_epoch", "commit_timestamp", "metadata"),
)
"""Columns of the positions. The text format has the first ten."""

NUM_TEXT_COLUMNS = 10

STATE_COLUMNS = (
    *("group", "type", "state", "protocol_type", "protocol", "generation", "group_epoch"),
    *("assignment_epoch", "member_count", "offsets_partition"),
)

MEMBER_COLUMNS = (
    *("group", "member_id", "group_instance_id", "client_host", "client_id", "member_epoch"),
    *("assignment", "target_assignment"),
)

PARTITION_LISTS = ("assignment", "target_assignment")

TIMES = ("commit_timestamp",)

NUMBERS = ("partition", "offset", "log_end_offset", "lag", "member_epoch", "generation")
"""Columns that the text format aligns at the right."""

LEAST_IMPORTANT = (
    *("member_id", "client_host", "client_id", "assignment_epoch", "group_epoch", "generation"),
    *("protocol_type", "offsets_partition", "type", "log_end_offset"),
    *("target_assignment", "group_instance_id", "member_epoch"),
)
"""Columns that a narrow terminal leaves out first."""

RESET_OPTIONS = "--bootstrap-server HOST:PORT --reset-offsets"


@click.command(
    short_help="Print positions and lag of groups, their members or states.",
    epilog="""\b
    Examples:
      magicbyte groups /var/lib/kafka
      magicbyte groups /var/lib/kafka --group billing --to-time 2024-05-01T12:00:00Z
      magicbyte groups /var/lib/kafka --members --format ndjson
      magicbyte groups /var/lib/kafka --reset-csv offsets.csv
    """,
)
@paths_argument
@flag_option("--members", "show_members", help="Print the members of groups with their partitions.")
@flag_option("--state", "show_state", help="Print the state of groups.")
@layout_options("Aligned columns, one JSON object per line, or CSV.", "csv")
@click.option(
    "--reset-csv",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the offsets to FILE for kafka-consumer-groups --reset-offsets --from-file, and print the command.",
)
@flag_option("--overwrite", help="Replace FILE if it exists.")
@group_options
@click.pass_context
def groups(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    show_members: bool,
    show_state: bool,
    text_layout: TextLayout,
    reset_csv: Path | None,
    overwrite: bool,
    selection: GroupSelection,
) -> None:
    """Print where groups stand: committed offsets, log end offsets and lag, as kafka-consumer-groups does.

    They are read from __consumer_offsets, and for share groups from __share_group_state, as a coordinator
    loads them: offsets in transactions count once these are committed. Members and states are as the log has
    them: members of a stopped cluster are still in it. The log end offset is known if the log of the partition
    is below the PATHs. With --to-time, each partition ends before its first record of that time or later.
    """
    text_layout = text_layout.settled(ctx)
    if show_members and show_state:
        raise click.UsageError("--members and --state exclude each other")
    if reset_csv is not None:
        if show_members or show_state:
            raise click.UsageError(
                "--reset-csv writes offsets, which --members and --state do not print"
            )
        check_writable(reset_csv, replace=overwrite)
    dataset = selection.open(paths)
    report = Report(findings=list(dataset.unreadable))
    if show_members or show_state:
        table_name = "group_members" if show_members else "groups"
        rows = _selected(_table_rows(dataset, table_name, report), dataset, selection)
        _print(rows, MEMBER_COLUMNS if show_members else STATE_COLUMNS, text_layout)
    else:
        rows = _selected(list(group_positions(dataset, report)), dataset, selection)
        _print(rows, POSITION_COLUMNS, text_layout)
        if text_layout.is_text:
            sys.stdout.buffer.writelines(map(text_line, _pending_lines(rows)))
        if reset_csv is not None:
            _write_reset_csv(rows, reset_csv)
    sys.stdout.buffer.flush()
    if OFFSETS_TOPIC not in dataset.all_topics:
        warn(f"no topic {OFFSETS_TOPIC} below the paths: there are no groups to read")
    for log in dataset.logs:
        report.findings += [each for each in log.findings if each.code == "unreadable"]
    report.findings = [
        finding for finding in dict.fromkeys(report.findings) if finding.code != "range-unread"
    ]  # that is the point of --to-time
    warn_of_unread(dataset.unread)
    warn_of_findings(report.findings)
    ctx.exit(exit_status(report.findings, dataset.unread))


def _table_rows(dataset: Dataset, table_name: str, report: Report) -> list[Row]:
    rows = dataset.table(table_name)
    return [row for batch in rows.read_into(report) for row in batch.to_pylist()]


def _selected(rows: list[Row], dataset: Dataset, selection: GroupSelection) -> list[Row]:
    """Return the rows of the selected groups and topics; InputError if one of the groups does not exist."""
    selected = [
        row
        for row in rows
        if (not selection.group or row["group"] in selection.group)
        and (not selection.topic or "topic" not in row or has_topic(selection.topic, row["topic"]))
    ]
    absent = set(selection.group) - {row["group"] for row in rows}
    if absent:  # a group without offsets may exist
        known = [row["group"] for row in _table_rows(dataset, "groups", Report())]
        for name in sorted(absent - set(known)):
            raise InputError(f"no group {name!r}", f"one of {', '.join(known) or 'none'}")
    return selected


def _print(rows: list[Row], names: Sequence[str], text_layout: TextLayout) -> None:
    """Print the columns *names* of *rows*; of positions, the text format has the first ones."""
    out = sys.stdout.buffer
    if text_layout.is_text:
        if names is POSITION_COLUMNS:
            names = names[:NUM_TEXT_COLUMNS]
        schema = pa.schema(
            [(name, pa.int64() if name in NUMBERS else pa.string()) for name in names]
        )
        cells = [{name: _text_cell(name, row[name]) for name in names} for row in rows]
        # Rows are sorted by group: a heading for each change of the topic would tear groups apart.
        text_layout.print_batch(
            batch_of(cells, schema), run_columns=(), left_out_first=LEAST_IMPORTANT
        )
    elif text_layout.format_name == "ndjson":
        for row in rows:
            out.write(object_line({name: _json_cell(name, row.get(name)) for name in names}))
    else:
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(names)
        for row in rows:
            table.writerow(_csv_cell(name, row.get(name)) for name in names)
        out.write(text.getvalue().encode("utf-8", "backslashreplace"))


def _text_cell(name: str, value: Any) -> Any:
    if name in NUMBERS or value is None:
        return value
    return assigned_text(value) if name in PARTITION_LISTS else str(value)


def _json_cell(name: str, value: Any) -> Any:
    return iso_time(value) if name in TIMES and value is not None else value


def _csv_cell(name: str, value: Any) -> Any:
    """Return a cell of CSV; a null is an empty cell."""
    return assigned_text(value) if name in PARTITION_LISTS and value else _json_cell(name, value)


def assigned_text(assigned: Iterable[Row]) -> str:
    """Return partitions as Kafka's tools print them: `orders:0,1;payments:0`."""
    by_topic: defaultdict[str, list[str]] = defaultdict(list)
    for each in assigned:
        by_topic[each["topic"]].append(str(each["partition"]))
    return ";".join(f"{topic}:{','.join(numbers)}" for topic, numbers in by_topic.items())


def _pending_lines(rows: list[Row]) -> Iterator[str]:
    """Yield lines about offsets in open transactions, which block their groups from going on."""
    pending_rows = [row for row in rows if row["pending_offset"] is not None]
    if pending_rows:
        yield ""
        yield "offsets in transactions that have not ended:"
    for row in pending_rows:
        transactional_id = row["pending_transactional_id"]
        owner = (
            f"producer id {row['pending_producer_id']}, which no transactional id knows"
            if transactional_id is None
            else f"transactional id {transactional_id}, producer id {row['pending_producer_id']}"
        )
        yield (
            f"  {row['group']}: {row['topic']}-{row['partition']} would be at {row['pending_offset']} ({owner})"
        )


def _write_reset_csv(rows: list[Row], file: Path) -> None:
    """Write the offsets of groups to *file*, and print the command that sets them."""
    by_group: defaultdict[str, dict[tuple[str, int], int]] = defaultdict(dict)
    for row in rows:
        if row["offset"] is not None and row["type"] != SHARE:
            by_group[row["group"]][row["topic"], row["partition"]] = row["offset"]
    for group in [name for name in by_group if "\n" in name]:
        del by_group[group]
        warn(f"the group {group!r} is left out: the file cannot have a line feed in a group id")
    write_whole(file, reset_plan(by_group))
    streams_groups = {row["group"] for row in rows if row["type"] == STREAMS} & set(by_group)
    warn(
        f"{file}: offsets of {counted(len(by_group), 'group')}. No member may be active. To set them:"
    )
    consumer_groups = sorted(set(by_group) - streams_groups)
    if consumer_groups:
        warn(f"  {_reset_command('kafka-consumer-groups.sh', consumer_groups, file)}")
    for group in sorted(streams_groups):
        warn(
            f"the group {group!r} is a streams group: where it exists, kafka-consumer-groups.sh refuses it, and "
            "kafka-streams-groups.sh resets it:"
        )
        warn(f"  {_reset_command('kafka-streams-groups.sh', [group], file)}")


def _reset_command(tool: str, names: Sequence[str], file: Path) -> str:
    """Return the command line of Kafka's *tool* that sets the offsets of *names* in *file*."""
    options = " ".join(f"--group {quote(group)}" for group in names)
    return f"{tool} {RESET_OPTIONS} {options} --from-file {quote(str(file))} --execute"
