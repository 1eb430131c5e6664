"""Tests that a search for erased records reads every copy of them, and lists what it cannot read."""

from pathlib import Path

import pytest

import log_builder as build
import magicbyte as mb
from log_builder import Folder
from magicbyte.writing.erasure_search import ErasureSearch, search_erased

SECRET = b"user-17"
ID = "0123456789abcdef0123456789abcdef"

SECRET_BATCH = build.batch_of(7, b"v", key=SECRET)


def search(*paths: Path, **options: object) -> ErasureSearch:
    dataset = mb.open(*paths, on_damage="skip", **options)
    return search_erased(dataset, mb.erasure_of(keys=[SECRET]))


@pytest.fixture
def log_dir(folder: Folder) -> Folder:
    """A log.dir with a partition from which the records are erased."""
    log_dir = folder.log_dir()
    log_dir.segment("t-0", build.batch_of(0, b"v", key=b"k"))
    assert search(log_dir.path).is_absent
    return log_dir


@pytest.mark.parametrize("suffix", [".deleted", ".cleaned", ".swap"])
def test_file_that_a_broker_deletes_is_searched(suffix: str, log_dir: Folder) -> None:
    log_dir.segment("t-0", build.producer_snapshot(), 3, kind="snapshot")
    path = log_dir.segment("t-0", SECRET_BATCH, 7, suffix=suffix)
    if suffix == ".swap":  # it counts as live, unless a cleaning has not finished
        log_dir.segment("t-0", build.batch_of(0, b"v"), 0, suffix=".cleaned")
    (row,) = search(log_dir.path).matches
    assert (row["path"], row["offset_ranges"]) == (str(path), [[7, 8]])
    assert (row["topic"], row["partition"]) == ("t", 0)


@pytest.mark.parametrize("state", ["stray", "delete", "future"])
def test_folder_that_no_broker_serves_is_searched(state: str, log_dir: Folder) -> None:
    path = log_dir.segment(f"t-0.{ID}-{state}", SECRET_BATCH, 7)
    found = search(log_dir.path)
    assert [row["path"] for row in found.matches] == [str(path.parent)]
    assert (found.unsearched, found.num_logs) == ([], 2)


def test_deleted_file_in_a_folder_that_no_broker_serves_is_searched(log_dir: Folder) -> None:
    log_dir.segment(f"t-0.{ID}-stray", build.batch())
    path = log_dir.segment(f"t-0.{ID}-stray", SECRET_BATCH, 7, suffix=".deleted")
    assert [row["path"] for row in search(log_dir.path).matches] == [str(path)]


def test_files_and_folders_of_other_names_are_searched(log_dir: Folder) -> None:
    paths = [log_dir.path / "t-0" / "old.bak", log_dir.path / "backup" / "t-0" / f"{7:020}.log"]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(SECRET_BATCH)
    found = search(log_dir.path)
    assert {row["path"] for row in found.matches} == {str(paths[0]), str(paths[1].parent)}
    assert found.unsearched == []


def test_every_replica_is_searched(folder: Folder) -> None:
    log_dirs = [folder.log_dir(name) for name in ("a", "b", "c")]
    for number, log_dir in enumerate(log_dirs):
        key = SECRET if number == 1 else b"k"
        entries = [build.batch_of(0, b"v", key=key), *[build.batch_of(1, b"v")] * (number != 1)]
        log_dir.segment("t-0", b"".join(entries))
    paths = [log_dir.path for log_dir in log_dirs]
    assert mb.open(*paths).records(["key"]).to_pylist()[0] == {"key": b"k"}
    found = search(*paths)
    assert [row["path"] for row in found.matches] == [f"{paths[1]}/t-0"]
    assert found.num_logs == 3


def test_record_that_another_replica_replaces_is_found(folder: Folder) -> None:
    """The log is filled from two replicas, and each of these is searched by itself."""
    batches = [
        build.batch_of(offset, b"v", key=SECRET if offset == 2 else b"k") for offset in range(5)
    ]
    for name, lost in (("a", 1), ("b", 3)):
        damaged = [
            each[:-1] + b"\xff" if number == lost else each for number, each in enumerate(batches)
        ]
        folder.log_dir(name).segment("t-0", b"".join(damaged))
    found = search(folder.path / "a", folder.path / "b")
    assert {row["path"] for row in found.matches} == {f"{folder.path}/{name}/t-0" for name in "ab"}
    assert [row["why"] for row in found.unsearched] == ["damaged", "damaged"]


def test_damage_and_an_incomplete_end_may_hold_records(log_dir: Folder) -> None:
    log_dir.segment("damaged-0", SECRET_BATCH[:-1] + b"\xff" + build.batch_of(8, b"v"))
    log_dir.segment("incomplete-0", build.batch_of(0, b"v") + SECRET_BATCH[:70])
    log_dir.segment("zeros-0", build.batch_of(0, b"v") + bytes(100))
    found = search(log_dir.path)
    assert not found.matches and not found.is_absent
    assert {(row["path"].rpartition("/")[2], row["why"], row["size_bytes"]) for row in found.unsearched} == {
        ("damaged-0", "damaged", len(SECRET_BATCH)),
        ("incomplete-0", "damaged", 70),
    }  # fmt: skip


def test_path_that_cannot_be_searched_is_listed(log_dir: Folder) -> None:
    for name in ("notes.txt", "backup.zip"):
        (log_dir.path / name).write_bytes(b"PK\x03\x04 nothing of Kafka")
    (log_dir.path / "tools").mkdir()
    (log_dir.path / "tools" / "notes.txt").write_text("nothing of Kafka")
    found = search(log_dir.path)
    assert {row["path"] for row in found.unsearched} == {
        f"{log_dir.path}/{name}" for name in ("notes.txt", "backup.zip", "tools")
    }
    assert not found.is_absent


def test_what_holds_no_records_does_not_stand_against_absence(log_dir: Folder) -> None:
    (log_dir.path / "lost+found").mkdir()
    (log_dir.path / "gone-0").symlink_to("nowhere")
    log_dir.segment("t-0", b"rubbish", 3, "index", suffix=".deleted")
    log_dir.segment("t-0", b"rubbish", 3, "snapshot", suffix=".deleted")
    assert search(log_dir.path).is_absent


def test_other_topics_are_left_out_if_topics_are_named(log_dir: Folder) -> None:
    log_dir.segment(f"other-0.{ID}-stray", SECRET_BATCH, 7)
    assert search(log_dir.path, topics=["t"]).is_absent
    log_dir.segment(f"t-1.{ID}-stray", SECRET_BATCH, 7)
    assert len(search(log_dir.path, topics=["t"]).matches) == 1


def test_dataset_of_some_offsets_is_refused(log_dir: Folder) -> None:
    with pytest.raises(mb.InputError, match="all offsets"):
        search(log_dir.path, offsets=(1, None))
