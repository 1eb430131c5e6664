"""Tests of finding partitions below paths, and of the findings about paths without a log."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from log_builder import Folder
from magicbyte.errors import MissingError, UnreadableError


def offsets(*paths: object, **options: Any) -> list[tuple[str | None, int | None, int]]:
    options.setdefault("isolation_level", "read_uncommitted")
    dataset = mb.open(*map(str, paths), **options)
    rows = dataset.records(["topic", "partition", "offset"]).to_pylist()
    return [tuple(row.values()) for row in rows]


@pytest.fixture
def log_dir(folder: Folder) -> Folder:
    return folder.log_dir()


def two_segments(folder: Any, partition: str, first: int = 0) -> None:
    folder.segment(partition, build.batch(build.records(2), first), first)
    folder.segment(partition, build.batch(build.records(2), first + 2), first + 2)


# Paths to logs


def test_segment_file_is_read_without_its_neighbours(folder: Any) -> None:
    two_segments(folder, "t-0")
    path = folder.path / "t-0" / f"{2:020}.log"
    assert offsets(path) == [("t", 0, 2), ("t", 0, 3)]


def test_several_segments_of_a_partition_are_one_log(folder: Any) -> None:
    two_segments(folder, "t-0")
    paths = sorted((folder.path / "t-0").iterdir())
    assert [offset for _, _, offset in offsets(*reversed(paths))] == [0, 1, 2, 3]


def test_partition_folder_is_read_in_order_of_its_segments(folder: Any) -> None:
    two_segments(folder, "topic.with-dashes_1-12")
    got = offsets(folder.path / "topic.with-dashes_1-12")
    assert got == [("topic.with-dashes_1", 12, n) for n in range(4)]


def test_log_dir_gives_its_partitions_by_topic_and_number(log_dir: Folder) -> None:
    for name in ("b-0", "a-10", "a-9"):
        log_dir.segment(name, build.batch())
    assert offsets(log_dir) == [("a", 9, 0), ("a", 10, 0), ("b", 0, 0)]


@pytest.mark.parametrize(
    "mark",
    [
        "meta.properties",
        "replication-offset-checkpoint",
        "recovery-point-offset-checkpoint",
        "log-start-offset-checkpoint",
        "cleaner-offset-checkpoint",
    ],
)
def test_empty_partition_of_a_log_dir_is_a_partition(mark: str, folder: Any) -> None:
    (folder.path / mark).write_text("0\n0\n" if mark != "meta.properties" else "version=1\n")
    (folder.path / "empty-3").mkdir()
    rows = mb.open(str(folder)).partitions().to_pylist()
    assert [(row["topic"], row["partition"], row["segment_count"]) for row in rows] == [
        ("empty", 3, 0)
    ]
    assert offsets(folder.path / "empty-3") == []


def test_other_things_in_a_log_dir_are_no_partitions(log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    log_dir.segment("no number", build.batch())
    log_dir.segment("lost+found", build.batch())
    (log_dir.path / "notes-1").write_text("a file of that name")
    assert offsets(log_dir) == [("t", 0, 0)]


def test_topic_and_partition_of_a_numbered_folder_are_in_its_path(folder: Any) -> None:
    for number in (0, 1):
        single = folder.segment(f"backup/orders/{number}", build.batch())
    assert offsets(folder) == [("orders", 0, 0), ("orders", 1, 0)]
    assert offsets(single) == offsets(single.parent) == [("orders", 1, 0)]


@pytest.mark.parametrize("name", ["2024/11", "orders/x", "orders/2147483648", "no topic/0"])
def test_numbered_folder_of_no_topic_has_no_name(name: str, folder: Any) -> None:
    folder.segment(name, build.batch())
    assert offsets(folder) == [(None, None, 0)]


def test_several_paths_are_one_dataset(folder: Any) -> None:
    for name in ("x/a-0", "y/b-0"):
        folder.segment(name, build.batch())
    single = folder.segment("c-0", build.batch())
    got = offsets(single, folder.path / "y", folder.path / "x" / "a-0")
    assert got == [("a", 0, 0), ("b", 0, 0), ("c", 0, 0)]


def test_path_that_is_named_twice_is_read_once(log_dir: Folder) -> None:
    path = log_dir.segment("t-0", build.batch())
    assert offsets(log_dir, log_dir.path / ".", log_dir.path / "t-0") == [("t", 0, 0)]
    assert offsets(path, path) == [("t", 0, 0)]


def test_folder_and_a_segment_in_it_are_read_once(log_dir: Folder) -> None:
    path = log_dir.segment("t-0", build.batch())
    assert offsets(log_dir, path) == [("t", 0, 0)]


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_tree_is_searched_four_folders_deep(depth: int, folder: Any) -> None:
    folder.segment("/".join([*"abc"[:depth], "t-0"]), build.batch())
    assert offsets(folder) == [("t", 0, 0)]


def test_tree_is_not_searched_five_folders_deep(folder: Any) -> None:
    folder.segment("a/b/c/d/t-0", build.batch())
    with pytest.raises(mb.InputError):
        mb.open(str(folder))
    assert offsets(folder.path / "a") == [("t", 0, 0)]


def test_links_to_folders_are_not_followed(folder: Any, tmp_path: Path) -> None:
    folder.segment("real/t-0", build.batch())
    (folder.path / "linked").mkdir()
    (folder.path / "linked" / "loop").symlink_to(folder.path / "real")
    with pytest.raises(mb.InputError):
        mb.open(str(folder.path / "linked"))
    assert offsets(folder) == [("t", 0, 0)]


def test_link_that_is_named_is_followed(folder: Any) -> None:
    folder.segment("real/t-0", build.batch())
    (folder.path / "link").symlink_to(folder.path / "real")
    assert offsets(folder.path / "link") == [("t", 0, 0)]


def test_file_named_like_a_segment_is_one_however_damaged(folder: Any) -> None:
    path = folder.segment("t-0", b"\xff" * 100)
    assert offsets(path, on_damage="skip") == []
    assert offsets(folder.segment("t-1", b"")) == []


def test_file_of_another_name_is_judged_by_its_first_entry(folder: Any) -> None:
    for number, data in enumerate([build.batch(), build.message(), build.message(magic=0)]):
        path = folder.path / f"carved{number}.bin"
        path.write_bytes(data)
        assert offsets(path) == [(None, None, 0)]


def test_tiered_segment_with_a_uuid_in_its_name_is_read(folder: Any) -> None:
    path = folder.path / "t-0" / f"{5:020}-dEgZAxJhTXO1aBTNHJVwYQ.log"
    path.parent.mkdir()
    path.write_bytes(build.batch(base=5))
    assert offsets(path.parent) == [("t", 0, 5)]


def test_relative_path_and_a_pathlib_path_will_do(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.segment("t-0", build.batch())
    monkeypatch.chdir(folder.path)
    assert offsets("t-0") == offsets(Path("t-0")) == [("t", 0, 0)]
    monkeypatch.chdir(folder.path / "t-0")
    assert offsets(".") == [("t", 0, 0)]
    assert offsets(f"{0:020}.log") == [("t", 0, 0)]


@pytest.mark.parametrize(
    "damaged",
    [
        build.batch()[1:] + build.batch(base=1),
        bytes(100) + build.batch(),
        build.batch(crc=0) + build.batch(base=1),
    ],
)
def test_file_of_another_name_is_a_log_if_it_holds_a_sound_entry(
    damaged: bytes, folder: Any
) -> None:
    path = folder.path / "carved.bin"
    path.write_bytes(damaged)
    assert len(offsets(path, on_damage="skip")) == 1


# Paths without a log


def refused(*paths: object, **options: Any) -> Any:
    with pytest.raises(mb.InputError) as caught:
        mb.open(*(str(path) for path in paths), **options)
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.found and error.found in str(error)
    return error


def no_log(path: Path) -> mb.InputError:
    error = refused(path)
    assert error.path == str(path) and str(path) in str(error)
    assert "segment" in error.expected and error.expected in str(error)
    return error


def test_no_path_is_refused() -> None:
    refused()


def test_empty_path_is_refused_and_is_not_the_current_folder(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.segment("t-0", build.batch())
    monkeypatch.chdir(folder.path / "t-0")
    assert "empty" in refused("").found


def test_empty_folder_is_no_log(tmp_path: Path) -> None:
    assert "empty" in no_log(tmp_path).found


def test_folder_of_texts_is_no_log(folder: Any) -> None:
    for name in ("a.txt", "b.log", "server.log"):
        (folder.path / name).write_text("[2024-04-24 23:06:40,000] INFO started\n" * 3)
    assert "3 files" in no_log(folder.path).found


def test_tree_without_a_log_is_no_log(folder: Any) -> None:
    (folder.path / "a" / "b").mkdir(parents=True)
    no_log(folder.path)


@pytest.mark.parametrize(
    "data",
    [
        b"[2024-04-24 23:06:40,000] INFO [KafkaServer id=0] started (kafka.server.KafkaServer)\n",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\6\0\0\0",
        b"",
        b"x",
        b"\0" * 16,
        b"\0" * 100,
        b"PAR1" + b"\x15\x04" * 40,
        build.batch()[:-1],
        build.batch(crc=0),
        build.batch(crc=0) + bytes(50),
        build.batch()[:-1] + b"\1" + build.batch()[:-1],
    ],
)
def test_file_that_begins_with_no_entry_is_no_log(data: bytes, folder: Any) -> None:
    path = folder.path / "a.bin"
    path.write_bytes(data)
    no_log(path)


@pytest.mark.parametrize("name", ["index", "timeindex", "txnindex", "snapshot"])
def test_companion_of_a_segment_is_no_log(name: str, folder: Any) -> None:
    folder.segment("t-0", build.batch())
    no_log(folder.segment("t-0", bytes(24), kind=name))


@pytest.mark.parametrize("name", ["nothing", "nothing/t-0", "nothing/00000000000000000000.log"])
def test_missing_path_is_an_error_of_the_system_too(name: str, folder: Any) -> None:
    path = folder.path / name
    error = refused(path)
    assert isinstance(error, MissingError) and isinstance(error, FileNotFoundError | OSError)
    assert error.errno == 2 and error.path == str(path)


def test_missing_path_beside_a_good_one_is_an_error(folder: Any) -> None:
    folder.segment("t-0", build.batch())
    assert isinstance(refused(folder.path / "t-0", folder.path / "nothing"), MissingError)


def test_device_is_no_log() -> None:
    no_log(Path("/dev/null"))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can read, also its parents; tests revoke permissions below it."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@contextmanager
def forbidden(path: Path) -> Iterator[None]:
    """Revoke all permissions of *path* for a while; if root runs the tests, switch user."""
    path.chmod(0)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(os.getuid())
        path.chmod(0o755)


@pytest.mark.parametrize("path", [f"t-0/{0:020}.log", "t-0", "."])
def test_path_that_may_not_be_read_is_an_error_of_the_system_too(
    path: str, open_folder: Path
) -> None:
    log_dir = Folder(open_folder / "dir")
    log_dir.segment("t-0", build.batch())
    with forbidden(log_dir.path / path):
        error = refused(log_dir.path / path)
    is_segment = path.endswith(".log")
    assert isinstance(error, UnreadableError if is_segment else MissingError)
    assert isinstance(error, OSError)
    assert error.errno == 13


def test_partition_that_may_not_be_read_is_not_passed_over(open_folder: Path) -> None:
    log_dir = Folder(open_folder).log_dir()
    for name in ("a-0", "b-0"):
        log_dir.segment(name, build.batch())
    with forbidden(open_folder / "b-0"):
        assert refused(open_folder).errno == 13
        dataset = mb.open(str(open_folder), on_damage="skip")
    assert [(each.path, each.kind) for each in dataset.unread] == [
        (str(open_folder / "b-0"), "unreadable")
    ]
    assert dataset.records(["topic"]).to_pylist() == [{"topic": "a"}]


def test_file_that_may_not_be_read_is_listed_by_verify(open_folder: Path) -> None:
    log_dir = Folder(open_folder).log_dir()
    log_dir.segment("a-0", build.batch())
    path = log_dir.segment("b-0", build.batch())
    with forbidden(path):
        verification = mb.verify(str(open_folder), engine="reference")
    (found,) = verification.unread
    assert (found.path, found.kind, found.topic) == (str(path), "unreadable", "b")
    assert found.size_bytes == path.stat().st_size
    assert verification.records["delivered"] == 1


def test_folder_of_a_tree_that_may_not_be_read_is_not_passed_over(open_folder: Path) -> None:
    tree = Folder(open_folder)
    for name in ("x/a-0", "y/b-0"):
        tree.segment(name, build.batch())
    with forbidden(open_folder / "y"):
        assert refused(open_folder).errno == 13
        verification = mb.verify(str(open_folder), engine="reference")
    assert [(each.path, each.kind) for each in verification.unread] == [
        (str(open_folder / "y"), "unreadable")
    ]
    assert [row["topic"] for row in verification.partitions] == ["a"]


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "x" * 5000])
def test_a_path_that_no_file_can_have_is_an_error_of_ours(path: str) -> None:
    for work in (mb.open, mb.verify, mb.stats):
        with pytest.raises(mb.InputError):
            work(path)


# Choices


def test_topics_and_partitions_choose(log_dir: Folder) -> None:
    for name in ("a-0", "a-1", "b-0", "b-1"):
        log_dir.segment(name, build.batch())
    assert offsets(log_dir, topics=["a"]) == [("a", 0, 0), ("a", 1, 0)]
    assert offsets(log_dir, topics="b") == [("b", 0, 0), ("b", 1, 0)]
    assert offsets(log_dir, partitions=[1]) == [("a", 1, 0), ("b", 1, 0)]
    assert offsets(log_dir, topics=["b"], partitions=[1]) == [("b", 1, 0)]
    assert "no partition 7" in refused(log_dir, partitions=[7]).found


def test_topic_that_is_not_there_is_refused_with_those_that_are(log_dir: Folder) -> None:
    log_dir.segment("a-0", build.batch())
    error = refused(log_dir, topics=["a", "c"])
    assert "c" in error.found and "a" in error.expected


INTERNAL = [
    "__consumer_offsets",
    "__transaction_state",
    "__share_group_state",
    "__cluster_metadata",
    "__remote_log_metadata",
]


@pytest.mark.parametrize("topic", INTERNAL)
def test_internal_topic_is_left_out_unless_named(topic: str, log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    path = log_dir.segment(f"{topic}-0", build.batch())
    dataset = mb.open(str(log_dir))
    assert dataset.num_internal == 1
    assert offsets(log_dir) == [("t", 0, 0)]
    both = [(topic, 0, 0), ("t", 0, 0)]
    assert offsets(log_dir, include_internal=True) == both
    assert offsets(log_dir, topics=[topic]) == both[:1]
    assert offsets(log_dir.path / f"{topic}-0") == both[:1]
    assert offsets(path) == both[:1]
    for table in (dataset.partitions(["topic"]), dataset.segments(["topic"])):
        assert {row["topic"] for row in table.to_pylist()} == {topic, "t"}


def test_topic_whose_name_begins_with_underscores_is_not_internal(log_dir: Folder) -> None:
    log_dir.segment("__mine-0", build.batch())
    assert offsets(log_dir) == [("__mine", 0, 0)]


# Log start


def test_records_below_the_log_start_are_not_delivered(log_dir: Folder, read: Any) -> None:
    two_segments(log_dir, "t-0")
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 1, ("u", 0): 9})
    assert [offset for _, _, offset in offsets(log_dir)] == [1, 2, 3]
    assert [offset for _, _, offset in offsets(log_dir.path / "t-0")] == [1, 2, 3]
    got = read(mb.open(str(log_dir)))
    assert got.report.records == {"below_log_start": 1, "delivered": 3}
    # The first batch straddles the log start, so its bytes are not all below it.
    assert got.report.bytes["below_log_start"] == 0
    (row,) = mb.open(str(log_dir)).partitions().to_pylist()
    assert (row["log_start_offset"], row["log_end_offset"]) == (1, 4)


def test_segment_that_is_named_is_read_from_its_first_record(log_dir: Folder) -> None:
    two_segments(log_dir, "t-0")
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 3})
    assert [o for _, _, o in offsets(log_dir.path / "t-0" / f"{0:020}.log")] == [0, 1]


def test_log_start_below_the_first_segment_changes_nothing(log_dir: Folder) -> None:
    two_segments(log_dir, "t-0", 10)
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 3})
    (row,) = mb.open(str(log_dir)).partitions().to_pylist()
    assert (row["log_start_offset"], row["log_end_offset"]) == (10, 14)


@pytest.mark.parametrize(
    "text",
    ["1\n0\n", "0\nx\n", "0\n2\nt 0 1\n", "0\n1\nt 0\n", "0\n1\nt 0 x\n", "0\n1\n", "\xff\xfe\n"],
)
def test_checkpoint_that_is_none_is_a_warning_and_does_not_bound(
    text: str, log_dir: Folder
) -> None:
    log_dir.segment("t-0", build.batch())
    (log_dir.path / "log-start-offset-checkpoint").write_bytes(text.encode("latin-1"))
    assert offsets(log_dir) == [("t", 0, 0)]
    (row,) = mb.open(str(log_dir)).problems().to_pylist()
    assert (row["code"], row["severity"]) == ("checkpoint-invalid", "warning")
    assert row["file"] == "log-start-offset-checkpoint"


def test_empty_checkpoint_has_no_entries(log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    (log_dir.path / "log-start-offset-checkpoint").write_bytes(b"")
    assert mb.open(str(log_dir)).problems().to_pylist() == []


# Several disks


def test_log_dirs_of_a_cluster_are_read_together(folder: Any) -> None:
    for number in (0, 1):
        log_dir = folder.log_dir(f"disk{number}")
        log_dir.segment(f"t-{number}", build.batch())
    assert offsets(folder) == [("t", 0, 0), ("t", 1, 0)]


def test_log_dirs_of_two_clusters_are_refused_by_name(folder: Any) -> None:
    for name in ("north", "south"):
        folder.log_dir(name, cluster=f"id-of-{name}").segment(f"{name}-0", build.batch())
    error = refused(folder.path / "north", folder.path / "south")
    for name in ("north", "south"):
        assert str(folder.path / name) in error.found and f"id-of-{name}" in error.found
    refused(folder)
    assert offsets(folder.path / "north") == [("north", 0, 0)]


def test_replicas_of_a_partition_are_one_log_and_a_replica_can_be_preferred(folder: Any) -> None:
    for number in (0, 1):
        log_dir = folder.log_dir(f"broker{number}")
        log_dir.segment("t-0", build.batch(build.records(number + 1)))
        log_dir.segment(f"only{number}-0", build.batch())
    single = [("only0", 0, 0), ("only1", 0, 0)]
    assert offsets(folder) == [*single, ("t", 0, 0), ("t", 0, 1)]
    for number in (0, 1):
        assert offsets(folder, replica=str(folder.path / f"broker{number}")) == [
            *single,
            *(("t", 0, n) for n in range(number + 1)),
        ]


def test_replica_in_which_nothing_lies_is_refused(folder: Any) -> None:
    folder.log_dir("broker").segment("t-0", build.batch())
    error = refused(folder.path / "broker", replica=str(folder.path / "elsewhere"))
    assert "elsewhere" in error.found


def test_replica_is_a_folder_and_not_the_beginning_of_its_name(folder: Any) -> None:
    for name in ("broker1", "broker10"):
        folder.log_dir(name).segment("t-0", build.batch())
    assert offsets(folder, replica=str(folder.path / "broker1")) == [("t", 0, 0)]


# Files that are not live


@pytest.mark.parametrize("suffix", ["delete", "future", "stray"])
def test_folder_on_its_way_out_or_in_is_shown_and_not_read(suffix: str, log_dir: Folder) -> None:
    log_dir.segment("t-0", build.batch())
    name = f"t-0.{'0123456789abcdef' * 2}-{suffix}"
    log_dir.segment(name, build.batch(build.records(3)))
    assert offsets(log_dir) == [("t", 0, 0)]
    rows = mb.open(str(log_dir)).segments(["topic", "partition", "live", "why_not"]).to_pylist()
    assert sorted(rows, key=lambda row: not row["live"]) == [
        {"topic": "t", "partition": 0, "live": True, "why_not": None},
        {"topic": "t", "partition": 0, "live": False, "why_not": f"{suffix}-folder"},
    ]
    assert len(mb.open(str(log_dir)).partitions().to_pylist()) == 1
    assert [o for _, _, o in offsets(log_dir.path / name)] == [0, 1, 2]


def test_real_folders_on_their_way_are_shown_and_not_read(real: Path) -> None:
    dirs = [str(real / "4.3" / "plain" / name) for name in ("log-0", "log-1")]
    rows = mb.open(*dirs).segments(["topic", "file_kind", "live", "why_not"]).to_pylist()
    assert {(row["topic"], row["why_not"]) for row in rows if not row["live"]} == {
        ("gone", "delete-folder"),
        ("moving", "future-folder"),
    }
    assert "gone" not in {topic for topic, _, _ in offsets(*dirs)}


@pytest.mark.parametrize("suffix", ["cleaned", "swap"])
def test_leftover_of_cleaning_is_read_when_named(suffix: str, folder: Any) -> None:
    path = folder.segment("t-0", build.batch(), suffix=f".{suffix}")
    assert offsets(path) == [("t", 0, 0)]


def test_bytes_of_superseded_segments_are_counted(log_dir: Folder, read: Any) -> None:
    path = log_dir.segment("t-0", build.batch(build.records(2)))
    swap = build.batch([build.record(b"kept", delta=1)], 0, last_delta=1)
    log_dir.segment("t-0", swap, suffix=".swap")
    rows = mb.open(str(log_dir)).segments().to_pylist()
    by_name = {row["file"]: row for row in rows}
    assert by_name[path.name]["size_bytes"] == path.stat().st_size
    assert by_name[path.name]["why_not"] == "superseded"
    got = read(mb.open(str(log_dir)))
    assert got.values == [b"kept"]


def test_opening_creates_and_changes_no_file(copied: Callable[[str], Path]) -> None:
    path = copied("4.3/transactions")

    def state() -> list[tuple[str, int, int]]:
        return sorted(
            (str(item), item.stat().st_size, item.stat().st_mtime_ns) for item in path.rglob("*")
        )

    before = state()
    dataset = mb.open(str(path / "log-0"), include_internal=True, on_damage="skip")
    for table in (dataset.records(), dataset.segments(), dataset.problems(), dataset.batches()):
        table.to_table()
    mb.verify(str(path / "log-0"))
    assert state() == before
