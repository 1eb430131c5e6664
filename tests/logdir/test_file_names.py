"""Tests of the names of files and folders in a log.dir."""

import pytest

from magicbyte.logdir.file_names import (
    ParsedFileName,
    ParsedFolderName,
    parse_file,
    parse_folder,
    parse_numbered_folder,
)
from magicbyte.logdir.remote_names import parse_remote_file, parse_remote_folder

BASE = "00000000000000000012"
HEX = "0123456789abcdef" * 2


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
        ("09223372036854775807.log", "log", (1 << 63) - 1, None),
        ("09223372036854775808.log", "other", None, None),
        ("99999999999999999999.log", "other", None, None),
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
        ("t-2147483647", ParsedFolderName("t", 2147483647, None)),
        ("t-2147483648", None),
        (f"t-2147483648.{HEX}-stray", None),
    ],
)
def test_a_folder_is_what_its_name_says(name: str, found: ParsedFolderName | None) -> None:
    assert parse_folder(name) == found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/backup/orders/0", ParsedFolderName("orders", 0, None)),
        ("s3://bucket/orders/17", ParsedFolderName("orders", 17, None)),
        ("/backup/orders/2147483648", None),
        ("/backup/2024/11", None),
        ("/backup/a topic/0", None),
        (f"/tiered/orders-{'A' * 22}/0", None),
        ("/0", None),
        ("0", None),
    ],
)
def test_a_numbered_folder_is_a_partition_of_the_folder_around_it(
    path: str, found: ParsedFolderName | None
) -> None:
    assert parse_numbered_folder(path) == found


def test_numbers_of_remote_segments_are_bounded_as_in_kafka() -> None:
    topic_id = "A" * 22
    assert parse_remote_folder(f"/x/t-2147483647-{topic_id}") is not None
    assert parse_remote_folder(f"/x/t-2147483648-{topic_id}") is None
    assert parse_remote_folder(f"/x/t-{topic_id}/2147483648") is None
    assert parse_remote_file(f"09223372036854775807-{topic_id}.log") is not None
    assert parse_remote_file(f"09223372036854775808-{topic_id}.log") is None
