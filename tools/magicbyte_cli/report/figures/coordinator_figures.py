"""Groups and transactional ids, from the tables of internal topics."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte.tables.schemas import INTERNAL_TABLES
from magicbyte_cli.report.figures.scan import parquet_files, scan

ENDED_STATES = ("Empty", "CompleteCommit", "CompleteAbort", "Dead")
"""States of a transactional id without an open transaction."""


@dataclass(slots=True)
class GroupFigures:
    """A group, and its lag."""

    name: str
    group_type: str | None
    state: str | None
    num_members: int | None
    num_partitions: int = 0
    """Partitions in which it has committed an offset."""
    lag: int = 0
    """Sum of its lags, where the log end offsets are known."""
    num_without_lag: int = 0
    """Partitions whose log end offset is not known."""
    largest_lag: tuple[int, str] | None = None
    """The largest lag in a partition, and the name of the partition."""
    last_commit: int | None = None
    """Time of the last commit, in milliseconds since the epoch."""


@dataclass(slots=True)
class CoordinatorFigures:
    """Groups and transactional ids; None: the output has no such table."""

    group_figures: list[GroupFigures] | None = None
    """Groups, those with the largest lags first."""
    transactional_ids: list[dict[str, Any]] | None = None
    """Rows of the table, those with an open transaction first."""


def read_coordinators(folder: Path) -> CoordinatorFigures:
    """Return the groups and transactional ids in *folder*, an output of `pipeline`."""
    coordinators = CoordinatorFigures()
    groups_by_id: dict[str, GroupFigures] = {}
    for row in _rows(folder, "groups"):
        groups_by_id[row["group"]] = GroupFigures(
            row["group"], row["type"], row["state"], row["member_count"]
        )
    for row in _rows(folder, "group_offsets"):
        _add_offset(groups_by_id, row)
    if groups_by_id:
        coordinators.group_figures = sorted(
            groups_by_id.values(), key=lambda each: (-each.lag, each.name)
        )
    if (folder / "transactional_ids").is_dir():
        coordinators.transactional_ids = sorted(
            _rows(folder, "transactional_ids"),
            key=lambda row: (row["state"] in ENDED_STATES, row["transactional_id"]),
        )
    return coordinators


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    if not (folder / name).is_dir():
        return []
    columns = INTERNAL_TABLES[name].names
    return [
        row for table in scan(parquet_files(folder / name), columns) for row in table.to_pylist()
    ]


def _add_offset(groups_by_id: dict[str, GroupFigures], row: dict[str, Any]) -> None:
    """Add a row of `group_offsets` to its group_figures."""
    if row["offset"] is None:  # only a pending transaction has one
        return
    name = row["group"]
    group_figures = groups_by_id.setdefault(name, GroupFigures(name, None, None, None))
    group_figures.num_partitions += 1
    if row["lag"] is None:
        group_figures.num_without_lag += 1
    else:
        group_figures.lag += row["lag"]
        lag = row["lag"], f"{row['topic']}-{row['partition']}"
        group_figures.largest_lag = max(group_figures.largest_lag or lag, lag)
    if row["commit_timestamp"] is not None:
        commit = row["commit_timestamp"] // 1000
        group_figures.last_commit = max(group_figures.last_commit or commit, commit)
