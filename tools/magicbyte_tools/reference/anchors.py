"""Anchors of Markdown headings, as GitHub and other code hosts derive them, and of fields."""

import re


def field_anchor(structure_name: str, field_id: str) -> str:
    """Return the anchor of a field's row: stable, and unlike the anchor of any heading, which has no full stop."""
    return f"{structure_name}.{field_id}"


def anchored(anchor: str, words: str) -> str:
    """Return *words* in Markdown with an anchor, which they link to so that it can be copied."""
    return f'<a id="{anchor}"></a>[{words}](#{anchor})'


def slug(heading: str) -> str:
    """Return the anchor of *heading*: lower case, no punctuation, hyphens for spaces."""
    words = re.sub(r"[^\w\- ]", "", heading.lower())
    return words.replace(" ", "-")
