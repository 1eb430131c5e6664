"""A store whose objects are local files: logs in it are planned as logs in an object store are."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import magicbyte as mb
from magicbyte import storage
from magicbyte.reading.dataset import Dataset


class LocalStore:
    """A stand-in for `magicbyte.storage.Store`, which counts the bytes that are read of each file."""

    options = storage.NO_OPTIONS

    def __init__(self) -> None:
        self.read_bytes: Counter[str] = Counter()

    def open_segment(self, path: str, *, size_bytes: int, **_: Any) -> storage.File:
        return self._counted(storage.SegmentFile(path, size_bytes))

    def open_file(self, path: str, *, size_bytes: int | None = None, **_: Any) -> storage.File:
        return self._counted(storage.LocalFile(path, size_bytes))

    def _counted(self, file: Any) -> storage.File:
        read_at = file.read_at

        def counted(position: int, length: int) -> bytes:
            self.read_bytes[file.name] += length
            data: bytes = read_at(position, length)
            return data

        file.read_at = counted
        opened: storage.File = file
        return opened


def open_stored(path: Path | str, **options: Any) -> tuple[Dataset, LocalStore]:
    """Return the dataset of *path* as if its files were in a store, and that store."""
    dataset, store = mb.open(path, **options), LocalStore()
    stored: Any = store
    logs = [
        replace(log, files=tuple(replace(file, store=stored) for file in log.files))
        for log in dataset.logs
    ]
    return Dataset(logs, dataset.options), store
