"""Tests of the text of `magicbyte verify`: order, folding, severities, colors, what to do."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from file_damage import flip
from magicbyte_cli.painter import Painter
from magicbyte_cli.verify_damage import reset_command
from magicbyte_cli.verify_text import MAX_PER_CODE, VerifyText

from .conftest import run

SIZE = len(build.batch(build.records(3), 0))


def write(folder: Any, partition: str, num_batches: int = 3) -> Path:
    data = [build.batch(build.records(3), 3 * number) for number in range(num_batches)]
    path: Path = folder.segment(partition, b"".join(data))
    return path


def index(path: Path) -> None:
    """Write an empty offset index and a time index for the segment *path*."""
    path.with_suffix(".index").write_bytes(b"")
    path.with_suffix(".timeindex").write_bytes(b"")


@pytest.fixture
def log_dir(folder: Any) -> Any:
    return folder.log_dir()


def lines(*arguments: object) -> list[str]:
    return run("verify", *arguments).stdout.splitlines()


def test_partitions_are_printed_by_severity_with_their_findings(log_dir: Any) -> None:
    for name in ("a-0", "b-0", "c-0", "d-0"):
        index(write(log_dir, name))
    (log_dir.path / "a-0" / "notes.txt").write_text("")
    flip(log_dir.path / "b-0" / f"{0:020}.log", SIZE + 70)
    (log_dir.path / "c-0" / "copy.log").write_text("")
    (log_dir.path / ".kafka_cleanshutdown").write_text("")
    found = lines(log_dir)
    heads = [line for line in found if line.startswith(("a-0", "b-0", "c-0", "d-0"))]
    assert [head.partition(":")[0] for head in heads] == [
        "c-0 [refuses-to-start]",
        "b-0 [unchanged-damaged]",
        "a-0 [intact]",
    ]
    of_b = found[found.index(heads[1]) + 1 : found.index(heads[2])]
    assert of_b[0].startswith(f"  error checksum-mismatch: {0:020}.log byte {SIZE}: stored CRC-32C")
    assert of_b[1:] == [
        f"  {0:020}.log bytes {SIZE} to {2 * SIZE - 1} hold offsets 3 to 5; the next sound offset is 6",
        "  to move a consumer group that is stuck there (stop its consumers first):",
        f"    {reset_command('b', 0, 6)}",
    ]
    assert found[0].startswith("broker 1 [refuses-to-start]: on startup Kafka 4.4 would not start")
    assert found[1].startswith("  error partition-invalid: c-0")
    assert found[2] == "consumers would get stuck in 1 partition: b-0 3 to 5"
    assert found[-1].startswith("first: keep a copy of these files; then repair")
    assert any(line.startswith("  checksum-mismatch: Check disk") for line in found)


def test_command_that_moves_a_group_is_complete(log_dir: Any) -> None:
    assert reset_command("orders", 7, 18) == (
        "kafka-consumer-groups.sh --bootstrap-server HOST:PORT --group GROUP --topic orders:7 "
        "--reset-offsets --to-offset 18 --execute"
    )
    assert "--topic 'a b:0' " in reset_command("a b", 0, 1)


def test_lost_offsets_are_in_the_first_line(log_dir: Any) -> None:
    flip(write(log_dir, "a-0"), SIZE + 70)
    found = lines(log_dir)
    assert found[0].startswith("broker 1 [starts-with-loss]: ")
    assert found[1] == "6 offsets lost in 1 partition: a-0 3 to 8"
    (head,) = (line for line in found if line.startswith("a-0 ["))
    assert head == (
        "a-0 [truncated]: on startup the broker would lose offsets 3 to 8 of this partition "
        "(6 offsets); its log end offset would be 3"
    )
    assert found[-1].startswith("first: do not start a broker on these files")
    assert run("verify", log_dir).exit_code == 1


def test_one_lost_offset_is_not_a_range(log_dir: Any) -> None:
    write(log_dir, "a-0", 1)
    (log_dir.path / "replication-offset-checkpoint").write_text("0\n1\na 0 4\n")
    (head,) = (line for line in lines(log_dir) if line.startswith("a-0 ["))
    assert head == (
        "a-0 [unchanged-damaged]: on startup the broker would serve this partition as it is, although something in "
        "it is damaged or missing; offset 3 of this partition (1 offset) is lost; its log end offset would be 3"
    )


def test_repeated_notes_are_one_line(log_dir: Any) -> None:
    for number in range(5):
        index(write(log_dir, f"a-{number}"))
        (log_dir.path / f"a-{number}" / "notes.txt").write_text("")
    found = lines(log_dir)
    notes = [line for line in found if "foreign-file" in line]
    assert notes == [
        "note foreign-file: 5 times in 5 partitions, first a-0/notes.txt: not a file of Kafka"
    ]
    assert not any(line.startswith("a-") for line in found)
    assert found[-2].endswith(": 10 notes")  # without partition.metadata, too
    assert found[-1] == (
        "first: find out whether broker 1 would start: Name the broker's other log.dirs too, "
        "the metadata.log.dir among them."
    )


def test_nothing_needs_to_be_done_about_notes_of_a_broker_that_starts(copied: Any) -> None:
    path = copied("4.3/transactions") / "log-0"
    found = lines(path)
    assert found[0].startswith("broker 1 [starts]")
    assert found[-2].endswith("notes")
    assert found[-1] == "first: nothing needs to be done: no offset would be lost"


def test_repeated_errors_of_a_partition_are_counted(log_dir: Any) -> None:
    path = write(log_dir, "a-0", 2 * MAX_PER_CODE + 8)
    index(path)
    for number in range(MAX_PER_CODE + 4):
        flip(path, 2 * number * SIZE + 70)
    found = lines(log_dir, "--clean-shutdown")
    printed = [line for line in found if line.startswith("  error checksum-mismatch")]
    assert len(printed) == MAX_PER_CODE + 1
    assert printed[-1].endswith(f": 4 more, the last at {0:020}.log byte {26 * SIZE}")
    assert any(line.startswith("  and 4 more damaged ranges") for line in found)
    assert sum("kafka-consumer-groups.sh" in line for line in found) == 1


@pytest.mark.parametrize(("severity", "shown"), [("error", 1), ("warning", 2), ("note", 3)])
def test_severity_selects_findings_and_the_summary_counts_all(
    severity: str, shown: int, log_dir: Any
) -> None:
    path = write(log_dir, "a-0")
    index(path)
    flip(path, SIZE + 70)
    (path.parent / "notes.txt").write_text("")
    (path.parent / "leader-epoch-checkpoint").write_text("0\n1\n7 0\n")
    found = lines(log_dir, "--severity", severity)
    severities = {line.split()[0] for line in found if line.startswith("  ")}
    assert severities & {"error", "warning", "note"} == {*("error", "warning", "note")[:shown]}
    assert any(": 1 error, " in line and "2 notes" in line for line in found)


def test_first_thing_to_do_is_on_the_first_screen_too(log_dir: Any) -> None:
    for number in range(12):
        flip(write(log_dir, f"a-{number}", 3 + number), SIZE + 70)
    found = lines(log_dir)
    first = [number for number, line in enumerate(found) if line.startswith("first: ")]
    assert first == [2, len(found) - 1]
    assert found[1].startswith("270 offsets lost in 12 partitions: a-0 3 to 8; a-1 3 to 11; ")
    assert found[1].endswith("; 9 more")


def test_findings_of_a_replica_are_under_its_path(log_dir: Any, tmp_path: Path) -> None:
    index(write(log_dir, "a-0"))
    copy = tmp_path / "copy"
    shutil.copytree(log_dir.path / "a-0", copy / "a-0")
    shutil.copy(log_dir.path / "meta.properties", copy)
    original = tmp_path / "original"
    original.mkdir()
    shutil.move(log_dir.path / "a-0", original)
    shutil.move(log_dir.path / "meta.properties", original)
    flip(copy / "a-0" / f"{0:020}.log", SIZE + 70)
    found = lines(original, copy, "--clean-shutdown")
    (head,) = (line for line in found if line.startswith(f"{copy}/a-0 ["))
    assert "checksum-mismatch" in found[found.index(head) + 1]
    findings = mb.verify(original, copy).findings
    of_damage = [finding for finding in findings if finding.code == "checksum-mismatch"]
    assert [finding.replica for finding in of_damage] == [str(copy)]


def test_colors_are_for_a_terminal(log_dir: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    flip(write(log_dir, "a-0"), SIZE + 70)
    assert "\x1b" not in run("verify", log_dir).stdout
    verification = mb.verify(log_dir.path)
    colored = "\n".join(VerifyText(verification, severity="note", painter=Painter(True)).lines())
    plain = "\n".join(VerifyText(verification, severity="note", painter=Painter(False)).lines())
    assert "\x1b[31m\x1b[1merror\x1b[0m checksum-mismatch" in colored
    assert "\x1b" not in plain
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Painter.for_stdout().is_on
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Painter.for_stdout().is_on


def test_name_of_a_partition_cannot_control_a_terminal(log_dir: Any) -> None:
    flip(write(log_dir, "a\x1b[2J-0"), SIZE + 70)
    verification = mb.verify(log_dir.path)
    for is_on in (True, False):
        text = VerifyText(verification, severity="note", painter=Painter(is_on))
        assert not any("\x1b[2J" in line for line in text.lines())


def test_paths_that_are_not_read_are_listed_by_kind(log_dir: Any) -> None:
    index(write(log_dir, "a-0"))
    folder = log_dir.path / "a-1.0123456789abcdef0123456789abcdef-stray"
    shutil.copytree(log_dir.path / "a-0", folder)
    for number in range(5):
        (log_dir.path / f"backup{number}").mkdir()
    found = lines(log_dir)
    assert "not read:" in found
    assert sum(line.startswith("  foreign-folder ") for line in found) == 3
    assert "  foreign-folder: 2 more; --format ndjson has all of them" in found
    assert any(line.startswith(f"  stray {folder} (") for line in found)


def test_partitions_that_are_alike_are_printed_once(log_dir: Any) -> None:
    for number in range(25):
        index(write(log_dir, f"a-{number}"))
        (log_dir.path / f"a-{number}" / "copy.log").write_text("")
    _, head = (line for line in lines(log_dir) if " [refuses-to-start]: " in line)
    assert head.startswith("a-0, a-1, a-2, ") and "; 5 more [refuses-to-start]: " in head


def test_broker_that_would_not_start_is_the_first_line(log_dir: Any) -> None:
    index(write(log_dir, "a-0"))
    (log_dir.path / "meta.properties").write_text(
        "version=1\nnode.id=3\ncluster.id=c\ndirectory.id=ehqq_W4c6Mk9gO_lwO5MVg\n"
    )
    (log_dir.path / "lost+found").mkdir()
    found = lines(log_dir)
    assert found[0].startswith("broker 3 [refuses-to-start]: on startup Kafka ")
    assert found[1].startswith("  error folder-name-invalid: ")
    assert found[-1].startswith(
        "first: keep a copy of these files; then repair what keeps broker 3 from starting: Move the "
    )
    assert run("verify", log_dir).exit_code == 1


def test_warnings_are_what_to_look_at_where_nothing_is_lost(log_dir: Any) -> None:
    index(write(log_dir, "a-0"))
    (log_dir.path / "a-0" / "leader-epoch-checkpoint").write_text("0\n1\n7 0\n")
    assert lines(log_dir)[-1] == "first: no offset would be lost; look at the warnings of a-0"


def test_prediction_of_a_segment_by_itself_says_on_startup_once(log_dir: Any) -> None:
    segment = write(log_dir, "a-0")
    flip(segment, SIZE + 70)
    (line,) = (line for line in lines(segment) if "[unknown]" in line)
    assert line == (
        "a-0 [unknown]: what the broker would do on startup cannot be predicted from these files"
    )


def test_partition_of_a_refusal_is_not_intact(log_dir: Any) -> None:
    """Two folders are one partition: the broker does not start, and says nothing about the log."""
    index(write(log_dir, "a-0"))
    shutil.copytree(log_dir.path / "a-0", log_dir.path / "a-00")
    found = lines(log_dir)
    assert "[refuses-to-start]" in found[0]
    assert any("a-0 [unknown]: the broker would not start" in line for line in found)
    assert not any("[intact]" in line for line in found)
