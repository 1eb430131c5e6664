"""Anchors of Markdown headings, as GitHub and other code hosts derive them."""

import re


def slug(heading: str) -> str:
    """Return the anchor of *heading*: lower case, no punctuation, hyphens for spaces."""
    words = re.sub(r"[^\w\- ]", "", heading.lower())
    return words.replace(" ", "-")
