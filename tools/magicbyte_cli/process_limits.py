"""Limits of this process that would end it without a message."""

from contextlib import suppress

LEAST_ADDRESS_SPACE = 280 << 20
"""Bytes. With less, NumPy's and Arrow's libraries load, and then end the process themselves."""


def check_address_space() -> None:
    """Raise MemoryError if the address space is limited (`ulimit -v`) to less than a command needs."""
    with suppress(ImportError):  # Windows has no such limit
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE:
            raise MemoryError
