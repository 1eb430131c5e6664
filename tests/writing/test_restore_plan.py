"""Tests of the commands that put restored partitions into a cluster."""

from pathlib import Path
from typing import Any

import magicbyte as mb
from magicbyte.writing.restore_plan import (
    RestorePlan,
    group_offsets_of,
    internal_logs_of,
    restore_plan,
    topic_configs_of,
)
from paths import DATA

TRANSACTIONS = DATA / "4.3" / "transactions" / "log-0"
PLAIN = DATA / "4.3" / "plain" / "log-0"

FIRST_COMMIT, BEFORE_THIRD_COMMIT = 1_795_299_798_036, 1_795_299_798_200
"""Times of the first of the offsets that `copy-group` committed, and of a moment between the second and the third."""


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


def plan_at(tmp_path: Path, end: int | None, **options: Any) -> RestorePlan:
    """Return the plan of `offsets-only` up to the time *end*, or with other *options* of `open`."""
    times = None if end is None else (None, end)
    dataset = mb.open(TRANSACTIONS, topics=["offsets-only"], times=times, **options)
    report = mb.restore(dataset, tmp_path / "out")
    return restore_plan(
        internal_logs_of([str(TRANSACTIONS)]), report.partitions, "/staging", to_time=end
    )


def test_groups_continue_where_they_stood_at_the_time_of_the_restore(tmp_path: Path) -> None:
    plan = plan_at(tmp_path, BEFORE_THIRD_COMMIT)
    assert plan.group_files() == {"group-offsets-1.csv": b"offsets-only,0,1\n"}
    assert plan.commands[-2] == (
        "# Groups continue at the offsets that they had committed by then; no member may be active."
    )
    positions = mb.open(TRANSACTIONS, include_internal=True, times=(None, BEFORE_THIRD_COMMIT))
    (row,) = positions.table("group_offsets", ("group", "offset")).to_pylist()
    assert row == {"group": "copy-group", "offset": 1}


def test_group_without_an_offset_at_the_time_of_the_restore_is_named(tmp_path: Path) -> None:
    plan = plan_at(tmp_path, FIRST_COMMIT)
    assert plan.group_files() == {}
    assert plan.commands[-1] == (
        "# 'copy-group' in offsets-only-0: no offset that was committed by then is left, so none is set: its "
        "consumers begin by auto.offset.reset. The last one was 7."
    )


def test_group_is_not_set_beyond_the_end_of_the_restored_log(tmp_path: Path) -> None:
    plan = plan_at(tmp_path, None, offsets=(None, 3))
    end = plan.restored_topics["offsets-only"].log_end_offsets[0]
    assert end < 7
    assert plan.group_files() == {"group-offsets-1.csv": f"offsets-only,0,{end}\n".encode()}
    assert plan.commands[-2] == (
        f"# 'copy-group' in offsets-only-0: the committed offset is 7, and the restored log ends at {end}, where "
        "the group continues."
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
