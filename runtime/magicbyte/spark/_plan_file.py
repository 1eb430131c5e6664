"""The plan of a batch read in a file, so that many reads share it (option `planPath`)."""

import json
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import magicbyte
from magicbyte.errors import InputError
from magicbyte.output_guard import check_outside
from magicbyte.reading.split import Split
from magicbyte.spark._options import SourceOptions
from magicbyte.spark.pipeline_plan import FORMAT, splits_of, task_lines, text_of_tasks
from magicbyte.storage import Storage

Tasks = Sequence[tuple[Split, ...]]

IRRELEVANT_OPTIONS = ("planpath", "columns", "includeheaders")
"""Options that do not change the plan."""


def load_or_create_plan(options: SourceOptions, path: Path, create: Callable[[], Tasks]) -> Tasks:
    """Return the tasks of the plan in *path*; if there is none, *create* and write them.

    Raises InputError if the file is not a plan, or was made with other options.
    """
    settings = _settings(options)
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        check_outside(path, (), options.paths)
        tasks = create()
        named = (split for splits in tasks for split in splits if split.topic is not None)
        check_outside(path, (), {split.file.path.rpartition("/")[0] for split in named})
        _write(path, text_of_tasks([(True, tasks)], about=settings))
        return tasks
    _check(path, text, settings)
    storage = Storage(options.storage_options)
    try:
        return [tuple(splits_of(line, storage)[1]) for line in task_lines(text)]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError("the plan is malformed", FORMAT, path=str(path)) from error


def _settings(options: SourceOptions) -> dict[str, Any]:
    relevant = {
        name: value for name, value in options.raw.items() if name not in IRRELEVANT_OPTIONS
    }
    return {"magicbyte": magicbyte.__version__, **dict(sorted(relevant.items()))}


def _check(path: Path, text: str, settings: dict[str, Any]) -> None:
    """Raise InputError unless *text* is a plan that was made with *settings*."""
    try:
        origin = json.loads(text.partition("\n")[0])
    except ValueError:
        origin = None
    if not isinstance(origin, dict) or origin.pop("format", None) != FORMAT:
        raise InputError("the file is not a plan", FORMAT, path=str(path))
    for name in sorted(origin.keys() | settings.keys()):
        stored, current = origin.get(name), settings.get(name)
        if stored != current:
            raise InputError(
                f"the plan was made with {f'no {name}' if stored is None else f'{name} {stored}'}",
                f"{'none' if current is None else current}, as in this read, or another planPath",
                path=str(path),
            )


def _write(path: Path, text: str) -> None:
    """Write *text* to *path* atomically."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        draft.write_text(text, encoding="utf-8", errors="surrogateescape")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InputError(
            error.strerror or "the plan cannot be written", "a writable file", path=str(path)
        ) from error
