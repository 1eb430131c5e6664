"""The two checksums of Kafka's entries: CRC-32C in record batches, CRC-32 in messages.

*value* is the checksum of the preceding bytes, so data can be checked in parts.
"""

from collections.abc import Callable
from functools import cache

try:
    from isal import isal_zlib as _zlib
except ImportError:  # no wheel for this machine
    import zlib as _zlib  # type: ignore[no-redef]

__all__ = ["crc32", "crc32c"]


def crc32c(data: bytes | bytearray | memoryview, value: int = 0) -> int:
    """Return the CRC-32C (Castagnoli) of *data*: record batches, magic 2."""
    return _crc32c()(data, value)


@cache
def _crc32c() -> Callable[..., int]:
    # Importing it takes a quarter of the time of `import magicbyte`.
    import crc32c as package

    return package.crc32c


def crc32(data: bytes | bytearray | memoryview, value: int = 0) -> int:
    """Return the CRC-32 (IEEE 802.3) of *data*: messages, magic 0 and 1."""
    return _zlib.crc32(data, value)
