"""Tests of the tables of groups, beside the answers of Kafka's tools (meaning-data in the folder `shared`)."""

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from internal_topics.tool_answers import assigned
from kafka_tables import tool_rows
from paths import shared

MEANING_DATA = shared() / "meaning-data"

INTERNALS = sorted(MEANING_DATA.glob("internals-*"))

APPS = sorted(MEANING_DATA.glob("apps-*"))

needs_internals = pytest.mark.skipif(
    not INTERNALS, reason=f"no {MEANING_DATA}/internals-*: logs of groups with the tools' answers"
)
needs_apps = pytest.mark.skipif(
    not APPS, reason=f"no {MEANING_DATA}/apps-*: logs of applications with the tools' answers"
)

Row = dict[str, Any]


def table(folder: Path, name: str, **options: Any) -> list[Row]:
    return mb.open(folder / "log-0", **options).table(name).to_pylist()


def offset_lines(folder: Path, rows: list[Row]) -> set[tuple[str, ...]]:
    """Return the rows of `group_offsets` as the tool prints them. It asks for topics that exist only."""
    dash = partial(_text, none="-")
    return {
        (
            row["group"],
            row["topic"],
            str(row["partition"]),
            dash(row["leader_epoch"]),
            dash(row["offset"]),
            dash(row["log_end_offset"]),
            dash(row["lag"]),
        )
        for row in rows
        if row["offset"] is not None
    }


def _text(value: object, *, none: str) -> str:
    return none if value is None else str(value)


@needs_internals
@pytest.mark.parametrize("folder", INTERNALS, ids=lambda path: path.name)
def test_group_offsets_are_what_the_tool_prints(folder: Path) -> None:
    judged = {
        tuple(row.values())[:7]
        for row in tool_rows(folder / "judge" / "groups-describe.txt")
        if row["CURRENT-OFFSET"] != "-"
    }
    assert offset_lines(folder, table(folder, "group_offsets")) == judged
    assert len(judged) >= 12


@needs_internals
@pytest.mark.parametrize("folder", INTERNALS, ids=lambda path: path.name)
def test_groups_are_what_the_tools_print(folder: Path) -> None:
    rows = {row["group"]: row for row in table(folder, "groups")}
    listed = {
        (row["GROUP"], row["TYPE"], row["PROTOCOL"])
        for row in tool_rows(folder / "judge" / "groups-list.txt")
    }
    assert listed == {
        (row["group"], row["type"], row["protocol_type"] or "") for row in rows.values()
    }
    judged = tool_rows(folder / "judge" / "groups-state.txt")
    for line in judged:
        row = rows[line["GROUP"]]
        is_classic = row["type"] == "Classic"
        protocol = row["protocol"] or ("-" if is_classic else "uniform")  # the broker's default
        assert (row["state"], str(row["member_count"])) == (line["STATE"], line["#MEMBERS"])
        assert protocol == line["ASSIGNMENT-STRATEGY"]
        epochs = row["group_epoch"], row["assignment_epoch"]
        shown = line["GROUP-EPOCH"], line["TARGET-ASSIGNMENT-EPOCH"]
        assert tuple(_text(epoch, none="-") for epoch in epochs) == shown
    assert len(judged) >= 9


@needs_apps
@pytest.mark.parametrize("folder", APPS, ids=lambda path: path.name)
def test_groups_of_applications_have_the_types_that_the_tool_prints(folder: Path) -> None:
    rows = {row["group"]: row for row in table(folder, "groups")}
    judged = tool_rows(folder / "judge" / "groups.txt")
    for line in judged:
        row = rows[line["GROUP"]]
        assert (row["type"], row["protocol_type"] or "") == (line["TYPE"], line["PROTOCOL"])
    assert {"Streams", "Classic"} <= {line["TYPE"] for line in judged}
    offsets = {
        (row["group"], row["topic"], row["partition"]): row["offset"]
        for row in table(folder, "group_offsets")
    }
    for line in tool_rows(folder / "judge" / "consumer-groups.txt"):
        if line["CURRENT-OFFSET"] != "-":
            key = line["GROUP"], line["TOPIC"], int(line["PARTITION"])
            assert str(offsets[key]) == line["CURRENT-OFFSET"]


@needs_internals
def test_an_offset_in_a_transaction_counts_only_if_its_marker_is_before_the_end() -> None:
    folder = INTERNALS[0]
    (marker,) = [
        row
        for row in mb.open(folder / "log-0", topics=["__consumer_offsets"])
        .records(["partition", "offset", "outcome"], dispositions=["control"])
        .to_pylist()
        if row["outcome"] == "committed"
    ]
    for end, expected in ((marker["offset"], (None, 5)), (marker["offset"] + 1, (5, None))):
        rows = table(folder, "group_offsets", offsets=(None, end))
        offsets = [
            (row["offset"], row["pending_offset"]) for row in rows if row["group"] == "g-txn"
        ]
        assert offsets == [expected]


