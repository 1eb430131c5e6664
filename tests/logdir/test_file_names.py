"""Tests of the names of files and folders in a log.dir."""

import pytest

from magicbyte.logdir.file_names import ParsedFileName, ParsedFolderName, parse_file, parse_folder

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
