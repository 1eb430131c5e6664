"""Limits of this process that would end it without a message."""

from contextlib import suppress

LEAST_ADDRESS_SPACE = 512 << 20
"""Bytes. With less, libraries of NumPy, Arrow and LLVM may load and then end the process themselves:
that happened with up to 440 MiB on two processors."""


def check_address_space() -> None:
    """Raise MemoryError if the address space is limited (`ulimit -v`) to less than a command needs."""
    with suppress(ImportError):  # Windows has no such limit
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE:
            raise MemoryError
