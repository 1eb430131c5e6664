"""Tests of what is not read below a path: each file and folder in a log.dir is read, or listed with its reason."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from log_builder import Folder
from magicbyte.logdir.unread_path import UNREAD_KINDS, UnreadPath, of_selection

ID = "0123456789abcdef" * 2


@pytest.fixture
def log_dir(folder: Folder) -> Folder:
    return folder.log_dir()


def unread(*paths: object, **options: Any) -> dict[str, str]:
    """Return the kinds of the unread paths by path, relative to the first of *paths*."""
    found = mb.open(*map(str, paths), on_damage="skip", **options).unread
    assert all(each.reason and each.kind in UNREAD_KINDS for each in found)
    assert len({each.path for each in found}) == len(found)
    return {os.path.relpath(each.path, str(paths[0])): each.kind for each in found}


def offsets(*paths: object, **options: Any) -> list[tuple[str | None, int | None, int]]:
    dataset = mb.open(*map(str, paths), isolation_level="read_uncommitted", **options)
    rows = dataset.records(["topic", "partition", "offset"]).to_pylist()
    return [tuple(row.values()) for row in rows]


def codes(path: object) -> list[tuple[str, str | None]]:
    dataset = mb.open(str(path), on_damage="skip")
    return [(row["code"], row["file"]) for row in dataset.problems(["code", "file"]).to_pylist()]


def test_a_log_dir_of_partitions_alone_leaves_nothing_out(log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    log_dir.checkpoint("replication-offset-checkpoint", {("t", 0): 1})
    for name in (".lock", ".kafka_cleanshutdown", "bootstrap.checkpoint", "meta.properties.tmp"):
        (log_dir.path / name).touch()
    for name in ("leader-epoch-checkpoint", "partition.metadata", "leader-epoch-checkpoint.tmp"):
        (log_dir.path / "t-0" / name).touch()
    assert unread(log_dir) == {}


@pytest.mark.parametrize("kind", ["stray", "delete", "future"])
def test_folder_that_no_broker_serves_is_listed_with_its_bytes(kind: str, log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    name = f"t-0.{ID}-{kind}"
    path = log_dir.segment(name, build.batch(build.records(3)))
    assert unread(log_dir) == {name: kind}
    (found,) = mb.open(str(log_dir)).unread
    assert found.size_bytes == path.stat().st_size
    assert (found.topic, found.partition) == ("t", 0)
    assert "name its path" in found.reason
    assert unread(log_dir.path / name) == {}, "it was named"


@pytest.mark.parametrize("kind", ["stray", "delete", "future"])
def test_topic_that_is_only_in_such_a_folder_is_refused_with_its_path(
    kind: str, log_dir: Folder
) -> None:
    log_dir.segment("t-0", build.batch())
    log_dir.segment(f"gone-0.{ID}-{kind}", build.batch())
    with pytest.raises(mb.InputError) as caught:
        mb.open(str(log_dir), topics=["t", "gone"])
    assert "'gone'" in caught.value.found and f"gone-0.{ID}-{kind}" in caught.value.found
    assert offsets(log_dir, topics=["t"]) == [("t", 0, 0)]
    assert [each.kind for each in mb.verify(str(log_dir), topics=["gone"]).unread] == [kind]
    assert mb.verify(str(log_dir), topics=["t"]).unread == []


def test_partition_that_is_only_in_such_a_folder_is_refused(log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    log_dir.segment(f"t-1.{ID}-stray", build.batch())
    with pytest.raises(mb.InputError, match="no broker serves"):
        mb.open(str(log_dir), topics=["t"], partitions=[1])
    assert offsets(log_dir, topics=["t"]) == [("t", 0, 0)]


def test_foreign_files_and_folders_are_listed(log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    log_dir.segment("t-0.bak", build.batch())
    for name in ("lost+found", "-0", "t-x", "t-2147483648", "remote-log-index-cache", "t-0/sub"):
        (log_dir.path / name).mkdir()
    for name in ("nohup.out", "t-7", "t-0/notes.txt"):
        (log_dir.path / name).write_text("x")
    assert unread(log_dir) == {
        **dict.fromkeys(("lost+found", "-0", "t-x", "t-2147483648", "t-0.bak"), "foreign-folder"),
        **dict.fromkeys(("nohup.out", "t-7", "t-0/notes.txt"), "foreign-file"),
        "t-0/sub": "foreign-folder",
        "remote-log-index-cache": "cache-folder",
    }
    assert offsets(log_dir) == [("t", 0, 0)]


def test_files_that_a_broker_would_delete_are_listed(log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    log_dir.segment("t-0", build.batch(base=5), 5)
    log_dir.segment("t-0", build.batch(base=5), 5, suffix=".swap")
    log_dir.segment("t-0", build.batch(base=3), 3, suffix=".deleted")
    assert unread(log_dir) == {
        f"t-0/{5:020}.log": "deleted-file",
        f"t-0/{3:020}.log.deleted": "deleted-file",
    }


# Links


def test_partition_that_is_a_link_is_read_as_the_broker_reads_it(
    log_dir: Folder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    disk = tmp_path_factory.mktemp("disk")
    Folder(disk).segment("moved", build.batch())
    (log_dir.path / "t-0").symlink_to(disk / "moved")
    assert offsets(log_dir) == offsets(log_dir.path / "t-0") == [("t", 0, 0)]
    assert unread(log_dir) == {}


def test_link_of_another_name_to_a_partition_is_read_by_the_name_of_the_partition(
    folder: Folder,
) -> None:
    folder.segment("real/t-0", build.batch())
    (folder.path / "current").symlink_to(folder.path / "real" / "t-0")
    assert offsets(folder.path / "current") == [("t", 0, 0)]


def test_log_dir_that_is_a_link_keeps_its_own_path(folder: Folder) -> None:
    folder.log_dir("disk").segment("t-0", build.batch())
    (folder.path / "log-1").symlink_to("disk")
    for given in (folder.path / "log-1", f"{folder.path}/log-1/"):
        dataset = mb.open(str(given))
        assert [each.path for each in dataset.log_dirs] == [str(folder.path / "log-1")]
        assert [log.folder for log in dataset.logs] == [str(folder.path / "log-1" / "t-0")]


def test_replica_may_be_named_by_a_link(folder: Folder) -> None:
    for number in (0, 1):
        log_dir = folder.log_dir(f"disk-{number}")
        log_dir.segment("t-0", build.batch(build.records(number + 1)))
        (folder.path / f"log-{number}").symlink_to(f"disk-{number}")
    both = [folder.path / "log-0", folder.path / "log-1"]
    for name in ("log-1", "disk-1"):
        assert len(offsets(*both, replica=str(folder.path / name))) == 2


def test_each_folder_is_read_once_whatever_links_lead_to_it(folder: Folder) -> None:
    folder.log_dir("a/log-0").segment("t-0", build.batch())
    (folder.path / "b").symlink_to("a/log-0")
    (folder.path / "a" / "z").symlink_to("log-0/t-0")
    assert offsets(folder) == [("t", 0, 0)]
    assert offsets(folder.path / "b", folder.path / "a") == [("t", 0, 0)]
    assert unread(folder) == {}


def test_links_in_a_tree_lead_to_log_dirs_and_partitions_alone(
    folder: Folder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    disk = Folder(tmp_path_factory.mktemp("disk"))
    disk.log_dir("log-1").segment("t-1", build.batch())
    disk.segment("tree/u-0", build.batch())
    folder.log_dir("log-0").segment("t-0", build.batch())
    for name in ("log-1", "tree"):
        (folder.path / name).symlink_to(disk.path / name)
    assert offsets(folder) == [("t", 0, 0), ("t", 1, 0)]


def test_loops_are_listed_and_hide_nothing(folder: Folder) -> None:
    log_dir = folder.log_dir("log-0")
    log_dir.segment("t-0", build.batch())
    for link, target in {
        "log-0/junk": "junk",
        "log-0/t-0/junk": "junk",
        "log-0/u-0": ".",
        "up": "..",
        "here": ".",
        "self": "self",
    }.items():
        (folder.path / link).symlink_to(target)
    found = unread(folder)
    assert set(found.values()) == {"link-loop"}
    assert set(found) >= {"log-0/junk", "log-0/t-0/junk", "log-0/u-0", "here", "self"}
    assert offsets(folder) == [("t", 0, 0)]
    assert codes(folder) == [("special-file", "junk")] * 2


def test_link_to_nothing_is_listed(log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    (log_dir.path / "t-9").symlink_to("nowhere")
    (log_dir.path / "t-0" / f"{7:020}.log").symlink_to("nowhere")
    assert unread(log_dir) == {"t-9": "dangling-link", f"t-0/{7:020}.log": "dangling-link"}
    assert ("unreadable", f"{7:020}.log") in codes(log_dir)


# Special files

NAMES = [
    "meta.properties",
    "replication-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
    ".kafka_cleanshutdown",
    "t-0/leader-epoch-checkpoint",
    "t-0/partition.metadata",
    f"t-0/{9:020}.log",
    f"t-0/{0:020}.index",
]


def become(path: Path, kind: str) -> None:
    path.unlink(missing_ok=True)
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "socket":
            with socket.socket(socket.AF_UNIX) as unix, chdir(path.parent):
                unix.bind(path.name)
        case "loop":
            path.symlink_to(path.name)
        case "device":
            path.symlink_to("/dev/zero")


@contextmanager
def chdir(path: Path) -> Iterator[None]:
    """Change the current folder for a while: the path of a socket has at most 108 bytes."""
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.mark.parametrize("kind", ["fifo", "folder", "socket", "loop", "device"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_regular_file_is_a_finding_and_the_rest_is_read(
    name: str, kind: str, log_dir: Folder
) -> None:
    log_dir.segment("t-0", build.batch())
    log_dir.segment("u-0", build.batch())
    log_dir.checkpoint("replication-offset-checkpoint", {("t", 0): 1})
    become(log_dir.path / name, kind)
    assert offsets(log_dir, on_damage="skip") == [("t", 0, 0), ("u", 0, 0)]
    kinds = {"folder": "foreign-folder", "loop": "link-loop"}
    assert unread(log_dir) == {name: kinds.get(kind, "special-file")}
    if kind == "folder" and name.endswith((".log", ".index")):
        return  # brokers ignore such a folder
    assert ("unreadable", Path(name).name) in codes(log_dir)
    verification = mb.verify(str(log_dir))
    assert [each.kind for each in verification.unread] == list(unread(log_dir).values())
    with pytest.raises(mb.UnreadableError):
        mb.open(str(log_dir))


def test_foreign_special_file_is_a_note(log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    become(log_dir.path / "pipe", "fifo")
    become(log_dir.path / "t-0" / "pipe", "fifo")
    assert unread(log_dir) == {"pipe": "special-file", "t-0/pipe": "special-file"}
    assert codes(log_dir) == [("special-file", "pipe")] * 2
    assert offsets(log_dir) == [("t", 0, 0)]


# Selection


def test_unread_paths_of_other_topics_are_left_out_of_a_selection() -> None:
    paths = [
        UnreadPath(f"t-0.{ID}-stray", "stray", "reason", topic="t", partition=0),
        UnreadPath(f"u-0.{ID}-stray", "stray", "reason", topic="u", partition=0),
        UnreadPath("t-1/notes", "foreign-file", "reason", topic="t", partition=1),
        UnreadPath("notes", "foreign-file", "reason"),
        UnreadPath("disk", "unreadable", "reason"),
    ]
    assert of_selection(paths, None, None) == tuple(paths)
    assert [each.path for each in of_selection(paths, ["t"], None)] == [
        f"t-0.{ID}-stray",
        "t-1/notes",
        "disk",
    ]
    assert [each.path for each in of_selection(paths, None, [1])] == [
        "t-1/notes",
        "disk",
    ]


# Depth


def test_folders_that_are_too_deep_are_listed_once_with_their_number(folder: Folder) -> None:
    folder.segment("t-0", build.batch())
    for name in ("x", "y"):
        folder.segment(f"a/b/c/d/{name}/u-0", build.batch())
    assert unread(folder) == {"a/b/c/d/x": "too-deep"}
    (found,) = mb.open(str(folder)).unread
    assert "2 folders" in found.reason


# What they are


def test_verify_tells_the_size_of_foreign_folders_and_the_type_of_foreign_files(
    log_dir: Folder,
) -> None:
    log_dir.segment("t-0", build.batch())
    (log_dir.path / "backup" / "deep").mkdir(parents=True)
    (log_dir.path / "backup" / "a").write_bytes(bytes(5))
    (log_dir.path / "backup" / "deep" / "b").write_bytes(bytes(7))
    (log_dir.path / "t-0" / f"{0:020}.log.gz").write_bytes(b"\x1f\x8b\x08\0" + bytes(20))
    found = {Path(each.path).name: each for each in mb.verify(str(log_dir)).unread}
    assert found["backup"].size_bytes == 12
    archive = found[f"{0:020}.log.gz"]
    assert (archive.kind, archive.size_bytes) == ("archive", 24)
    assert "gzip" in archive.reason and "unpack" in archive.reason
    assert archive.row == {
        "path": archive.path,
        "why": "archive",
        "reason": archive.reason,
        "size_bytes": 24,
    }
