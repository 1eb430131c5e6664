"""Logs in a store are read as those of a disk are: a server of S3 says, and counts."""

import io
import pickle
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from magicbyte import storage
from magicbyte.errors import MissingError
from magicbyte.storage import Store, _storage
from magicbyte.storage import _extents as extents
from magicbyte.storage import _store as stores
from magicbyte.storage import _stored_file as stored_file
from magicbyte.storage._requests import RequestCounter
from magicbyte.storage._store import AHEAD_THREADS, _Handle
from magicbyte.storage._stored_file import AHEAD_BLOCKS
from magicbyte.tables.schemas import TABLES
from s3_server import ACCESS_KEY, BUCKET, SECRET, S3Server

from .conftest import segment

BROKER = "broker-1/log-0"
SEGMENT = f"{0:020}.log"


@pytest.mark.parametrize("name", ["records", "batches", "segments", "problems"])
def test_a_table_is_that_of_the_same_files_on_a_disk(
    s3: S3Server, log_dir: Path, tree: str, name: str
) -> None:
    columns = [column for column in TABLES[name].names if column != "log_dir"]

    there, here = (
        getattr(dataset, name)(columns).to_pylist()
        for dataset in (s3.open(tree, on_damage="skip"), mb.open(log_dir, on_damage="skip"))
    )
    assert [row for row in there if row.get("file") != "_SUCCESS"] == here


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", f"/{BROKER}", f"//{BROKER}//", f"/{BROKER}/interleaved-0/"),
        f"/{BROKER}/interleaved-0/{SEGMENT}",
    ],
)
def test_a_path_is_a_tree_a_log_dir_a_partition_or_a_segment(
    s3: S3Server, log_dir: Path, tree: str, path: str
) -> None:
    here = log_dir / path.strip("/").removeprefix(BROKER).strip("/")
    there = s3.open(tree.replace("s3:", "s3a:") + path)
    local = mb.open(here)
    assert [log.name for log in there.logs] == [log.name for log in local.logs]
    assert there.num_internal == local.num_internal
    assert there.records().to_table().equals(local.records().to_table())
    partitions = [
        dataset.partitions(["topic_id", "log_start_offset", "high_watermark"]).to_table()
        for dataset in (there, local)
    ]
    assert partitions[0].equals(partitions[1])


def test_verify_says_the_same(s3: S3Server, log_dir: Path, tree: str) -> None:
    there, here = mb.verify(tree, storage_options=s3.options), mb.verify(log_dir)
    assert there.findings == here.findings
    assert there.summary == here.summary


def test_swapped_segments_are_judged_by_their_headers(s3: S3Server) -> None:
    data = segment(30, 100)
    at = len(data) // 3
    for base, part in ((0, data[:at]), (10, data[at : 2 * at]), (20, data[2 * at :])):
        s3.put(f"swapped/t-0/{base:020}.log", part)
    s3.put(f"swapped/t-0/{0:020}.log.swap", data[: 2 * at])
    (log,) = s3.open("s3://logs/swapped/t-0").logs
    assert [file.name for file in log.logs] == [f"{0:020}.log.swap", f"{20:020}.log"]


def test_an_empty_partition_is_one_where_its_folder_has_an_object(s3: S3Server) -> None:
    s3.put("marked/meta.properties", b"version=1\n")
    s3.put("marked/empty-3/", b"")
    for path in ("s3://logs/marked", "s3://logs/marked/empty-3"):
        (log,) = s3.open(path).logs
        assert (log.name, log.files) == ("empty-3", ())


