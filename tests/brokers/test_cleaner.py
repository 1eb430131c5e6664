"""Tests of compaction against Kafka's own log cleaner (`Cleaner.doClean`), which runs without a broker.

`make test-brokers` runs them. Digests of what the cleaner leaves are in `tests/writing/cleaner_answers.json`, with
which tests of `tests/writing` compare what we leave; MAGICBYTE_RECORD=1 records them.
"""

import json
import os
from pathlib import Path

import pytest

from cleaned_lines import clean_folder, comparable, digest
from cleaner_cases import (
    ANSWERS,
    VERSIONS,
    drawn_cases,
    real_cases,
    recorded_answers,
    rounds_of_release,
)
from paths import shared

from .kafka_cleaner import kafka_cleaner

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))
SEED = int(os.environ.get("MAGICBYTE_SEED") or 0)
DRAWN = int(os.environ.get("MAGICBYTE_DRAWN") or 300)

with_java = pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make test-brokers")


@with_java
def test_answers_of_kafkas_cleaner_are_those_that_are_recorded(tmp_path: Path) -> None:
    if not shared().is_dir():
        pytest.skip("the folder shared with logs of real brokers is not there")
    answers: dict[str, dict[str, str]] = {version: {} for version in VERSIONS.values()}
    for version, by_case in answers.items():
        with kafka_cleaner(version) as cleaner:
            for number, case in enumerate([*drawn_cases(), *real_cases()]):
                folder = case.write(tmp_path / version / str(number))
                by_case[case.name] = digest(comparable(cleaner.clean(folder, case.rounds)))
    if os.environ.get("MAGICBYTE_RECORD"):
        ANSWERS.write_text(json.dumps(answers, indent=0) + "\n")
    for release, version in VERSIONS.items():
        assert answers[version] == recorded_answers(release)


@with_java
@pytest.mark.parametrize("release", VERSIONS)
def test_compaction_leaves_what_kafkas_cleaner_leaves_of_further_drawn_partitions(
    release: str, tmp_path: Path
) -> None:
    first = 1000 + SEED
    different = []
    with kafka_cleaner(VERSIONS[release]) as cleaner:
        for case in drawn_cases(range(first, first + DRAWN)):
            kafkas = cleaner.clean(case.write(tmp_path / case.name / "kafka"), case.rounds)
            folder = case.write(tmp_path / case.name / "ours")
            rounds = rounds_of_release(case, release)
            if comparable(kafkas) != comparable(clean_folder(folder, each) for each in rounds):
                different.append(case.name)
    assert not different
