"""Tests of transaction indexes and producer snapshots: entries, and the evidence of each fault."""

import struct

import crc32c
import pytest

from magicbyte.errors import ChecksumError, FormatError, TruncatedError
from magicbyte.logdir.companions import read_producer_snapshot, read_transaction_index

# Transaction indexes


def index(*entries: tuple[int, ...]) -> bytes:
    return b"".join(struct.pack(">hqqqq", *entry) for entry in entries)


def test_entries_of_an_index_are_read_in_order() -> None:
    data = index((0, 0, 0, 0, 1), (0, 7, 0, 1, 0), (0, 8, 5, 9, 10))
    found = [tuple(entry) for entry in read_transaction_index(data)]
    assert found == [(0, 0, 0, 0, 1), (0, 7, 0, 1, 0), (0, 8, 5, 9, 10)]
    assert read_transaction_index(b"") == []


@pytest.mark.parametrize(
    ("entry", "field", "found", "expected"),
    [
        ((1, 7, 2, 3, 4), "version", 1, "0"),
        ((0, -1, 2, 3, 4), "producer_id", -1, "0 or more"),
        ((0, 7, -1, 3, 4), "first_offset", -1, "0 to 3"),
        ((0, 7, 4, 3, 4), "first_offset", 4, "0 to 3"),
        ((0, 7, 0, 1, 2), "last_offset", 1, "above 1"),
        ((0, 7, 2, 3, 5), "last_stable_offset", 5, "0 to 4"),
        ((0, 7, 2, 3, -1), "last_stable_offset", -1, "0 to 4"),
    ],
)
def test_an_entry_that_cannot_be_is_an_error(
    entry: tuple[int, ...], field: str, found: int, expected: str
) -> None:
    with pytest.raises(FormatError) as caught:
        read_transaction_index(index((0, 7, 0, 1, 1), entry))
    error = caught.value
    assert (error.code, error.position, error.field) == ("txnindex-invalid", 34, field)
    assert (error.found, error.expected) == (str(found), expected)


@pytest.mark.parametrize("length", [1, 33, 35, 67])
def test_an_index_of_half_an_entry_is_cut(length: int) -> None:
    with pytest.raises(TruncatedError) as caught:
        read_transaction_index(index((0, 7, 0, 1, 1), (0, 7, 2, 3, 3))[:length])
    error = caught.value
    assert (error.position, error.found) == (length - length % 34, str(length))
    assert error.expected == "a multiple of 34"


# Producer snapshots


def snapshot(count: int, *, version: int = 1, entries: int = 2) -> bytes:
    body = struct.pack(">i", count) + bytes(46 * entries)
    return struct.pack(">hI", version, crc32c.crc32c(body)) + body


def test_a_snapshot_has_as_many_producers_as_it_says() -> None:
    assert len(read_producer_snapshot(snapshot(2))) == 2
    assert read_producer_snapshot(snapshot(0, entries=0)) == []
    for count in (1, 3, -1):
        with pytest.raises(TruncatedError) as caught:
            read_producer_snapshot(snapshot(count))
        error = caught.value
        assert (error.position, error.field) == (10, "num_producers")
        assert (error.found, error.expected) == (str(count), "2")


@pytest.mark.parametrize("version", [0, 2, -1])
def test_a_snapshot_of_another_version_is_an_error(version: int) -> None:
    with pytest.raises(FormatError) as caught:
        read_producer_snapshot(snapshot(2, version=version))
    assert (caught.value.field, caught.value.found, caught.value.expected) == (
        "version",
        str(version),
        "1",
    )


def test_a_snapshot_is_as_its_checksum_says() -> None:
    data = snapshot(2)
    with pytest.raises(ChecksumError) as caught:
        read_producer_snapshot(data[:-1] + b"\1")
    assert (caught.value.position, caught.value.stored) == (2, int.from_bytes(data[2:6], "big"))
    assert caught.value.computed != caught.value.stored


@pytest.mark.parametrize("length", [0, 9])
def test_a_snapshot_without_its_header_is_cut(length: int) -> None:
    with pytest.raises(TruncatedError) as caught:
        read_producer_snapshot(snapshot(2)[:length])
    assert (caught.value.found, caught.value.expected) == (str(length), "at least 10")