@pytest.mark.parametrize("is_turned", [False, True])
def test_an_object_named_as_a_folder_hides_nothing(
    is_turned: bool, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.put("both/t-0", b"x")
    s3.put(f"both/t-0/{0:020}.log", segment(1, 1))
    below = Store.below

    def turned(store: Store, path: str, *, recursive: bool) -> Any:
        found = list(below(store, path, recursive=recursive))
        return reversed(found) if is_turned else found

    monkeypatch.setattr(Store, "below", turned)
    dataset = s3.open("s3://logs/both")
    assert [log.name for log in dataset.logs] == ["t-0"]


def test_several_paths_of_a_folder_are_one_log(s3: S3Server, log_dir: Path, tree: str) -> None:
    folder = f"{tree}/{BROKER}/deleted-records-0"
    names = sorted(path.name for path in (log_dir / "deleted-records-0").glob("*.log"))
    dataset = s3.open(*(f"{folder}/{name}" for name in names))
    (log,) = dataset.logs
    assert [file.name for file in log.logs] == names


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("nothing/here", MissingError, "s3://logs/nothing/here: No such file or directory"),
        (f"nothing/t-0/{SEGMENT}", MissingError, "No such file or directory"),
        ("tree/_SUCCESS", mb.InputError, "an empty file without the name of a segment"),
        (f"tree/{BROKER}/aborted-0/_temporary", mb.InputError, "1 file and 0 folders, with no log"),
        ("empty", mb.InputError, "an empty folder"),
    ],
)
def test_url_that_is_no_log_has_the_error_of_a_local_path(
    s3: S3Server, tree: str, path: str, error: type[Exception], message: str
) -> None:
    s3.put("empty/", b"")
    with pytest.raises(error) as raised:
        s3.open(f"s3://{BUCKET}/{path}")
    assert message in str(raised.value)
    assert type(raised.value) is error


# Requests


def num_small_files(log_dir: Path, partitions: str) -> int:
    """Return the number of small files with content: those of the log.dir, and of *partitions*."""
    names = ("partition.metadata", "leader-epoch-checkpoint")
    patterns = ("*-offset-checkpoint", "meta.properties", *(f"{partitions}/{n}" for n in names))
    return sum(path.stat().st_size > 0 for some in patterns for path in log_dir.glob(some))


SAMPLED = 3
"""Listings that tell how large the tree is: of the tree, its first folder, and the log.dir there."""


def test_a_tree_is_listed_at_once_and_nothing_else_is_asked_twice(
    s3: S3Server, log_dir: Path, tree: str
) -> None:
    with s3.counted() as asked:
        dataset = s3.open(tree)
    num_small = num_small_files(log_dir, "*")
    # pyarrow asks for the size of what it opens, whatever is known of it.
    assert asked == {"LIST": SAMPLED + 1, "HEAD": num_small, "GET": num_small}
    with s3.counted() as asked:
        dataset.records().to_table()
    kinds = ("log", "txnindex", "snapshot")
    files = [file for log in dataset.logs for file in log.files if file.kind in kinds]
    num_opened = sum(file.size_bytes > 0 or file.kind != "log" for file in files)
    assert asked == {"HEAD": num_opened, "GET": sum(file.size_bytes > 0 for file in files)}


def test_listed_folder_is_not_listed_again(s3: S3Server, tree: str) -> None:
    with s3.counted() as asked:
        s3.open(tree, f"{tree}/{BROKER}/open-0", tree)
    assert asked["LIST"] == SAMPLED + 1
    with s3.counted() as asked, pytest.raises(MissingError):
        s3.open(tree, f"{tree}/{BROKER}/gone-0/{SEGMENT}")
    assert asked["LIST"] == 1


def test_objects_that_are_not_read_are_not_requested(
    s3: S3Server, log_dir: Path, tree: str
) -> None:
    with s3.counted() as asked:
        s3.open(tree, topics=["open"])
    num_small = num_small_files(log_dir, "open-0")
    assert asked == {"LIST": SAMPLED + 1, "HEAD": num_small, "GET": num_small}


def test_a_segment_is_read_in_blocks_of_8_mib(s3: S3Server, large: tuple[str, int]) -> None:
    url, count = large
    with s3.counted() as asked:
        dataset = s3.open(url)
    assert asked == {"LIST": 2}, "the folder, and what lies beside it"
    with s3.counted() as asked:
        s3.open(f"{url}/{SEGMENT}")
    assert asked == {"LIST": 2}
    with s3.counted() as asked:
        assert dataset.records(["offset"]).to_table().num_rows == count
    # Its plan reads the headers, and leaves behind what the records are read from.
    assert asked == {"HEAD": 1, "GET": 3}


