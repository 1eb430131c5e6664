"""Reads prose/<format>.md, with facts that are in no specification: sections by their headings."""

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "prose"

HEADINGS = ("Where it lies", "What the fields do not say", "Often said, and wrong")


@dataclass(frozen=True, slots=True)
class Prose:
    """The sections about one format."""

    sections: dict[str, str]

    def section(self, heading: str, *, heading_shown: bool = False) -> str:
        """Return the section's text, or nothing where there is none."""
        found = self.sections.get(heading, "")
        return f"## {heading}\n\n{found}" if found and heading_shown else found


def prose(name: str, folder: Path = HERE) -> Prose:
    """Return what there is to say about the format *name*."""
    path = folder / f"{name}.md"
    if not path.exists():
        return Prose({})
    first, *rest = re.split(r"^## (.+)$", path.read_text("utf-8"), flags=re.MULTILINE)
    sections = dict(zip(rest[::2], map(str.strip, rest[1::2]), strict=True))
    unknown = sections.keys() - set(HEADINGS)
    if first.strip() or unknown:
        raise ValueError(f"{path.name}: {sorted(unknown) or 'text before the first heading'}")
    return Prose(sections)
