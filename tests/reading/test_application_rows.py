"""Tests of the tables of Kafka Connect and MirrorMaker, against what a worker and Kafka's formatters said."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from paths import shared

APPS = shared() / "meaning-data" / "apps-4.3"

needs_data = pytest.mark.skipif(not APPS.exists(), reason="needs the folder shared")

Row = dict[str, Any]


def table(path: Path, name: str, **options: Any) -> list[Row]:
    rows = mb.open(path, **options).table(name)
    found = rows.to_pylist()
    assert rows.report.findings == []
    return found


def at_the_end() -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((APPS / "judge" / "connect.json").read_text())
    found: dict[str, Any] = answers["/connectors?expand=info&expand=status at the end"]
    return found


@needs_data
def test_connectors_are_those_of_the_worker() -> None:
    expected = at_the_end()
    rows = {row["connector"]: row for row in table(APPS / "log-0", "connectors")}
    assert rows.keys() == expected.keys() and len(rows) == 4
    for name, answer in expected.items():
        config = answer["info"]["config"]
        shown = json.loads(rows[name]["config"])
        # The name is not in the record: the worker adds it to its answers.
        assert {"name": name} | shown == config
        assert rows[name]["class"] == config["connector.class"]
        assert rows[name]["task_count"] == len(answer["info"]["tasks"])
        assert rows[name]["config_topic"] == "connect-configs"
    targets = {name: row["target_state"] for name, row in rows.items()}
    states = {"file": "PAUSED", "mm-heartbeat": "STOPPED"}
    assert targets == {name: states.get(name, "STARTED") for name in expected}


@needs_data
def test_states_are_those_of_the_worker() -> None:
    expected: dict[tuple[str, int | None], Any] = {}
    for name, answer in at_the_end().items():
        expected[name, None] = answer["status"]["connector"]
        expected |= {(name, task["id"]): task for task in answer["status"]["tasks"]}
    rows = [row for row in table(APPS / "log-0", "connector_status") if row["topic"] is None]
    assert {(row["connector"], row["task"]) for row in rows} == expected.keys()
    for row in rows:
        state = expected[row["connector"], row["task"]]
        assert (row["state"], row["worker_id"]) == (state["state"], state["worker_id"])
        assert row["version"] == state.get("version")
    by_name = {row["connector"]: row["state"] for row in table(APPS / "log-0", "connectors")}
    assert by_name == {name: expected[name, None]["state"] for name in by_name}


@needs_data
def test_topics_of_a_connector_are_those_of_the_worker() -> None:
    answers = json.loads((APPS / "judge" / "connect.json").read_text())
    rows = table(APPS / "log-0", "connector_status")
    used = [row["topic"] for row in rows if row["topic"] and row["connector"] == "file"]
    assert used == answers["/connectors/file/topics"]["file"]["topics"]


@needs_data
def test_tasks_are_those_of_the_worker() -> None:
    expected = {
        (name, task["task"])
        for name, answer in at_the_end().items()
        for task in answer["info"]["tasks"]
    }
    rows = table(APPS / "log-0", "connector_tasks")
    assert {(row["connector"], row["task"]) for row in rows} == expected
    assert all(json.loads(row["config"])["task.class"] for row in rows)


@needs_data
def test_offsets_are_those_of_the_worker() -> None:
    answers = json.loads((APPS / "judge" / "connect.json").read_text())
    expected = {
        (name, json.dumps(entry["partition"], sort_keys=True), json.dumps(entry["offset"]))
        for name in ("file", "mm-source", "mm-heartbeat")
        for question, answer in answers.items()
        if question.startswith(f"/connectors/{name}/offsets")
        for entry in answer["offsets"]
    }
    rows = table(APPS / "log-0", "connector_offsets")
    found = {
        (
            row["connector"],
            json.dumps(json.loads(row["partition"])),
            json.dumps(json.loads(row["offset"])),
        )
        for row in rows
        if row["connector"] != "mm-checkpoint"
    }
    assert found == expected and len(found) == 3


@needs_data
def test_checkpoints_and_offset_syncs_are_those_of_kafkas_formatters() -> None:
    text = (APPS / "judge" / "mm2-src.checkpoints.internal.txt").read_text()
    expected = re.findall(
        r"Checkpoint\{consumerGroupId=(.*), topicPartition=(.*)-(\d+), upstreamOffset=(\d+), "
        r"downstreamOffset=(\d+), metadata=(.*)\}",
        text,
    )
    names = ("group", "topic", "partition", "upstream_offset", "downstream_offset", "metadata")
    rows = table(APPS / "log-0", "mirror_checkpoints")
    assert [tuple(str(row[name]) for name in names) for row in rows] == expected != []
    text = (APPS / "judge" / "mm2-mm2-offset-syncs.dst.internal.txt").read_text()
    expected = re.findall(
        r"OffsetSync\{topicPartition=(.*)-(\d+), upstreamOffset=(\d+), downstreamOffset=(\d+)\}",
        text,
    )
    rows = table(APPS / "log-0", "mirror_offset_syncs")
    names = ("topic", "partition", "upstream_offset", "downstream_offset")
    assert [tuple(str(row[name]) for name in names) for row in rows] == expected
    assert len(expected) == 6


@needs_data
def test_heartbeats_in_json_are_read() -> None:
    (row,) = table(APPS / "log-0", "mirror_heartbeats")
    assert (row["source_cluster"], row["target_cluster"]) == ("src", "dst")
    assert abs((row["timestamp"] - row["heartbeat_timestamp"]).total_seconds()) < 5


def write_topic(path: Path, topic: str, *records: tuple[bytes, bytes | None]) -> None:
    folder = path / f"{topic}-0"
    folder.mkdir(parents=True)
    content = [build.record(value, key, delta=n) for n, (key, value) in enumerate(records)]
    (folder / f"{0:020}.log").write_bytes(build.batch(content))


CREATED = (b"connector-a", b'{"properties":{"connector.class":"C","x.password":"geheim"}}')


def test_topic_with_a_likely_name_is_found_by_its_records(tmp_path: Path) -> None:
    write_topic(tmp_path, "worker.config", CREATED)
    write_topic(tmp_path, "site-configs", (b"user-1", b"{}"))
    (row,) = table(tmp_path, "connectors")
    assert (row["connector"], row["class"], row["config_topic"]) == ("a", "C", "worker.config")
    assert row["state"] is None
    assert "geheim" not in row["config"]


def test_topic_of_another_name_is_found_if_it_is_selected(tmp_path: Path) -> None:
    write_topic(tmp_path, "anything", CREATED)
    write_topic(tmp_path, "orders", (b"o", b"{}"))
    assert table(tmp_path, "connectors") == []
    assert len(table(tmp_path, "connectors", topics=["anything"])) == 1


def test_states_belong_to_the_cluster_of_workers_with_a_like_name(tmp_path: Path) -> None:
    for name, state in (("one", b"RUNNING"), ("two", b"FAILED")):
        write_topic(tmp_path, f"{name}-configs", CREATED)
        status = b'{"state":"%s","worker_id":"w","generation":1}' % state
        write_topic(tmp_path, f"{name}-status", (b"status-connector-a", status))
    found = {row["config_topic"]: row["state"] for row in table(tmp_path, "connectors")}
    assert found == {"one-configs": "RUNNING", "two-configs": "FAILED"}


def test_record_that_cannot_be_decoded_is_a_finding(tmp_path: Path) -> None:
    write_topic(tmp_path, "connect-configs", CREATED, CREATED, CREATED, (b"connector-b", b"{"))
    rows = mb.open(tmp_path).table("connectors")
    assert [row["connector"] for row in rows.to_pylist()] == ["a"]
    (finding,) = rows.report.findings
    assert (finding.code, finding.base_offset) == ("internal-record-invalid", 3)
    assert (finding.topic, finding.partition) == ("connect-configs", 0)


def test_offset_that_was_deleted_is_gone(tmp_path: Path) -> None:
    place = b'["a",{"file":"f"}]'
    write_topic(tmp_path, "connect-offsets", (place, b'{"p":1}'), (place, b'{"p":2}'))
    (row,) = table(tmp_path, "connector_offsets")
    assert (row["partition"], row["offset"], row["record_offset"]) == ('{"file":"f"}', '{"p":2}', 1)
    write_topic(tmp_path / "x", "connect-offsets", (place, b'{"p":1}'), (place, None))
    assert table(tmp_path / "x", "connector_offsets") == []


def test_log_dir_without_connect_gives_empty_tables(tmp_path: Path) -> None:
    write_topic(tmp_path, "orders", (b"o", b"{}"))
    for name in ("connectors", "connector_tasks", "connector_status", "mirror_heartbeats"):
        assert table(tmp_path, name) == []
