"""Contents of small objects that this process has read, so that opening logs again requests only new ones.

A stream opens its logs for each trigger, and each partition has two small files.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

from magicbyte.limits import MIB
from magicbyte.storage._files import ObjectVersion
from magicbyte.storage._options import StorageOptions

MAX_FILE_BYTES = 64 << 10
"""Bytes of the largest object that is kept."""

MAX_BYTES = 16 * MIB
"""Bytes of all objects that are kept."""

MAX_FILES = 1 << 17
"""Objects that are kept: two of each of 65,000 partitions, about 50 MB."""

SETTLED_SECONDS = 2
"""Age from which an object is kept: until then, another one may get the same time, in whole seconds."""


class SmallFiles:
    """Objects by version; the least recently used ones are dropped."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._contents: OrderedDict[Hashable, bytes] = OrderedDict()
        self._num_bytes = 0

    def get(self, key: Hashable) -> bytes | None:
        """Return the content of *key*; None if it is not kept."""
        with self._lock:
            content = self._contents.get(key)
            if content is not None:
                self._contents.move_to_end(key)
            return content

    def add(self, key: Hashable, content: bytes) -> None:
        """Keep the *content* of *key*."""
        with self._lock:
            self._num_bytes += len(content) - len(self._contents.pop(key, b""))
            self._contents[key] = content
            while self._num_bytes > MAX_BYTES or len(self._contents) > MAX_FILES:
                _, oldest = self._contents.popitem(last=False)
                self._num_bytes -= len(oldest)

    def clear(self) -> None:
        """Drop all objects."""
        with self._lock:
            self._contents.clear()
            self._num_bytes = 0


small_files = SmallFiles()


def key_of(
    path: str, listed_version: ObjectVersion | None, storage_options: StorageOptions
) -> Hashable | None:
    """Return the key of the object *path*; None if it is not kept: too large, too new, or without a time."""
    if listed_version is None or listed_version.modified is None:
        return None
    is_settled = time.time() - listed_version.modified > SETTLED_SECONDS
    if listed_version.size_bytes > MAX_FILE_BYTES or not is_settled:
        return None
    return path, listed_version, *endpoint_key(storage_options)


def endpoint_key(storage_options: StorageOptions) -> tuple[Hashable, ...]:
    """Return what tells the stores of one name apart: options, and where the environment says they are."""
    endpoints = [os.environ.get(name) for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")]
    return storage_options.key, *endpoints
