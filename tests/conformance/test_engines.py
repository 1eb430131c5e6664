"""Tests of every engine, and of every peer's reader, on every case of tests/vectors."""

import os

import pytest

from extent import WIDE
from magicbyte_tools.conformance import engines
from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.conformance.child import ProcessBounds
from magicbyte_tools.conformance.known import load_known
from magicbyte_tools.conformance.report import failure_line
from magicbyte_tools.conformance.scoring import Score, scored

OUR_OWN = {"runtime", "columnar", "construct", *engines.TARGETS}

BOUNDS = ProcessBounds(timeout_s=60.0)
"""A JVM starts slowly while four others run: one minute is allowed."""


@pytest.mark.parametrize("name", engines.NAMES)
def test_an_engine_fails_no_case_but_those_known(name: str, all_cases: list[Case]) -> None:
    if name == "kaitai-go" and not (WIDE or "KAITAI_RUNTIME_GO" in os.environ):
        pytest.skip(
            "Go fetches and builds for half a minute: KAITAI_RUNTIME_GO or MAGICBYTE_WIDE=1"
        )
    if name == "kaitai-java" and not WIDE:
        pytest.skip("Java compiles for ten seconds: MAGICBYTE_WIDE=1")
    try:
        runner = engines.runner(name, BOUNDS)
    except engines.ToolchainUnavailable as error:
        pytest.skip(str(error))
    file = engines.known_failures(name)
    score, failures = Score(), []
    for one in scored(runner.answers(all_cases), load_known(file) if file else {}):
        score.add(one)
        if one.outcome == "failed":
            failures.append(failure_line(one))
    assert not failures, "\n".join([f"{name} fails {len(failures)} cases:", *failures])
    assert score.total["passed"] > 0


@pytest.mark.parametrize("name", engines.NAMES)
def test_known_failures_are_of_cases_and_have_reasons(name: str, all_cases: list[Case]) -> None:
    file = engines.known_failures(name)
    reasons = load_known(file) if file else {}
    assert not set(reasons) - {case.id for case in all_cases}


def test_every_list_of_known_failures_has_an_engine() -> None:
    assert {file.stem for file in engines.KNOWN.iterdir()} <= set(engines.NAMES)


@pytest.mark.parametrize("name", sorted(OUR_OWN))
def test_our_own_engines_fail_only_where_their_language_does(name: str) -> None:
    file = engines.known_failures(name)
    assert file is None or name == "kaitai-javascript"
    if file is not None:
        assert all("2^53" in reason for reason in load_known(file).values())
