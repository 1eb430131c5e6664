"""Scores a runner on all cases, given the list of known failures."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.conformance.judge import Choice, Judgement, Outcome, judge
from magicbyte_tools.conformance.known import Known
from magicbyte_tools.conformance.runner import Answer


@dataclass(frozen=True, slots=True)
class Scored:
    """A case and its outcome, given the list of known failures."""

    case: Case
    outcome: Outcome
    complaints: tuple[str, ...] = ()
    choice: Choice | None = None
    is_answer: bool = True
    """False if the runner crashed, blocked, printed no answer, or does not read the format."""
    lacks: tuple[str, ...] = ()
    """Features that the case needs and the runner does not have."""
    has_records: bool = False
    """True if the answer has records and they were compared."""
    keys_left_out: frozenset[str] = frozenset()
    undecoded: str | None = None
    """Codec of an encoded batch whose records were not compared."""


@dataclass(slots=True)
class Score:
    """Result of a conformance run: the number of cases by format, verdict and outcome."""

    by_format: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    """Outcomes by format and verdict, in the order of the cases."""
    choices: Counter[str] = field(default_factory=Counter)
    """Number of accepted and refused cases among those with verdict `either`."""
    stale: list[str] = field(default_factory=list)
    """Ids in the list of known failures for which there is no case."""
    case_results: list[Scored] = field(default_factory=list)

    def add(self, scored: Scored) -> None:
        key = scored.case.format, scored.case.verdict
        self.by_format.setdefault(key, Counter())[scored.outcome] += 1
        if scored.choice is not None:
            self.choices[scored.choice] += 1
        self.case_results.append(scored)

    @property
    def total(self) -> Counter[str]:
        return sum(self.by_format.values(), Counter())

    @property
    def keys_left_out(self) -> Counter[str]:
        """Number of cases by the keys of records that the runner did not print."""
        return Counter(key for one in self.case_results for key in sorted(one.keys_left_out))

    @property
    def undecoded(self) -> Counter[str]:
        """Number of encoded batches whose records were not compared, by codec."""
        return Counter(one.undecoded for one in self.case_results if one.undecoded)

    @property
    def is_good(self) -> bool:
        """True if a case passed, none failed, and every known failure names a case."""
        passed = self.total["passed"] + self.total["verdict"]
        return passed > 0 and not self.total["failed"] and not self.stale


def scored(answers: Iterable[tuple[Case, Answer]], known: Known) -> Iterator[Scored]:
    """Yield the outcome of each case; a known failure that no longer fails counts as failed."""
    for case, answer in answers:
        if answer.failure is not None:
            words = (answer.failure,)
            judgement = Judgement(outcome="failed", complaints=words, is_answer=False)
        else:
            judgement = judge(case.content, answer.content)
        yield _with_known(case, judgement, known.get(case.id))


def _with_known(case: Case, judgement: Judgement, reason: str | None) -> Scored:
    outcome: Outcome = judgement.outcome
    complaints = judgement.complaints
    if reason is not None and outcome == "failed":
        outcome, complaints = "known", (reason, *complaints)
    elif reason is not None:
        state = "is not judged" if outcome == "not-judged" else "passes"
        outcome = "failed"
        complaints = (f"listed as a known failure, but {state}: take it off the list",)
    return Scored(
        case,
        outcome,
        complaints,
        judgement.choice,
        judgement.is_answer,
        judgement.lacks,
        judgement.has_records,
        judgement.keys_left_out,
        judgement.undecoded,
    )
