"""Tests that docs/scores.md, the paragraphs on bugs and the recorded results agree; no client library is run."""

import dataclasses
import json
from collections.abc import Mapping

import pytest

from magicbyte_tools.conformance.cases import Case, load_cases
from magicbyte_tools.conformance.known import load_known
from magicbyte_tools.conformance.vectors_folder import VECTORS
from magicbyte_tools.scores import bugs, recorded_runs
from magicbyte_tools.scores.__main__ import PAGE
from magicbyte_tools.scores.client_runner import RUNNERS, ClientRunner, load_runners
from magicbyte_tools.scores.page import page
from paths import CHECKOUT

ALL = load_runners()

MAX_BYTES = 600_000
"""Largest size of all that the runners and their results store."""


@pytest.fixture(scope="module")
def cases() -> Mapping[str, Case]:
    return {case.id: case for case in load_cases(VECTORS)}


def named(runner: ClientRunner) -> str:
    return runner.name


def test_the_page_says_what_the_results_say(cases: Mapping[str, Case]) -> None:
    assert PAGE.read_text("utf-8") == page(ALL, cases), "python -m magicbyte_tools.scores --check"


@pytest.mark.parametrize("runner", ALL, ids=named)
def test_each_failed_case_has_a_paragraph_and_each_paragraph_a_failed_case(
    runner: ClientRunner, cases: Mapping[str, Case]
) -> None:
    runs = recorded_runs.load_runs(runner)
    assert runs, "make scores"
    assert list(bugs.mistakes(runner, bugs.load_bugs(runner), runs, cases)) == []


def test_a_case_without_a_paragraph_and_one_that_passes_are_reported(
    cases: Mapping[str, Case],
) -> None:
    runner = next(runner for runner in ALL if runner.name == "franz-go")
    (run,) = recorded_runs.load_runs(runner)
    bug = bugs.load_bugs(runner)[0]
    gone, new = bug.case_ids[0], "kafka_log/v2-gzip"
    failed = {name: words for name, words in run.failed.items() if name != gone} | {new: "wrong"}
    changed = dataclasses.replace(run, failed=failed)
    found = list(bugs.mistakes(runner, bugs.load_bugs(runner), [changed], cases))
    assert found == [
        f"franz-go: {new} fails, and no paragraph of bugs.json has it",
        f"franz-go: {gone} no longer fails: take it out of {bug.title!r}",
    ]


def test_the_specification_has_the_sentence_of_each_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(bugs.absent_sentences()) == []
    absent = bugs.Rule(file="spec/kafka_log.ksy", sentence="Kafka reads all bytes.", right="")
    monkeypatch.setattr(bugs, "load_rules", lambda: {"absent": absent})
    assert len(list(bugs.absent_sentences())) == 1


def test_each_rule_is_broken_by_a_client() -> None:
    broken = {bug.rule for runner in ALL for bug in bugs.load_bugs(runner)}
    assert set(bugs.load_rules()) == broken


@pytest.mark.parametrize("runner", ALL, ids=named)
def test_results_are_of_the_locked_version_and_these_vectors(runner: ClientRunner) -> None:
    recorded = json.loads((runner.folder / "results.json").read_bytes())
    assert recorded["vectors"] == json.loads((VECTORS / "manifest.json").read_bytes())["version"]
    runs = [(run["reader"], run["version"]) for run in recorded["runs"]]
    versions = runner.all_versions()
    assert runs == [(reader, version) for reader in runner.readers for version in versions]
    newest = {name for run in recorded_runs.load_runs(runner)[-1:] for name in run.failed}
    assert set(load_known(runner.known_file)) == newest


def test_runners_and_results_are_small_and_name_no_registry_and_no_machine() -> None:
    names = ("go.sum", "Cargo.lock", "package-lock.json", "requirements.txt", "results.json")
    files = [path for path in RUNNERS.rglob("*") if "__pycache__" not in path.parts]
    files = [path for path in files if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MAX_BYTES
    for path in files:
        if path.name in names:
            text = path.read_text("utf-8")
            words = ("resolved", "registry", "source =", str(CHECKOUT))
            assert not [word for word in words if word in text], path
            if path.name != "results.json":
                assert "://" not in text, path


def test_the_last_words_of_a_process_are_left_out() -> None:
    ended = "ended without an answer, exit status 2: goroutine 1 at 0x1a"
    assert recorded_runs.shortened(ended) == "ended without an answer, exit status 2"
    assert recorded_runs.shortened("no answer within 20 s") == "no answer within 20 s"


def test_an_answer_is_told_in_one_line() -> None:
    records = [{"offset": str(offset), "timestamp": None} for offset in range(5)]
    assert recorded_runs.answer_words({"records": records, "error": None}) == (
        "reads 5 records: offset 0, 1, 2, 3, ..., timestamp null"
    )
    error = {"message": "a\nb", "position": 87}
    assert recorded_runs.answer_words({"error": error}) == "refuses the entry at byte 87: a b"
    assert recorded_runs.answer_words({"accepted": False}) == "refuses the bytes"
