"""Tests of the tables of transactional ids and producers, beside the answers of Kafka's tools."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from kafka_tables import tabbed_rows
from paths import DATA, shared

INTERNALS = sorted((shared() / "meaning-data").glob("internals-*"))

TRANSACTIONS = DATA / "4.3" / "transactions" / "log-0"

needs_internals = pytest.mark.skipif(
    not INTERNALS, reason="no meaning-data/internals-* in the folder `shared`"
)


def table(folder: Path, name: str, **options: Any) -> list[dict[str, Any]]:
    return mb.open(folder, **options).table(name).to_pylist()


def milliseconds(time: datetime | None) -> int | None:
    return None if time is None else round(time.timestamp() * 1000)


@needs_internals
@pytest.mark.parametrize("folder", INTERNALS, ids=lambda path: path.name)
def test_transactional_ids_are_what_the_tool_lists_and_describes(folder: Path) -> None:
    rows = {row["transactional_id"]: row for row in table(folder / "log-0", "transactional_ids")}
    listed = tabbed_rows(folder / "judge" / "transactions-list.txt")
    assert {
        (line["TransactionalId"], line["ProducerId"], line["TransactionState"]) for line in listed
    } == {(name, str(row["producer_id"]), row["state"]) for name, row in rows.items()}
    for name, row in rows.items():
        (line,) = tabbed_rows(folder / "judge" / f"transactions-{name}.txt")
        partitions = {f"{each['topic']}-{each['partition']}" for each in row["partitions"]}
        assert partitions == set(filter(None, line["TopicPartitions"].split(",")))
        start = str(milliseconds(row["start_timestamp"]))
        assert start == line["CurrentTransactionStartTimeMs"]
        assert str(row["timeout_ms"]) == line["TransactionTimeoutMs"]
        assert str(row["producer_epoch"]) == line["ProducerEpoch"]
    assert len(listed) >= 4


@needs_internals
@pytest.mark.parametrize("folder", INTERNALS, ids=lambda path: path.name)
def test_producers_are_what_the_tool_describes(folder: Path) -> None:
    rows = table(folder / "log-0", "producers")
    num_lines = 0
    for answer in (folder / "judge").glob("producers-*.txt"):
        _, topic, number = answer.stem.split("-")
        judged = tabbed_rows(answer)
        num_lines += len(judged)
        assert sorted(tuple(line.values())[:6] for line in judged) == sorted(
            (
                str(row["producer_id"]),
                str(row["producer_epoch"]),
                _text(row["coordinator_epoch"], none="-1"),
                _text(row["last_sequence"], none="-1"),
                str(milliseconds(row["last_timestamp"])),
                _text(row["current_transaction_start_offset"], none="None"),
            )
            for row in rows
            if (row["topic"], row["partition"]) == (topic, int(number))
        )
    assert num_lines >= 8


def _text(value: object, *, none: str) -> str:
    return none if value is None else str(value)


def test_a_producer_has_the_transactional_id_of_its_producer_id() -> None:
    rows = table(TRANSACTIONS, "producers", topics=["open"])
    hanging = [row for row in rows if row["current_transaction_start_offset"] is not None]
    assert {row["producer_id"]: row["transactional_id"] for row in hanging}[1001] == "open-1"


def test_snapshot_and_log_give_what_the_log_gives() -> None:
    for topic in ("open", "fenced", "committed"):
        logs = mb.open(TRANSACTIONS, topics=[topic]).logs if topic != "committed" else []
        for log in logs:
            with_snapshots = mb.open(log.folder).table("producers").to_pylist()
            segments = [file.path for file in log.logs]
            alone = mb.open(*segments).table("producers").to_pylist()
            names = ("producer_id", "producer_epoch", "last_offset", "last_timestamp")
            assert [[row[name] for name in names] for row in with_snapshots] == [
                [row[name] for name in names] for row in alone
            ]


def test_a_producer_of_the_snapshot_is_known_and_the_log_after_it_counts(folder: Any) -> None:
    folder.segment("t-0", build.transactional(10, 2, count=2), base=10)
    snapshot = build.producer_snapshot((1, 7, 4, -1), (2, 0, 5, -1))
    (folder.path / "t-0" / f"{10:020}.snapshot").write_bytes(snapshot)
    rows = table(folder.path, "producers")
    assert [(row["producer_id"], row["last_offset"]) for row in rows] == [(1, 4), (2, 11)]
    starts = [row["current_transaction_start_offset"] for row in rows]
    assert starts == [None, 10]


def test_a_transaction_marker_that_cannot_be_read_is_a_finding(folder: Any) -> None:
    folder.segment("t-0", build.transactional(0, 2) + build.control(1, 2, 2, value=b""))
    rows = mb.open(folder.path).table("producers")
    (row,) = rows.to_pylist()
    assert row["current_transaction_start_offset"] == 0
    assert "bad-control-record" in {finding.code for finding in rows.report.findings}
