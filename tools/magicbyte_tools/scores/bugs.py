"""Loads the paragraphs on bugs beside the runners, and compares them with the failed cases."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.scores.client_runner import RUNNERS, ClientRunner
from magicbyte_tools.scores.recorded_runs import Run

RULES = RUNNERS / "rules.json"

MAX_CITED_BYTES = 300
"""Largest size of the vector that a paragraph shows in hex."""

SEVERITIES: Mapping[str, str] = {
    "ends": "Ends or blocks the process",
    "wrong": "Delivers wrong records",
    "lost": "Loses records without an error",
    "refuses": "Refuses sound bytes",
    "damage": "Delivers damaged bytes, or passes over them without an error",
    "taste": "Reads more strictly or more leniently than Kafka",
}
"""Headings of the groups of paragraphs, the gravest first."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule of the formats that clients break."""

    file: str
    """File of the specification or the documentation that states it."""
    sentence: str
    """Sentence in that file."""
    right: str
    """Duty of a reader."""


@dataclass(frozen=True, kw_only=True)
class Bug:
    """A paragraph of bugs.json: one cause of failed cases in one client."""

    title: str
    severity: str
    rule: str
    does: str
    """Behaviour of the client with the bytes, and the place in its code."""
    consequence: str
    """Meaning for a user."""
    case_ids: Sequence[str]
    """Ids of the cases that fail for this cause."""
    upstream: str = ""
    """Address of the issue in the client's project, where there is one."""

    def cited(self, cases_by_id: Mapping[str, Case]) -> Case:
        """Return the smallest of the bug's vectors; of equal ones, the first named."""
        return min((cases_by_id[name] for name in self.case_ids), key=data_size)


def data_size(case: Case) -> int:
    return case.data_path.stat().st_size


@cache
def load_rules() -> Mapping[str, Rule]:
    """Return the rules by name."""
    return {name: Rule(**rule) for name, rule in json.loads(RULES.read_bytes()).items()}


def load_bugs(runner: ClientRunner) -> list[Bug]:
    """Return the paragraphs of *runner* in the order of their severity; none without a file."""
    file = runner.folder / "bugs.json"
    bugs = [Bug(**bug) for bug in json.loads(file.read_bytes())] if file.is_file() else []
    return sorted(bugs, key=lambda bug: list(SEVERITIES).index(bug.severity))


def mistakes(
    runner: ClientRunner, bugs: Sequence[Bug], runs: Sequence[Run], cases_by_id: Mapping[str, Case]
) -> Iterator[str]:
    """Yield why *bugs* do not describe the failed cases of *runs*: each needs a paragraph, and fails."""
    failed = {name for run in runs for name in run.failed}
    described = {name for bug in bugs for name in bug.case_ids}
    for name in sorted(failed - described):
        yield f"{runner.name}: {name} fails, and no paragraph of bugs.json has it"
    for bug in bugs:
        for name in bug.case_ids:
            if name not in failed:
                yield f"{runner.name}: {name} no longer fails: take it out of {bug.title!r}"
        if bug.rule not in load_rules():
            yield f"{runner.name}: {bug.title!r}: rules.json has no {bug.rule}"
        known = [name for name in bug.case_ids if name in cases_by_id]
        is_known = known == list(bug.case_ids)
        if is_known and data_size(bug.cited(cases_by_id)) > MAX_CITED_BYTES:
            yield f"{runner.name}: {bug.title!r}: no vector of at most {MAX_CITED_BYTES} bytes"


def absent_sentences() -> Iterator[str]:
    """Yield the rules whose sentence is not in the file that they name."""
    for name, rule in load_rules().items():
        words = plain(CHECKOUT / rule.file)
        if " ".join(rule.sentence.split()) not in words:
            yield f"rules.json: {name}: {rule.file} does not say: {rule.sentence}"


@cache
def plain(path: Path) -> str:
    return " ".join(path.read_text("utf-8").split())