def test_headers_are_read_in_blocks_of_8_mib(s3: S3Server, large: tuple[str, int]) -> None:
    url, count = large
    with s3.counted() as asked:
        batches = s3.open(url).batches(["position"], quick=True)
        assert batches.to_table().num_rows == count
    assert asked == {"LIST": 2, "HEAD": 1, "GET": 3}


def test_threads_share_what_they_read(s3: S3Server, large: tuple[str, int]) -> None:
    url, count = large
    with s3.counted() as asked:
        dataset = s3.open(url, threads=4)
        rows = dataset.records(["offset"]).to_table()
    assert rows.column("offset").to_pylist() == list(range(count))
    assert asked == {"LIST": 2, "HEAD": 1, "GET": 3}


@pytest.mark.parametrize("threads", [1, 3])
def test_a_read_that_exceeds_the_memory_of_blocks_requests_no_byte_twice(
    s3: S3Server, large: tuple[str, int], monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(stored_file, "BLOCK_BYTES", 1 << 20)
    monkeypatch.setattr(extents, "MEMORY_BYTES", 3 << 20)
    url, count = large
    (size,) = [file.size_bytes for log in s3.open(url).logs for file in log.logs]
    before = mb.store_requests()["s3://logs"].requested_bytes
    assert s3.open(url, threads=threads).records().to_table().num_rows == count
    assert mb.store_requests()["s3://logs"].requested_bytes - before == size


def test_entries_that_are_larger_than_a_block_are_requested_once(s3: S3Server) -> None:
    data = segment(3, 10 << 20)
    s3.put(f"entries/t-0/{0:020}.log", data)
    before = mb.store_requests()["s3://logs"].requested_bytes
    values = s3.open("s3://logs/entries/t-0").records(["value"]).to_pylist()
    assert [len(row["value"]) for row in values] == [10 << 20] * 3
    assert mb.store_requests()["s3://logs"].requested_bytes - before == len(data)


def test_few_blocks_are_requested_ahead_of_a_reader(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_file, "BLOCK_BYTES", 1000)
    data = bytes(range(256)) * 40
    store = s3.store()
    file = store.open_file(s3.put("ahead", data), size_bytes=len(data))
    with s3.counted() as asked:
        file.read_at(0, 10)
        settle(store)
    assert asked == {"HEAD": 1, "GET": 1}, "nothing is known of what is read next"
    file.will_read(0, 9000)
    with s3.counted() as asked:
        file.read_at(1000, 10)
        settle(store)
    assert asked == {"GET": 1 + AHEAD_BLOCKS}
    with s3.counted() as asked:
        assert file.read_at(1500, 1000) == data[1500:2500]
        assert file.read_at(3500, 300) == data[3500:3800]
        settle(store)
    assert asked == {"GET": AHEAD_BLOCKS}
    file.will_read(9100, 9200)
    before = mb.store_requests()["s3://logs"].requested_bytes
    assert file.read_at(9150, 50) == data[9150:9200]
    settle(store)
    assert mb.store_requests()["s3://logs"].requested_bytes - before == 50, "none after the range"


def settle(store: Store) -> None:
    """Wait until the threads that read ahead have nothing to do."""
    barrier = Barrier(AHEAD_THREADS + 1)
    for _ in range(AHEAD_THREADS):
        store.submit(barrier.wait)
    barrier.wait(60)


def test_reader_of_short_ranges_returns_their_bytes(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_file, "BLOCK_BYTES", 1000)
    data = bytes(range(256)) * 10
    path = s3.put("places", data)
    file = s3.store().open_file(path)
    read = file.reader(61)
    for position in [*range(0, 2500, 37), 939, 940, 5, len(data) - 61, len(data) - 10, len(data)]:
        assert read(position) == data[position : position + 61], position


# Files that change


@pytest.fixture
def planned(s3: S3Server) -> tuple[mb.Dataset, str]:
    """A dataset of a segment of its own, and the segment's key."""
    key = f"changes/t-0/{SEGMENT}"
    s3.put(key, segment(100, 100))
    return s3.open("s3://logs/changes/t-0"), key


def test_a_file_that_is_gone_or_shorter_than_it_was_listed_has_changed(
    s3: S3Server, planned: tuple[mb.Dataset, str]
) -> None:
    dataset, key = planned
    whole = len(segment(100, 100))
    s3.put(key, segment(50, 100))
    with pytest.raises(mb.ChangedError, match=f"s3://logs/{key}: the file has .* the {whole} it"):
        dataset.records().to_table()
    s3.delete(key)
    with pytest.raises(mb.ChangedError, match=f"s3://logs/{key}: the file is gone since the read"):
        dataset.records().to_table()
    s3.put(key, segment(200, 100))
    with pytest.raises(mb.ChangedError, match=f"s3://logs/{key}: the file has .* the {whole} it"):
        dataset.records().to_table()


def test_an_object_that_replaces_one_of_its_size_has_changed(
    s3: S3Server, planned: tuple[mb.Dataset, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, key = planned
    splits = pickle.loads(pickle.dumps(dataset.plan()))
    time.sleep(1.1)  # stores keep whole seconds
    s3.put(key, segment(100, 100))
    with pytest.raises(mb.ChangedError, match=f"{key}: an object written at .*Z; expected one at"):
        list(mb.read_split(splits[0]))


def test_an_object_that_replaces_one_in_the_same_second_has_changed_if_its_etag_is_known(
    s3: S3Server, planned: tuple[mb.Dataset, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, key = planned
    (file,) = dataset.logs[0].files
    version = storage.ObjectVersion(file.size_bytes, None)
    assert file.store is not None
    file.store.check_version(file.path, version, may_grow=False)
    monkeypatch.setattr(stores, "CHECK_SECONDS", 0)
    data = segment(99, 100)
    s3.put(key, data + bytes(file.size_bytes - len(data)))
    with pytest.raises(mb.ChangedError, match=f"{key}: an object of ETag .* expected one of ETag"):
        file.store.check_version(file.path, version, may_grow=False)


def test_a_larger_file_is_another_one_only_where_stores_do_not_append(s3: S3Server) -> None:
    path = s3.put("grown", bytes(200))
    version = storage.ObjectVersion(100, 0)
    store = s3.store()
    store.check_version(path, version, may_grow=True)
    for scheme, is_changed in (("s3", True), ("hdfs", False)):
        store.scheme = scheme
        file = store.open_segment(path, size_bytes=100, listed_version=version)
        if is_changed:
            with pytest.raises(mb.ChangedError):
                file.read_at(0, 10)
        else:
            assert file.read_at(0, 100) == bytes(100)
    store = s3.store()
    assert store.item(path) is not None  # connects as S3
    store.scheme = "hdfs"
    closed = store.open_segment(path, size_bytes=100, listed_version=version, is_closed=True)
    with pytest.raises(mb.ChangedError):
        closed.read_at(0, 10)


@pytest.mark.parametrize("left", [0, 1, 4000, 8999])
def test_a_file_that_becomes_shorter_while_it_is_read_has_changed(s3: S3Server, left: int) -> None:
    """pyarrow says then that all bytes came, and gives what was in memory for the rest."""
    data = bytes(9000)
    path = s3.put("shrinks", data)
    file = s3.store().open_file(path)
    s3.put("shrinks", data[:left])
    with pytest.raises(mb.ChangedError, match=f"the file has {left} bytes; expected the 9000"):
        file.read_at(0, 9000)
    s3.delete("shrinks")
    with pytest.raises(mb.ChangedError, match="shrinks: the file is gone"):
        file.read_at(5, 10)


def test_rest_of_a_changed_object_is_not_read(s3: S3Server) -> None:
    path = s3.put("less", bytes(100))
    with pytest.raises(mb.ChangedError, match="the file has 100 bytes; expected the 101"):
        s3.store().read(path, 0, 10, 101)


def test_a_file_of_python_is_read_by_a_thread_at_a_time() -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            time.sleep(0.001)
            return super().read(size)

    data = bytes(range(256))
    handle = _Handle(pa.PythonFile(Slow(data), mode="r"), RequestCounter())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda position: handle.read(position, 1), range(256)))
    assert b"".join(one or b"" for one in found) == data


def test_every_byte_can_be_the_last(s3: S3Server) -> None:
    data = bytes(range(256))
    path, store = s3.put("last", data), s3.store()
    for last in (*stores.UNREAD, 0, 255):
        assert store.read(path, 0, last + 1, 256) == data[: last + 1]


# What opens a store


def test_splits_are_read_by_who_unpickles_them(s3: S3Server, tree: str) -> None:
    dataset = s3.open(tree)
    splits = [pickle.loads(pickle.dumps(split)) for split in mb.plan(dataset)]
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda split: sum(b.num_rows for b in mb.read_split(split)), splits))
    assert sum(rows) == dataset.records().to_table().num_rows


def test_the_environment_opens_a_store(
    s3: S3Server, tree: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {
        "AWS_ENDPOINT_URL": s3.url,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert mb.open(tree).logs


def fail_above(monkeypatch: pytest.MonkeyPatch, reason: str, **details: bool) -> None:
    """Let listing the log.dir fail; what lies below it is listed."""
    below = Store.below

    def below_only(store: Store, path: str, *, recursive: bool) -> Any:
        if path.endswith(BROKER):
            raise mb.StoreError(reason, path=path, **details)
        return below(store, path, recursive=recursive)

    monkeypatch.setattr(Store, "below", below_only)


def test_partition_is_read_without_checkpoints_where_the_log_dir_is_forbidden(
    s3: S3Server, tree: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_above(monkeypatch, "ACCESS_DENIED", is_denied=True)
    dataset = s3.open(f"{tree}/{BROKER}/deleted-records-0")
    assert [log.log_dir for log in dataset.logs] == [None]


def test_a_store_that_cannot_be_reached_is_an_error_and_no_folder_less(
    s3: S3Server, tree: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_above(monkeypatch, "NETWORK_CONNECTION")
    with pytest.raises(mb.StoreError, match="NETWORK_CONNECTION"):
        s3.open(f"{tree}/{BROKER}/deleted-records-0")


def test_a_companion_that_cannot_be_read_is_an_error(s3: S3Server, tree: str) -> None:
    dataset = s3.open(f"{tree}/{BROKER}/aborted-0")
    with s3.checking_credentials(), pytest.raises(mb.UnreadableError, match="ACCESS_DENIED"):
        dataset.records().to_table()


@pytest.mark.parametrize("is_denied", [True, False])
def test_an_object_that_a_store_refuses_is_a_finding_and_others_are_read(
    is_denied: bool, s3: S3Server, log_dir: Path, tree: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = s3.open(f"{tree}/{BROKER}", topics=["aborted", "open"], on_damage="skip")
    read, refused = Store.read, f"{tree}/{BROKER}/aborted-0/{SEGMENT}"

    def refusing(store: Store, path: str, *arguments: int) -> bytes:
        if path == refused:
            raise mb.StoreError("AccessDenied", path=path, is_denied=is_denied)
        return read(store, path, *arguments)

    monkeypatch.setattr(Store, "read", refusing)
    rows = dataset.records(["topic", "partition", "offset"])
    found = rows.to_pylist()
    local = mb.open(log_dir, topics=["aborted", "open"]).records(["topic", "partition", "offset"])
    expected = [
        row for row in local.to_pylist() if (row["topic"], row["partition"]) != ("aborted", 0)
    ]
    assert found == expected != []
    size = (log_dir / "aborted-0" / SEGMENT).stat().st_size
    (finding,) = [each for each in rows.report.findings if each.code == "unreadable"]
    assert (finding.position, finding.length, finding.found) == (0, size, "AccessDenied")
    assert rows.report.bytes["unreadable"] == size


def test_an_object_of_another_replica_that_a_store_refuses_is_a_finding_if_it_may_have_more(
    s3: S3Server, log_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = (log_dir / "aborted-0" / SEGMENT).read_bytes()
    paths = [
        s3.put(f"refused/broker-{number}/aborted-0/{SEGMENT}", data).rpartition("/aborted-0")[0]
        for number in range(2)
    ]
    refused = s3.put(f"refused/broker-1/aborted-0/{6:020}.log", bytes(100))
    read = Store.read

    def refusing(store: Store, path: str, *arguments: int) -> bytes:
        if path == refused:
            raise mb.StoreError("AccessDenied", path=path, is_denied=True)
        return read(store, path, *arguments)

    monkeypatch.setattr(Store, "read", refusing)
    rows = s3.open(*paths, replica=paths[0], on_damage="skip").records(["offset"])
    rows.to_table()
    (finding,) = [each for each in rows.report.findings if each.severity == "error"]
    assert (finding.code, finding.replica) == ("unreadable", paths[1])
    assert "offsets from 6 on, which no replica gives" in finding.message


def test_a_range_that_a_store_does_not_deliver_is_found_by_few_requests(
    s3: S3Server, large: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, _ = large
    whole = s3.open(url).records(["offset"]).to_table().num_rows
    read, at, failures = Store.read, 5_000_000, []

    def failing(store: Store, path: str, position: int, length: int, size: int) -> bytes:
        if position <= at < position + length:
            failures.append(length)
            raise mb.StoreError("InternalError", path=path)
        return read(store, path, position, length, size)

    monkeypatch.setattr(Store, "read", failing)
    rows = s3.open(url, on_damage="skip").records(["offset"])
    num_rows = rows.to_table().num_rows
    assert 0 < whole - num_rows < whole / 10
    assert rows.report.bytes["unreadable"] == 4096
    assert len(failures) < 100


def test_errors_come_back_from_other_processes() -> None:
    for error in (
        mb.StoreError("refused", path="s3://b/x", is_denied=True),
        mb.StoreError("SLOW_DOWN", path="s3://b/x", is_unreachable=True),
        MissingError(OSError(2, ""), "s3://b/x"),
        MissingError(OSError("odd"), "s3://b/x"),
    ):
        back = pickle.loads(pickle.dumps(error))
        assert (type(back), str(back)) == (type(error), str(error))
        for name in ("is_denied", "is_unreachable"):
            assert getattr(back, name, None) == getattr(error, name, None)


def test_a_segment_in_a_store_and_its_copy_are_two(
    s3: S3Server, log_dir: Path, tree: str, tmp_path: Path
) -> None:
    shutil.copytree(log_dir / "aborted-0", tmp_path / "aborted-0")
    url = f"{tree}/{BROKER}/"
    dataset = s3.open(f"{url}/aborted-0", tmp_path / "aborted-0", replica=url)
    assert [storage.is_url(log.folder) for log in dataset.logs] == [True]
    (log,) = dataset.logs
    assert len(log.measured_replicas) == 2


def test_a_large_tree_that_is_listed_by_folders_gives_the_same(
    s3: S3Server, tree: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = s3.open(tree, include_internal=True, on_damage="skip")
    monkeypatch.setattr(_storage, "MAX_TREE_OBJECTS", 3)
    _storage.forget_small_trees()
    with s3.counted() as asked:
        by_folders = s3.open(tree, include_internal=True, on_damage="skip")
    # The junk in a partition's folder is a folder that is not searched.
    assert asked["LIST"] == SAMPLED + len(at_once.all_logs)
    for name in ("logs", "all_logs", "log_dirs", "unread", "unreadable"):
        assert getattr(by_folders, name) == getattr(at_once, name), name
    assert by_folders.records().to_table() == at_once.records().to_table()
    assert by_folders.segments().to_pylist() == at_once.segments().to_pylist()
    with pytest.raises(MissingError):
        s3.open(tree, f"{tree}/{BROKER}/gone-0/{SEGMENT}")
