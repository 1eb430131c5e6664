"""Tests of KRaft metadata snapshots: batches as in a segment, with offsets of their own."""

from pathlib import Path

import pytest

import magicbyte as mb
from paths import DATA

SNAPSHOTS = sorted(DATA.glob("*/*/log-0/**/*.checkpoint"))


def rows_of(*paths: Path) -> list[tuple[int, bytes]]:
    rows = mb.open(*paths).records(["offset", "value"]).to_pylist()
    return [(row["offset"], row["value"]) for row in rows]


@pytest.mark.parametrize(
    "path", SNAPSHOTS, ids=lambda path: "-".join([*path.parts[-5:-3], path.stem])
)
def test_a_snapshot_is_read_by_itself(path: Path) -> None:
    """The file's name holds the snapshot's end offset, which is unrelated to the offsets inside."""
    found = mb.verify(path)
    assert found.findings == []
    rows = rows_of(path)
    # The first record is the snapshot's header, the last its footer; both are control records.
    assert [offset for offset, _ in rows] == list(range(1, len(rows) + 1)) and rows
    assert found.records == {"delivered": len(rows), "control": 2}


def test_snapshots_and_segments_that_are_named_together_are_read_one_by_one() -> None:
    paths = [path for path in SNAPSHOTS if path.parent.name == "__cluster_metadata-0"]
    assert len(paths) > 3
    segment = next(paths[0].parent.glob("*.log"))
    apart = [row for path in [*paths, segment] for row in rows_of(path)]
    assert sorted(rows_of(segment, *paths)) == sorted(apart)
