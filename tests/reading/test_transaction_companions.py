"""Tests of a segment's damaged or missing companion files: its records are read all the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb


def make(folder: Any) -> list[int]:
    """Write a log with an aborted and a committed transaction; return the committed offsets."""
    folder.log_dir()
    folder.segment("t-0", build.batch(build.records(2)) + build.transactional(2, 7))
    folder.segment(
        "t-0",
        build.control(build.ABORT, 3, 7)
        + build.transactional(4, 8)
        + build.control(build.COMMIT, 5, 8),
        3,
    )
    folder.segment("t-0", build.transaction_index((7, 2, 3)), 3, "txnindex")
    folder.segment("t-0", build.producer_snapshot((7, 0, 2, 2)), 3, "snapshot")
    return [0, 1, 4]


def committed(folder: Any) -> list[int]:
    rows = mb.open(str(folder)).records(["offset"]).to_pylist()
    return [row["offset"] for row in rows]


def problems(folder: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = mb.open(str(folder)).problems().to_pylist()
    return rows


def codes(folder: Any) -> list[tuple[str, str, str | None]]:
    return [(row["code"], row["severity"], row["file"]) for row in problems(folder)]


def test_sound_directory_has_no_problems(folder: Any) -> None:
    assert make(folder) == committed(folder)
    assert codes(folder) == []


INDEXES = [b"", b"\xff" * 7, bytes(8), bytes(10_485_760), b"\xff" * 8000]


@pytest.mark.parametrize("kind", ["index", "timeindex"])
@pytest.mark.parametrize("data", INDEXES, ids=range(len(INDEXES)))
def test_offset_and_time_indexes_are_never_believed(kind: str, data: bytes, folder: Any) -> None:
    wanted = make(folder)
    for base in (0, 3):
        folder.segment("t-0", data, base, kind)
    assert committed(folder) == wanted
    assert codes(folder) == []
    rows = mb.open(str(folder), times=(build.TIME, None), offsets=(1, 5)).records(["offset"])
    assert [row["offset"] for row in rows.to_pylist()] == [1, 4]


def index(*, producer: int = 7, first: int = 2, last: int = 3) -> bytes:
    return build.transaction_index((producer, first, last))


def snapshot(*, producer: int = 7, last: int = 2, first: int = 2) -> bytes:
    return build.producer_snapshot((producer, 0, last, first))


WRONG: dict[str, tuple[str, bytes | None, str]] = {
    "an index that is cut": ("txnindex", index()[:-1], "invalid"),
    "an index of text": ("txnindex", b"transactions\n" * 34, "invalid"),
    "an index of another producer": ("txnindex", index(producer=8), "mismatch"),
    "an index of another first offset": ("txnindex", index(first=1), "mismatch"),
    "an index of another segment": ("txnindex", index(first=0, last=1), "mismatch"),
    "an index of no such marker": (
        "txnindex",
        index() + index(producer=8, first=4, last=5),
        "mismatch",
    ),
    "an empty index": ("txnindex", b"", "mismatch"),
    "no index": ("txnindex", None, "missing"),
    "an empty snapshot": ("snapshot", b"", "invalid"),
    "a snapshot of zeros": ("snapshot", bytes(56), "invalid"),
    "a snapshot with a last offset above": ("snapshot", snapshot(last=9), "mismatch"),
    "a snapshot with a first offset above": ("snapshot", snapshot(first=9), "mismatch"),
    "a snapshot with another last offset": ("snapshot", snapshot(last=1), "mismatch"),
    "a snapshot without what is open": ("snapshot", snapshot(first=-1), "mismatch"),
    "a snapshot of another producer": (
        "snapshot",
        snapshot(producer=9, last=1, first=-1),
        "mismatch",
    ),
    "no snapshot": ("snapshot", None, "missing"),
}


@pytest.mark.parametrize("case", WRONG)
def test_companion_that_is_wrong_changes_no_row_and_is_named(case: str, folder: Any) -> None:
    kind, data, fault = WRONG[case]
    rows = make(folder)
    path = folder.segment("t-0", data or b"", 3, kind)
    if data is None:
        path.unlink()
    assert committed(folder) == rows
    severity = "note" if fault == "missing" else "warning"
    findings = codes(folder)
    assert set(findings) == {(f"{kind}-{fault}", severity, path.name)}
    assert len(findings) == 1 or fault == "mismatch"


def test_deleted_companions_are_not_read(folder: Any) -> None:
    wanted = make(folder)
    folder.segment("t-0", b"rubbish", 3, "snapshot", ".deleted")
    folder.segment("t-0", b"rubbish", 3, "txnindex", ".deleted")
    assert committed(folder) == wanted and codes(folder) == []


def test_offset_far_above_the_base_of_its_segment_is_read(folder: Any) -> None:
    folder.log_dir()
    far = 2**31 + 5
    folder.segment("t-0", build.batch() + build.batch(base=far))
    rows = mb.open(str(folder), on_damage="skip").records(["offset"]).to_pylist()
    assert [row["offset"] for row in rows] == [0, far]
    assert {row["code"] for row in problems(folder)} & {"offset-gap", "offset-outside-segment"}


@pytest.mark.parametrize("size", [0, 8, 100])
def test_companions_of_real_logs_cut_short_change_no_row(
    size: int, copied: Callable[[str], Path]
) -> None:
    path = copied("3.9/transactions") / "log-0"

    def rows() -> list[tuple[Any, ...]]:
        found = mb.open(str(path), on_damage="skip").records(["topic", "partition", "offset"])
        return [tuple(row.values()) for row in found.to_pylist()]

    before = rows()
    for companion in path.glob("*/*"):
        if companion.suffix in (".index", ".timeindex", ".txnindex"):
            companion.write_bytes(companion.read_bytes()[:size])
    assert rows() == before and before
