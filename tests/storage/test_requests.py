"""Tests that requests to a store are counted as the store counts them."""

from collections import Counter
from pathlib import Path

import pytest

import magicbyte as mb
from magicbyte.errors import MissingError
from magicbyte.storage import _small_files as small_files
from s3_server import S3Server


def requests_since(before: dict[str, mb.StoreRequests]) -> Counter[str]:
    old = before.get("s3://logs", mb.StoreRequests())
    new = mb.store_requests()["s3://logs"]
    numbers = {"LIST": new.lists - old.lists, "HEAD": new.heads - old.heads}
    return +Counter(numbers | {"GET": new.gets - old.gets})


def test_requests_are_counted_as_the_server_counts_them(s3: S3Server, tree: str) -> None:
    before = mb.store_requests()
    with s3.counted() as asked:
        s3.open(tree).records().to_table()
    assert requests_since(before) == asked
    assert asked["GET"] > 20


@pytest.mark.parametrize("processes", [1, 2])
def test_requests_of_started_processes_are_counted(s3: S3Server, tree: str, processes: int) -> None:
    before = mb.store_requests()
    with s3.counted() as asked:
        mb.stats(tree, storage_options=s3.options, processes=processes)
    assert requests_since(before) == asked
    assert asked["GET"] > 20


def test_requests_for_what_does_not_exist_are_counted(s3: S3Server) -> None:
    before = mb.store_requests()
    with s3.counted() as asked, pytest.raises(MissingError):
        s3.open("s3://logs/nothing/here")
    assert requests_since(before) == asked


def test_a_listing_of_many_objects_takes_a_request_per_page(s3: S3Server) -> None:
    s3.put_all({f"pages/t-0/{number:020}.index": b"" for number in range(1001)})
    before = mb.store_requests()
    with s3.counted() as asked, pytest.raises(mb.InputError):
        s3.open("s3://logs/pages")
    assert asked["LIST"] == 1 + 2, "the tree, and its only folder"
    assert requests_since(before) == asked


def test_small_files_are_requested_again_only_after_they_were_replaced(
    s3: S3Server, log_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_files, "SETTLED_SECONDS", -10)
    url = s3.upload(log_dir, "small/log-0")
    with s3.counted() as asked:
        topic_ids = [log.topic_id for log in s3.open(url).logs]
    assert asked["GET"] > 5
    with s3.counted() as asked:
        assert [log.topic_id for log in s3.open(url).logs] == topic_ids
    assert asked == {"LIST": 1}
    other = (log_dir / "open-0" / "partition.metadata").read_bytes() + b"\n"
    s3.put("small/log-0/open-0/partition.metadata", other)
    with s3.counted() as asked:
        assert [log.topic_id for log in s3.open(url).logs] == topic_ids
    assert asked == {"LIST": 1, "HEAD": 1, "GET": 1}


def test_small_files_that_were_just_written_are_requested_again(
    s3: S3Server, log_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_files, "SETTLED_SECONDS", 1000)
    url = s3.upload(log_dir, "new/log-0")
    requests = []
    for _ in range(2):
        with s3.counted() as asked:
            s3.open(url)
        requests.append(asked)
    assert requests[1]["LIST"] == 1 and requests[0]["LIST"] == 2, "the log.dir is known to be small"
    assert [asked["GET"] for asked in requests] == [requests[0]["GET"]] * 2
    assert [asked["HEAD"] for asked in requests] == [requests[0]["HEAD"]] * 2


def test_small_files_are_dropped_beyond_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_files, "MAX_BYTES", 100)
    kept = small_files.SmallFiles()
    for number in range(20):
        kept.add(number, bytes(10))
        assert kept.get(0) is not None
    assert [number for number in range(20) if kept.get(number) is not None] == [0, *range(11, 20)]
    monkeypatch.setattr(small_files, "MAX_FILES", 3)
    kept.add(20, b"")
    assert [number for number in range(21) if kept.get(number) is not None] == [18, 19, 20]


def test_small_files_of_other_options_are_not_shared(
    s3: S3Server, tree: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_files, "SETTLED_SECONDS", -10)
    s3.open(tree)
    with s3.counted() as asked:
        mb.open(tree, storage_options=s3.options | {"request_timeout": 50})
    assert asked["GET"] > 5
