"""Splits a docstring in Google style into its text and its sections."""

import re
from dataclasses import dataclass, field
from inspect import cleandoc

HEADINGS = ("Attributes", "Args", "Returns", "Raises", "Example")

_HEADING = re.compile(rf"^({'|'.join(HEADINGS)}):$", re.MULTILINE)

_ENTRY = re.compile(r"^(\w+): ")


@dataclass(frozen=True, slots=True)
class DocstringSections:
    """The text of a docstring, and its sections by heading."""

    text: str
    sections: dict[str, str] = field(default_factory=dict)

    def entries(self, heading: str) -> dict[str, str]:
        """Return the entries `name: sentence` of a section; a sentence may go on in indented lines."""
        found: dict[str, str] = {}
        name = ""
        for line in self.sections.get(heading, "").splitlines():
            match = _ENTRY.match(line)
            if match:
                name = match[1]
                found[name] = line[match.end() :]
            elif name:
                found[name] += f" {line.strip()}"
        return found

    def words(self, heading: str) -> str:
        """Return a section as one line."""
        return " ".join(self.sections.get(heading, "").split())


def split_docstring(docstring: str) -> DocstringSections:
    """Return the text and the sections of *docstring*."""
    text, *parts = _HEADING.split(cleandoc(docstring))
    bodies = [_dedented(body) for body in parts[1::2]]
    return DocstringSections(text.strip(), dict(zip(parts[::2], bodies, strict=True)))


def _dedented(body: str) -> str:
    return cleandoc(f"\n{body.strip(chr(10))}").rstrip()
