"""Reads prose/<format>.md: hand-written sections with facts that no specification has."""

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "prose"

HEADINGS = ("Where it lies", "What the fields do not say", "Often said, and wrong")


@dataclass(frozen=True, slots=True)
class Prose:
    """The hand-written sections about one format, by heading."""

    sections: dict[str, str]

    def section(self, heading: str, *, heading_shown: bool = False) -> str:
        """Return the text below *heading*, with or without the heading; empty if there is none."""
        found = self.sections.get(heading, "")
        return f"## {heading}\n\n{found}" if found and heading_shown else found


def prose(name: str, folder: Path = HERE) -> Prose:
    """Read the hand-written sections about the format *name*, if it has any."""
    path = folder / f"{name}.md"
    if not path.exists():
        return Prose({})
    first, *rest = re.split(r"^## (.+)$", path.read_text("utf-8"), flags=re.MULTILINE)
    sections = dict(zip(rest[::2], map(str.strip, rest[1::2]), strict=True))
    unknown = sections.keys() - set(HEADINGS)
    if first.strip() or unknown:
        raise ValueError(f"{path.name}: {sorted(unknown) or 'text before the first heading'}")
    return Prose(sections)
