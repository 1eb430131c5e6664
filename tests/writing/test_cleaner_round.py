"""Tests of what a round of compaction leaves, against the recorded answers of Kafka's own cleaner."""

from pathlib import Path

import pytest

from cleaned_lines import clean, digest, our_lines
from cleaner_cases import CleanerCase, drawn_cases, real_cases, recorded_answers
from paths import shared


def leaves_other_records(case: CleanerCase, folder: Path) -> bool:
    case.write(folder)
    return digest(our_lines(clean(folder, case.settings))) != recorded_answers()[case.name]


def test_compaction_leaves_what_kafkas_cleaner_leaves_of_drawn_partitions(tmp_path: Path) -> None:
    cases = drawn_cases()
    assert len(cases) == 200
    different = [case.name for case in cases if leaves_other_records(case, tmp_path / case.name)]
    assert not different


def test_compaction_leaves_what_kafkas_cleaner_leaves_of_brokers_partitions(
    tmp_path: Path,
) -> None:
    cases = list(real_cases())
    assert sum("/compacted/" in case.name for case in cases) > 40
    different = [case.name for case in cases if leaves_other_records(case, tmp_path / case.name)]
    assert not different


@pytest.mark.skipif(not shared().is_dir(), reason="the folder shared is not there")
def test_every_recorded_partition_is_compacted() -> None:
    cases = [*drawn_cases(), *real_cases()]
    assert {case.name for case in cases} == recorded_answers().keys()
