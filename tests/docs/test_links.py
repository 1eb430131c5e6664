"""Tests that links between the pages of the documentation lead somewhere."""

import re
from functools import cache
from pathlib import Path

import pytest

from magicbyte_tools.reference.anchors import slug
from paths import CHECKOUT

PAGES = sorted(
    path
    for path in (
        *CHECKOUT.glob("*.md"),
        *CHECKOUT.glob("docs/**/*.md"),
        *CHECKOUT.glob("spec/**/*.md"),
        *CHECKOUT.glob("tests/vectors/*.md"),
        *CHECKOUT.glob("tests/vectors/runners/*.md"),
    )
    if path.is_file()
)
"""Pages that people read. Those in tests are about test data, but for the vectors'."""

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings and fields of *page*; repeated headings have a number."""
    text = without_code(page.read_text("utf-8"))
    found: set[str] = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor, number = slug(words), 0
        while (unique := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(unique)
    return found


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def dangling(page: Path, text: str) -> list[str]:
    """Return the links of *text*, on *page*, to files and anchors that do not exist."""
    found = []
    for target in LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(CHECKOUT).as_posix())
def test_heading_that_ends_in_a_hash_sign_escapes_it(page: Path) -> None:
    """The site takes such signs away, as those of a closed heading: C# would be C."""
    text = without_code(page.read_text("utf-8"))
    assert re.findall(r"^#+ .*[^\\]#$", text, re.MULTILINE) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(CHECKOUT).as_posix())
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert dangling(page, page.read_text("utf-8")) == []


@pytest.mark.parametrize("target", ["none.md", "#none", "reading.md#none", "../none/"])
def test_a_link_that_leads_nowhere_is_found(target: str) -> None:
    page = CHECKOUT / "docs" / "captures.md"
    assert dangling(page, f"[here]({target}) [there](reading.md)") == [target]
