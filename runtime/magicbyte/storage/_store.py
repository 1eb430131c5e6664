"""An object store, or any other file system that pyarrow reads: listings and ranged reads.

The cost is the number of requests. So sizes are taken from listings, files are read in blocks of
8 MiB, and the last few blocks are cached.
"""

import errno
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from magicbyte.errors import ChangedError, InputError, MissingError, StoreError
from magicbyte.limits import MIB
from magicbyte.storage._files import File, FolderItem, gone_error, resized_error
from magicbyte.storage._filesystems import Connection, connect
from magicbyte.storage._lru_cache import LruCache
from magicbyte.storage._options import StorageOptions
from magicbyte.storage._recovery import MAX_STORE_FAILURES, Recovery
from magicbyte.storage._requests import RequestCounter, counter_of
from magicbyte.storage._unreadable import UnreadableBytes
from magicbyte.storage._urls import parse_url

BLOCK_BYTES = 8 * MIB
"""Bytes per request; only a longer read asks for more."""

CACHED_BYTES = 4 * BLOCK_BYTES
"""Size of the block cache: enough for a few threads, and for blocks that planning has just read."""

MAX_OPEN_FILES = 64
"""Files that stay open: opening one costs a request, and many splits read the same file."""

UNREAD = (0xA7, 0x58)
"""Two values that mark the last byte of a buffer as not read yet."""

_DENIED = re.compile("ACCESS_DENIED|AccessDenied|Forbidden|PERMISSION_DENIED|AuthorizationFailure")
_UNREACHABLE = re.compile(
    "NETWORK_CONNECTION|SLOW_DOWN|SERVICE_UNAVAILABLE|REQUEST_TIMEOUT|THROTTLING|HTTP status (?:429|503)"
)
_AWS = re.compile(
    r"AWS Error (?P<code>\w+)(?: \(HTTP status \d+\))? during (?P<operation>\w+) operation: (?P<reason>.*)",
    re.DOTALL,
)
_REQUEST_ID = re.compile(r"\s*\(Request ID:.*?\)", re.IGNORECASE | re.DOTALL)
_MAX_REASON_CHARS = 300


