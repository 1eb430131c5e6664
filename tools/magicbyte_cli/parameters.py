"""Parameter types of the command line: numbers, sizes, times, lists of names.

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
from magicbyte.storage import StorageOptions, is_url, local_path, normalize_path, redacted

UNITS = {
    "": 1,
    "b": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", start=1)},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", start=1)},
}

MAX_INT32 = (1 << 31) - 1
MAX_INT64 = (1 << 63) - 1


def offset(text: str) -> int:
    """Parse the offset of a record."""
    return _number(text, MAX_INT64)


def partition(text: str) -> int:
    """Parse the number of a partition."""
    return _number(text, MAX_INT32)


def _number(text: str, maximum: int) -> int:
    if not re.fullmatch("[0-9]{1,19}", text) or int(text) > maximum:
        raise BadParameter(f"{text!r}; expected a number from 0 to {maximum}")
    return int(text)


def size(text: str) -> int:
    """Parse a size in bytes: `16MiB`, `1GB`, `65536`."""
    match = re.fullmatch("([0-9]{1,19}) ?([a-z]*)", text.lower())
    number = 0
    if match is not None and match[2] in UNITS:
        number = int(match[1]) * UNITS[match[2]]
    if not 1 <= number <= MAX_INT64:
        raise BadParameter(
            f"{text!r}; expected a size of at least 1 byte, such as 65536, 16MiB or 1GB"
        )
    return number


def time(text: str) -> datetime | int:
    """Parse a time: ISO 8601, or milliseconds since the Unix epoch."""
    if re.fullmatch("-?[0-9]{1,18}", text):
        return int(text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadParameter(
            f"{text!r}; expected ISO 8601, such as 2024-05-01T12:00:00Z, or milliseconds since "
            "the Unix epoch"
        ) from None


def names(text: str) -> tuple[str, ...]:
    """Parse a list of names that are separated by commas."""
    parts = tuple(name.strip() for name in text.split(","))
    if not all(parts):
        raise BadParameter(f"{text!r}; expected names separated by commas, such as a,b")
    return parts


def storage_options(
    context: click.Context, option: click.Parameter, texts: Sequence[str]
) -> StorageOptions:
    """Return the store options in *texts*, each NAME=VALUE; a callback for click, not a type."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise BadParameter("expected NAME=VALUE")  # the text may be a secret: do not show it
        values[name.strip()] = value
    return StorageOptions(values)


def out_folder(text: str) -> str:
    """Parse the path of an output folder: local, or a URL of a store."""
    return normalize_path(text)


class OutPath(click.Path):
    """Parameter type of an output file or folder on this machine."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str):
            if is_url(value):
                raise InputError(
                    "writing to an object store is not supported",
                    "a path on this machine",
                    path=redacted(value),
                )
            value = local_path(value)
        return super().convert(value, param, ctx)
