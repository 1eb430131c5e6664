"""Numbers, sizes, times and lists of names, as they are written on the command line.

Each function is a type for click: it takes the text and raises BadParameter.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from click import BadParameter

from magicbyte.errors import InputError
from magicbyte.storage import StorageOptions, is_url, local_path, redacted

UNITS = {
    "": 1,
    "b": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", start=1)},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", start=1)},
}

MAX_INT32 = (1 << 31) - 1
MAX_INT64 = (1 << 63) - 1


def offset(text: str) -> int:
    """Return an offset of a partition."""
    return _number(text, MAX_INT64)


def partition(text: str) -> int:
    """Return the number of a partition."""
    return _number(text, MAX_INT32)


def _number(text: str, most: int) -> int:
    if not re.fullmatch("[0-9]{1,19}", text) or int(text) > most:
        raise BadParameter(f"{text!r}; expected a number from 0 to {most}")
    return int(text)


def size(text: str) -> int:
    """Return a number of bytes: `16MiB`, `1GB`, `65536`."""
    match = re.fullmatch("([0-9]{1,19}) ?([a-z]*)", text.lower())
    number = 0
    if match is not None and match[2] in UNITS:
        number = int(match[1]) * UNITS[match[2]]
    if not 1 <= number <= MAX_INT64:
        raise BadParameter(f"{text!r}; expected a size of at least 1, as 65536, 16MiB or 1GB")
    return number


def time(text: str) -> datetime | int:
    """Return a moment: ISO 8601, or milliseconds since the Unix epoch."""
    if re.fullmatch("-?[0-9]{1,18}", text):
        return int(text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadParameter(
            f"{text!r}; expected ISO 8601, as 2024-05-01T12:00:00Z, or milliseconds since the "
            "Unix epoch"
        ) from None


def names(text: str) -> tuple[str, ...]:
    """Return names that have commas between them."""
    found = tuple(name.strip() for name in text.split(","))
    if not all(found):
        raise BadParameter(f"{text!r}; expected names, as a,b")
    return found


def storage_options(
    context: click.Context, option: click.Parameter, texts: Sequence[str]
) -> StorageOptions:
    """Return the options of stores in *texts*, each NAME=VALUE; this one is a callback for click."""
    given: dict[str, str] = {}
    for text in texts:
        name, found, value = text.partition("=")
        if not found or not name.strip():
            raise BadParameter("expected NAME=VALUE")  # what there is may be a secret
        given[name.strip()] = value
    return StorageOptions(given)


class OutPath(click.Path):
    """Where something is written: on this machine."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str):
            if is_url(value):
                raise InputError(
                    "writing into a store is not supported",
                    "a place on this machine",
                    path=redacted(value),
                )
            value = local_path(value)
        return super().convert(value, param, ctx)
