"""The examples of the documents, for tests that run them."""

import re
from itertools import pairwise

from paths import CHECKOUT


def blocks(page: str, *languages: str) -> list[str]:
    """Return the code blocks of *page*, a path in the checkout, that are in one of *languages*."""
    return [code for language, code in _fenced(page) if language in languages]


def examples(page: str) -> list[tuple[str, str]]:
    """Return the Python of *page* with what it prints: the block behind it, if that has no language."""
    found = [*_fenced(page), ("end", "")]
    return [
        (code, shown if follows == "" else "")
        for (language, code), (follows, shown) in pairwise(found)
        if language == "python"
    ]


def _fenced(page: str) -> list[tuple[str, str]]:
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
