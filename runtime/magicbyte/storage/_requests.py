"""Counts of the requests to object stores: what a read costs there."""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

AT_A_TIME = 16
"""Requests to a store that run at the same time."""

PAGE_KEYS = 1000
"""Objects of one page of a listing; S3, Google and Azure return a page for each request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRequests:
    """Requests to one store. Repetitions after errors are not counted.

    Attributes:
        gets: Requests for bytes of an object.
        heads: Requests for the size and time of an object.
        lists: Requests for a page of a listing, of 1,000 objects.
        requested_bytes: Bytes that the GET requests asked for.
        total: All requests.
    Example:
        >>> mb.StoreRequests(gets=3, heads=1, lists=2, requested_bytes=20_889_600).total
        6
    """

    gets: int = 0
    heads: int = 0
    lists: int = 0
    requested_bytes: int = 0

    @property
    def total(self) -> int:
        """All requests."""
        return self.gets + self.heads + self.lists


class RequestCounter:
    """Counts the requests to one store, from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._gets = self._heads = self._lists = self._requested_bytes = 0

    def add_get(self, num_bytes: int) -> None:
        """Count a request for *num_bytes* bytes of an object."""
        with self._lock:
            self._gets += 1
            self._requested_bytes += num_bytes

    def add_head(self) -> None:
        """Count a request for the size of an object."""
        with self._lock:
            self._heads += 1

    def add_listing(self, num_keys: int) -> None:
        """Count the requests for a listing that has *num_keys* objects and folders."""
        with self._lock:
            self._lists += max(-(-num_keys // PAGE_KEYS), 1)

    def add(self, requests: StoreRequests) -> None:
        """Count *requests* that another process made."""
        with self._lock:
            self._gets += requests.gets
            self._heads += requests.heads
            self._lists += requests.lists
            self._requested_bytes += requests.requested_bytes

    def requests(self) -> StoreRequests:
        """Return the requests so far."""
        with self._lock:
            return StoreRequests(
                gets=self._gets,
                heads=self._heads,
                lists=self._lists,
                requested_bytes=self._requested_bytes,
            )


_counters: dict[str, RequestCounter] = {}
"""Counters by name of the store; all connections to a store share one."""


def counter_of(store_name: str) -> RequestCounter:
    """Return the counter of the store *store_name*."""
    return _counters.setdefault(store_name, RequestCounter())


def add_requests(made: Mapping[str, StoreRequests]) -> None:
    """Count the requests *made*, by name of the store, that another process did for this one."""
    for name, requests in made.items():
        counter_of(name).add(requests)


def requests_since(earlier: Mapping[str, StoreRequests]) -> dict[str, StoreRequests]:
    """Return the requests of this process since `store_requests` returned *earlier*."""
    return {name: _difference(now, earlier.get(name)) for name, now in store_requests().items()}


def _difference(now: StoreRequests, earlier: StoreRequests | None) -> StoreRequests:
    """Return the requests *now* without those counted *earlier*; None: without any."""
    if earlier is None:
        return now
    return StoreRequests(
        gets=now.gets - earlier.gets,
        heads=now.heads - earlier.heads,
        lists=now.lists - earlier.lists,
        requested_bytes=now.requested_bytes - earlier.requested_bytes,
    )


def store_requests() -> dict[str, StoreRequests]:
    """Return the requests to object stores so far, of this process and the processes it started.

    Returns:
        The counts of each store by its name, such as ``s3://bucket``; empty if only local files
        were read.
    Example:
        >>> before = mb.store_requests()
        >>> mb.open("log-0").records().to_table().num_rows > 0
        True
        >>> mb.store_requests() == before  # local files take no requests
        True
    """
    return {name: counter.requests() for name, counter in sorted(_counters.items())}
