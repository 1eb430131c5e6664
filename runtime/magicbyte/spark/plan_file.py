"""A plan that is kept in a file, so that many reads are planned once."""

import json
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import magicbyte
from magicbyte.errors import InputError
from magicbyte.reading.split import Split
from magicbyte.spark.options import SourceOptions
from magicbyte.spark.plan import FORMAT, splits_of, task_lines, text_of_tasks
from magicbyte.storage import Storage

Tasks = Sequence[tuple[Split, ...]]

OF_NO_PLAN = ("planpath", "columns", "includeheaders")
"""Options of which nothing hangs on in a plan."""


def kept(read: SourceOptions, path: Path, make: Callable[[], Tasks]) -> Tasks:
    """Return the tasks of the plan in *path*; where it is not there, those that it *make*s, and keep them.

    Raises InputError where the file is no plan, or that of another read.
    """
    settings = _settings(read)
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        made = make()
        _write(path, text_of_tasks([(True, made)], about=settings))
        return made
    _check(path, text, settings)
    storage = Storage(read.storage_options)
    try:
        return [tuple(splits_of(line, storage)[1]) for line in task_lines(text)]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError("a plan that cannot be read", FORMAT, path=str(path)) from error


def _settings(read: SourceOptions) -> dict[str, Any]:
    options = {name: value for name, value in read.given.items() if name not in OF_NO_PLAN}
    return {"magicbyte": magicbyte.__version__, **dict(sorted(options.items()))}


def _check(path: Path, text: str, settings: dict[str, Any]) -> None:
    """Raise InputError unless *text* is a plan that was made with *settings*."""
    try:
        head = json.loads(text.partition("\n")[0])
    except ValueError:
        head = None
    if not isinstance(head, dict) or head.pop("format", None) != FORMAT:
        raise InputError("no plan", FORMAT, path=str(path))
    for name in sorted(head.keys() | settings.keys()):
        theirs, ours = head.get(name), settings.get(name)
        if theirs != ours:
            raise InputError(
                f"a plan of a read with {'no ' if theirs is None else ''}{name}"
                f"{'' if theirs is None else f' {theirs}'}",
                f"{'none' if ours is None else ours}, as this read has it, or another planPath",
                path=str(path),
            )


def _write(path: Path, text: str) -> None:
    """Write *text* to *path*, whole or not at all."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        draft.write_text(text, encoding="utf-8", errors="surrogateescape")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InputError(
            error.strerror or "it cannot be written", "a file", path=str(path)
        ) from error
