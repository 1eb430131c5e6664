"""Tests of what a run counts and writes: levels, badges, JSON, JUnit's XML and progress."""

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.conformance.level_scores import LevelScore, level_scores
from magicbyte_tools.conformance.progress import Progress
from magicbyte_tools.conformance.result_files import write_badges, write_json, write_junit
from magicbyte_tools.conformance.scoring import Score, Scored


def case(name: str, *levels: str, verdict: str = "valid") -> Case:
    content = {
        "format": "kafka_log",
        "verdict": verdict,
        "why": f"{name} matters",
        "levels": levels,
    }
    return Case(f"{verdict}/kafka_log/{name}", Path("none"), content)


def score_of(*outcomes: Scored) -> Score:
    score = Score()
    for one in outcomes:
        score.add(one)
    return score


# Levels


def test_any_answer_passes_v2_safe_and_no_answer_does() -> None:
    safe = case("damaged", "v2-safe", "v2-strict", verdict="invalid")
    answered = [
        Scored(safe, "passed"),
        Scored(safe, "failed", ("accepted it",)),
        Scored(safe, "not-judged", ("the runner does not look for it",)),
        Scored(safe, "known", ("accepted it",)),
    ]
    silent = [
        Scored(safe, "failed", ("killed by SIGSEGV",), is_answer=False),
        Scored(safe, "not-judged", ("unsupported",), is_answer=False),
    ]
    levels = level_scores([*answered, *silent])
    assert dict(levels["v2-safe"].counts) == {"passed": 4, "failed": 1, "not-judged": 1}
    assert (levels["v2-strict"].passed, levels["v2-strict"].total) == (1, 6)


def test_neither_fields_nor_a_verdict_show_that_a_runner_reads_records() -> None:
    read = case("sound", "v2-read", "files")
    outcomes = [
        Scored(read, "passed", has_records=True),
        Scored(read, "passed"),
        Scored(read, "verdict"),
        Scored(read, "failed"),
    ]
    levels = level_scores(outcomes)
    assert dict(levels["v2-read"].counts) == {"passed": 1, "not-judged": 2, "failed": 1}
    assert dict(levels["files"].counts) == {"passed": 2, "verdict": 1, "failed": 1}


def test_case_that_needs_what_the_runner_lacks_does_not_count() -> None:
    read = case("sound", "v2-read")
    lacking = Scored(read, "not-judged", ("lacks lz4",), lacks=("lz4",))
    (score,) = level_scores([Scored(read, "passed", has_records=True), lacking]).values()
    assert (score.passed, score.total, score.lacks) == (1, 1, {"lz4"})
    assert score.badge("v2-read")["message"] == "1/1, without lz4"


@pytest.mark.parametrize(
    ("outcomes", "message", "color"),
    [
        ({"passed": 20}, "20/20", "brightgreen"),
        ({"passed": 19, "verdict": 1}, "20/20, 1 by verdict", "brightgreen"),
        ({"passed": 19, "failed": 1}, "19/20", "green"),
        ({"passed": 16, "known": 4}, "16/20", "yellow"),
        ({"passed": 10, "failed": 9, "not-judged": 1}, "10/20", "orange"),
        ({"failed": 1}, "0/1", "red"),
        ({"not-judged": 7}, "not judged", "lightgrey"),
        ({"lacking": 7}, "not judged", "lightgrey"),
        ({"passed": 4, "lacking": 4}, "4/4", "brightgreen"),
        ({"passed": 4, "lacking": 5}, "4/4", "lightgrey"),
    ],
)
def test_a_badge_shows_the_number_and_a_colour(
    outcomes: dict[str, int], message: str, color: str
) -> None:
    score = LevelScore()
    score.counts.update(outcomes)
    badge = {"schemaVersion": 1, "label": "kafka files", "message": message, "color": color}
    assert score.badge("files") == badge


# Files


SCORE = score_of(
    Scored(
        case("sound", "v2-read"), "passed", has_records=True, keys_left_out=frozenset(["headers"])
    ),
    Scored(case("misread", "v2-read"), "failed", ("records: wrong \x1b[1m\0",)),
    Scored(case("strange", "v2-safe", verdict="either"), "known", ("a reason",), "refused"),
)


def test_json_has_runner_version_levels_and_cases(tmp_path: Path) -> None:
    levels = level_scores(SCORE.case_results)
    write_json(tmp_path / "x.json", SCORE, levels, name="mine 2", vectors_version="1.0")
    content: dict[str, Any] = json.loads((tmp_path / "x.json").read_bytes())
    assert (content["runner"], content["vectors"]) == ("mine 2", "1.0")
    assert content["summary"]["keys_left_out"] == {"headers": 1}
    read = content["levels"]["v2-read"]
    assert (read["passed"], read["failed"], read["total"]) == (1, 1, 2)
    ids = [one["id"] for one in content["cases"]]
    assert ids == ["kafka_log/sound", "kafka_log/misread", "kafka_log/strange"]
    assert content["cases"][2]["choice"] == "refused"


def test_junit_has_a_case_for_each_and_no_character_that_xml_cannot_hold(tmp_path: Path) -> None:
    SCORE.stale[:] = ["kafka_log/gone"]
    write_junit(tmp_path / "x.xml", SCORE, name="mine\0")
    root = ElementTree.parse(tmp_path / "x.xml").getroot()
    suites = [tuple(suite.get(key) for key in ("name", "tests", "failures")) for suite in root]
    assert suites == [
        ("kafka_log valid", "2", "1"),
        ("kafka_log either", "1", "0"),
        ("known failures", "1", "1"),
    ]
    failure = root.find(".//testcase[@name='misread']/failure")
    assert failure is not None and failure.get("message") == "records: wrong \ufffd[1m\ufffd"
    assert failure.text == "misread matters"
    assert root.find(".//testcase[@name='strange']/skipped") is not None


def test_badges_are_a_file_per_level(tmp_path: Path) -> None:
    write_badges(tmp_path / "badges", level_scores(SCORE.case_results))
    files = sorted(path.name for path in (tmp_path / "badges").iterdir())
    assert files == ["v2-read.json", "v2-safe.json"]


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress_lines(stream: io.StringIO, seconds: float) -> str:
    """Return what a run of five cases, *seconds* apart, prints to *stream*; the second one fails."""
    now = [0.0]
    progress = Progress(5, stream, clock=lambda: now[0])
    for number in range(5):
        now[0] += seconds
        progress.add(has_failed=number == 1)
    progress.clear()
    progress.clear()
    return stream.getvalue()


def test_progress_is_a_line_each_half_minute_in_a_log() -> None:
    lines = "3 of 5 cases, 1 failed\n"
    assert progress_lines(io.StringIO(), 10.0) == lines
    assert progress_lines(io.StringIO(), 1.0) == ""


def test_progress_overwrites_its_line_on_a_terminal_and_clears_it() -> None:
    erase = "\r\x1b[K"
    expected = f"{erase}2 of 5 cases, 1 failed{erase}4 of 5 cases, 1 failed{erase}"
    assert progress_lines(Terminal(), 0.11) == expected
