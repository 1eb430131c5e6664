"""Prints the results of a conformance run, as text for people or as NDJSON for programs."""

import json
from collections.abc import Iterator, Mapping
from itertools import starmap
from typing import Any

from magicbyte_tools.conformance.level_scores import LevelScore
from magicbyte_tools.conformance.scoring import Score, Scored

COLUMNS = ("passed", "verdict", "failed", "known", "not-judged")
LEVEL_COLUMNS = ("passed", "of", "by verdict", "not judged", "lacking")


def failure_line(scored: Scored) -> str:
    """Return the line of a failed case: the expected and the actual answer, and the case's purpose."""
    return f"FAILED {scored.case.path}: {'; '.join(scored.complaints)}. Why: {scored.case.why}"


def tables(score: Score, levels: Mapping[str, LevelScore]) -> Iterator[str]:
    """Yield the last lines of the text report: outcomes by format, and the number of each level."""
    for name in score.stale:
        yield f"FAILED {name}: listed as a known failure, but there is no such case"
    rows: list[tuple[str, ...]] = [("format", "verdict", *COLUMNS)]
    for (name, verdict), outcomes in score.by_format.items():
        rows.append((name, verdict, *(str(outcomes[column]) for column in COLUMNS)))
    rows.append(("all", "", *(str(score.total[column]) for column in COLUMNS)))
    yield from aligned(rows, 2)
    if score.choices:
        accepted, refused = score.choices["accepted"], score.choices["refused"]
        yield f"where either is right: {accepted} accepted, {refused} refused"
    for key, count in sorted(score.keys_left_out.items()):
        yield f"not judged, since no record shows it: {key} (in {count} cases)"
    for codec, count in sorted(score.undecoded.items()):
        yield f"records not compared, as Python's library lacks {codec} (cases: {count})"
    if levels:
        yield ""
        yield from aligned([("level", *LEVEL_COLUMNS), *starmap(level_row, levels.items())], 1)


def level_row(name: str, score: LevelScore) -> tuple[str, ...]:
    others = (score.counts[outcome] for outcome in ("verdict", "not-judged", "lacking"))
    return (name, *map(str, (score.passed, score.total, *others)))


def aligned(rows: list[tuple[str, ...]], num_words: int) -> Iterator[str]:
    """Yield the lines of a table: *num_words* columns are aligned to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = list(zip(row, widths, strict=True))
        words = [word.ljust(width) for word, width in cells[:num_words]]
        yield "  ".join([*words, *(word.rjust(width) for word, width in cells[num_words:])])


def case_content(scored: Scored) -> dict[str, Any]:
    """Return the judged case as JSON."""
    return {
        "id": scored.case.id,
        "path": scored.case.path,
        "format": scored.case.format,
        "verdict": scored.case.verdict,
        "levels": list(scored.case.levels),
        "outcome": scored.outcome,
        "answered": scored.is_answer,
        "choice": scored.choice,
        "lacks": list(scored.lacks),
        "complaints": list(scored.complaints),
        "why": scored.case.why,
    }


def case_line(scored: Scored) -> str:
    """Return the NDJSON line of a judged case."""
    return json.dumps({"kind": "case", **case_content(scored)})


def summary_content(score: Score) -> dict[str, Any]:
    """Return the number of cases by outcome as JSON."""
    return {
        **{column: score.total[column] for column in COLUMNS},
        "stale": score.stale,
        "accepted": score.choices["accepted"],
        "refused": score.choices["refused"],
        "undecoded": dict(sorted(score.undecoded.items())),
        "keys_left_out": dict(sorted(score.keys_left_out.items())),
        "is_good": score.is_good,
    }


def levels_content(levels: Mapping[str, LevelScore]) -> dict[str, Any]:
    return {level: one.content() for level, one in levels.items()}


def summary_line(score: Score, levels: Mapping[str, LevelScore]) -> str:
    """Return the last line of NDJSON output: the number of cases by outcome, and by level."""
    content = {"kind": "summary", **summary_content(score), "levels": levels_content(levels)}
    return json.dumps(content)
