"""Tests of what rounds of compaction leave, against the recorded answers of Kafka's own cleaner.

An answer covers three rounds over a partition: bounds, segments, header fields, records, and the checksums of
uncompressed batches.
"""

from pathlib import Path

import pytest

from cleaned_lines import clean_folder, comparable, digest
from cleaner_cases import CleanerCase, drawn_cases, real_cases, recorded_answers
from paths import shared


def leaves_something_else(case: CleanerCase, folder: Path) -> bool:
    """Return whether our rounds over *case* leave something else than those of Kafka's cleaner."""
    partition = case.write(folder)
    rounds = (clean_folder(partition, settings) for settings in case.rounds)
    return digest(comparable(rounds)) != recorded_answers()[case.name]


def test_compaction_leaves_what_kafkas_cleaner_leaves_of_drawn_partitions(tmp_path: Path) -> None:
    cases = drawn_cases()
    assert len(cases) == 200
    assert not [case.name for case in cases if leaves_something_else(case, tmp_path / case.name)]


def test_compaction_leaves_what_kafkas_cleaner_leaves_of_brokers_partitions(tmp_path: Path) -> None:
    cases = list(real_cases())
    assert sum("/compacted/" in case.name for case in cases) >= 20
    assert not [case.name for case in cases if leaves_something_else(case, tmp_path / case.name)]


@pytest.mark.skipif(not shared().is_dir(), reason="the folder shared is not there")
def test_every_recorded_partition_is_compacted() -> None:
    cases = [*drawn_cases(), *real_cases()]
    assert {case.name for case in cases} == recorded_answers().keys()
