"""Tests of companion files that are written into folders of their own."""

import os
import shutil
from pathlib import Path

import pytest

import log_builder as log
import magicbyte as mb
from magicbyte.errors import ChangedError, InputError
from magicbyte.writing import companion_folders
from magicbyte.writing.companion_folders import write_companions
from paths import DATA

SOURCE = DATA / "4.3" / "transactions" / "log-0"


def partition(folder: Path, *segments: bytes) -> Path:
    """Return a new partition folder with *segments* of ten offsets each."""
    path = folder / "t-0"
    path.mkdir(parents=True)
    for number, data in enumerate(segments):
        (path / f"{10 * number:020}.log").write_bytes(data)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_copy_without_companion_files_gets_them_back(tmp_path: Path) -> None:
    shutil.copytree(SOURCE / "aborted-0", tmp_path / "aborted-0")
    expected = contents(tmp_path / "aborted-0")
    for name in expected:
        if not name.endswith((".log", "partition.metadata")):
            (tmp_path / "aborted-0" / name).unlink()
    report = write_companions(mb.open(tmp_path / "aborted-0"), tmp_path / "out")
    (row,) = report.partitions
    built = contents(tmp_path / "out" / "aborted-0")
    assert (row["outcome"], row["files"], row["log_end_offset"]) == ("written", len(built), 55)
    assert row["output_bytes"] == sum(map(len, built.values()))
    # The broker's own has an epoch without batches, which only it knows.
    assert built.pop("leader-epoch-checkpoint") == b"0\n1\n0 0\n"
    del expected["leader-epoch-checkpoint"], expected["partition.metadata"]
    assert {name: expected[name] for name in built} == built
    assert os.listdir(tmp_path / "out") == ["aborted-0"]
    assert {name for name in expected if not name.endswith(".log")} == built.keys()


def test_interval_of_the_topic_decides_about_index_entries(tmp_path: Path) -> None:
    dataset = mb.open(SOURCE / "interleaved-one-segment-0")
    sizes = [
        write_companions(dataset, None, index_interval_bytes=interval).partitions[0]["output_bytes"]
        for interval in (4096, 0)
    ]
    assert sizes[0] < sizes[1]


def test_companion_files_that_must_be_deleted_from_a_copy_are_named(tmp_path: Path) -> None:
    folder = partition(tmp_path, log.batch(), log.batch(base=10))
    names = [f"{7:020}.snapshot", f"{10:020}.txnindex", f"{11:020}.snapshot"]
    for name in names:
        (folder / name).write_bytes(b"")
    (row,) = write_companions(mb.open(folder, on_damage="skip"), None).partitions
    assert row["obsolete_files"] == names[:2]
    assert row["outcome"] == "counted"


@pytest.mark.parametrize(
    ("tail", "where"),
    [
        (log.batch(base=1, crc=7), "bytes 71 to 141"),
        (log.batch(base=1)[:-1], "bytes 71 to 140"),
        (bytes(10), "bytes 71 to 80"),
    ],
)
def test_partition_with_an_unsound_batch_gets_no_companion_files(
    tail: bytes, where: str, tmp_path: Path
) -> None:
    folder = partition(tmp_path, log.batch() + tail)
    report = write_companions(mb.open(folder, on_damage="skip"), tmp_path / "out")
    (row,) = report.failures
    assert where in row["error"] and "a broker would not notice" in row["error"]
    assert os.listdir(tmp_path / "out") == []


def test_damage_of_one_partition_does_not_keep_the_others_from_their_files(tmp_path: Path) -> None:
    partition(tmp_path / "logs", log.batch(crc=7))
    shutil.copytree(SOURCE / "fenced-0", tmp_path / "logs" / "fenced-0")
    report = write_companions(mb.open(tmp_path / "logs"), tmp_path / "out")
    assert [(row["topic"], row["outcome"]) for row in report.partitions] == [
        ("fenced", "written"),
        ("t", "failed"),
    ]
    assert os.listdir(tmp_path / "out") == ["fenced-0"]


def test_batch_that_a_recovery_could_not_index_fails_its_partition(tmp_path: Path) -> None:
    folder = partition(tmp_path, log.transactional(0, 7) + log.batch(base=1, producer=7))
    report = write_companions(mb.open(folder), tmp_path / "out")
    assert [finding.code for finding in report.findings] == ["transaction-interrupted"]
    assert os.listdir(tmp_path / "out") == []


def test_segment_that_changes_while_it_is_read_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = partition(tmp_path, log.batch(), log.batch(base=10))
    versions = companion_folders.file_versions

    def changed_versions(each: object) -> object:
        found = versions(each)
        (folder / f"{0:020}.log").write_bytes(log.batch(base=1))
        return found

    monkeypatch.setattr(companion_folders, "file_versions", changed_versions)
    with pytest.raises(ChangedError):
        write_companions(mb.open(folder), tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_output_that_holds_files_or_is_in_a_log_is_refused(tmp_path: Path) -> None:
    folder = partition(tmp_path / "logs", log.batch())
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_bytes(b"")
    for output in (tmp_path / "full", folder, folder / "out"):
        with pytest.raises(InputError):
            write_companions(mb.open(folder), output)
    with pytest.raises(InputError, match="a URL"):
        write_companions(mb.open(folder), "s3://bucket/out")
