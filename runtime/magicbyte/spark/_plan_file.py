"""The plan of a batch read in a file, so that many reads share it (option `planPath`)."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import magicbyte
from magicbyte.errors import InputError
from magicbyte.output_guard import check_outside, check_url_outside
from magicbyte.reading.split import Split
from magicbyte.spark._options import SourceOptions
from magicbyte.spark._pipeline_plan import FORMAT, splits_of, task_lines, text_of_tasks
from magicbyte.storage import Storage, StorageOptions, is_url
from magicbyte.storage.output_folder import LocalFolder, StoreFolder

Tasks = Sequence[tuple[Split, ...]]

IRRELEVANT_OPTIONS = ("planpath", "columns", "includeheaders")
"""Options that do not change the plan."""


def load_or_create_plan(options: SourceOptions, path: str, create: Callable[[], Tasks]) -> Tasks:
    """Return the tasks of the plan in *path*; if there is none, *create* and write them.

    Raises InputError if the file is not a plan, or was made with other options.
    """
    settings = _settings(options)
    file = _StoredPlan(path, options.storage_options) if is_url(path) else _LocalPlan(path)
    text = file.read()
    if text is None:
        file.check_outside(options.paths)
        tasks = create()
        named = (split for splits in tasks for split in splits if split.topic is not None)
        file.check_outside({split.file.path.rpartition("/")[0] for split in named})
        file.write(text_of_tasks([(True, tasks)], about=settings))
        return tasks
    _check(path, text, settings)
    storage = Storage(options.storage_options)
    try:
        return [tuple(splits_of(line, storage)[1]) for line in task_lines(text)]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError("the plan is malformed", FORMAT, path=path) from error


def _settings(options: SourceOptions) -> dict[str, Any]:
    relevant = {
        name: value for name, value in options.raw.items() if name not in IRRELEVANT_OPTIONS
    }
    return {"magicbyte": magicbyte.__version__, **dict(sorted(relevant.items()))}


def _check(path: str, text: str, settings: dict[str, Any]) -> None:
    """Raise InputError unless *text* is a plan that was made with *settings*."""
    try:
        origin = json.loads(text.partition("\n")[0])
    except ValueError:
        origin = None
    if not isinstance(origin, dict) or origin.pop("format", None) != FORMAT:
        raise InputError("the file is not a plan", FORMAT, path=path)
    for name in sorted(origin.keys() | settings.keys()):
        stored, current = origin.get(name), settings.get(name)
        if stored != current:
            raise InputError(
                f"the plan was made with {f'no {name}' if stored is None else f'{name} {stored}'}",
                f"{'none' if current is None else current}, as in this read, or another planPath",
                path=path,
            )


class _LocalPlan:
    """A plan in a file on this machine."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def read(self) -> str | None:
        try:
            return self._path.read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            return None

    def check_outside(self, paths: Iterable[str]) -> None:
        """Raise InputError if the file is in one of *paths*, or in a log.dir."""
        check_outside(self._path, (), paths)

    def write(self, text: str) -> None:
        """Write *text* atomically."""
        folder = LocalFolder(self._path.parent)
        try:
            self._path.parent.stat()  # the folder is not created
            folder.write(self._path.name, text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise InputError(
                error.strerror or "the plan cannot be written",
                "a writable file",
                path=str(self._path),
            ) from error


class _StoredPlan:
    """A plan in an object of a store."""

    def __init__(self, path: str, storage_options: StorageOptions) -> None:
        store = Storage(storage_options).store_of(path)
        assert store is not None
        folder, _, self._name = path.rpartition("/")
        self._path, self._folder = path, StoreFolder(store, folder)

    def read(self) -> str | None:
        data = self._folder.read(self._name)
        return None if data is None else data.decode("utf-8", "surrogateescape")

    def check_outside(self, paths: Iterable[str]) -> None:
        """Raise InputError if the object is in one of *paths*."""
        check_url_outside(self._path, paths)

    def write(self, text: str) -> None:
        self._folder.write(self._name, text.encode("utf-8", "surrogateescape"))
