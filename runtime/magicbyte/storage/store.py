"""A store of objects, or any file system that pyarrow reads: listed, and read by ranges.

Round trips are what it costs, so little is asked and much is read at once: a listing tells the
sizes of all that it names, and bytes come in blocks of 8 MiB, of which the last few are kept.
"""

import errno
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Self

from magicbyte.errors import ChangedError, InputError, MissingError, StoreError
from magicbyte.limits import MIB
from magicbyte.storage.files import FolderItem
from magicbyte.storage.filesystems import Connection, connect
from magicbyte.storage.lru_cache import LruCache
from magicbyte.storage.options import StorageOptions
from magicbyte.storage.urls import parse_url

BLOCK = 8 * MIB
"""Bytes of a file that are asked for at once; only a longer read asks for more."""

KEPT_BYTES = 4 * BLOCK
"""Bytes of blocks that are kept: those of a few threads, and those that a plan has just read."""

MOST_OPEN = 64
"""Files that are kept open. To open one is a request, and one file is read as many splits."""

UNREAD = (0xA7, 0x58)
"""Two values of a byte before it is read, each of which shows whether it was."""

_DENIED = re.compile("ACCESS_DENIED|AccessDenied|Forbidden|PERMISSION_DENIED|AuthorizationFailure")
_AWS = re.compile(
    r"AWS Error (?P<code>\w+)(?: \(HTTP status \d+\))? during (?P<what>\w+) operation: (?P<said>.*)",
    re.DOTALL,
)
_REQUEST_ID = re.compile(r"\s*\(Request ID:.*?\)", re.IGNORECASE | re.DOTALL)
_MOST_SAID = 300


class Store:
    """What lies behind `scheme://authority`. Can be pickled: what it holds open stays behind."""

    def __init__(self, scheme: str, authority: str, options: StorageOptions) -> None:
        self.scheme = scheme
        self.authority = authority
        self.options = options
        self._connected: Connection | None = None
        self._lock = Lock()
        self._blocks: LruCache[bytes] = LruCache(KEPT_BYTES)
        self._open: LruCache[_Handle] = LruCache(MOST_OPEN)

    def __reduce__(self) -> tuple[type["Store"], tuple[str, str, StorageOptions]]:
        return Store, (self.scheme, self.authority, self.options)

    def __repr__(self) -> str:
        return f"<Store {self.scheme}://{self.authority}, {self.options!r}>"

    # What is there

    def item(self, path: str) -> FolderItem | None:
        """Return what *path* is, None where there is nothing."""
        from pyarrow import fs

        with self._asking(path):
            system, inner = self._system(path)
            found = system.get_file_info(inner)
        if found.type == fs.FileType.NotFound:
            return None
        is_folder = found.type == fs.FileType.Directory
        size = 0 if is_folder else found.size
        if size is None:
            size = self._handle(path, None).size_bytes
        return FolderItem(path.rpartition("/")[2], is_folder, size)

    def below(self, path: str, *, recursive: bool) -> Iterator[tuple[str, FolderItem]]:
        """Yield the folder of each name below *path*, relative to it, and the item.

        That is a listing of the store; nothing is yielded where there is no such folder.
        """
        from pyarrow import fs

        with self._asking(path):
            system, inner = self._system(path)
            chosen = fs.FileSelector(inner, recursive=recursive, allow_not_found=False)
            try:
                found = system.get_file_info(chosen)
            except (FileNotFoundError, NotADirectoryError):
                return
        start = len(inner.rstrip("/")) + 1
        for info in found:
            if info.type not in (fs.FileType.File, fs.FileType.Directory):
                continue
            is_folder = info.type == fs.FileType.Directory
            folder, _, name = info.path[start:].rstrip("/").rpartition("/")
            if not name:
                continue
            size = 0 if is_folder else info.size
            if size is None:  # HTTP need not tell it, and taken for nothing it would hide a segment
                where = "/".join(part for part in (path, folder, name) if part)
                size = self._handle(where, None).size_bytes
            yield folder, FolderItem(name, is_folder, size)

    # What is in it

    def open_file(self, path: str, *, size_bytes: int | None = None) -> "StoredFile":
        """Open *path* for ranged reads of its first *size_bytes* bytes, by default of all.

        Where the size is given, nothing is asked before something is read.
        """
        if size_bytes is None:
            size_bytes = self._handle(path, None).size_bytes
        return StoredFile(self, path, size_bytes)

    def block(self, path: str, number: int, size_bytes: int) -> bytes:
        """Return the bytes from *number* * BLOCK on of the file *path*, which has *size_bytes*."""
        begin = number * BLOCK
        length = min(BLOCK, size_bytes - begin)
        return self._blocks.get(
            (path, number, size_bytes), length, lambda: self.read(path, begin, length, size_bytes)
        )

    def read(self, path: str, position: int, length: int, size_bytes: int) -> bytes:
        """Return *length* bytes from *position* of the file *path*: one request.

        Raises ChangedError where the file has not *size_bytes* bytes any more.
        """
        handle = self._handle(path, size_bytes)
        with self._reading(path, size_bytes):
            data = handle.read(position, length)
        if data is None:
            self._check(path, size_bytes)
            raise ChangedError(
                f"fewer than {length} bytes came from byte {position} on", "all of them", path=path
            )
        return data

    def _handle(self, path: str, size_bytes: int | None) -> "_Handle":
        """Return *path* opened, if it has *size_bytes* bytes; pyarrow asks for its size, once."""
        is_planned = size_bytes is not None

        def opened() -> _Handle:
            with self._asking(path, is_planned=is_planned):
                system, inner = self._system(path)
                return _Handle(system.open_input_file(inner))

        handle = self._open.get(path, 1, opened)
        if size_bytes is not None and handle.size_bytes < size_bytes:
            self._open.drop(path)
            raise _shrunk(path, handle.size_bytes, size_bytes)
        return handle

    def _system(self, path: str) -> tuple[Any, str]:
        """Return the file system, and what it calls *path*."""
        with self._lock:
            if self._connected is None:
                self._connected = connect(self.scheme, self.authority, self.options)
        system, inner = self._connected
        url = parse_url(path)
        return system, inner(url.key if url else path)

    # What goes wrong

    @contextmanager
    def _asking(self, path: str, *, is_planned: bool = False) -> Iterator[None]:
        try:
            yield
        except InputError:
            raise
        except FileNotFoundError:
            if is_planned:
                raise _gone(path) from None
            raise MissingError(OSError(errno.ENOENT, ""), path) from None
        except (OSError, ValueError, NotImplementedError) as error:
            # The cause says it all again, and perhaps more than is to be shown.
            raise self._error(path, error) from None

    @contextmanager
    def _reading(self, path: str, size_bytes: int) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            # A file that is shorter, or gone, is refused in words that say neither.
            self._open.drop(path)
            self._check(path, size_bytes)
            raise self._error(path, error) from None

    def _check(self, path: str, size_bytes: int) -> None:
        """Raise ChangedError where the file *path* is gone, or shorter than *size_bytes*."""
        self._open.drop(path)
        now = self.item(path)
        if now is None or now.is_folder:
            raise _gone(path)
        if now.size_bytes < size_bytes:
            raise _shrunk(path, now.size_bytes, size_bytes)

    def _error(self, path: str, error: Exception) -> StoreError:
        said = str(error).strip() or type(error).__name__
        is_denied = isinstance(error, PermissionError) or bool(_DENIED.search(said))
        found = _AWS.search(said)
        if found is not None:
            reason = "" if found["said"].startswith("No response body") else found["said"]
            said = f"{found['code']} during {found['what']}" + (f": {reason}" if reason else "")
        said = _REQUEST_ID.sub("", said).strip().partition("\n")[0]
        said = self.options.scrubbed(said)[:_MOST_SAID]
        return StoreError(said, path=path, is_denied=is_denied)


