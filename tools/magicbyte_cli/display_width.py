"""Widths of text in columns of a terminal, and text that is cut to a width."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from unicodedata import category, east_asian_width

ELLIPSIS = "…"


def display_width(text: str) -> int:
    """Return the width of *text*, in columns of a terminal."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def display_widths(texts: Sequence[str]) -> Iterable[int]:
    """Return the width of each of *texts*, in columns of a terminal."""
    return map(len if all(map(str.isascii, texts)) else display_width, texts)


def padded(texts: Sequence[str], width: int, *, is_number: bool) -> list[str]:
    """Return *texts* padded to *width*, on the left if they are numbers."""
    pad = str.rjust if is_number else str.ljust
    return [
        pad(text, width + len(text) - size)
        for text, size in zip(texts, display_widths(texts), strict=True)
    ]


def cut_at_end(text: str, width: int) -> str:
    """Return *text*, or its beginning and an ellipsis if it is wider than *width*."""
    if display_width(text) <= width:
        return text
    return _first_columns(text, width - 1) + ELLIPSIS


def cut_in_middle(text: str, width: int) -> str:
    """Return *text*, or its beginning and its end around an ellipsis if it is wider than *width*."""
    if display_width(text) <= width:
        return text
    first = width // 2
    end = _first_columns(text[::-1], width - 1 - first)[::-1]
    return _first_columns(text, first) + ELLIPSIS + end


def _first_columns(text: str, width: int) -> str:
    """Return the beginning of *text* that takes at most *width* columns of a terminal."""
    text = text[: 8 * width + 8]  # a value may have millions of characters
    ends = accumulate(map(_character_width, text))
    return "".join(character for character, end in zip(text, ends, strict=True) if end <= width)


def _character_width(character: str) -> int:
    """Return the columns that a terminal takes for *character*: 2 for a wide one, 0 for one that combines."""
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1
