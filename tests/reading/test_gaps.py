"""Tests of the table of gaps: offsets that no record has, with the reason."""

from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.tables.schemas import GAPS

Gap = tuple[int, int, str]


@pytest.fixture(params=["reference", "columnar"])
def gaps(request: pytest.FixtureRequest) -> Any:
    def gaps_of(path: Path, **options: Any) -> list[Gap]:
        rows = mb.open(path, engine=request.param, on_damage="skip", **options).gaps().to_pylist()
        assert all(row["end_offset"] - row["first_offset"] == row["offset_count"] for row in rows)
        return [(row["first_offset"], row["end_offset"], row["reason"]) for row in rows]

    return gaps_of


def batch(base: int, *deltas: int, last: int | None = None, **fields: Any) -> bytes:
    """Return a batch with records at *deltas* that ends at the delta *last*."""
    content = [build.record(delta=delta) for delta in deltas]
    return build.batch(content, base, last_delta=last, **fields)


def test_compaction_explains_gaps_within_and_between_batches(folder: Any, gaps: Any) -> None:
    data = batch(0, 1, 3, last=5) + batch(9, 0) + build.batch([], 10, last_delta=2) + batch(15, 0)
    path = folder.segment("t-0", data).parent
    assert gaps(path) == [
        (0, 1, "compacted"),
        (2, 3, "compacted"),
        (4, 9, "compacted"),
        (10, 15, "compacted"),
    ]


def test_without_any_sign_of_compaction_offsets_are_missing(folder: Any, gaps: Any) -> None:
    path = folder.segment("t-0", batch(0, 0) + batch(4, 0)).parent
    assert gaps(path) == [(1, 4, "missing")]


def test_the_cleaners_checkpoint_decides_where_there_is_one(folder: Any, gaps: Any) -> None:
    place = folder.log_dir()
    path = place.segment("t-0", batch(0, 0) + batch(4, 0) + batch(9, 0)).parent
    place.checkpoint("cleaner-offset-checkpoint", {("t", 0): 5})
    assert gaps(path) == [(1, 4, "compacted"), (5, 9, "missing")]


def test_damage_explains_the_offsets_that_it_hides(folder: Any, gaps: Any) -> None:
    malformed = batch(4, 0, count=2)
    data = batch(0, 0) + batch(1, 0, 1, 2, crc=1) + malformed + batch(6, 0) + batch(8, 0)
    path = folder.segment("t-0", data).parent
    assert gaps(path) == [(1, 6, "damaged"), (7, 8, "missing")]


def test_a_batch_over_the_limit_explains_its_offsets(folder: Any, gaps: Any) -> None:
    large = build.batch([build.record(bytes(5000))], 1, codec=build.GZIP)
    path = folder.segment("t-0", batch(0, 0) + large + batch(2, 0)).parent
    limits = mb.Limits(max_batch_bytes=1000)
    assert gaps(path, limits=limits) == [(1, 2, "over_limit")]


def test_gaps_before_and_after_all_records_are_found(folder: Any, gaps: Any) -> None:
    path = folder.segment("t-0", batch(2, 0)).parent
    folder.segment("t-0", b"", 9)
    assert gaps(path) == [(0, 2, "missing"), (3, 9, "missing")]


def test_markers_and_messages_are_records_and_no_gaps(folder: Any, gaps: Any) -> None:
    data = build.transactional(0, 7) + build.control(build.ABORT, 1, 7)
    inner = [build.message(offset=n) for n in range(3)]
    data += build.wrapper(inner, 4) + build.message(offset=5)
    assert gaps(folder.segment("t-0", data).parent) == []


def test_only_gaps_with_wanted_offsets_are_listed(folder: Any, gaps: Any) -> None:
    path = folder.segment("t-0", batch(0, 0) + batch(4, 0) + batch(9, 0)).parent
    assert gaps(path, offsets=(2, 5)) == [(1, 4, "missing")]
    assert gaps(path, offsets=(5, None)) == [(5, 9, "missing")]


def test_a_row_names_the_entry_after_the_gap(folder: Any) -> None:
    first = batch(0, 0)
    path = folder.segment("t-0", first + batch(4, 0)).parent
    table = mb.open(path).gaps().to_table()
    assert table.column_names == list(GAPS.names)
    (row,) = table.to_pylist()
    assert (row["topic"], row["partition"]) == ("t", 0)
    assert (row["file"], row["position"]) == (f"{0:020}.log", len(first))
