"""What was got lately and may be wanted again: within a room, and got once whoever asks."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


class LruCache(Generic[T]):
    """The last things that were asked for, as many as *room* has space for; safe for threads."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._taken = 0
        self._lock = Lock()
        self._things: OrderedDict[Hashable, tuple[int, Future[T]]] = OrderedDict()

    def get(self, key: Hashable, space: int, make: Callable[[], T]) -> T:
        """Return the thing of *key*, which takes *space*: what *make* returns where it is not there.

        Who asks for what is being made waits for it.
        """
        from concurrent.futures import Future  # takes its time, and most read no store

        with self._lock:
            known = self._things.get(key)
            if known is not None:
                self._things.move_to_end(key)
                thing = known[1]
            else:
                thing = Future()
                self._things[key] = space, thing
                self._taken += space
                while self._taken > self._room and len(self._things) > 1:
                    _, (freed, _) = self._things.popitem(last=False)
                    self._taken -= freed
        if known is None:
            try:
                thing.set_result(make())
            except BaseException as error:
                self.drop(key, thing)
                thing.set_exception(error)
                raise
        return thing.result()

    def drop(self, key: Hashable, thing: "Future[T] | None" = None) -> None:
        """Forget the thing of *key*; of two by that name the one that is *thing*."""
        with self._lock:
            known = self._things.get(key)
            if known is not None and thing in (None, known[1]):
                del self._things[key]
                self._taken -= known[0]
