"""Tests of `magicbyte groups`: positions, members and states, and the file that sets offsets."""

import csv
import io
import json
from pathlib import Path

import pytest

from internal_topics.group_records import OffsetsLog
from kafka_tables import tool_rows
from log_builder import batch, record
from magicbyte.internal_topics.coordinator_records import CoordinatorRecord
from paths import shared

from .conftest import TRANSACTIONS, run, run_ndjson

INTERNALS = sorted((shared() / "meaning-data").glob("internals-*"))

needs_internals = pytest.mark.skipif(
    not INTERNALS, reason="no meaning-data/internals-* in the folder `shared`"
)


@needs_internals
@pytest.mark.parametrize("folder", INTERNALS, ids=lambda path: path.name)
def test_positions_are_the_lines_of_the_tool_with_assigned_partitions(folder: Path) -> None:
    rows = run_ndjson("groups", folder / "log-0")
    judged = [tuple(row.values()) for row in tool_rows(folder / "judge" / "groups-describe.txt")]
    names = (
        *("group", "topic", "partition", "leader_epoch", "offset", "log_end_offset", "lag"),
        *("member_id", "client_host", "client_id"),
    )
    positions = [
        tuple("-" if row[name] is None else str(row[name]) for name in names)
        for row in rows
        if row["type"] != "Share" and (row["offset"] is not None or row["member_id"])
    ]
    assert sorted(positions) == sorted(judged)
    shares = [row for row in rows if row["type"] == "Share"]
    judged = [tuple(row.values()) for row in tool_rows(folder / "judge" / "share-describe.txt")]
    names = ("group", "topic", "partition", "leader_epoch", "offset", "lag")
    assert sorted(tuple(str(row[name]) for name in names) for row in shares) == sorted(judged)


@needs_internals
def test_a_pending_offset_is_printed_with_its_transactional_id() -> None:
    result = run("groups", INTERNALS[0] / "log-0", "--group", "g-txn")
    assert result.stdout.splitlines()[-1] == (
        "  g-txn: a-1 would be at 11 (transactional id t-open, producer id 2)"
    )


@needs_internals
def test_members_and_states_are_printed() -> None:
    log_dir = INTERNALS[0] / "log-0"
    text = run("groups", log_dir, "--members", "--group", "g-classic").stdout
    assert "a:0,1;b:0" in text
    rows = run_ndjson("groups", log_dir, "--state")
    states = {row["group"]: (row["type"], row["state"]) for row in rows}
    assert states["g-consumer"] == ("Consumer", "Stable")
    assert states["g-empty"] == ("Classic", "Empty")


@needs_internals
def test_csv_has_the_same_columns_as_ndjson() -> None:
    log_dir = INTERNALS[0] / "log-0"
    for option in ((), ("--members",), ("--state",)):
        text = run("groups", log_dir, *option, "--format", "csv").stdout
        header, *lines = csv.reader(io.StringIO(text))
        rows = run_ndjson("groups", log_dir, *option)
        assert header == list(rows[0])
        assert len(lines) == len(rows)


