"""Tests of findings about offsets that no replica gives, and that another replica may have held."""

import errno
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from io_faults import FaultyDisk, faulty_disk
from log_builder import Folder
from magicbyte.reading import _replica_losses
from replica_cases import damaged, random_batches

SEGMENT = f"{0:020}.log"


def batch(offset: int, *, epoch: int = 0, size: int = 4096) -> bytes:
    """Return a batch of *size* bytes with one record, so that each is a block of the disk."""
    empty = build.batch([build.record(bytes(size // 2))], offset, leader_epoch=epoch)
    value = bytes(size // 2 + size - len(empty))
    data = build.batch([build.record(value)], offset, leader_epoch=epoch)
    assert len(data) == size
    return data


def batches(begin: int, end: int, *, epoch: int = 0) -> list[bytes]:
    return [batch(offset, epoch=epoch) for offset in range(begin, end)]


def write_segments(log_dir: Folder, segments: dict[int, Sequence[bytes]]) -> None:
    """Write segments of t-0 by base offset, and a meta.properties."""
    for base, data in segments.items():
        log_dir.segment("t-0", b"".join(data), base)


@pytest.fixture
def brokers(folder: Folder) -> list[Folder]:
    return [folder.log_dir(f"broker-{number}") for number in range(2)]


def checkpoint(log_dir: Folder, offset: int, *, is_clean: bool = True) -> None:
    """Write the high watermark of t-0, as a broker does that stops cleanly, or every five seconds."""
    log_dir.checkpoint("replication-offset-checkpoint", {("t", 0): offset})
    if is_clean:
        (log_dir.path / ".kafka_cleanshutdown").write_bytes(b"")


def epochs(log_dir: Folder, *starts: tuple[int, int]) -> None:
    lines = ["0", str(len(starts)), *(f"{epoch} {start}" for epoch, start in starts), ""]
    (log_dir.path / "t-0" / "leader-epoch-checkpoint").write_text("\n".join(lines))


def losses(brokers: list[Folder], **how: Any) -> list[tuple[str, str | None, int | None]]:
    """Return code, replica and position of each finding of a read above a note."""
    how.setdefault("on_damage", "skip")
    rows = mb.open(*map(str, brokers), **how).records(["offset"])
    rows.to_table()
    return [
        (finding.code, finding.replica, finding.position)
        for finding in rows.report.findings
        if finding.severity != "note"
    ]


def block_bad(disk: FaultyDisk, log_dir: Folder, *blocks: int, name: str = SEGMENT) -> None:
    disk.blocks[str(log_dir.path / "t-0" / name)] = set(blocks)


def test_an_unreadable_end_that_goes_beyond_the_log_is_reported(brokers: list[Folder]) -> None:
    write_segments(brokers[0], {0: batches(0, 9)})
    write_segments(brokers[1], {0: batches(0, 12)})
    with faulty_disk() as disk:
        block_bad(disk, brokers[1], 8, 9, 10, 11)
        assert losses(brokers) == [("unreadable", str(brokers[1]), 8 * 4096)]
        with pytest.raises(mb.UnreadableError, match="offsets from 9 on, which no replica gives"):
            losses(brokers, on_damage="fail")
        # The end of the log has nothing to do with a range below it.
        assert losses(brokers, offsets=(0, 9), on_damage="fail") == []
        assert losses(brokers, offsets=(9, None)) == [("unreadable", str(brokers[1]), 8 * 4096)]


def test_an_unreadable_end_that_is_no_longer_than_the_log_is_not_reported(
    brokers: list[Folder],
) -> None:
    for broker in brokers:
        write_segments(broker, {0: batches(0, 9)})
    with faulty_disk() as disk:
        block_bad(disk, brokers[1], 7, 8)
        assert losses(brokers) == []


@pytest.mark.parametrize(
    ("broker", "mark", "is_clean", "is_reported"),
    [
        (1, 9, True, False),
        (1, 9, False, True),  # up to five seconds old
        (1, 10, True, True),
        (0, 9, True, True),  # the other broker may have led alone since
    ],
)
def test_only_the_final_high_watermark_of_the_unread_replica_shows_that_nothing_is_lost(
    brokers: list[Folder], broker: int, mark: int, is_clean: bool, is_reported: bool
) -> None:
    for each in brokers:
        write_segments(each, {0: batches(0, 9)})
    checkpoint(brokers[broker], mark, is_clean=is_clean)
    with faulty_disk() as disk:
        disk.unopened[str(brokers[1].path / "t-0" / SEGMENT)] = errno.EIO
        assert losses(brokers) == [("unreadable", str(brokers[1]), 0)] * is_reported


def test_a_log_that_goes_on_in_a_later_epoch_has_lost_nothing(brokers: list[Folder]) -> None:
    write_segments(brokers[0], {0: [*batches(0, 5), *batches(5, 7, epoch=2)]})
    write_segments(brokers[1], {0: batches(0, 12)})
    epochs(brokers[0], (0, 0), (2, 5))
    epochs(brokers[1], (0, 0))
    with faulty_disk() as disk:
        block_bad(disk, brokers[1], *range(5, 12))
        assert losses(brokers) == []
        epochs(brokers[1], (0, 0), (2, 5))
        how = {"replica": str(brokers[0])}
        assert losses(brokers, **how) == [("unreadable", str(brokers[1]), 5 * 4096)]


def test_a_replica_with_the_newest_epoch_of_which_nothing_can_be_read_is_reported(
    brokers: list[Folder],
) -> None:
    """The others have as many bytes, but those of an epoch that it may have replaced."""
    write_segments(brokers[0], {0: batches(0, 9)})
    write_segments(brokers[1], {0: [*batches(0, 5), *batches(5, 9, epoch=1)]})
    epochs(brokers[0], (0, 0))
    epochs(brokers[1], (0, 0), (1, 5))
    with faulty_disk() as disk:
        disk.unopened[str(brokers[1].path / "t-0" / SEGMENT)] = errno.EACCES
        expected = ("unreadable", str(brokers[1]), 0)
        assert losses(brokers) == [expected]
        assert losses(brokers, replica=str(brokers[0])) == [expected]


@pytest.mark.parametrize(
    ("tail", "code"),
    [
        (batch(9)[:-1] + b"x", "checksum-mismatch"),
        (b"\x55" * 4096, "unknown-magic"),
        (batch(9)[:-20], "incomplete-tail"),
        (bytes(4096), None),
    ],
)
def test_a_damaged_end_that_goes_beyond_the_log_is_reported(
    brokers: list[Folder], tail: bytes, code: str | None
) -> None:
    write_segments(brokers[0], {0: batches(0, 9)})
    write_segments(brokers[1], {0: [*batches(0, 9), tail]})
    expected = [] if code is None else [(code, str(brokers[1]), 9 * 4096)]
    assert losses(brokers, replica=str(brokers[0])) == expected
    # A segment of its own shows the same.
    (brokers[1].path / "t-0" / SEGMENT).unlink()
    write_segments(brokers[1], {0: batches(0, 9), 9: [tail]})
    found = losses(brokers, replica=str(brokers[0]))
    assert found == [(code, str(brokers[1]), 0)] * (code is not None)
    if code == "checksum-mismatch":
        with pytest.raises(mb.ChecksumError, match="offsets from 9 on"):
            losses(brokers, replica=str(brokers[0]), on_damage="fail")


def test_an_unreadable_beginning_below_the_log_is_reported_unless_its_records_were_deleted(
    brokers: list[Folder],
) -> None:
    write_segments(brokers[0], {5: batches(5, 9)})
    write_segments(brokers[1], {0: batches(0, 5), 5: batches(5, 8)})
    with faulty_disk() as disk:
        block_bad(disk, brokers[1], 0, 1)
        how = {"replica": str(brokers[0])}
        assert losses(brokers, **how) == [("unreadable", str(brokers[1]), 0)]
        brokers[1].checkpoint("log-start-offset-checkpoint", {("t", 0): 2})
        assert losses(brokers, **how) == []


def test_an_unreadable_segment_that_the_log_lacks_is_reported(brokers: list[Folder]) -> None:
    write_segments(brokers[0], {0: batches(0, 3), 6: batches(6, 12)})
    write_segments(brokers[1], {0: batches(0, 3), 3: batches(3, 6), 6: batches(6, 9)})
    with faulty_disk() as disk:
        disk.unopened[str(brokers[1].path / "t-0" / f"{3:020}.log")] = errno.EIO
        assert losses(brokers) == [
            ("unreadable", str(brokers[1]), 0),
            ("offset-gap", str(brokers[0]), 0),
        ]
        assert losses(brokers, offsets=(6, 9)) == [("offset-gap", str(brokers[0]), 0)]


def test_a_missing_segment_of_another_replica_is_reported_where_the_log_lacks_it(
    brokers: list[Folder],
) -> None:
    write_segments(brokers[0], {0: batches(0, 3)})
    write_segments(brokers[1], {0: batches(0, 3)})
    brokers[1].segment("t-0", b"", 3, kind="index")
    dataset = mb.open(*map(str, brokers), replica=str(brokers[0]))
    (finding,) = [row for row in dataset.problems().to_pylist() if row["code"] == "segment-missing"]
    assert finding["replica"] == str(brokers[1])
    assert finding["message"].endswith(
        "; offsets from 3 on, which no replica gives, may have been there"
    )
    checkpoint(brokers[1], 3)
    assert losses(brokers, replica=str(brokers[0])) == []


def test_a_high_watermark_above_the_end_of_all_replicas_is_reported(brokers: list[Folder]) -> None:
    write_segments(brokers[0], {0: batches(0, 9)})
    write_segments(brokers[1], {0: batches(0, 7)})
    checkpoint(brokers[1], 9)
    assert losses(brokers) == [], "the log that is read has all of them"
    checkpoint(brokers[1], 12, is_clean=False)
    assert losses(brokers) == [("log-ends-below", str(brokers[1]), None)]
    assert losses(brokers, offsets=(0, 5)) == []
    checkpoint(brokers[1], 10**18, is_clean=False)
    assert losses(brokers) == [], "garbage"


def test_no_header_of_the_log_is_read_again_where_the_replicas_are_sound(
    brokers: list[Folder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_replica_losses, "_ReadOffsets", None)
    for broker in brokers:
        write_segments(broker, {0: batches(0, 9)})
        checkpoint(broker, 9)
    assert losses(brokers) == []


def test_ranges_beyond_a_limit_are_joined_and_still_reported(
    brokers: list[Folder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_replica_losses, "MAX_RANGES", 3)
    write_segments(brokers[0], {0: batches(0, 4), 12: batches(12, 14)})
    damaged = [data[:-1] + b"x" if n % 2 else data for n, data in enumerate(batches(0, 12))]
    write_segments(brokers[1], {0: [*damaged, *batches(12, 14)]})
    assert [
        position
        for code, _, position in losses(brokers, replica=str(brokers[0]))
        if code == "checksum-mismatch"
    ] == [3 * 4096, 11 * 4096]


def test_verify_names_an_end_that_may_be_lost_once(brokers: list[Folder]) -> None:
    write_segments(brokers[0], {0: batches(0, 9)})
    write_segments(brokers[1], {0: batches(0, 12)})
    with faulty_disk() as disk:
        block_bad(disk, brokers[1], 8, 9, 10, 11)
        findings = mb.verify(*map(str, brokers)).findings
    (finding,) = [each for each in findings if each.severity == "error"]
    assert finding.code == "unreadable"
    assert "offsets from 9 on, which no replica gives" in finding.message


def test_without_fill_an_unread_replica_is_still_reported(brokers: list[Folder]) -> None:
    for broker in brokers:
        write_segments(broker, {0: batches(0, 3)})
    with faulty_disk() as disk:
        disk.unopened[str(Path(brokers[1].path, "t-0", SEGMENT))] = errno.EIO
        assert losses(brokers, fill=False) == [("unreadable", str(brokers[1]), 0)]


@pytest.mark.parametrize("seed", range(30))
def test_no_batch_that_every_replica_has_lost_is_lost_silently(folder: Folder, seed: int) -> None:
    rng = random.Random(seed)
    log = random_batches(rng, rng.randrange(5, 30))
    sound = folder.log_dir("sound")
    write_segments(sound, {0: [each.data for each in log]})
    first, second = (folder.log_dir(f"broker-{number}") for number in range(2))
    end = rng.randrange(1, len(log))
    begin = rng.choice([0, rng.randrange(end)])
    write_segments(first, {log[begin].first: [each.data for each in log[begin:end]]})
    lost = {number for number in range(len(log)) if rng.random() < 0.4}
    cuts = sorted({0, *rng.sample(range(len(log)), 2)})
    for low, high in zip(cuts, [*cuts[1:], len(log)], strict=True):
        data = [
            damaged(rng, log[number].data) if number in lost else log[number].data
            for number in range(low, high)
        ]
        write_segments(second, {log[low].first: data})
    how: dict[str, Any] = {"isolation_level": "read_uncommitted", "on_damage": "skip"}
    expected = mb.open(str(sound), **how).records(["offset"]).to_pylist()
    for preferred in (first, second):
        rows = mb.open(str(first), str(second), replica=str(preferred), **how).records(["offset"])
        found = rows.to_pylist()
        is_lost = any(row not in found for row in expected)
        assert not is_lost or rows.report.severity in ("error", "warning")
        is_whole = lost.isdisjoint(range(len(log)))
        assert not is_whole or rows.report.severity in (None, "note")
