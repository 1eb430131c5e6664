"""Named conditions of the data source's errors, such as `[MAGICBYTE_NO_SUCH_TOPIC]`.

Spark hands a worker's error to the user as text: the traceback, with the error's own sentence at its end.
In a process that Spark runs, the traceback is left out, and the sentence begins with the condition.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from magicbyte.errors import (
    ChangedError,
    FormatError,
    InputError,
    LimitError,
    MagicbyteError,
    MissingError,
    StoreError,
    TopicError,
    UnreadableError,
)

CONDITIONS = {
    "MAGICBYTE_UNKNOWN_OPTION": "an option does not exist",
    "MAGICBYTE_INVALID_OPTION": "the value of an option is not allowed, or contradicts another option",
    "MAGICBYTE_INVALID_SCHEMA": "a column does not exist, or cannot have that type",
    "MAGICBYTE_NO_SUCH_PATH": "a path does not exist or may not be read",
    "MAGICBYTE_NO_SUCH_TOPIC": "a topic is not below the paths",
    "MAGICBYTE_NOT_A_TABLE": "CREATE TABLE: only a temporary view keeps the options",
    "MAGICBYTE_DATA_LOSS": "offsets that were asked for do not exist (`failOnDataLoss`)",
    "MAGICBYTE_DAMAGED": "bytes are not what a broker wrote (`onDamage`)",
    "MAGICBYTE_UNREADABLE": "a file exists, and the system does not deliver it",
    "MAGICBYTE_CHANGED": "the files changed during the read: read again",
    "MAGICBYTE_STORE": "an object store cannot be reached, or refuses",
    "MAGICBYTE_OVER_LIMIT": "a batch is larger than a limit",
    "MAGICBYTE_INVALID_INPUT": "something else is wrong with the paths or the options",
}
"""Meaning of each condition."""

_CONDITIONS_OF_CLASSES: tuple[tuple[type[MagicbyteError], str], ...] = (
    (TopicError, "MAGICBYTE_NO_SUCH_TOPIC"),
    (MissingError, "MAGICBYTE_NO_SUCH_PATH"),
    (UnreadableError, "MAGICBYTE_UNREADABLE"),
    (ChangedError, "MAGICBYTE_CHANGED"),
    (StoreError, "MAGICBYTE_STORE"),
    (FormatError, "MAGICBYTE_DAMAGED"),
    (LimitError, "MAGICBYTE_OVER_LIMIT"),
)

_CONDITION = re.compile(r"\[(MAGICBYTE_[A-Z_]+)\] ")

Error = TypeVar("Error", bound=MagicbyteError)


def error_condition(error: BaseException) -> str | None:
    """Return the condition that the data source gave an error of Spark.

    Args:
        error: An exception that Spark raised, such as an AnalysisException or a PythonException.
    Returns:
        The name in brackets, such as ``"MAGICBYTE_NO_SUCH_TOPIC"``; None for an error of another origin.
    Example:
        >>> error_condition(ValueError("magicbyte.errors.TopicError: [MAGICBYTE_NO_SUCH_TOPIC] no topic 'x'"))
        'MAGICBYTE_NO_SUCH_TOPIC'
    """
    match = _CONDITION.search(str(error))
    return match[1] if match is not None and match[1] in CONDITIONS else None


def with_condition(error: Error, condition: str) -> Error:
    """Return *error*, which gets *condition* unless it has one already."""
    error.__dict__.setdefault("condition", condition)
    return error


@contextmanager
def input_errors_have(condition: str) -> Iterator[None]:
    """Give *condition* to each InputError that is of none of its subclasses, which have their own."""
    try:
        yield
    except InputError as error:
        if type(error) is InputError:
            with_condition(error, condition)
        raise


def condition_of(error: MagicbyteError) -> str:
    """Return the condition of *error*: the one that it was given, or the one of its class."""
    given: str | None = error.__dict__.get("condition")
    if given is not None:
        return given
    for kind, condition in _CONDITIONS_OF_CLASSES:
        if isinstance(error, kind):
            return condition
    return "MAGICBYTE_INVALID_INPUT"


def name_in_spark(error: MagicbyteError) -> None:
    """Make Spark show *error* as one sentence that begins with its condition.

    In a process that Spark did not start, *error* is not changed. A worker of Spark ends after an error,
    so that its environment affects no other task.
    """
    if is_spark_worker():
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        if not hasattr(error, "has_condition_in_text"):
            error.__class__ = _named_class(type(error))


def is_spark_worker() -> bool:
    """Return whether Spark started this process, to plan a read or to run tasks."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and spec.name.startswith("pyspark.")


def _named_class(error_class: type[MagicbyteError]) -> type[MagicbyteError]:
    """Return a subclass of *error_class* with its name, whose text begins with the condition.

    Spark's text of an error has the form of Python: module and name of its class, and the error as a string.
    """

    def text(self: MagicbyteError) -> str:
        return f"[{condition_of(self)}] {error_class.__str__(self)}"

    return type(
        error_class.__name__,
        (error_class,),
        {
            "__module__": error_class.__module__,
            "__qualname__": error_class.__qualname__,
            "__str__": text,
            "has_condition_in_text": True,
        },
    )
