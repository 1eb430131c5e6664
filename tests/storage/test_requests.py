"""Tests that requests to a store are counted as the store counts them."""

from collections import Counter

import pytest

import magicbyte as mb
from magicbyte.errors import MissingError
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


def test_requests_for_what_does_not_exist_are_counted(s3: S3Server) -> None:
    before = mb.store_requests()
    with s3.counted() as asked, pytest.raises(MissingError):
        s3.open("s3://logs/nothing/here")
    assert requests_since(before) == asked


def test_a_listing_of_many_objects_takes_a_request_per_page(s3: S3Server) -> None:
    for number in range(1001):
        s3.put(f"pages/t-0/{number:020}.index", b"")
    before = mb.store_requests()
    with s3.counted() as asked, pytest.raises(mb.InputError):
        s3.open("s3://logs/pages")
    assert asked["LIST"] == 2
    assert requests_since(before) == asked