class Store:
    """The store `scheme://authority`. It can be pickled, without its open files and cached blocks."""

    def __init__(self, scheme: str, authority: str, storage_options: StorageOptions) -> None:
        self.scheme = scheme
        self.authority = authority
        self.options = storage_options
        self.requests = counter_of(f"{scheme}://{authority}")
        self._connection: Connection | None = None
        self._lock = Lock()
        self._blocks: LruCache[bytes] = LruCache(CACHED_BYTES)
        self._open: LruCache[_Handle] = LruCache(MAX_OPEN_FILES)

    def __reduce__(self) -> tuple[type["Store"], tuple[str, str, StorageOptions]]:
        return Store, (self.scheme, self.authority, self.options)

    def __repr__(self) -> str:
        return f"<Store {self.scheme}://{self.authority}, {self.options!r}>"

    # Listings

    def item(self, path: str) -> FolderItem | None:
        """Return the item at *path*; None if there is none."""
        from pyarrow import fs

        with self._translated_errors(path):
            system, inner = self._system(path)
            self.requests.add_head()
            info = system.get_file_info(inner)
        if info.type != fs.FileType.File:
            self.requests.add_listing(1)  # pyarrow asks whether there is a folder of this name
        if info.type == fs.FileType.NotFound:
            return None
        return self._folder_item(path, info)

    def below(self, path: str, *, recursive: bool) -> Iterator[tuple[str, FolderItem]]:
        """Yield each item below *path* with its folder, relative to *path*: a listing of the store.

        Yields nothing if *path* is no folder.
        """
        from pyarrow import fs

        with self._translated_errors(path):
            system, inner = self._system(path)
            selector = fs.FileSelector(inner, recursive=recursive, allow_not_found=False)
            try:
                infos = system.get_file_info(selector)
            except (FileNotFoundError, NotADirectoryError):
                self.requests.add_listing(0)
                return
        self.requests.add_listing(len(infos))
        start = len(inner.rstrip("/")) + 1
        for info in infos:
            if info.type not in (fs.FileType.File, fs.FileType.Directory):
                continue
            folder, _, name = info.path[start:].rstrip("/").rpartition("/")
            if name:
                item_path = "/".join(part for part in (path, folder, name) if part)
                yield folder, self._folder_item(item_path, info)

    def _folder_item(self, path: str, info: Any) -> FolderItem:
        is_folder = info.type.name == "Directory"
        size = 0 if is_folder else info.size
        if size is None:  # HTTP may omit sizes; as 0 bytes, a segment would look empty
            size = self._handle(path, None).size_bytes
        return FolderItem(path.rpartition("/")[2], is_folder, size)

    # Reads

    def open_file(self, path: str, *, size_bytes: int | None = None) -> "StoredFile":
        """Open *path* for ranged reads of its first *size_bytes* bytes; default: the whole file.

        With a known size, the first request is the first read.
        """
        if size_bytes is None:
            size_bytes = self._handle(path, None).size_bytes
        return StoredFile(self, path, size_bytes)

    def open_segment(self, path: str, *, size_bytes: int | None) -> "StoredSegment":
        """Open the segment *path*, whose readable bytes are read even if others cannot be."""
        if size_bytes is None:
            size_bytes = self._handle(path, None).size_bytes
        return StoredSegment(self, path, size_bytes)

    def block(self, path: str, number: int, size_bytes: int) -> bytes:
        """Return block *number* of the file *path*, which has *size_bytes* bytes."""
        begin = number * BLOCK_BYTES
        length = min(BLOCK_BYTES, size_bytes - begin)
        return self._blocks.get(
            (path, number, size_bytes), length, lambda: self.read(path, begin, length, size_bytes)
        )

    def read(self, path: str, position: int, length: int, size_bytes: int) -> bytes:
        """Return *length* bytes from *position* of the file *path*, with one request.

        Raises ChangedError if the file no longer has *size_bytes* bytes.
        """
        handle = self._handle(path, size_bytes)
        with self._read_errors(path, size_bytes):
            data = handle.read(position, length)
        if data is None:
            self._check(path, size_bytes)
            raise ChangedError(
                f"the store sent fewer than {length} bytes from byte {position}",
                "all of them",
                path=path,
            )
        return data

    def _handle(self, path: str, size_bytes: int | None) -> "_Handle":
        """Return the open file *path*; ChangedError if it has fewer than *size_bytes* bytes."""
        is_planned = size_bytes is not None

        def open_handle() -> _Handle:
            with self._translated_errors(path, is_planned=is_planned):
                system, inner = self._system(path)
                self.requests.add_head()
                return _Handle(system.open_input_file(inner), self.requests)

        handle = self._open.get(path, 1, open_handle)
        if size_bytes is not None and handle.size_bytes < size_bytes:
            self._open.drop(path)
            raise resized_error(path, handle.size_bytes, size_bytes)
        return handle

    def _system(self, path: str) -> tuple[Any, str]:
        """Return the pyarrow file system, and *path* as that file system spells it."""
        with self._lock:
            if self._connection is None:
                self._connection = connect(self.scheme, self.authority, self.options)
        system, inner = self._connection
        url = parse_url(path)
        return system, inner(url.key if url else path)

    # Errors

    @contextmanager
    def _translated_errors(self, path: str, *, is_planned: bool = False) -> Iterator[None]:
        try:
            yield
        except InputError:
            raise
        except FileNotFoundError:
            if is_planned:
                raise gone_error(path) from None
            raise MissingError(OSError(errno.ENOENT, ""), path) from None
        except (OSError, ValueError, NotImplementedError) as error:
            # The error is raised without its cause, which may contain secrets.
            raise self._error(path, error) from None

    @contextmanager
    def _read_errors(self, path: str, size_bytes: int) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            # The store's error does not say whether the file is shorter now, or gone.
            self._open.drop(path)
            self._check(path, size_bytes)
            raise self._error(path, error) from None

    def _check(self, path: str, size_bytes: int) -> None:
        """Raise ChangedError if the file *path* is gone, or has fewer than *size_bytes* bytes."""
        self._open.drop(path)
        item = self.item(path)
        if item is None or item.is_folder:
            raise gone_error(path)
        if item.size_bytes < size_bytes:
            raise resized_error(path, item.size_bytes, size_bytes)

    def _error(self, path: str, error: Exception) -> StoreError:
        text = str(error).strip() or type(error).__name__
        is_denied = isinstance(error, PermissionError) or bool(_DENIED.search(text))
        is_unreachable = bool(_UNREACHABLE.search(text))
        aws = _AWS.search(text)
        if aws is not None:
            reason = "" if aws["reason"].startswith("No response body") else aws["reason"]
            text = f"{aws['code']} during {aws['operation']}" + (f": {reason}" if reason else "")
        text = _REQUEST_ID.sub("", text).strip().partition("\n")[0]
        text = self.options.scrub(text)[:_MAX_REASON_CHARS]
        return StoreError(text, path=path, is_denied=is_denied, is_unreachable=is_unreachable)


