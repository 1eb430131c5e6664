"""Tests of the commands that put restored partitions into a cluster."""

from pathlib import Path

import magicbyte as mb
from magicbyte.writing.restore_plan import (
    group_offsets_of,
    internal_logs_of,
    restore_plan,
    topic_configs_of,
)
from paths import DATA

TRANSACTIONS = DATA / "4.3" / "transactions" / "log-0"
PLAIN = DATA / "4.3" / "plain" / "log-0"


def commands_of(tmp_path: Path, source: Path, *topics: str) -> list[str]:
    report = mb.restore(mb.open(source, topics=topics), tmp_path / "out")
    plan = restore_plan(internal_logs_of([str(source)]), report.partitions, str(tmp_path / "out"))
    return plan.commands


def test_topic_is_created_with_the_configurations_of_the_source(tmp_path: Path) -> None:
    commands = commands_of(tmp_path, PLAIN, "append-time-lz4")
    (creation,) = [line for line in commands if "--create" in line]
    assert "--config message.timestamp.type=LogAppendTime" in creation
    assert "--config retention.ms=-1" in creation
    assert "--replica-assignment NODE " in creation


def test_all_partitions_of_a_topic_are_moved_and_assigned_together(tmp_path: Path) -> None:
    commands = commands_of(tmp_path, TRANSACTIONS, "open")
    assert f"mv {tmp_path}/out/open-0 {tmp_path}/out/open-1 LOG_DIR/" in commands
    assert any("--replica-assignment NODE,NODE " in line for line in commands)
    (check,) = [line for line in commands if "kafka-get-offsets" in line]
    rows = mb.open(tmp_path / "out", topics=["open"]).partitions(["log_end_offset"]).to_pylist()
    ends = [row["log_end_offset"] for row in rows]
    assert check.endswith(f"# 0: {ends[0]}, 1: {ends[1]}")


def test_configurations_for_kafkas_own_tests_are_left_out(tmp_path: Path) -> None:
    assert "internal.segment.bytes" in (topic_configs_of_source(TRANSACTIONS).get("open") or {})
    assert not any("internal." in line for line in commands_of(tmp_path, TRANSACTIONS, "open"))


def topic_configs_of_source(source: Path) -> dict[str, dict[str, str]]:
    internal_logs = internal_logs_of([str(source)])
    assert internal_logs is not None
    return topic_configs_of(internal_logs) or {}


def test_retention_is_set_after_the_replicas(tmp_path: Path) -> None:
    commands = commands_of(tmp_path, PLAIN, "append-time-lz4")
    names = [line.split()[0] for line in commands if line.startswith("kafka-")]
    assert names.index("kafka-reassign-partitions.sh") < names.index("kafka-configs.sh")


def test_group_offsets_are_what_the_broker_has_committed(tmp_path: Path) -> None:
    internal_logs = internal_logs_of([str(TRANSACTIONS)])
    assert internal_logs is not None
    assert group_offsets_of(internal_logs) == {"copy-group": {("offsets-only", 0): 7}}
    report = mb.restore(mb.open(TRANSACTIONS, topics=["offsets-only"]), tmp_path / "out")
    plan = restore_plan(internal_logs, report.partitions, "/staging")
    assert plan.group_files() == {"group-offsets-1.csv": b"offsets-only,0,7\n"}
    assert plan.commands[-1] == (
        "kafka-consumer-groups.sh --bootstrap-server HOST:9092 --reset-offsets --group copy-group "
        "--from-file /staging/group-offsets-1.csv --execute"
    )


def test_offsets_of_partitions_that_were_not_restored_are_left_out(tmp_path: Path) -> None:
    report = mb.restore(mb.open(TRANSACTIONS, topics=["open"]), tmp_path / "out")
    plan = restore_plan(internal_logs_of([str(TRANSACTIONS)]), report.partitions, "/staging")
    assert plan.group_offsets == {}


def test_source_without_internal_topics_has_a_plan_without_configurations(tmp_path: Path) -> None:
    source = TRANSACTIONS / "open-0"
    commands = commands_of(tmp_path, source, "open")
    assert internal_logs_of([str(source)]) is None
    assert any("configurations are not known" in line for line in commands)


def test_gap_in_the_numbers_of_partitions_is_said(tmp_path: Path) -> None:
    commands = commands_of(tmp_path, TRANSACTIONS / "open-1", "open")
    assert any("partitions 1 were restored" in line for line in commands)