def _gone(path: str) -> ChangedError:
    return ChangedError("the file is gone since the read was planned", path=path)


def _shrunk(path: str, now: int, size_bytes: int) -> ChangedError:
    return ChangedError(
        f"the file has {now} bytes", f"the {size_bytes} it had when planned", path=path
    )


class _Handle:
    """A file of pyarrow, which several threads read."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.size_bytes: int = file.size()

    def read(self, position: int, length: int) -> bytes | None:
        """Return *length* bytes from *position*; None where fewer came.

        Of an object of S3 that has become shorter pyarrow says that all came, and the rest is what
        was in memory before. So the last byte is set; where it is still the same afterwards, it is
        set otherwise: what came differs from one of the two.
        """
        for unread in UNREAD:
            held = io.BytesIO(bytes(length))
            with held.getbuffer() as view:
                view[-1] = unread
                with self._file.get_stream(position, length) as part:
                    came = part.readinto(view)
                is_whole = came == length and view[-1] != unread
            if is_whole:
                return held.getvalue()  # what was filled, not a copy
        return None


class StoredFile:
    """A file in a store: read in blocks, that are shared by all who have it open."""

    descriptor = None

    def __init__(self, store: Store, path: str, size_bytes: int) -> None:
        self.path = path
        self.name = path.rpartition("/")[2]
        self.size_bytes = size_bytes
        self._store = store

    def read_at(self, position: int, length: int) -> bytes:
        end = position + length
        if end > self.size_bytes:
            raise ChangedError(
                f"the file ends at byte {self.size_bytes}",
                f"{length} bytes from {position}",
                path=self.path,
            )
        if length > BLOCK:
            return self._store.read(self.path, position, length, self.size_bytes)
        parts = []
        while position < end:
            number, at = divmod(position, BLOCK)
            parts.append(self._block(number)[at : at + end - position])
            position += len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _block(self, number: int) -> bytes:
        return self._store.block(self.path, number, self.size_bytes)

    def reader(self, length: int) -> Callable[[int], bytes]:
        block, begin, last = b"", 0, -1

        def read(position: int) -> bytes:
            nonlocal block, begin, last
            at = position - begin
            if not 0 <= at <= last:
                number, at = divmod(position, BLOCK)
                if at + length > BLOCK or position + length > self.size_bytes:
                    return self.read_at(position, min(length, self.size_bytes - position))
                block, begin = self._block(number), number * BLOCK
                last = len(block) - length
            return block[at : at + length]

        return read

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None
