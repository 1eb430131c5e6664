"""Tests of the files of a partition in a store, which are packed: they are unpacked as they were."""

import pickle
from dataclasses import fields, replace

import pytest

from magicbyte.logdir._packed_files import PackedFiles, packed_files
from magicbyte.logdir.log_file import LogFile, PartitionLog, classify
from magicbyte.storage import NO_OPTIONS, FolderItem, ObjectVersion, Store

FOLDER = "s3://logs/t-0"
STORE = Store("s3", "logs", NO_OPTIONS)

NAMES = (
    *(f"{base:020}.{kind}" for base in (0, 7, 10**19 - 1) for kind in ("log", "index", "snapshot")),
    f"{7:020}.timeindex",
    f"{7:020}.txnindex",
    f"{5:020}.log.deleted",
    f"{9:020}.log.cleaned",
    f"{3:020}-0000000001.checkpoint",
    "partition.metadata",
    "leader-epoch-checkpoint",
    "x.log",
)


def files(**more: object) -> tuple[LogFile, ...]:
    items = [
        FolderItem(name, False, size, listed_version=version)
        for name in NAMES
        for size in (len(name),)
        for version in ([None, ObjectVersion(size, None), ObjectVersion(size, -size)][size % 3],)
    ]
    return tuple(replace(file, **more) for file in classify(FOLDER, items, None, STORE))


def parts(file: LogFile) -> list[object]:
    """Return all fields of *file*, those included that do not count when files are compared."""
    return [getattr(file, field.name) for field in fields(file)]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"replica": "b1"},
        {"is_remote": True},
        {"end_offset": 8},
        {"start": 1},
        {"closed_bytes": 1},
        {"size_bytes": 1},
        {"path": "s3://logs/other"},
        {"listed_version": ObjectVersion(1, 1)},
        {"why_not": "swap"},
    ],
)
def test_files_are_unpacked_as_they_were(more: dict[str, object]) -> None:
    original = files(**more)
    packed = packed_files(FOLDER, STORE, original)
    assert len(packed) == len(original) == len(NAMES)
    assert list(map(parts, packed)) == list(map(parts, original))
    assert packed == original and hash(packed) == hash(original)
    assert packed[0] == original[0] and packed[-1] == original[-1] and packed[2:5] == original[2:5]


def test_most_files_are_packed() -> None:
    packed = packed_files(FOLDER, STORE, files())
    assert isinstance(packed, PackedFiles)
    # Larger than any offset, deleted, cleaned, and those of no segment.
    assert len(packed.others) == len(NAMES) - 8
    assert packed != () and packed_files(FOLDER, STORE, ()) == ()


def test_a_packed_log_is_small_to_pickle_and_equal_to_the_unpacked_one() -> None:
    packed = PartitionLog("t", 0, FOLDER, None, packed_files(FOLDER, STORE, files()))
    unpacked = packed.unpacked()
    assert isinstance(unpacked.files, tuple) and unpacked == packed
    assert unpacked.unpacked() is unpacked
    restored = pickle.loads(pickle.dumps(packed))
    assert restored.files == unpacked.files and restored.logs == unpacked.logs
    assert [file.store.authority for file in restored.files] == ["logs"] * len(NAMES)
    names = [f"{base:020}.log" for base in range(1000)]
    many = classify(FOLDER, [FolderItem(name, False, 9) for name in names], None, STORE)
    assert len(pickle.dumps(packed_files(FOLDER, STORE, many))) < 1000 * 26 + 500
