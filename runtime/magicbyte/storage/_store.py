"""An object store, or any other file system that pyarrow reads: listings and ranged reads.

The cost is the number of requests. So sizes are taken from listings, and files stay open.
"""

import errno
import io
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

from magicbyte.errors import ChangedError, InputError, MissingError, StoreError
from magicbyte.storage._extents import ExtentCache
from magicbyte.storage._files import FolderItem, ObjectVersion, gone_error, resized_error
from magicbyte.storage._filesystems import Connection, connect
from magicbyte.storage._lru_cache import LruCache
from magicbyte.storage._options import StorageOptions
from magicbyte.storage._requests import RequestCounter, counter_of
from magicbyte.storage._stored_file import StoredFile, StoredSegment
from magicbyte.storage._urls import parse_url

if TYPE_CHECKING:
    from concurrent.futures import Executor

MAX_OPEN_FILES = 64
"""Files that stay open: opening one costs a request, and many splits read the same file."""

AHEAD_THREADS = 2
"""Threads that request blocks ahead of their readers."""

CHECK_SECONDS = 1.0
"""Time for which a version that was checked is taken to be the current one."""

MAX_CHECKED = 1 << 16
"""Objects whose version or ETag is remembered, about 20 MB: those that were read first are forgotten."""

REPLACED_AS_A_WHOLE = ("s3", "gs", "abfss")
"""Schemes of stores whose objects do not grow: an object of another size or time is another object."""

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
        self.extents = ExtentCache()
        self._open: LruCache[_Handle] = LruCache(MAX_OPEN_FILES)
        self._etags: dict[str, str | None] = {}
        """ETags of the objects that were read, None in stores without them."""
        self._checked: dict[str, tuple[ObjectVersion, float]] = {}
        """Versions of the objects when they were checked, and the time."""
        self._threads: Executor | None = None

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
        modified = None if info.mtime_ns is None else info.mtime_ns // 1_000_000_000
        listed_version = None if is_folder else ObjectVersion(size, modified)
        return FolderItem(path.rpartition("/")[2], is_folder, size, listed_version=listed_version)

    # Reads

    def open_file(self, path: str, *, size_bytes: int | None = None) -> StoredFile:
        """Open *path* for ranged reads of its first *size_bytes* bytes; default: the whole file.

        With a known size, the first request is the first read.
        """
        if size_bytes is None:
            size_bytes = self._handle(path, None).size_bytes
        return StoredFile(self, path, size_bytes)

    def open_segment(
        self,
        path: str,
        *,
        size_bytes: int | None,
        listed_version: ObjectVersion | None = None,
        is_closed: bool = False,
    ) -> StoredSegment:
        """Open the segment *path*, whose readable bytes are read even if others cannot be.

        Reads raise ChangedError if the object is not the one of *listed_version* any more. The last segment of
        a log may have grown, unless it *is_closed*, in a store that appends to files.
        """
        if size_bytes is None:
            size_bytes = self._handle(path, None).size_bytes
        may_grow = not is_closed and self.scheme not in REPLACED_AS_A_WHOLE
        return StoredSegment(self, path, size_bytes, listed_version, may_grow=may_grow)

    def check_version(self, path: str, listed_version: ObjectVersion, *, may_grow: bool) -> None:
        """Raise ChangedError if the object *path* is not the one of *listed_version* any more.

        pyarrow asks for the size, time and ETag of an object when it opens it. That is not repeated for a
        second: times are whole seconds.
        """
        checked, at = self._checked.get(path, (None, 0.0))
        if checked == listed_version and time.monotonic() - at < CHECK_SECONDS:
            return
        self._open.drop(path)
        handle = self._handle(path, listed_version.size_bytes)
        if may_grow:
            return
        if handle.size_bytes != listed_version.size_bytes:
            raise resized_error(path, handle.size_bytes, listed_version.size_bytes)
        modified = handle.modified
        if modified is None and listed_version.modified is not None:
            modified = self._check(path, listed_version.size_bytes).modified
        if None not in (modified, listed_version.modified) and modified != listed_version.modified:
            found, expected = _text(modified), _text(listed_version.modified)
            raise _replaced_error(
                path, f"written at {found}", f"at {expected}, as when it was listed"
            )
        etag = self._etags.setdefault(path, handle.etag)
        if etag != handle.etag:
            raise _replaced_error(path, f"of ETag {handle.etag}", f"of ETag {etag}, as before")
        self._checked[path] = listed_version, time.monotonic()
        for facts in (self._etags, self._checked):
            while len(facts) > MAX_CHECKED:
                with suppress(KeyError, RuntimeError, StopIteration):  # another thread drops, too
                    del facts[next(iter(facts))]

    def submit(self, task: Callable[[], object]) -> None:
        """Run *task* in one of the threads that read ahead. Its errors are met again by the reader."""
        from concurrent.futures import ThreadPoolExecutor  # a slow import

        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(AHEAD_THREADS, "magicbyte-read-ahead")
        with suppress(RuntimeError):  # the interpreter ends
            self._threads.submit(task)

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

    @contextmanager
    def file_system(self, path: str) -> Iterator[tuple[Any, str]]:
        """Provide pyarrow's file system and *path* as it spells it; its errors become ours."""
        with self._translated_errors(path):
            yield self._system(path)

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

    def _check(self, path: str, size_bytes: int) -> ObjectVersion:
        """Return the version of the file *path* now.

        Raises ChangedError if the file is gone, or has fewer than *size_bytes* bytes.
        """
        item = self.item(path)
        if item is None or item.listed_version is None:
            raise gone_error(path)
        if item.size_bytes < size_bytes:
            raise resized_error(path, item.size_bytes, size_bytes)
        return item.listed_version

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


def _seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def _text(seconds: int | None) -> str:
    return (
        "an unknown time" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%FT%TZ}"
    )


def _replaced_error(path: str, found: str, expected: str) -> ChangedError:
    return ChangedError(f"an object {found}", f"one {expected}", path=path)


class _Handle:
    """An open pyarrow file, which several threads read."""

    def __init__(self, handle: Any, requests: RequestCounter) -> None:
        self._file = handle
        self._requests = requests
        self.size_bytes: int = handle.size()
        metadata: dict[str, bytes] = {}
        with suppress(OSError, NotImplementedError):
            metadata = handle.metadata() or {}  # no request
        self.etag = metadata["ETag"].decode() if "ETag" in metadata else None
        self.modified: int | None = None
        """Seconds since the Unix epoch; None if the file system does not say."""
        with suppress(KeyError, ValueError):
            self.modified = _seconds(metadata["Last-Modified"].decode())

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
