"""The two checksums of Kafka's entries: CRC-32C in record batches, CRC-32 in messages.

`crc32c(data, value=0)` returns the Castagnoli checksum, as v2 batches have it; `crc32(data, value=0)`
the IEEE 802.3 checksum, as v0 and v1 messages have it. *value* is the checksum of the preceding bytes,
so data can be checked in parts.
"""

from typing import TYPE_CHECKING, Any

try:
    from isal.isal_zlib import crc32
except ImportError:  # no wheel for this machine
    from zlib import crc32

if TYPE_CHECKING:
    from crc32c import crc32c

__all__ = ["crc32", "crc32c"]


def __getattr__(name: str) -> Any:
    """Import `crc32c` at its first use, which takes a quarter of the time of `import magicbyte`."""
    if name != "crc32c":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from crc32c import crc32c

    globals()[name] = crc32c
    return crc32c
