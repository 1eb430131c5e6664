"""What went wrong on Spark, said as we say it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from magicbyte import errors
from magicbyte.errors import InputError, MagicbyteError


class DamagedError(MagicbyteError):
    """Damage, where it is not to be skipped. The message says which and where."""


_THEIRS = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): .+$", re.MULTILINE)
_OURS = re.compile(r"^magicbyte\.(?:[a-z_]+\.)*([A-Z]\w*): (.+)$", re.MULTILINE)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what Spark makes of an error of ours, or of its own, back into one sentence."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        ours = _OURS.findall(str(error))
        if not ours:
            raise InputError(f"Spark failed: {_gist(str(error))}") from error
        name, sentence = ours[-1]
        kind = getattr(errors, name, MagicbyteError)
        if issubclass(kind, InputError):
            raise InputError(sentence) from error
        raise DamagedError(sentence) from error


def _gist(text: str) -> str:
    """Return the line of a Python worker's trace that says what failed, else the first line."""
    theirs: list[str] = _THEIRS.findall(text)
    lines = [line.removeprefix(": ") for line in text.strip().split("\n")]
    from_java = text.startswith("An error occurred while calling") and len(lines) > 1
    return theirs[-1] if theirs else lines[from_java]
