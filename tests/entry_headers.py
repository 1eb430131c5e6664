"""Builds batch headers for tests of code that needs headers alone."""

from typing import Any

from magicbyte.engines.entry import Entry


def header(**fields: Any) -> Entry:
    """Return the header of a v2 batch with these *fields*; all others are 0 or false."""
    return Entry(**(dict.fromkeys(Entry._fields, 0) | {"magic": 2} | fields))
