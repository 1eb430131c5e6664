"""Scores a runner on all cases, given the list of known failures."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.conformance.judge import Judgement, judge
from magicbyte_tools.conformance.known import Known
from magicbyte_tools.conformance.runner import Answer

Outcome = Literal["passed", "failed", "known", "not-judged"]


@dataclass(frozen=True, slots=True)
class Scored:
    """A case and its outcome, given the list of known failures."""

    case: Case
    outcome: Outcome
    complaints: tuple[str, ...] = ()
    choice: Literal["accepted", "refused"] | None = None


@dataclass(slots=True)
class Score:
    """Result of a conformance run: the number of cases by format, verdict and outcome."""

    by_format: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    """Outcomes by format and verdict, in the order of the cases."""
    choices: Counter[str] = field(default_factory=Counter)
    """Number of accepted and refused cases among those with verdict `either`."""
    stale: list[str] = field(default_factory=list)
    """Paths in the list of known failures for which there is no case."""

    def add(self, scored: Scored) -> None:
        key = scored.case.format, scored.case.verdict
        self.by_format.setdefault(key, Counter())[scored.outcome] += 1
        if scored.choice is not None:
            self.choices[scored.choice] += 1

    @property
    def total(self) -> Counter[str]:
        return sum(self.by_format.values(), Counter())

    @property
    def is_good(self) -> bool:
        """True if a case passed, none failed, and every known failure names a case."""
        return self.total["passed"] > 0 and not self.total["failed"] and not self.stale


def scored(answers: Iterable[tuple[Case, Answer]], known: Known) -> Iterator[Scored]:
    """Yield the outcome of each case; a known failure that no longer fails counts as failed."""
    for case, answer in answers:
        if answer.failure is not None:
            judgement = Judgement("failed", (answer.failure,))
        else:
            judgement = judge(case.content, answer.content)
        yield _with_known(case, judgement, known.get(case.path))


def _with_known(case: Case, judgement: Judgement, reason: str | None) -> Scored:
    if reason is None:
        return Scored(case, judgement.outcome, judgement.complaints, judgement.choice)
    if judgement.outcome == "failed":
        return Scored(case, "known", (reason, *judgement.complaints), judgement.choice)
    outcome = "passes" if judgement.outcome == "passed" else "is not judged"
    complaint = f"listed as a known failure, but {outcome}: take it off the list"
    return Scored(case, "failed", (complaint,), judgement.choice)
