"""Writes the results of a conformance run into files: JSON, JUnit's XML, and badges."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from magicbyte_tools.conformance.level_scores import LevelScore
from magicbyte_tools.conformance.report import case_content, levels_content, summary_content
from magicbyte_tools.conformance.scoring import Score, Scored

NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold; a runner's last words may."""


def write_json(
    path: Path,
    score: Score,
    levels: Mapping[str, LevelScore],
    *,
    name: str,
    vectors_version: str | None,
) -> None:
    """Write all results as one JSON object: runner, version of the vectors, levels, counts, cases."""
    content: dict[str, Any] = {
        "runner": name,
        "vectors": vectors_version,
        "levels": levels_content(levels),
        "summary": summary_content(score),
        "cases": [case_content(one) for one in score.case_results],
    }
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def write_badges(folder: Path, levels: Mapping[str, LevelScore]) -> None:
    """Write a file LEVEL.json for each level, in the form of shields.io's endpoint badge."""
    folder.mkdir(parents=True, exist_ok=True)
    for level, score in levels.items():
        text = json.dumps(score.badge(level)) + "\n"
        (folder / f"{level}.json").write_text(text, encoding="utf-8")


def write_junit(path: Path, score: Score, *, name: str) -> None:
    """Write a test suite for each format and verdict, in the XML that CI servers read from JUnit."""
    root = ElementTree.Element("testsuites", name=xml_text(name))
    for (format_name, verdict), group in groupby(
        score.case_results, lambda one: (one.case.format, one.case.verdict)
    ):
        cases = list(group)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=f"{format_name} {verdict}",
            tests=str(len(cases)),
            failures=str(sum(one.outcome == "failed" for one in cases)),
            skipped=str(sum(one.outcome in ("known", "not-judged") for one in cases)),
        )
        for one in cases:
            _add_test_case(suite, one)
    if score.stale:
        _add_stale_names(root, score.stale)
    ElementTree.indent(root, " ")
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _add_test_case(suite: ElementTree.Element, scored: Scored) -> None:
    case = scored.case
    name = case.id.partition("/")[2]
    element = ElementTree.SubElement(suite, "testcase", classname=case.format, name=name)
    words = xml_text("; ".join(scored.complaints))
    if scored.outcome == "failed":
        failure = ElementTree.SubElement(element, "failure", message=words)
        failure.text = xml_text(case.why)
    elif scored.outcome in ("known", "not-judged"):
        ElementTree.SubElement(element, "skipped", message=words)


def _add_stale_names(root: ElementTree.Element, stale: Sequence[str]) -> None:
    count = str(len(stale))
    suite = ElementTree.SubElement(
        root, "testsuite", name="known failures", tests=count, failures=count
    )
    for name in stale:
        element = ElementTree.SubElement(suite, "testcase", classname="known", name=xml_text(name))
        ElementTree.SubElement(element, "failure", message="there is no such case")


def xml_text(words: str) -> str:
    return NOT_IN_XML.sub("\ufffd", words)
