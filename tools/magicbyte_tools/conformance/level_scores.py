"""Counts outcomes by level: one number for each claim that an implementation may make."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from magicbyte_tools.conformance.scoring import Scored

LEVELS: Mapping[str, str] = {
    "v2-read": "reads the records of sound v2 batches",
    "v2-safe": "survives damaged v2 batches: no crash, no hang, no exhausted memory; any verdict",
    "v2-strict": "refuses damaged v2 batches, and delivers no record of them",
    "v2-committed": "delivers of fetched v2 batches what a read_committed consumer delivers",
    "legacy": "reads and refuses message formats v0 and v1",
    "write": "tells what a broker takes from a producer, and what it refuses",
    "encode": "encodes records as batches that a broker takes from a producer",
    "files": "reads and refuses companion files of segments, and checkpoints",
    "directory": "reads whole log directories as a read_committed consumer reads the topics",
}
"""Claim that each level stands for."""

READING_LEVELS = ("v2-read", "v2-committed", "legacy", "directory")
"""Levels in which only records count: neither fields alone nor a verdict show that they are right."""

PASSED = ("passed", "verdict")

SHARES = ((1.0, "brightgreen"), (0.95, "green"), (0.8, "yellow"), (0.5, "orange"), (0.0, "red"))
"""Colours of badges, by the share of cases passed at least."""


@dataclass(slots=True)
class LevelScore:
    """Number of cases of one level by outcome."""

    counts: Counter[str] = field(default_factory=Counter)
    """Number of cases by outcome; `lacking` counts cases that need a feature that the runner lacks."""
    lacks: set[str] = field(default_factory=set)
    """Features that cases needed and the runner lacks."""

    @property
    def passed(self) -> int:
        return sum(self.counts[outcome] for outcome in PASSED)

    @property
    def total(self) -> int:
        """Number of cases that count: all but those that need a feature that the runner lacks."""
        return self.counts.total() - self.counts["lacking"]

    def add(self, level: str, scored: Scored) -> None:
        self.lacks.update(scored.lacks)
        self.counts[level_outcome(level, scored)] += 1

    def badge(self, level: str) -> dict[str, Any]:
        """Return the badge in the JSON that shields.io takes from an endpoint."""
        message, color = "not judged", "lightgrey"
        if self.total > self.counts["not-judged"]:
            message = f"{self.passed}/{self.total}"
            share = self.passed / self.total
            if self.counts["lacking"] <= self.total:  # else the number is no claim about the level
                color = next(color for least, color in SHARES if share >= least)
            if self.counts["verdict"]:
                message += f", {self.counts['verdict']} by verdict"
            if self.lacks:
                message += f", without {', '.join(sorted(self.lacks))}"
        return {"schemaVersion": 1, "label": f"kafka {level}", "message": message, "color": color}

    def content(self) -> dict[str, Any]:
        """Return the score as JSON."""
        names = ("verdict", "failed", "known", "not-judged", "lacking")
        others = {name: self.counts[name] for name in names}
        return {
            "passed": self.passed,
            "total": self.total,
            **others,
            "lacks": sorted(self.lacks),
        }


def level_outcome(level: str, scored: Scored) -> str:
    """Return how the case *scored* counts in *level*.

    In v2-safe any answer passes: refusing late, or accepting, is a matter of v2-strict.
    """
    if scored.lacks:
        return "lacking"
    if level in READING_LEVELS and scored.outcome in PASSED and not scored.has_records:
        return "not-judged"
    if level == "v2-safe" and scored.outcome != "not-judged":
        return "passed" if scored.is_answer else "failed"
    if level == "v2-safe" and scored.is_answer:
        return "passed"
    return scored.outcome


def level_scores(scores: Iterable[Scored]) -> dict[str, LevelScore]:
    """Return the score of each level that has a case in *scores*, in the order of LEVELS."""
    found = {level: LevelScore() for level in LEVELS}
    for scored in scores:
        for level in scored.case.levels:
            found[level].add(level, scored)
    return {level: score for level, score in found.items() if score.counts}
