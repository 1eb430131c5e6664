"""Prints the results of a conformance run, as text for people or as NDJSON for programs."""

import json
from collections.abc import Iterator
from typing import Any

from magicbyte_tools.conformance.scoring import Score, Scored

COLUMNS = ("passed", "failed", "known", "not-judged")


def failure(scored: Scored) -> str:
    """Return the line of a failed case: the expected and the actual answer, and the case's purpose."""
    return f"FAILED {scored.case.path}: {'; '.join(scored.complaints)}. Why: {scored.case.why}"


def table(score: Score) -> Iterator[str]:
    """Yield the last lines of the text report: stale known failures, and a table of outcomes by format."""
    for path in score.stale:
        yield f"FAILED {path}: listed as a known failure, but there is no such case"
    rows: list[tuple[str, ...]] = [("format", "verdict", *COLUMNS)]
    for (name, verdict), outcomes in score.by_format.items():
        rows.append((name, verdict, *(str(outcomes[column]) for column in COLUMNS)))
    rows.append(("all", "", *(str(score.total[column]) for column in COLUMNS)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        words = [word.ljust(width) for word, width in zip(row[:2], widths[:2], strict=True)]
        numbers = [word.rjust(width) for word, width in zip(row[2:], widths[2:], strict=True)]
        yield "  ".join([*words, *numbers])
    if score.choices:
        accepted, refused = score.choices["accepted"], score.choices["refused"]
        yield f"where either is right: {accepted} accepted, {refused} refused"


def line(scored: Scored) -> str:
    """Return the JSON line of a judged case."""
    return json.dumps(
        {
            "kind": "case",
            "path": scored.case.path,
            "format": scored.case.format,
            "verdict": scored.case.verdict,
            "outcome": scored.outcome,
            "choice": scored.choice,
            "complaints": scored.complaints,
            "why": scored.case.why,
        }
    )


def summary(score: Score) -> str:
    """Return the last line of NDJSON output: the number of cases by outcome."""
    content: dict[str, Any] = {"kind": "summary"}
    content.update({column: score.total[column] for column in COLUMNS})
    content.update(stale=score.stale, accepted=score.choices["accepted"])
    content.update(refused=score.choices["refused"], is_good=score.is_good)
    return json.dumps(content)
