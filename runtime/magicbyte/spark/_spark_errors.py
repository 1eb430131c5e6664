"""Translate Spark's errors into one sentence each."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from magicbyte import errors
from magicbyte.errors import InputError, MagicbyteError


class DamagedError(MagicbyteError):
    """Damage that must not be skipped. The message names the damage and its position."""


_ANY_ERROR = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): .+$", re.MULTILINE)
_OUR_ERROR = re.compile(
    r"\bmagicbyte\.(?:[a-z_]+\.)*([A-Z]\w*): (?:\[MAGICBYTE_[A-Z_]+\] )?(.+)$", re.MULTILINE
)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise one of our errors, with one sentence, in place of an error of Spark."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        ours = _OUR_ERROR.findall(str(error))
        if not ours:
            raise InputError(f"Spark failed: {_gist(str(error))}") from error
        name, sentence = ours[-1]
        kind = getattr(errors, name, MagicbyteError)
        if issubclass(kind, InputError):
            raise InputError(sentence) from error
        raise DamagedError(sentence) from error


def _gist(text: str) -> str:
    """Return the line of a Python worker's traceback that names the error, else the first line."""
    named_errors: list[str] = _ANY_ERROR.findall(text)
    lines = [line.removeprefix(": ") for line in text.strip().split("\n")]
    is_from_java = text.startswith("An error occurred while calling") and len(lines) > 1
    return named_errors[-1] if named_errors else lines[is_from_java]
