"""A thread-safe LRU cache with a size limit; concurrent requests for one key share one load."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


class LruCache(Generic[T]):
    """The most recently used values whose sizes add up to *capacity* or less."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._used = 0
        self._lock = Lock()
        self._entries: OrderedDict[Hashable, tuple[int, Future[T]]] = OrderedDict()

    def get(self, key: Hashable, size: int, load: Callable[[], T]) -> T:
        """Return the value of *key*, which has *size*; call *load* if it is not cached.

        A thread that asks for a value while another thread loads it waits for that load.
        """
        from concurrent.futures import Future  # a slow import, and most processes read no store

        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
                future = entry[1]
            else:
                future = Future()
                self._entries[key] = size, future
                self._used += size
                while self._used > self._capacity and len(self._entries) > 1:
                    _, (freed, _) = self._entries.popitem(last=False)
                    self._used -= freed
        if entry is None:
            try:
                future.set_result(load())
            except BaseException as error:
                self.drop(key, future)
                future.set_exception(error)
                raise
        return future.result()

    def drop(self, key: Hashable, future: "Future[T] | None" = None) -> None:
        """Remove *key*; if *future* is given, only if *key* still has that future."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and future in (None, entry[1]):
                del self._entries[key]
                self._used -= entry[0]
