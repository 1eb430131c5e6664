"""The rules of the files beside a log, one by one: names, indexes, snapshots, what a log.dir says."""

import os
import struct
from contextlib import nullcontext
from pathlib import Path

import crc32c
import pytest

from magicbyte.errors import ChecksumError, FormatError, TruncatedError
from magicbyte.logdir.checkpoints import (
    parse_offsets,
    read_first_epoch_start,
    read_log_dir,
    read_topic_id,
)
from magicbyte.logdir.companions import read_producer_snapshot, read_transaction_index
from magicbyte.logdir.file_names import ParsedFileName, ParsedFolderName, parse_file, parse_folder
from magicbyte.storage import Storage, local

BASE = "00000000000000000012"
HEX = "0123456789abcdef" * 2

# Names


@pytest.mark.parametrize(
    ("name", "kind", "base", "suffix"),
    [
        (f"{BASE}.log", "log", 12, None),
        (f"{BASE}.index.deleted", "index", 12, "deleted"),
        (f"{BASE}.timeindex.swap", "timeindex", 12, "swap"),
        (f"{BASE}.txnindex.cleaned", "txnindex", 12, "cleaned"),
        (f"{BASE}.snapshot.tmp", "snapshot", 12, "tmp"),
        (f"{BASE}-0000000003.checkpoint", "checkpoint", 12, None),
        (f"{BASE}.log.old", "other", None, None),
        (f"{BASE}.txt", "other", None, None),
        (f"{BASE[1:]}.log", "other", None, None),
        ("leader-epoch-checkpoint", "metadata", None, None),
        ("partition.metadata", "metadata", None, None),
        ("notes", "other", None, None),
    ],
)
def test_a_file_is_what_its_name_says(
    name: str, kind: str, base: int | None, suffix: str | None
) -> None:
    assert parse_file(name) == ParsedFileName(kind, base, suffix)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("t-0", ParsedFolderName("t", 0, None)),
        ("a-b-12", ParsedFolderName("a-b", 12, None)),
        (f"a-b-12.{HEX}-delete", ParsedFolderName("a-b", 12, "delete-folder")),
        (f"t-3.{HEX}-future", ParsedFolderName("t", 3, "future-folder")),
        (f"t-3.{HEX}-stray", ParsedFolderName("t", 3, "stray-folder")),
        (f"t-3.{HEX}-gone", None),
        ("t", None),
        ("-0", None),
    ],
)
def test_a_folder_is_what_its_name_says(name: str, found: ParsedFolderName | None) -> None:
    assert parse_folder(name) == found


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


# A log.dir's own files


