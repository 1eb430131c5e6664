"""Tests of `magicbyte transactions`: outcomes by partition, and open transactions."""

import shutil
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import median_low
from typing import Any

import magicbyte as mb
from log_builder import batch, record
from magicbyte_formats.messages import transaction_state
from message_encoder import key_and_value

from .conftest import PLAIN, TRANSACTIONS, run, run_ndjson

ABORT = "kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic open --partition 0"


def objects(kind: str, path: Path) -> list[dict[str, Any]]:
    """Return the objects of *kind* that `magicbyte transactions` prints for *path*."""
    return [row for row in run_ndjson("transactions", path) if row["kind"] == kind]


def test_outcomes_are_those_of_the_table() -> None:
    rows = mb.open(TRANSACTIONS).transactions().to_table().to_pylist()
    key = itemgetter("topic", "partition", "outcome")
    groups = {place: list(group) for place, group in groupby(sorted(rows, key=key), key)}
    outcomes = objects("outcome", TRANSACTIONS)
    assert sorted(map(key, outcomes)) == sorted(groups)
    for outcome in outcomes:
        group = groups[key(outcome)]
        assert outcome["transactions"] == len(group)
        assert outcome["records"] == sum(row["record_count"] for row in group)
        durations = [
            (row["marker_timestamp"] - row["first_timestamp"]) // timedelta(milliseconds=1)
            for row in group
            if row["marker_timestamp"]
        ]
        assert outcome["longest_ms"] == max(durations, default=None)
        assert outcome["median_ms"] == (median_low(durations) if durations else None)


def test_open_transaction_is_printed_with_the_command_that_aborts_it() -> None:
    path = TRANSACTIONS / "open-0"
    open_ = objects("open", path)
    assert [(row["producer_id"], row["first_offset"], row["abort"]) for row in open_] == [
        (1001, 33, f"{ABORT} --start-offset 33"),
        (1002, 61, f"{ABORT} --start-offset 61"),
    ]
    result = run("transactions", path)
    lines = result.stdout.splitlines()
    assert lines[-3:] == [
        "commands that abort them, only for those that hang (without __transaction_state below the paths, that is "
        "not known):",
        f"  {ABORT} --start-offset 33",
        f"  {ABORT} --start-offset 61",
    ]
    assert "open transactions, the oldest of each partition first:" in lines
    assert result.stderr == ""


def test_where_none_is_open_nothing_is_to_be_ended() -> None:
    result = run("transactions", TRANSACTIONS / "committed-0")
    assert result.exit_code == 0
    assert [line.split()[2:6] for line in result.stdout.splitlines()] == [
        ["outcome", "transactions", "records", "size_bytes"],
        ["committed", "6", "80", "2661"],
    ]


