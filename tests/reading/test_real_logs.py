"""Tests that real brokers' logs give the records that Kafka itself read from them."""

from collections.abc import Iterable
from typing import Any

import pytest

from clusters import each_cluster, short

LEVELS = ("read_committed", "read_uncommitted")
COLUMNS = (
    "topic",
    "partition",
    "offset",
    "timestamp",
    "timestamp_type",
    "leader_epoch",
    "key",
    "value",
    "headers",
)


def differences(expected: Iterable[Any], found: Iterable[Any], limit: int = 5) -> list[str]:
    """Return a line for each of the first *limit* rows that differ, and one for unequal lengths."""
    left, right = list(expected), list(found)
    out = [
        f"row {n}: expected {e}, found {f}"
        for n, (e, f) in enumerate(zip(left, right, strict=False))
        if e != f
    ][:limit]
    if len(left) != len(right):
        out.append(f"expected {len(left)} rows, found {len(right)}")
    return out


def by_partition(rows: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Sort *rows* by partition; rows of one partition stay in their order."""
    return sorted(rows, key=lambda row: row[0])


def milliseconds(column: Any) -> list[int | None]:
    values: list[int | None] = column.cast("int64").to_pylist()
    return values


def null(value: int | None) -> int | None:
    return None if value == -1 else value


def kind(name: str) -> str | None:
    return None if name == "NoTimestampType" else name


@each_cluster
@pytest.mark.parametrize("engine", ["reference", "columnar"])
@pytest.mark.parametrize("level", LEVELS)
def test_records_are_those_that_kafkas_consumer_delivered(cluster, level, engine) -> None:
    rows = cluster.open(level, engine=engine).records(COLUMNS)
    table = rows.to_table()
    times = milliseconds(table.column("timestamp"))
    found = by_partition(
        (
            f"{row['topic']}-{row['partition']}",
            (
                row["offset"],
                null(time),
                row["timestamp_type"],
                row["leader_epoch"],
                short(row["key"]),
                short(row["value"]),
                [(header["key"], short(header["value"])) for header in row["headers"] or ()],
            ),
        )
        for row, time in zip(table.to_pylist(), times, strict=True)
    )
    expected = by_partition(
        (
            name,
            (
                row["offset"],
                None if row["timestamp_type"] == "NoTimestampType" else null(row["timestamp"]),
                kind(row["timestamp_type"]),
                row["leader_epoch"],
                row["key"],
                row["value"],
                [tuple(header) for header in row["headers"]],
            ),
        )
        for name, row in cluster.records(level)
    )
    assert expected
    assert not differences(expected, found)
    assert rows.report.severity != "error"


SAME = (
    "file",
    "position",
    "last_offset",
    "base_offset",
    "magic",
    "crc",
    "codec",
    "is_transactional",
    "is_control",
)
MINUS_ONE_IS_NONE = ("producer_id", "producer_epoch", "base_sequence", "leader_epoch")


@each_cluster
def test_batches_are_those_that_kafkas_file_records_read(cluster) -> None:
    table = cluster.open().batches().to_table()
    times = {
        name: milliseconds(table.column(name))
        for name in ("base_timestamp", "max_timestamp", "delete_horizon")
    }
    found = by_partition(
        (
            f"{row['topic']}-{row['partition']}",
            (
                *(row[name] for name in SAME),
                *(row[name] for name in MINUS_ONE_IS_NONE),
                *(times[name][number] for name in times),
                row["timestamp_type"],
                row["size_bytes"],
                row["record_count"],
                row["crc_valid"],
            ),
        )
        for number, row in enumerate(table.to_pylist())
    )
    expected = by_partition(
        (
            name,
            (
                *(row[field] for field in SAME),
                *(null(row[field]) for field in MINUS_ONE_IS_NONE),
                # A v0 or v1 entry has one time, compared as max_timestamp.
                null(row["base_timestamp"]) if row["magic"] == 2 else None,
                null(row["max_timestamp"]),
                row["delete_horizon"],
                kind(row["timestamp_type"]),
                row["size"],
                row["count"],
                row["is_valid"],
            ),
        )
        for name, row in cluster.batches()
    )
    assert expected
    assert not differences(expected, found)


@each_cluster
def test_offsets_are_those_that_the_admin_client_said(cluster) -> None:
    found = {
        f"{row['topic']}-{row['partition']}": row for row in cluster.open().partitions().to_pylist()
    }
    wrong = []
    for name, said in cluster.offsets().items():
        row = found[name]
        fields = ("log_start_offset", "log_end_offset", "last_stable_offset", "high_watermark")
        expected = {field: said[field] for field in fields}
        if said.get("local_log_start_offset") is not None:
            expected["log_start_offset"] = said["local_log_start_offset"]
        if not cluster.facts["clean_shutdown"]:
            # A killed broker's checkpoint is stale: null is right, and a number is not.
            expected["high_watermark"] = None
        answer = {field: row[field] for field in expected}
        if answer != expected:
            wrong.append(f"{name}: expected {expected}, found {answer}")
    assert not wrong