@pytest.mark.parametrize(
    ("data", "place", "found", "expected"),
    [
        (b"2\n0\n", "line 1", "2", "version 0"),
        (b"0\nx\n", "line 2", "x", "a count of entries"),
        (b"0\n1\n", "line 2", "1", "0, the number of entries that follow"),
        (b"0\n0\nt 0 5\n", "line 2", "0", "1, the number of entries that follow"),
        (b"0\n2\nt 0 5\nt 1\n", "line 4", "t 1", "topic, partition, offset"),
        (b"0\n1\n\xff", "byte 4", "ff", "UTF-8"),
        (b"0\n1\nab\xff12345678", "byte 6", "ff31323334353637", "UTF-8"),
    ],
)
def test_evidence_of_a_bad_checkpoint(data: bytes, place: str, found: str, expected: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_offsets(data)
    error = caught.value
    assert (error.field, error.found, error.expected) == (place, found, expected)


@pytest.mark.parametrize(
    ("partition", "offset", "is_read"),
    [
        (2**31 - 1, 2**63 - 1, True),
        (-(2**31), -(2**63), True),
        (2**31, 0, False),
        (-(2**31) - 1, 0, False),
        (0, 2**63, False),
        (0, -(2**63) - 1, False),
    ],
)
def test_numbers_have_32_and_64_bits(partition: int, offset: int, is_read: bool) -> None:
    data = f"0\n1\nt {partition} {offset}\n".encode()
    if is_read:
        assert parse_offsets(data) == {("t", partition): offset}
    else:
        with pytest.raises(FormatError):
            parse_offsets(data)


def test_zeros_in_front_of_a_number_end_somewhere() -> None:
    assert parse_offsets(b"0\n1\nt 0 " + b"5".rjust(4000, b"0")) == {("t", 0): 5}
    with pytest.raises(FormatError):
        parse_offsets(b"0\n1\nt 0 " + b"5".rjust(4001, b"0"))


def test_the_count_has_32_bits() -> None:
    for count, expected in ((2**31 - 1, "0, the number"), (2**31, "a count")):
        with pytest.raises(FormatError) as caught:
            parse_offsets(f"0\n{count}\n".encode())
        assert str(caught.value.expected).startswith(expected)
    for version in (2**32, 2**31, -(2**32)):
        with pytest.raises(FormatError):
            parse_offsets(f"{version}\n0\n".encode())


def write(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).write_text(text)
    return str(folder)


def test_a_log_dir_names_its_cluster(tmp_path: Path) -> None:
    assert read_log_dir(str(tmp_path), Storage()).cluster_id is None
    path = write(
        tmp_path, {"meta.properties": "version=1\n cluster.id = a\\:b\\=c=d \nnode.id=1\n"}
    )
    assert read_log_dir(path, Storage()).cluster_id == "a:b=c=d"
    path = write(tmp_path, {"meta.properties": "version=1\n"})
    assert read_log_dir(path, Storage()).cluster_id is None


def test_a_log_dir_has_four_checkpoints(tmp_path: Path) -> None:
    names = ("log-start", "cleaner", "replication", "recovery-point")
    fields = ("log_start", "cleaner", "high_watermark", "recovery_point")
    empty = read_log_dir(str(tmp_path), Storage())
    assert [getattr(empty, field) for field in fields] == [None] * 4
    assert not empty.clean_shutdown
    files = {f"{name}-offset-checkpoint": f"0\n1\nt 0 {n}\n" for n, name in enumerate(names)}
    path = write(tmp_path, {**files, ".kafka_cleanshutdown": ""})
    found = read_log_dir(path, Storage())
    assert [getattr(found, field) for field in fields] == [{("t", 0): n} for n in range(4)]
    assert found.clean_shutdown and found.findings == ()
    path = write(tmp_path, {"cleaner-offset-checkpoint": "9\n"})
    found = read_log_dir(path, Storage())
    (finding,) = found.findings
    assert (finding.code, finding.file) == ("checkpoint-invalid", "cleaner-offset-checkpoint")
    assert (finding.field, finding.found, finding.expected) == ("line 1", "9", "version 0")
    assert (found.cleaner, found.log_start) == (None, {("t", 0): 0})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("version: 0\ntopic_id: abc\n", "abc"),
        ("version: 0\n topic_id : a:b", "a:b"),
        ("version: 0\n", None),
        ("", None),
    ],
)
def test_a_partition_names_its_topic(text: str, found: str | None, tmp_path: Path) -> None:
    assert read_topic_id(str(tmp_path), Storage()) is None
    assert read_topic_id(write(tmp_path, {"partition.metadata": text}), Storage()) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0\n2\n3 40\n5 60\n", 40),
        ("0\n1\n3 0\n", 0),
        ("1\n1\n3 40\n", None),
        ("0\n0\n", None),
        ("0\n1\n3 x\n", None),
        ("0\n1\n3\n", None),
        ("", None),
    ],
)
def test_a_partition_tells_where_its_first_epoch_began(
    text: str, found: int | None, tmp_path: Path
) -> None:
    assert read_first_epoch_start(str(tmp_path), Storage()) is None
    assert (
        read_first_epoch_start(write(tmp_path, {"leader-epoch-checkpoint": text}), Storage())
        == found
    )


def test_a_segment_that_is_renamed_while_its_folder_is_listed_is_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaned = tmp_path / f"{0:020}.log.swap"
    cleaned.write_bytes(b"records")
    scandir = os.scandir

    def renamed_behind(path: str) -> object:
        with scandir(path) as names:
            seen = list(names)
        if cleaned.exists():
            cleaned.rename(cleaned.with_suffix(""))
        return nullcontext(seen)

    monkeypatch.setattr(os, "scandir", renamed_behind)
    assert [item.name for item in local.list_folder(str(tmp_path))] == [f"{0:020}.log"]
