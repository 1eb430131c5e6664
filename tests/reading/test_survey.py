"""Tests that a partition's survey does not depend on how many entries are scanned at a time."""

import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from extent import WIDE, part
from magicbyte.engines._auto import AutoEngine
from magicbyte.reading.survey import SegmentSurvey, Survey
from paths import DATA
from random_log import write_random_log
from surveys import surveys_of

LOGS = sorted(log for log in DATA.rglob("*.log") if log.stat().st_size)


def segment_values(survey: Survey, segment: SegmentSurvey) -> tuple[Any, ...]:
    """Return *segment* of *survey* in a form that can be compared: open transactions as their repr."""
    boundaries = [
        (
            boundary.position,
            boundary.floor,
            []
            if boundary.open_here is None
            else [repr(txn) for txn in survey.transactions.at(boundary.open_here)],
        )
        for boundary in segment.boundaries
    ]
    return replace(segment, boundaries=[]), boundaries


def survey_values(path: Path, split_bytes: int) -> list[tuple[Any, ...]]:
    dataset = mb.open(path, on_damage="skip", include_internal=True)
    return [
        (
            [segment_values(survey, segment) for segment in survey.segments],
            survey.findings,
            survey.is_verified,
            survey.log_start_offset,
            survey.log_end_offset,
            survey.last_stable_offset,
            [repr(txn) for txn in survey.transactions],
        )
        for survey in surveys_of(dataset, split_bytes)
    ]


def read_entries_singly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the engine scan one entry at a time."""
    scan, read_headers = AutoEngine.scan, AutoEngine.read_headers
    monkeypatch.setattr(
        AutoEngine,
        "scan",
        lambda *args, max_entries=None, **options: scan(*args, **options, max_entries=1),
    )
    monkeypatch.setattr(AutoEngine, "read_headers", lambda *args: read_headers(*args)[:1])


def assert_runs_change_nothing(
    paths: list[Path], split_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [survey_values(path, split_bytes) for path in paths]
    read_entries_singly(monkeypatch)
    assert [survey_values(path, split_bytes) for path in paths] == expected


@pytest.mark.parametrize("split_bytes", [100, 3000])
def test_a_survey_of_real_logs_does_not_depend_on_runs(
    split_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = sorted(DATA.glob("*/*/log-0"))
    assert len(paths) > 5
    assert_runs_change_nothing(part(paths, 4, str(split_bytes)), split_bytes, monkeypatch)


def test_a_survey_of_damaged_logs_does_not_depend_on_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, paths = random.Random(3), []
    for number in range(80 if WIDE else 30):
        log = rng.choice(LOGS)
        folder = Path(shutil.copytree(log.parent, tmp_path / str(number) / log.parent.name))
        data = bytearray(log.read_bytes())
        position = rng.randrange(len(data))
        match rng.randrange(3):
            case 0:
                data[position] ^= 1 << rng.randrange(8)
            case 1:
                del data[position:]
            case _:
                del data[position : position + rng.randrange(300)]
        (folder / log.name).write_bytes(data)
        paths.append(folder)
    assert_runs_change_nothing(paths, 3000, monkeypatch)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (range(10), range(12, 20)),
        ([*range(10), 40], range(12, 20)),  # below earlier offsets
        ([*range(9), 40, *range(9, 15)], range(20, 30)),
        ([*range(9), 40, *range(9, 15)], range(35, 50)),
        ([*range(9), 40, *range(9, 15)], range(41, 50)),
    ],
)
def test_a_survey_after_damage_does_not_depend_on_runs(
    before: Any, after: Any, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = build.batch(base=11)[:-1] + b"\1"
    batches = [[build.batch(base=offset) for offset in offsets] for offsets in (before, after)]
    log = folder.segment("topic-0", b"".join([*batches[0], damaged, *batches[1]]))
    assert_runs_change_nothing([log], 200, monkeypatch)


@pytest.mark.parametrize("seed", range(60))
def test_a_survey_of_transactions_does_not_depend_on_runs(
    seed: int, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    write_random_log(rng, folder.log_dir())
    assert_runs_change_nothing([folder.path], rng.choice([1, 500, 5000]), monkeypatch)


@pytest.mark.parametrize(
    "offsets",
    [
        range(12),
        [*range(9), 8, *range(9, 18)],
        [*range(9), *range(20, 30)],
        [*range((1 << 63) - 9, 1 << 63), *range(-(1 << 63), 9 - (1 << 63))],
        [*range((1 << 63) - 9, 1 << 63), -(1 << 63)],
        [*range(-9, 9), 1 << 32, *range(9, 18)],
    ],
)
def test_a_survey_of_any_offsets_does_not_depend_on_runs(
    offsets: Any, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = folder.segment("topic-0", b"".join(build.batch(base=offset) for offset in offsets))

    def read() -> Any:
        rows = mb.open(log, on_damage="skip").records(["offset"])
        quick = mb.verify(log, quick=True)
        headers = quick.partitions, quick.findings
        return rows.to_table(), rows.report.findings, survey_values(log, 200), headers

    expected = read()
    read_entries_singly(monkeypatch)
    assert read() == expected


def test_an_offset_out_of_order_among_others_is_a_finding(folder: Any) -> None:
    offsets = [0, 1, 2, 1, 3, 4, 9, 10]
    log = folder.segment("t-0", b"".join(build.batch(base=offset) for offset in offsets))
    (survey,) = surveys_of(mb.open(log, on_damage="skip"))
    codes = [(finding.code, finding.base_offset) for finding in survey.findings]
    assert ("offset-out-of-order", 1) in codes
    assert any(code.startswith("offset-gap") and base == 9 for code, base in codes)
    assert survey.log_end_offset == 11
