"""Tests of compaction against Kafka's own log cleaner (`Cleaner.doClean`), which runs without a broker.

`make test-brokers` runs them. Digests of what the cleaner leaves are in `tests/writing/cleaner_answers.json`, with
which tests of `tests/writing` compare what we leave; MAGICBYTE_RECORD=1 records them.
"""

import json
import os
from pathlib import Path

import pytest

from cleaned_lines import clean_folder, comparable, digest
from cleaner_cases import ANSWERS, drawn_cases, real_cases, recorded_answers
from paths import shared

from .kafka_cleaner import kafka_cleaner

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))
SEED = int(os.environ.get("MAGICBYTE_SEED") or 0)
DRAWN = int(os.environ.get("MAGICBYTE_DRAWN") or 300)

with_java = pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make test-brokers")

VERSION = "4.3.1"


@with_java
def test_answers_of_kafkas_cleaner_are_those_that_are_recorded(tmp_path: Path) -> None:
    if not shared().is_dir():
        pytest.skip("the folder shared with logs of real brokers is not there")
    answers = {}
    with kafka_cleaner(VERSION) as cleaner:
        for number, case in enumerate([*drawn_cases(), *real_cases()]):
            rounds = cleaner.clean(case.write(tmp_path / str(number)), case.rounds)
            answers[case.name] = digest(comparable(rounds))
    if os.environ.get("MAGICBYTE_RECORD"):
        ANSWERS.write_text(json.dumps(answers, indent=0) + "\n")
    assert answers == recorded_answers()


@with_java
def test_compaction_leaves_what_kafkas_cleaner_leaves_of_further_drawn_partitions(
    tmp_path: Path,
) -> None:
    first = 1000 + SEED
    different = []
    with kafka_cleaner(VERSION) as cleaner:
        for case in drawn_cases(range(first, first + DRAWN)):
            kafkas = cleaner.clean(case.write(tmp_path / case.name / "kafka"), case.rounds)
            folder = case.write(tmp_path / case.name / "ours")
            ours = (clean_folder(folder, settings) for settings in case.rounds)
            if comparable(kafkas) != comparable(ours):
                different.append(case.name)
    assert not different
