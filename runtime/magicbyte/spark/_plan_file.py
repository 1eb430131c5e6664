"""The plan of a batch read in a file, so that many reads share it (option `planPath`)."""

import gzip
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import magicbyte
from magicbyte.errors import InputError
from magicbyte.output_guard import check_outside, check_url_outside
from magicbyte.reading.split import Split
from magicbyte.spark._options import SourceOptions
from magicbyte.spark._pipeline_plan import FORMAT, head_line, splits_of, task_line
from magicbyte.storage import Storage, StorageOptions, is_url
from magicbyte.storage.output_folder import LocalFolder, StoreFolder

Task = tuple[Split, ...]

IRRELEVANT_OPTIONS = ("planpath", "columns", "includeheaders")
"""Options that do not change the plan."""

MEMORY_BYTES = 4 << 20
"""Bytes of a compressed plan in memory until it is complete; a larger one is in a temporary file."""


def load_or_create_plan(
    options: SourceOptions, path: str, create: Callable[[], Iterable[Task]]
) -> Iterator[Task]:
    """Yield the tasks of the plan in *path*; if there is none, the tasks of *create*, which are written there.

    Raises InputError if the file is not a plan, or was made with other options.
    """
    settings = _settings(options)
    file = _StoredPlan(path, options.storage_options) if is_url(path) else _LocalPlan(path)
    stored = file.open()
    if stored is None:
        file.check_outside(options.paths)
        yield from _written(file, create(), settings)
        return
    with stored:
        lines = io.TextIOWrapper(stored, encoding="utf-8", errors="surrogateescape")
        _check(path, lines.readline(), settings)
        storage = Storage(options.storage_options)
        try:
            for line in lines:
                yield tuple(splits_of(line, storage)[1])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError("the plan is malformed", FORMAT, path=path) from error


def _written(
    plan_store: "_LocalPlan | _StoredPlan", planned_tasks: Iterable[Task], settings: dict[str, Any]
) -> Iterator[Task]:
    """Yield *planned_tasks*, and write them to *plan_store* when all are known."""
    folders = set()
    with tempfile.SpooledTemporaryFile(MEMORY_BYTES) as draft:
        with gzip.open(draft, "wb", compresslevel=1) as lines:
            lines.write(f"{head_line(settings)}\n".encode("utf-8", "surrogateescape"))
            for task in planned_tasks:
                line = task_line(task, is_read=True)
                lines.write(f"{line}\n".encode("utf-8", "surrogateescape"))
                for split in task:
                    if split.topic is not None:
                        folders.add(split.file.path.rpartition("/")[0])
                yield task
        plan_store.check_outside(folders)
        draft.seek(0)
        with gzip.open(draft) as plan:
            plan_store.write(plan)


def _settings(options: SourceOptions) -> dict[str, Any]:
    relevant = {
        name: value for name, value in options.raw.items() if name not in IRRELEVANT_OPTIONS
    }
    return {"magicbyte": magicbyte.__version__, **dict(sorted(relevant.items()))}


def _check(path: str, head: str, settings: dict[str, Any]) -> None:
    """Raise InputError unless *head* is the first line of a plan that was made with *settings*."""
    try:
        origin = json.loads(head)
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

    def open(self) -> BinaryIO | None:
        return LocalFolder(self._path.parent).open(self._path.name)

    def check_outside(self, paths: Iterable[str]) -> None:
        """Raise InputError if the file is in one of *paths*, or in a log.dir."""
        check_outside(self._path, (), paths)

    def write(self, plan_stream: io.BufferedIOBase) -> None:
        """Write the bytes of *plan_stream* atomically."""
        folder = LocalFolder(self._path.parent)
        try:
            self._path.parent.stat()  # the folder is not created
            folder.write_from(self._path.name, plan_stream)
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

    def open(self) -> BinaryIO | None:
        return self._folder.open(self._name)

    def check_outside(self, paths: Iterable[str]) -> None:
        """Raise InputError if the object is in one of *paths*."""
        check_url_outside(self._path, paths)

    def write(self, plan_stream: io.BufferedIOBase) -> None:
        self._folder.write_from(self._name, plan_stream)