@needs_internals
def test_the_file_of_several_groups_has_the_group_first(tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    result = run("groups", INTERNALS[0] / "log-0", "--reset-csv", file)
    lines = file.read_text().splitlines()
    assert "g-txn,a,1,5" in lines and "g-empty,a,1,2" in lines
    assert not any(line.startswith(("g-txn2,", "g-share,")) for line in lines)
    assert f"--group g-txn --from-file {file} --execute" in result.stderr
    again = run("groups", INTERNALS[0] / "log-0", "--reset-csv", file)
    assert (again.exit_code, "--overwrite" in again.stderr) == (2, True)


def test_the_file_of_one_group_has_no_group(tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    result = run("groups", TRANSACTIONS, "--group", "copy-group", "--reset-csv", file)
    assert file.read_text() == "offsets-only,0,7\n"
    assert "--reset-offsets --group copy-group --from-file" in result.stderr


def test_a_group_that_does_not_exist_is_an_error_that_names_those_that_do() -> None:
    result = run("groups", TRANSACTIONS, "--group", "no-group")
    assert result.exit_code == 2
    assert "no group 'no-group'; expected one of copy-group" in result.stderr


def test_topics_are_selected() -> None:
    assert len(run_ndjson("groups", TRANSACTIONS, "--topic", "offsets-only")) == 1
    assert run("groups", TRANSACTIONS, "--topic", "open", "--format", "ndjson").stdout == ""


def test_paths_without_offsets_of_groups_are_named() -> None:
    result = run("groups", TRANSACTIONS / "open-0")
    assert "no topic __consumer_offsets below the paths" in result.stderr
    assert result.exit_code == 0


def test_options_that_exclude_each_other_are_refused(tmp_path: Path) -> None:
    assert run("groups", TRANSACTIONS, "--members", "--state").exit_code == 2
    file = tmp_path / "offsets.csv"
    assert run("groups", TRANSACTIONS, "--state", "--reset-csv", file).exit_code == 2
    assert not file.exists()


def test_ndjson_is_one_object_per_line() -> None:
    lines = run("groups", TRANSACTIONS, "--format", "ndjson").stdout.splitlines()
    assert [json.loads(line)["offset"] for line in lines] == [7]


@pytest.fixture
def streams_log_dir(tmp_path: Path) -> Path:
    """Provide a log.dir with offsets of the streams groups `app` and `other app`, and of the group `g`."""
    log = OffsetsLog()
    log.commit(3)
    for group in ("app", "other app"):
        log.add("StreamsGroupMetadata", {"groupId": group}, {"epoch": 1})
        log.commit(7, group=group)
    content = [
        record(entry.value, entry.key, delta=entry.offset)
        for entry in log.entries
        if isinstance(entry, CoordinatorRecord)
    ]
    folder = tmp_path / "log-0" / "__consumer_offsets-0"
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(batch(content))
    return folder.parent


def test_a_streams_group_has_a_command_of_its_own(streams_log_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "o.csv"
    lines = run("groups", streams_log_dir, "--reset-csv", file).stderr.splitlines()
    assert file.read_text() == "app,t,0,7\ng,t,0,3\nother app,t,0,7\n"
    options = f"--from-file {file} --execute"
    servers = "--bootstrap-server HOST:PORT --reset-offsets"
    assert lines[1:] == [
        f"  kafka-consumer-groups.sh {servers} --group g {options}",
        "the group 'app' is a streams group: where it exists, kafka-consumer-groups.sh refuses it, and "
        "kafka-streams-groups.sh resets it:",
        f"  kafka-streams-groups.sh {servers} --group app {options}",
        "the group 'other app' is a streams group: where it exists, kafka-consumer-groups.sh refuses it, and "
        "kafka-streams-groups.sh resets it:",
        f"  kafka-streams-groups.sh {servers} --group 'other app' {options}",
    ]


def test_streams_groups_alone_have_no_command_of_consumer_groups(
    streams_log_dir: Path, tmp_path: Path
) -> None:
    file = tmp_path / "o.csv"
    result = run("groups", streams_log_dir, "--group", "app", "--reset-csv", file)
    assert file.read_text() == "t,0,7\n"
    assert "  kafka-consumer-groups.sh" not in result.stderr
    assert (
        f"  kafka-streams-groups.sh --bootstrap-server HOST:PORT --reset-offsets --group app --from-file {file}"
        in (result.stderr)
    )


def test_overwrite_names_the_file_as_the_option_does() -> None:
    assert "Replace FILE if it exists." in run("groups", "--help").stdout


def test_expanded_rows_are_blocks() -> None:
    lines = run("groups", TRANSACTIONS, "-x").stdout.splitlines()
    assert lines[0].startswith("-[ offsets-only-0 offset 7 ]-")
    assert [line.split() for line in lines[1:3]] == [["group", "copy-group"], ["type", "Classic"]]
    assert ["lag", "9"] in [line.split() for line in lines]
    refused = run("groups", TRANSACTIONS, "--expanded", "--format", "csv")
    assert "--expanded applies to text, not to csv" in refused.stderr
    refused = run("groups", TRANSACTIONS, "--no-trunc", "--format", "ndjson")
    assert "--no-trunc applies to text, not to ndjson" in refused.stderr
