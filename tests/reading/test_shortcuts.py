"""Entries that are taken all at once: what comes of it is what comes of them one by one."""

import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from magicbyte.reading import survey, walk
from magicbyte.reading.heads import Heads
from places import DATA

LOGS = sorted(log for log in DATA.rglob("*.log") if log.stat().st_size)


def told(segment: survey.SegmentSurvey) -> tuple[Any, ...]:
    """What is known of *segment*; transactions have no equality but their identity."""
    boundaries = [
        (boundary.position, boundary.floor, [repr(one) for one in boundary.open_here])
        for boundary in segment.boundaries
    ]
    return replace(segment, boundaries=[]), boundaries


def planned(path: Path, split_bytes: int) -> list[tuple[Any, ...]]:
    """What a plan says of each partition."""
    dataset = mb.open(path, on_damage="skip", include_internal=True)
    return [
        (
            [told(segment) for segment in found.segments],
            found.findings,
            found.is_verified,
            found.log_start_offset,
            found.log_end_offset,
            found.last_stable_offset,
            len(found.transactions),
        )
        for found in dataset.surveys(split_bytes)
    ]


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "read_heads", lambda *_: Heads([], 0))
    monkeypatch.setattr(walk.Walk, "_are_in_order", lambda *_: False)
    monkeypatch.setattr(survey._Pass, "_goes_on", lambda *_: False)


@pytest.mark.parametrize("split_bytes", [1, 100, 3000, 100_000])
def test_a_plan_is_the_same(split_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sorted(DATA.glob("*/*/log-0"))
    assert len(paths) > 5
    found = [planned(path, split_bytes) for path in paths]
    one_by_one(monkeypatch)
    assert found == [planned(path, split_bytes) for path in paths]


def test_a_plan_of_damaged_logs_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, paths = random.Random(3), []
    for number in range(80):
        log = rng.choice(LOGS)
        folder = Path(shutil.copytree(log.parent, tmp_path / str(number) / log.parent.name))
        data = bytearray(log.read_bytes())
        at = rng.randrange(len(data))
        match rng.randrange(3):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at:]
            case _:
                del data[at : at + rng.randrange(300)]
        (folder / log.name).write_bytes(data)
        paths.append(folder)
    found = [planned(path, 3000) for path in paths]
    one_by_one(monkeypatch)
    assert found == [planned(path, 3000) for path in paths]


@pytest.mark.parametrize(
    "offsets",
    [
        range(12),
        [*range(9), 8, *range(9, 18)],
        [*range(9), *range(20, 30)],
        [*range((1 << 63) - 9, 1 << 63), *range(-(1 << 63), 9 - (1 << 63))],
        [*range(-9, 9), 1 << 32, *range(9, 18)],
    ],
)
def test_any_offsets_are_followed_alike(
    offsets: Any, build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "topic-0" / f"{0:020}.log"
    log.parent.mkdir()
    log.write_bytes(b"".join(build.batch(base=offset) for offset in offsets))

    def read() -> Any:
        rows = mb.open(log, on_damage="skip").records(["offset"])
        quick = mb.verify(log, quick=True)
        told = quick.partitions, quick.findings
        return rows.to_table(), rows.report.findings, planned(log, 200), told

    found = read()
    one_by_one(monkeypatch)
    assert found == read()


def test_offsets_that_leave_their_order_in_the_midst_of_others_are_noted(
    build: Any, tmp_path: Path
) -> None:
    offsets = [0, 1, 2, 1, 3, 4, 9, 10]
    log = tmp_path / f"{0:020}.log"
    log.write_bytes(b"".join(build.batch(base=offset) for offset in offsets))
    (found,) = mb.open(log, on_damage="skip").surveys()
    told = [(finding.code, finding.base_offset) for finding in found.findings]
    assert ("offset-out-of-order", 1) in told
    assert any(code.startswith("offset-gap") and base == 9 for code, base in told)
    assert found.log_end_offset == 11
