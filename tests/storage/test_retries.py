"""Tests of requests that a store does not answer at the first attempt."""

from collections.abc import Iterator

import pytest

import magicbyte as mb
from faulty_store import FAULTS, FaultyStore, faulty_store
from magicbyte.storage import StorageOptions, Store
from magicbyte.storage import _filesystems as filesystems
from s3_server import BUCKET, S3Server

DATA = bytes(range(256)) * 400


@pytest.fixture
def faulty(s3: S3Server) -> Iterator[FaultyStore]:
    s3.put("faulty", DATA)
    with faulty_store(s3.url) as server:
        yield server


def store(s3: S3Server, faulty: FaultyStore) -> Store:
    return Store("s3", BUCKET, StorageOptions(s3.options | {"endpoint_override": faulty.url}))


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "denied"])
def test_request_is_repeated_until_the_store_answers_it(
    s3: S3Server, faulty: FaultyStore, fault: str
) -> None:
    opened = store(s3, faulty)
    assert opened.item(f"s3://{BUCKET}/faulty") is not None
    faulty.num_requests = 0
    faulty.faults = [fault] * 3
    assert opened.read(f"s3://{BUCKET}/faulty", 100, 90_000, len(DATA)) == DATA[100:90_100]
    assert not faulty.faults
    assert faulty.num_requests >= 4


def test_request_that_is_refused_is_not_repeated(s3: S3Server, faulty: FaultyStore) -> None:
    opened = store(s3, faulty)
    opened.open_file(f"s3://{BUCKET}/faulty")
    faulty.num_requests = 0
    faulty.faults = ["denied"] * 9
    with pytest.raises(mb.StoreError) as raised:
        opened.item(f"s3://{BUCKET}/faulty")
    assert raised.value.is_denied
    assert faulty.num_requests == 1


def test_store_that_asks_for_fewer_requests_all_the_time_cannot_be_reached(
    s3: S3Server, faulty: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystems, "S3_ATTEMPTS", 2)
    faulty.faults = ["throttled"] * 9
    with pytest.raises(mb.StoreError) as raised:
        store(s3, faulty).item(f"s3://{BUCKET}/faulty")
    assert raised.value.is_unreachable
    assert len(faulty.faults) == 7
