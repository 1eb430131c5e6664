"""The files beside a segment, damaged or gone: the log is read all the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb


def make(folder: Any) -> list[int]:
    """Two segments; a transaction is aborted in the second, another is committed."""
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


def name(base: int, kind: str) -> str:
    return f"{base:020}.{kind}"


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


@pytest.mark.parametrize("data", [index()[:-1], b"transactions\n" * 34], ids=["cut", "text"])
def test_invalid_transaction_index_is_a_warning(data: bytes, folder: Any) -> None:
    wanted = make(folder)
    folder.segment("t-0", data, 3, "txnindex")
    assert committed(folder) == wanted
    assert codes(folder) == [("txnindex-invalid", "warning", name(3, "txnindex"))]


WRONG_INDEXES: dict[str, bytes] = {
    "another producer": index(producer=8),
    "another first offset": index(first=1),
    "outside the segment": index(first=0, last=1),
    "no such marker": index() + index(producer=8, first=4, last=5),
    "empty": b"",
}


@pytest.mark.parametrize("what", WRONG_INDEXES)
def test_transaction_index_that_contradicts_the_markers_is_a_warning_and_they_decide(
    what: str, folder: Any
) -> None:
    wanted = make(folder)
    folder.segment("t-0", WRONG_INDEXES[what], 3, "txnindex")
    assert committed(folder) == wanted
    found = codes(folder)
    assert found and set(found) == {("txnindex-mismatch", "warning", name(3, "txnindex"))}


def test_lost_transaction_index_is_a_note_and_aborted_rows_stay_aborted(folder: Any) -> None:
    wanted = make(folder)
    (folder.path / "t-0" / name(3, "txnindex")).unlink()
    assert committed(folder) == wanted
    assert codes(folder) == [("txnindex-missing", "note", name(3, "txnindex"))]


@pytest.mark.parametrize("data", [b"", bytes(56)], ids=["empty", "zeros"])
def test_invalid_producer_snapshot_is_a_warning(data: bytes, folder: Any) -> None:
    wanted = make(folder)
    folder.segment("t-0", data, 3, "snapshot")
    assert committed(folder) == wanted
    assert codes(folder) == [("snapshot-invalid", "warning", name(3, "snapshot"))]


@pytest.mark.parametrize(
    "producer",
    [(7, 0, 9, 2), (7, 0, 2, 9), (7, 0, 1, 2), (7, 0, 2, -1), (9, 0, 1, -1)],
    ids=["last above", "first above", "other last", "not open", "other producer"],
)
def test_producer_snapshot_that_contradicts_the_log_is_a_warning(
    producer: tuple[int, int, int, int], folder: Any
) -> None:
    wanted = make(folder)
    folder.segment("t-0", build.producer_snapshot(producer), 3, "snapshot")
    assert committed(folder) == wanted
    found = codes(folder)
    assert found and set(found) == {("snapshot-mismatch", "warning", name(3, "snapshot"))}


def test_lost_producer_snapshot_is_a_note(folder: Any) -> None:
    wanted = make(folder)
    (folder.path / "t-0" / name(3, "snapshot")).unlink()
    assert committed(folder) == wanted
    assert codes(folder) == [("snapshot-missing", "note", name(3, "snapshot"))]


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
