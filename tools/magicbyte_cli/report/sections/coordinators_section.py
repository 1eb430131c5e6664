"""Sections of the report about groups and transactional ids."""

from typing import Any

from magicbyte_cli import display
from magicbyte_cli.report import cells
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.figures.coordinator_figures import (
    ENDED_STATES,
    CoordinatorFigures,
    GroupFigures,
)
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.tables import Row, section, soft, table

MAX_GROUPS = 100
MAX_TRANSACTIONAL_IDS = 50
MAX_PARTITIONS = 10
"""Largest number of partitions of a transactional id that are named."""

GROUP_HEADS = (
    "Group",
    "Type",
    "State",
    ">Members",
    ">Partitions",
    ">Lag",
    "Largest lag",
    "Last commit, UTC",
)

ID_HEADS = (
    "Transactional id",
    "State",
    ">Producer id",
    ">Epoch",
    ">Timeout",
    "Begin of the transaction, UTC",
    "Last change, UTC",
    "Partitions in it",
)


def groups(coordinators: CoordinatorFigures) -> Markup:
    """Return a row for each group, those with the largest lags first."""
    title = "Groups"
    if coordinators.group_figures is None:
        return section("groups", title, _not_read("__consumer_offsets"))
    shown = coordinators.group_figures[:MAX_GROUPS]
    caption = cells.partial_caption(
        display.counted(len(coordinators.group_figures), "group"),
        len(shown),
        len(coordinators.group_figures),
        "groups",
        "the ones with the largest lags",
    )
    note = soft(
        "As the log has them: a group whose members were alive when the broker stopped still has them."
    )
    return section("groups", title, note, table(caption, GROUP_HEADS, map(_group_row, shown)))


def transactional_ids(coordinators: CoordinatorFigures) -> Markup:
    """Return a row for each transactional id, those with an open transaction first."""
    title = "Transactional ids"
    rows = coordinators.transactional_ids
    if rows is None:
        return section("transactional-ids", title, _not_read("__transaction_state"))
    shown = rows[:MAX_TRANSACTIONAL_IDS]
    num_open = sum(row["state"] not in ENDED_STATES for row in rows)
    caption = cells.partial_caption(
        f"{display.counted(len(rows), 'transactional id')}, {num_open:,} in a transaction",
        len(shown),
        len(rows),
        "transactional_ids",
        "open transactions",
    )
    return section("transactional-ids", title, table(caption, ID_HEADS, map(_id_row, shown)))


def _not_read(topic: str) -> Markup:
    return soft(
        "Not read: ",
        element("code", "magicbyte pipeline --internal-tables"),
        f" reads them, if the topic {topic} is there.",
    )


def _group_row(group_figures: GroupFigures) -> Row:
    lag: Content = f"{group_figures.lag:,}"
    if group_figures.num_without_lag:
        unknown = display.counted(group_figures.num_without_lag, "partition")
        lag = cells.stacked(f"{group_figures.lag:,}", f"unknown for {unknown}")
    largest: Content = DASH
    if group_figures.largest_lag is not None and group_figures.largest_lag[0]:
        largest = cells.stacked(group_figures.largest_lag[1], f"{group_figures.largest_lag[0]:,}")
    return (
        element("b", group_figures.name),
        group_figures.group_type or DASH,
        group_figures.state or DASH,
        cells.number(group_figures.num_members),
        f"{group_figures.num_partitions:,}",
        lag,
        largest,
        cells.time(group_figures.last_commit),
    )


def _id_row(row: dict[str, Any]) -> Row:
    partitions = [f"{each['topic']}-{each['partition']}" for each in row["partitions"] or ()]
    more = len(partitions) - MAX_PARTITIONS
    named = ", ".join(partitions[:MAX_PARTITIONS]) + (f" and {more:,} more" if more > 0 else "")
    return (
        element("b", row["transactional_id"]),
        row["state"] or DASH,
        cells.identifier(row["producer_id"]),
        cells.number(row["producer_epoch"]),
        f"{row['timeout_ms']:,} ms" if row["timeout_ms"] is not None else DASH,
        *(
            cells.time(_milliseconds(row[name]))
            for name in ("start_timestamp", "last_update_timestamp")
        ),
        named or DASH,
    )


def _milliseconds(microseconds: int | None) -> int | None:
    return None if microseconds is None else microseconds // 1000