class _Handle:
    """An open pyarrow file, which several threads read."""

    def __init__(self, handle: Any, requests: RequestCounter) -> None:
        self._file = handle
        self._requests = requests
        self.size_bytes: int = handle.size()

    def read(self, position: int, length: int) -> bytes | None:
        """Return *length* bytes from *position*; None if the store sent fewer.

        If an S3 object has become shorter, pyarrow still reports *length* bytes, and leaves the rest
        of the buffer as it was. So the last byte is set to a mark before the read. If the mark is
        still there, the read is repeated with another mark: the file's byte can equal only one.
        """
        for unread in UNREAD:
            self._requests.add_get(length)
            buffer = io.BytesIO(bytes(length))
            with buffer.getbuffer() as view:
                view[-1] = unread
                with self._file.get_stream(position, length) as stream:
                    count = stream.readinto(view)
                is_whole = count == length and view[-1] != unread
            if is_whole:
                return buffer.getvalue()  # no copy
        return None


class StoredFile(File):
    """A file in a store, read in blocks that all its readers share."""

    descriptor = None
    unreadable: UnreadableBytes | None = None

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
        if length > BLOCK_BYTES:
            return self._store.read(self.path, position, length, self.size_bytes)
        parts = []
        while position < end:
            number, at = divmod(position, BLOCK_BYTES)
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
                number, at = divmod(position, BLOCK_BYTES)
                if at + length > BLOCK_BYTES or position + length > self.size_bytes:
                    return self.read_at(position, min(length, self.size_bytes - position))
                block, begin = self._block(number), number * BLOCK_BYTES
                last = len(block) - length
            return block[at : at + length]

        return read


class StoredSegment(StoredFile):
    """A file in a store, whose readable bytes are read even if others cannot be."""

    def __init__(self, store: Store, path: str, size_bytes: int) -> None:
        super().__init__(store, path, size_bytes)
        self._recovery: Recovery | None = None
        self._last_recovered: tuple[int, bytes] | None = None
        """Number and bytes of the last block that was recovered."""

    def read_at(self, position: int, length: int) -> bytes:
        try:
            return super().read_at(position, length)
        except StoreError:  # of a read that is longer than a block
            return self._read_around(position, length)

    def _block(self, number: int) -> bytes:
        if self._last_recovered is not None and self._last_recovered[0] == number:
            return self._last_recovered[1]
        try:
            return super()._block(number)
        except StoreError:
            begin = number * BLOCK_BYTES
            data = self._read_around(begin, min(BLOCK_BYTES, self.size_bytes - begin))
            self._last_recovered = number, data
            return data

    def _read_around(self, position: int, length: int) -> bytes:
        if self._recovery is None:
            self._recovery = Recovery(
                self.path, self.size_bytes, self._read_range, max_failures=MAX_STORE_FAILURES
            )
            self.unreadable = self._recovery.unreadable
        return self._recovery.read(position, length)

    def _read_range(self, position: int, length: int) -> bytes:
        return self._store.read(self.path, position, length, self.size_bytes)
