"""Explanations of the codes of findings, for `magicbyte verify --explain`."""

from collections.abc import Iterator
from difflib import get_close_matches

from magicbyte import CODES, InputError
from magicbyte.findings import SUBJECTS


def explanation_lines(name: str | None) -> Iterator[str]:
    """Yield the texts of the code *name*; None: a line for each code."""
    if name is None:
        yield from _list_lines()
        return
    if name not in CODES:
        similar = get_close_matches(name, CODES, n=3)
        hint = f", such as {', '.join(similar)}" if similar else ""
        raise InputError(
            f"no code {name!r}",
            f"a code that `magicbyte verify --explain` lists{hint}",
        )
    code = CODES[name]
    yield f"{code.name} ({code.severity})"
    yield code.sentence
    yield ""
    yield f"Cause: {code.cause}"
    yield f"Consequence: {code.consequence}"
    yield f"What to do: {code.remedy}"
    yield f"Source: {code.source}"


def _list_lines() -> Iterator[str]:
    width = max(map(len, CODES))
    for number, (subject, codes) in enumerate(SUBJECTS.items()):
        if number:
            yield ""
        yield f"{subject}:"
        for code in codes:
            yield f"  {code.severity:7}  {code.name:{width}}  {code.sentence}"
