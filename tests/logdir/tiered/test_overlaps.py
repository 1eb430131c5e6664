"""Tests of overlapping remote segments: each offset is read once, from the right leader epoch."""

from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from tiered_segments import aiven, batches_of, local_tiered, segments_of

A, B, C, D = (letter * 22 for letter in "abcd")


def uploaded(store: Path, log: Path, last: Any) -> None:
    """Upload the segment *log* in chunks, with *last* as the `endOffset` in its manifest."""
    for kind in ("index", "timeindex", "snapshot"):
        log.with_suffix(f".{kind}").write_bytes(b"")

    def ends(made: dict[str, Any]) -> None:
        made["remoteLogSegmentMetadata"]["endOffset"] = last

    aiven(store / f"t-{D}" / "0", log, chunk_bytes=500, change=ends)


@pytest.fixture
def whole(tiered: Any) -> bytes:
    """The bytes of tiered-0 up to offset 310; none of its batches crosses a multiple of 10."""
    return b"".join(segment.read_bytes() for segment in segments_of(tiered.remote, "tiered-0"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "remote" / f"t-0-{D}"


def between(data: bytes, first: int, end: int, *, epoch: int = 0) -> bytes:
    """Return the batches of *data* with base offsets in [first, end), with leader epoch *epoch*."""
    entries = (entry for offset, entry in batches_of(data) if first <= offset < end)
    return b"".join(entry[:12] + epoch.to_bytes(4, "big") + entry[16:] for entry in entries)


@pytest.fixture
def starts(whole: bytes) -> list[int]:
    """The base offsets of the batches in *whole*."""
    return [offset for offset, _ in batches_of(whole)]


@pytest.fixture
def thirds(starts: list[int]) -> tuple[int, int]:
    """The base offsets at which the second and the last third of the batches begin."""
    return starts[len(starts) // 3], starts[2 * len(starts) // 3]


@pytest.fixture
def middle(starts: list[int]) -> int:
    return starts[len(starts) // 2]


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """The folder of partition t-0 in a log.dir, with the topic's id but without segments."""
    partition = tmp_path / "log-0" / "t-0"
    partition.mkdir(parents=True)
    (tmp_path / "log-0" / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    (partition / "partition.metadata").write_text(f"version: 0\ntopic_id: {D}\n")
    return partition


def rows_of(*paths: Path, **options: Any) -> list[tuple[int, int]]:
    """Return (offset, leader epoch) of each record in *paths*."""
    table = mb.open(*paths, **options).records(["offset", "leader_epoch"]).to_table()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def told(*paths: Path) -> list[str]:
    return [finding.code for finding in mb.verify(*paths).findings]


def without_snapshots(codes: list[str]) -> list[str]:
    """Return *codes* without `snapshot-missing`: these tests write no producer snapshots."""
    return [code for code in codes if code != "snapshot-missing"]


def test_an_upload_that_was_tried_twice_is_read_once(folder: Path, whole: bytes) -> None:
    for segment_id in (A, B):
        local_tiered(folder, segment_id, whole, {0: 0})
    assert rows_of(folder) == [(offset, 0) for offset in range(310)]
    found = mb.verify(folder)
    (one,) = found.findings
    assert one.code == "remote-overlap"
    assert f"{0:020}-{B}.log (left out)" in one.message
    assert found.summary["size_bytes"] == len(whole)


def test_an_upload_that_was_cut_gives_way_to_the_whole_one(
    folder: Path, whole: bytes, starts: list[int]
) -> None:
    cut = local_tiered(folder, A, between(whole, 0, starts[4]), {0: 0})
    local_tiered(folder, B, whole, {0: 0})
    assert rows_of(folder) == [(offset, 0) for offset in range(310)]
    (one,) = mb.verify(folder).findings
    assert f"{cut.name} (left out)" in one.message


def test_segments_of_two_leaders_overlap_and_each_offset_comes_once(
    folder: Path, whole: bytes, thirds: tuple[int, int]
) -> None:
    low, high = thirds
    first = local_tiered(folder, A, between(whole, 0, high), {0: 0})
    local_tiered(folder, B, between(whole, low, 310), {0: 0})
    assert rows_of(folder) == [(offset, 0) for offset in range(310)]
    found = mb.verify(folder)
    assert without_snapshots([one.code for one in found.findings]) == ["remote-overlap"]
    (one,) = [one for one in found.findings if one.code == "remote-overlap"]
    assert f"{first.name} (up to offset {low - 1})" in one.message
    assert found.summary["size_bytes"] == len(whole)


def test_a_segment_within_another_does_not_cut_it(
    folder: Path, whole: bytes, starts: list[int]
) -> None:
    local_tiered(folder, A, whole, {0: 0})
    local_tiered(folder, B, between(whole, starts[2], starts[4]), {0: 0})
    assert rows_of(folder) == [(offset, 0) for offset in range(310)]


def test_segment_of_a_deposed_leader_ends_where_the_next_epoch_begins(
    folder: Path, whole: bytes, starts: list[int]
) -> None:
    """From offset *fork* on, a deposed leader wrote epoch 0; other replicas followed epoch 1."""
    low, fork, high = (starts[number * len(starts) // 4] for number in (1, 2, 3))
    local_tiered(folder, A, between(whole, low, 310), {0: 0})  # with a history of its own
    local_tiered(
        folder, B, between(whole, 0, fork) + between(whole, fork, high, epoch=1), {0: 0, 1: fork}
    )
    assert rows_of(folder) == [(offset, int(offset >= fork)) for offset in range(high)]
    assert without_snapshots(told(folder)) == ["remote-overlap"]


def test_the_local_checkpoint_tells_the_lineage_where_there_is_one(
    folder: Path, whole: bytes, starts: list[int], local: Path
) -> None:
    """Replicas followed the segment of the lower epoch, 5; the local checkpoint shows it."""
    fork, begin = starts[len(starts) // 3], starts[-2]
    local_tiered(
        folder, A, between(whole, 0, fork) + between(whole, fork, begin, epoch=5), {0: 0, 5: fork}
    )
    local_tiered(folder, B, between(whole, fork, begin, epoch=6), {0: 0, 6: fork})
    (local / f"{begin:020}.log").write_bytes(between(whole, begin, 310, epoch=7))
    (local / "leader-epoch-checkpoint").write_text(f"0\n3\n0 0\n5 {fork}\n7 {begin}\n")
    epochs = [0 if offset < fork else 5 if offset < begin else 7 for offset in range(310)]
    assert rows_of(local.parent, folder) == list(enumerate(epochs))


def test_remote_segments_end_where_a_local_log_of_other_segments_begins(
    folder: Path, whole: bytes, middle: int, local: Path
) -> None:
    local_tiered(folder, A, whole, {0: 0})
    (local / f"{middle:020}.log").write_bytes(between(whole, middle, 310, epoch=3))
    rows = rows_of(local.parent, folder)
    assert rows == [(offset, 3 * (offset >= middle)) for offset in range(310)]
    assert set(told(local.parent, folder)) <= {"snapshot-missing", "index-missing"}


def test_indexes_of_a_segment_that_is_read_in_part_are_left_out(
    tiered: Any, log_dir: Path, whole: bytes, starts: list[int]
) -> None:
    """Their entries point to positions after the part that is read."""
    (local,) = (log_dir / "tiered-0").glob("*.log")
    places = [offset for offset in starts if offset > 208]
    middle = places[len(places) // 2]
    (local.parent / f"{middle:020}.log").write_bytes(
        between(whole, middle, 310) + local.read_bytes()
    )
    for file in local.parent.glob(f"{310:020}.*"):
        file.unlink()
    found = mb.verify(log_dir, tiered.remote, topics=["tiered"], partitions=[0])
    # The local segment, which was made here, has none.
    assert {(one.code, one.base_offset) for one in found.findings} == {("index-missing", middle)}
    cut = segments_of(tiered.remote, "tiered-0")[-1]
    rows = [row for row in found.segments if row["file"].startswith(cut.stem)]
    assert {row["file_kind"] for row in rows if not row["live"]} == {
        "index",
        "timeindex",
        "snapshot",
    }
    assert (
        0 < min(row["size_bytes"] for row in rows if row["file_kind"] == "log") < cut.stat().st_size
    )


@pytest.mark.parametrize("lasts", [(None, None), (None, 1 << 62), (1 << 62, 5), (5, True)])
def test_chunked_segments_overlap_like_others_whatever_their_manifests_say_of_their_ends(
    folder: Path, whole: bytes, thirds: tuple[int, int], tmp_path: Path, lasts: tuple[Any, Any]
) -> None:
    low, high = thirds
    store = tmp_path / "store"
    uploaded(store, local_tiered(folder, A, between(whole, 0, high), {0: 0}), lasts[0])
    uploaded(store, local_tiered(folder, B, between(whole, low, 310), {0: 0}), lasts[1])
    assert rows_of(store) == [(offset, 0) for offset in range(310)]
    wanted = ["remote-overlap"] if lasts[0] != 5 else ["offset-outside-segment"]
    assert set(without_snapshots(told(store))) - {"snapshot-mismatch"} == set(wanted)


def test_a_manifest_that_states_an_end_far_above_hides_no_other_segment(
    folder: Path, whole: bytes, middle: int, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    uploaded(store, local_tiered(folder, A, between(whole, 0, middle), {0: 0}), 1 << 62)
    uploaded(store, local_tiered(folder, B, between(whole, middle, 310), {0: 0}), 309)
    assert rows_of(store) == [(offset, 0) for offset in range(310)]
    assert without_snapshots(told(store)) == []


def test_behind_damage_no_offset_comes_twice_either(
    folder: Path, whole: bytes, starts: list[int], thirds: tuple[int, int]
) -> None:
    low, high = thirds
    log = local_tiered(folder, A, between(whole, 0, high), {0: 0})
    data = bytearray(log.read_bytes())
    data[8:12] = b"\xff\xff\xff\xff"
    log.write_bytes(data)
    local_tiered(folder, B, between(whole, low, 310), {0: 0})
    offsets = [offset for offset, _ in rows_of(folder, on_damage="skip")]
    assert offsets == list(range(starts[1], 310))
    assert "bad-size" in told(folder)
