"""Compares two JSON values strictly: types and numbers must be exactly equal (1 is not 1.0 or true)."""

from collections.abc import Iterator
from typing import Any

MAX_SHOWN = 72
"""Largest number of characters of a value in a message."""
MAX_SHOWN_OF_ERRORS = 500
"""Largest number of characters of a runner's error: its end often names the cause."""


def differences(expected: Any, actual: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each difference of *actual* from *expected*: its path in the JSON and both values."""
    if type(expected) is not type(actual):  # true is not 1, 70.0 is not 70
        yield f"{path}: expected {shown(expected)}, found {shown(actual)}"
    elif isinstance(expected, dict):
        for key in expected:
            if key not in actual:
                yield f"{_under(path, key)}: expected {shown(expected[key])}, found nothing"
            else:
                yield from differences(expected[key], actual[key], _under(path, key))
        for key in actual:
            if key not in expected:
                yield f"{_under(path, key)}: expected nothing, found {shown(actual[key])}"
    elif isinstance(expected, list):
        for index, (one, other) in enumerate(zip(expected, actual, strict=False)):
            yield from differences(one, other, f"{path}[{index}]")
        if len(expected) != len(actual):
            yield f"{path}: expected {len(expected)} of them, found {len(actual)}"
    elif expected != actual:
        yield f"{path}: expected {shown(expected)}, found {shown(actual)}"


def _under(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def shown(value: Any, max_shown: int = MAX_SHOWN) -> str:
    """Return *value* as JSON text, cut after *max_shown* characters."""
    text = _text(value)
    return text if len(text) <= max_shown else f"{text[:max_shown]}... ({len(text)} characters)"


def _text(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case dict():
            return "{" + ", ".join(f'"{key}": {_text(one)}' for key, one in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_text, value)) + "]"
        case _:
            return str(value)
