"""Tests of what rounds of compaction leave, against the recorded answers of Kafka's own cleaner.

An answer covers three rounds over a partition: bounds, segments, header fields, records, and the checksums of
uncompressed batches.
"""

from collections.abc import Iterable
from pathlib import Path

import pytest

from cleaned_lines import clean_folder, comparable, digest
from cleaner_cases import (
    NUM_DRAWN,
    VERSIONS,
    CleanerCase,
    drawn_cases,
    real_cases,
    recorded_answers,
    rounds_of_release,
)
from extent import WIDE, part
from paths import shared


def different_cases(
    cases: Iterable[CleanerCase], release: str, folder: Path, *, engine: str = "auto"
) -> list[str]:
    """Return the names of *cases* of which our rounds leave something else than those of Kafka's cleaner."""
    names, answers = [], recorded_answers(release)
    for number, case in enumerate(cases):
        partition = case.write(folder / str(number))
        rounds = rounds_of_release(case, release)
        lines = comparable(clean_folder(partition, settings, engine=engine) for settings in rounds)
        if digest(lines) != answers[case.name]:
            names.append(case.name)
    return names


@pytest.mark.parametrize(
    ("release", "count"),
    [("4.x", NUM_DRAWN if WIDE else NUM_DRAWN // 8), ("3.9", NUM_DRAWN // (4 if WIDE else 16))],
)
def test_compaction_leaves_what_kafkas_cleaner_leaves_of_drawn_partitions(
    release: str, count: int, tmp_path: Path
) -> None:
    cases = drawn_cases(range(count))
    assert different_cases(cases, release, tmp_path) == []


def test_engine_makes_no_difference(tmp_path: Path) -> None:
    """The other tests use the default, which is the columnar engine where its library is built."""
    cases = drawn_cases(range(NUM_DRAWN // (4 if WIDE else 20)))
    assert different_cases(cases, "4.x", tmp_path, engine="reference") == []


def test_compaction_leaves_what_kafkas_cleaner_leaves_of_brokers_partitions(tmp_path: Path) -> None:
    cases = list(real_cases())
    assert sum("/compacted/" in case.name for case in cases) >= 20
    assert different_cases(part(cases, len(cases) // 6), "4.x", tmp_path) == []


def test_compaction_by_the_rules_of_3_9_keeps_messages_as_messages(tmp_path: Path) -> None:
    cases = [case for case in real_cases() if "/v0-" in case.name or "/v1-" in case.name]
    assert len(cases) > 10
    assert different_cases(part(cases, len(cases) // 2), "3.9", tmp_path) == []


@pytest.mark.skipif(not shared().is_dir(), reason="the folder shared is not there")
def test_every_recorded_partition_is_compacted() -> None:
    cases = [*drawn_cases(), *real_cases()]
    for release in VERSIONS:
        assert {case.name for case in cases} == recorded_answers(release).keys()