def test_a_segment_alone_has_no_name_for_a_command(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000001.log"
    path.write_bytes((TRANSACTIONS / "open-0" / path.name).read_bytes())
    open_ = objects("open", path)
    assert open_ and {row["abort"] for row in open_} == {None}
    assert "commands that abort" not in run("transactions", path).stdout


def test_logs_without_transactions() -> None:
    result = run("transactions", PLAIN / "java-none-0")
    assert (result.exit_code, result.stdout) == (0, "no transactions\n")


def upload(partition: Path, to: Path, topic_id: str = "A" * 22) -> Path:
    """Copy the segments of *partition* into *to* as LocalTieredStorage does; return its folder."""
    folder = to / "remote" / f"{partition.name}-{topic_id}"
    folder.mkdir(parents=True)
    for number, segment in enumerate(sorted(partition.glob("*.log"))):
        segment_id = f"{number:022}"
        (folder / f"{segment.stem}-{segment_id}.log").write_bytes(segment.read_bytes())
    return folder.parent


def test_remote_storage_alone_lists_what_is_open_and_gives_no_command(tmp_path: Path) -> None:
    """The missing local log may have markers that end these transactions."""
    remote = upload(TRANSACTIONS / "open-0", tmp_path)
    open_ = objects("open", remote)
    assert [(row["producer_id"], row["first_offset"], row["abort"]) for row in open_] == [
        (1001, 33, None),
        (1002, 61, None),
    ]
    result = run("transactions", remote)
    assert "open transactions, the oldest of each partition first:" in result.stdout
    assert "commands that abort" not in result.stdout
    assert result.stderr.splitlines()[0] == (
        "open-0: only remote segments were read, and the open transactions may have ended in the "
        "local log: no command to abort them is printed"
    )


def test_remote_storage_beside_the_local_log_gives_commands(tmp_path: Path) -> None:
    remote = upload(TRANSACTIONS / "open-0", tmp_path)
    result = run("transactions", TRANSACTIONS / "open-0", remote)
    assert f"  {ABORT} --start-offset 33" in result.stdout
    assert "without the local log" not in result.stderr


def test_remote_storage_alone_says_nothing_where_none_is_open(tmp_path: Path) -> None:
    remote = upload(TRANSACTIONS / "committed-0", tmp_path)
    assert "without the local log" not in run("transactions", remote).stderr


def test_a_partition_with_its_local_log_keeps_its_commands_beside_one_without(
    tmp_path: Path,
) -> None:
    remote = upload(TRANSACTIONS / "open-0", tmp_path)
    local = shutil.copytree(TRANSACTIONS / "open-0", tmp_path / "open-1")
    result = run("transactions", local, remote)
    told = [line for line in result.stdout.splitlines() if "kafka-transactions.sh" in line]
    assert told and all("--partition 1 " in line for line in told)
    assert result.stderr.startswith("open-0: only remote segments were read")


def test_an_open_transaction_has_the_transactional_id_of_its_producer() -> None:
    rows = objects("open", TRANSACTIONS)
    ids = {row["producer_id"]: (row["transactional_id"], row["state"]) for row in rows}
    assert ids[1001] == ("open-1", "Ongoing")
    assert {row["hangs"] for row in rows} == {False}
    assert {row["abort"] for row in rows} == {None}
    assert {row["transactional_id"] for row in objects("open", TRANSACTIONS / "open-0")} == {None}


def test_of_a_transaction_that_the_coordinator_has_its_owners_are_printed() -> None:
    ids = {
        row["transactional_id"]: row
        for row in mb.open(TRANSACTIONS).table("transactional_ids").to_table().to_pylist()
    }
    rows = objects("open", TRANSACTIONS)
    for row in rows:
        known = ids[row["transactional_id"]]
        start = known["start_timestamp"].timestamp() * 1000
        assert (row["start_timestamp"], row["timeout_ms"]) == (start, known["timeout_ms"])
    lines = run("transactions", TRANSACTIONS, "--topic", "open").stdout.splitlines()
    assert lines[lines.index("who ends them:") + 1 :] == [
        f"  open-0, the transaction from offset {offset}: the producer with transactional id {name}, or the coordinator "
        f"when the timeout has passed: 15 min from {start}, by the coordinator's clock"
        for offset, name, start in (
            (33, "open-1", "2026-11-21T22:24:31.648Z"),
            (61, "open-2", "2026-11-21T22:24:32.442Z"),
        )
    ]


def test_a_transaction_that_the_coordinator_is_ending_is_left_to_it(tmp_path: Path) -> None:
    """The state of the transactional id is changed in the log, from Ongoing to PrepareAbort."""
    log_dir = tmp_path / "log-0"
    shutil.copytree(TRANSACTIONS / "open-0", log_dir / "open-0")
    key_fields = {"transactionalId": "open-1"}
    value_fields = {
        "producerId": 1001,
        "producerEpoch": 3,
        "transactionTimeoutMs": 900_000,
        "transactionStatus": 3,
        "transactionPartitions": [{"topic": "open", "partitionIds": [0]}],
        "transactionStartTimestampMs": -1,
    }
    messages = transaction_state.MESSAGES
    key, value = key_and_value(messages, "TransactionLog", key_fields, value_fields)
    (log_dir / "__transaction_state-0").mkdir()
    segment = log_dir / "__transaction_state-0" / f"{0:020}.log"
    segment.write_bytes(batch([record(value, key)]))
    lines = run("transactions", log_dir).stdout.splitlines()
    assert (
        "  open-0, the transaction from offset 33: the coordinator, which has transactional id open-1 in state "
        "PrepareAbort and writes the marker"
    ) in lines
    # No transactional id knows the producer of the other transaction.
    assert lines[-2:] == ["commands that abort those that hang:", f"  {ABORT} --start-offset 61"]


def test_an_open_transaction_that_no_transactional_id_knows_hangs(tmp_path: Path) -> None:
    log_dir = tmp_path / "log-0"
    shutil.copytree(TRANSACTIONS / "open-0", log_dir / "open-0")
    for folder in TRANSACTIONS.glob("__transaction_state-*"):
        (log_dir / folder.name).mkdir()
        (log_dir / folder.name / f"{0:020}.log").write_bytes(b"")
    result = run("transactions", log_dir)
    assert (
        "open-0: the transaction from offset 33 hangs (KAFKA-12671): no transactional id knows producer id 1001, "
        "so that no coordinator will end it"
    ) in result.stdout.splitlines()
    assert result.stdout.splitlines()[-3:] == [
        "commands that abort those that hang:",
        f"  {ABORT} --start-offset 33",
        f"  {ABORT} --start-offset 61",
    ]
    assert "who ends them" not in result.stdout
    assert {row["hangs"] for row in objects("open", log_dir)} == {True}


def test_an_open_transaction_of_another_partition_hangs(tmp_path: Path) -> None:
    log_dir = tmp_path / "log-0"
    shutil.copytree(TRANSACTIONS / "open-0", log_dir / "other-0")
    for folder in TRANSACTIONS.glob("__transaction_state-*"):
        shutil.copytree(folder, log_dir / folder.name)
    text = run("transactions", log_dir).stdout
    assert "transactional id open-1, in state Ongoing, has no transaction in this partition" in text


def test_expanded_rows_are_blocks() -> None:
    lines = run("transactions", TRANSACTIONS / "open-0", "-x").stdout.splitlines()
    assert lines[0].startswith("-[ row 1 ]-")
    assert ["longest_ms", "124381040020"] in [line.split() for line in lines]
    assert ["first_offset", "61"] in [line.split() for line in lines]
