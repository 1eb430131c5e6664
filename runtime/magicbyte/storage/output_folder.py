"""Folders that are written to, on this machine or in a store. They can be pickled.

Names of files are paths relative to the folder, with `/` between folders.
"""

import io
import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from magicbyte.errors import InputError, MissingError
from magicbyte.storage._options import StorageOptions
from magicbyte.storage._store import Store
from magicbyte.storage._urls import local_path, parse_url

COPIED_BYTES = 1 << 20
"""Bytes of a file of a store that are read or written at a time."""

OBJECT_STORES = ("s3", "gs")
"""Schemes of stores without folders: a file needs none."""


class OutputFolder(Protocol):
    """A folder in which files are created, moved and deleted."""

    @property
    def path(self) -> str:
        """Path or URL of the folder."""

    def child(self, name: str) -> "OutputFolder":
        """Return the folder *name* in this one."""

    def create(self, name: str) -> BinaryIO:
        """Open the new file *name* for writing. In a store, it appears when it is closed."""

    def write(self, name: str, data: bytes) -> None:
        """Write the file *name*, which appears as a whole or replaces an older one as a whole."""

    def write_from(self, name: str, stream: io.BufferedIOBase) -> None:
        """Write the file *name* like `write`, with the rest of *stream*."""

    def open(self, name: str) -> BinaryIO | None:
        """Open the file *name* to read it from its beginning; None if it does not exist."""

    def read(self, name: str) -> bytes | None:
        """Return the content of the file *name*; None if it does not exist."""

    def open_parquet(self, name: str) -> Any:
        """Return the file *name* in a form that pyarrow.parquet reads."""

    def files(self) -> dict[str, int]:
        """Return the size of each file below this folder, by name; empty if the folder does not exist."""

    def transfer(self, name: str, target: "OutputFolder", target_name: str) -> None:
        """Move the file *name* to *target_name* in *target*. A store copies it and keeps the original."""

    def delete(self, name: str) -> None:
        """Delete the file *name*, if it exists."""

    def delete_folder(self) -> None:
        """Delete this folder and all below it, if it exists."""


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """A folder on this machine, or on a file system mounted on it."""

    folder: Path

    @property
    def path(self) -> str:
        return str(self.folder)

    def child(self, name: str) -> "LocalFolder":
        return LocalFolder(self.folder / name)

    def create(self, name: str) -> BinaryIO:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")

    def write(self, name: str, data: bytes) -> None:
        self.write_from(name, io.BytesIO(data))

    def write_from(self, name: str, stream: io.BufferedIOBase) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        try:
            with draft.open("wb") as file:
                shutil.copyfileobj(stream, file)
            draft.replace(path)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise

    def open(self, name: str) -> BinaryIO | None:
        try:
            return (self.folder / name).open("rb")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, name: str) -> bytes | None:
        file = self.open(name)
        if file is None:
            return None
        with file:
            return file.read()

    def open_parquet(self, name: str) -> Path:
        return self.folder / name

    def files(self) -> dict[str, int]:
        return {
            path.relative_to(self.folder).as_posix(): path.stat().st_size
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }

    def transfer(self, name: str, target: OutputFolder, target_name: str) -> None:
        assert isinstance(target, LocalFolder)
        path = target.folder / target_name
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).replace(path)

    def delete(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def delete_folder(self) -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder)


@dataclass(frozen=True, slots=True)
class StoreFolder:
    """A folder of a store: the objects whose keys begin with its path."""

    store: Store
    path: str

    def child(self, name: str) -> "StoreFolder":
        return StoreFolder(self.store, f"{self.path}/{name}")

    def create(self, name: str) -> BinaryIO:
        # It has the methods that writers call, and not all that typing.BinaryIO lists.
        return _StoreStream(self.store, f"{self.path}/{name}")  # type: ignore[return-value]

    def write(self, name: str, data: bytes) -> None:
        with self.create(name) as stream:
            stream.write(data)

    def write_from(self, name: str, stream: io.BufferedIOBase) -> None:
        with self.create(name) as target:
            shutil.copyfileobj(stream, target, COPIED_BYTES)

    def open(self, name: str) -> BinaryIO | None:
        path = f"{self.path}/{name}"
        try:
            with self.store.file_system(path) as (system, inner):
                return io.BufferedReader(system.open_input_file(inner), COPIED_BYTES)
        except MissingError:
            return None

    def read(self, name: str) -> bytes | None:
        path = f"{self.path}/{name}"
        try:
            with (
                self.store.file_system(path) as (system, inner),
                system.open_input_file(inner) as file,
            ):
                data: bytes = file.read()
                return data
        except MissingError:
            return None

    def open_parquet(self, name: str) -> Any:
        path = f"{self.path}/{name}"
        with self.store.file_system(path) as (system, inner):
            return system.open_input_file(inner)

    def files(self) -> dict[str, int]:
        return {
            f"{folder}/{item.name}" if folder else item.name: item.size_bytes
            for folder, item in self.store.below(self.path, recursive=True)
            if not item.is_folder
        }

    def transfer(self, name: str, target: OutputFolder, target_name: str) -> None:
        assert isinstance(target, StoreFolder)
        path = f"{target.path}/{target_name}"
        with self.store.file_system(f"{self.path}/{name}") as (system, inner):
            _, target_inner = _prepared(target.store, path)
            system.copy_file(inner, target_inner)

    def delete(self, name: str) -> None:
        path = f"{self.path}/{name}"
        with suppress(MissingError), self.store.file_system(path) as (system, inner):
            system.delete_file(inner)

    def delete_folder(self) -> None:
        with suppress(MissingError), self.store.file_system(self.path) as (system, inner):
            system.delete_dir(inner)


class _StoreStream(io.RawIOBase):
    """A file of a store that is being written; the store's errors become ours."""

    def __init__(self, store: Store, path: str) -> None:
        self._store, self._path = store, path
        with store.file_system(path):
            system, inner = _prepared(store, path)
            self._stream = system.open_output_stream(inner)

    def writable(self) -> bool:
        return True

    def write(self, chunk: Any) -> int:
        with self._store.file_system(self._path):
            return int(self._stream.write(chunk))

    def tell(self) -> int:
        return int(self._stream.tell())

    def close(self) -> None:
        if not self.closed:
            super().close()
            with self._store.file_system(self._path):
                self._stream.close()


def _prepared(store: Store, path: str) -> tuple[Any, str]:
    """Return pyarrow's file system and *path* as it spells it; its folder exists where there are folders."""
    with store.file_system(path) as (system, inner):
        if store.scheme not in OBJECT_STORES:
            system.create_dir(inner.rpartition("/")[0], recursive=True)
        return system, inner


def output_folder(path: str | os.PathLike[str], options: StorageOptions) -> OutputFolder:
    """Return the folder *path*, on this machine without symbolic links, or in a store with *options*.

    Raises InputError for a URL that names no folder in its store.
    """
    text = os.fspath(path)
    url = parse_url(text)
    if url is None:
        return LocalFolder(Path(os.path.realpath(local_path(text))))
    if not url.key:
        raise InputError("a whole bucket cannot be the output", "a folder in it", path=str(url))
    options.for_scheme(url.scheme)
    return StoreFolder(Store(url.scheme, url.authority, options), str(url))