@needs_internals
def test_positions_and_lag_are_as_of_the_end_of_a_range_of_times() -> None:
    folder = INTERNALS[0]
    rows = table(folder, "group_offsets")
    time = min(row["commit_timestamp"] for row in rows if row["group"] == "g-txn" and row["offset"])
    earlier = table(folder, "group_offsets", times=(None, time))
    assert {"g-deleted", "g-gone-topic"} <= {
        row["group"] for row in earlier
    }  # they were there then
    assert all(row["commit_timestamp"] < time for row in earlier if row["commit_timestamp"])
    ends = {(row["topic"], row["partition"]): row["log_end_offset"] for row in rows}
    differences = [
        ends[row["topic"], row["partition"]] - row["log_end_offset"]
        for row in earlier
        if row["topic"] != "gone"
    ]
    assert min(differences) >= 0 < max(differences)


@needs_internals
def test_the_beginning_of_a_range_leaves_the_state_as_it_is() -> None:
    folder = INTERNALS[0]
    assert table(folder, "group_offsets", offsets=(15, None)) == table(folder, "group_offsets")


@needs_internals
def test_the_lag_is_null_where_the_log_of_the_topic_is_not_below_the_paths() -> None:
    folder = INTERNALS[0]
    paths = sorted((folder / "log-0").glob("__consumer_offsets-*"))
    rows = mb.open(*paths).table("group_offsets").to_pylist()
    assert {(row["log_end_offset"], row["lag"]) for row in rows} == {(None, None)}
    assert len(rows) == len(table(folder, "group_offsets"))


def test_a_log_dir_without_internal_topics_has_no_groups(folder: Any) -> None:
    folder.segment("t-0", b"")
    assert mb.open(folder.path).table("groups").to_pylist() == []


@needs_internals
@pytest.mark.parametrize("folder", INTERNALS, ids=lambda path: path.name)
def test_members_are_what_the_tools_print(folder: Path) -> None:
    rows = table(folder, "group_members")
    is_share = {row["group"]: row["type"] == "Share" for row in table(folder, "groups")}
    judged = tool_rows(folder / "judge" / "groups-members.txt")
    names = "GROUP CONSUMER-ID GROUP-INSTANCE-ID HOST CLIENT-ID #PARTITIONS CURRENT-EPOCH CURRENT-ASSIGNMENT"
    shown = (*names.split(), "TARGET-EPOCH", "TARGET-ASSIGNMENT")
    assert sorted(tuple(line.get(name, "") for name in shown) for line in judged) == sorted(
        (
            row["group"],
            row["member_id"],
            row["group_instance_id"] or "",
            row["client_host"],
            row["client_id"],
            str(len(row["assignment"])),
            _text(row["member_epoch"], none="-"),
            assigned(row["assignment"]),
            _text(row["member_epoch"], none="-"),  # all members have reached their target
            "-" if row["target_assignment"] is None else assigned(row["target_assignment"]),
        )
        for row in rows
        if not is_share[row["group"]]
    )
    shares = tool_rows(folder / "judge" / "share-members.txt")
    assert sorted(tuple(line.values()) for line in shares) == sorted(
        (
            row["group"],
            row["member_id"],
            row["client_host"],
            row["client_id"],
            str(len(row["assignment"])),
            str(row["member_epoch"]),
            assigned(row["assignment"]),
        )
        for row in rows
        if is_share[row["group"]]
    )
    assert len(judged) >= 5 and shares


@needs_internals
@pytest.mark.parametrize("folder", INTERNALS, ids=lambda path: path.name)
def test_share_group_offsets_and_states_are_what_the_tool_prints(folder: Path) -> None:
    rows = table(folder, "share_group_offsets")
    columns = ("group", "topic", "partition", "leader_epoch", "start_offset", "lag")
    judged = tool_rows(folder / "judge" / "share-describe.txt")
    assert sorted(tuple(line.values()) for line in judged) == sorted(
        tuple(_text(row[name], none="-") for name in columns) for row in rows
    )
    for line in tool_rows(folder / "judge" / "share-state.txt"):
        (row,) = [row for row in table(folder, "groups") if row["group"] == line["GROUP"]]
        names = ("state", "group_epoch", "assignment_epoch", "member_count")
        shown = ("STATE", "GROUP-EPOCH", "ASSIGNMENT-EPOCH", "#MEMBERS")
        assert [str(row[name]) for name in names] == [line[name] for name in shown]
    assert len(judged) >= 3


@needs_apps
def test_a_streams_group_has_the_epochs_that_the_tool_prints() -> None:
    folder = APPS[0]
    (line,) = tool_rows(folder / "judge" / "streams-state.txt")
    (row,) = [row for row in table(folder, "groups") if row["group"] == line["GROUP"]]
    names = ("state", "group_epoch", "assignment_epoch", "member_count")
    shown = ("STATE", "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS")
    assert [str(row[name]) for name in names] == [line[name] for name in shown]


@needs_internals
def test_damage_in_the_topic_is_reported_and_other_records_count(tmp_path: Path) -> None:
    log_dir = tmp_path / "log-0"
    shutil.copytree(INTERNALS[0] / "log-0", log_dir, copy_function=shutil.copyfile)
    segment = log_dir / "__consumer_offsets-1" / f"{0:020}.log"
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.chmod(0o644)
    segment.write_bytes(data)
    rows = mb.open(log_dir, on_damage="skip").table("group_offsets")
    groups = {row["group"] for row in rows.to_pylist()}
    assert {"g-empty", "g-consumer", "g-txn"} <= groups
    assert "error" in {finding.severity for finding in rows.report.findings}
    with pytest.raises(mb.FormatError):
        mb.open(log_dir).table("group_offsets").to_pylist()
