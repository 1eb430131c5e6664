"""The codecs of Kafka's formats, by their number.

Which bytes are accepted is what Kafka's Java reader accepts; each module says where it is
stricter. Nothing is sized by a claim that has not been compared with the caller's limit.
"""

from magicbyte.codecs import gzip, lz4, snappy, zstd
from magicbyte.errors import CodecError

__all__ = ["NAMES", "decompress"]

NONE = 0

NAMES = {
    NONE: "none",
    gzip.ID: gzip.NAME,
    snappy.ID: snappy.NAME,
    lz4.ID: lz4.NAME,
    zstd.ID: zstd.NAME,
}
"""Kafka's names, by the number in the lowest three bits of the attributes."""


def decompress(codec: int, section: memoryview | bytes, *, magic: int, max_bytes: int) -> bytes:
    """Return *section*, compressed by *codec* in an entry of *magic*, decompressed.

    Raises CodecError where it is not what *codec* writes, where there is no such codec and
    where *magic* does not allow it; LimitError where it would pass *max_bytes*. Both carry
    the byte in *section*.
    """
    if codec == NONE:
        return bytes(section)
    if codec == gzip.ID:
        return gzip.decompress(section, max_bytes=max_bytes)
    if codec == snappy.ID:
        return snappy.decompress(section, max_bytes=max_bytes)
    if codec == lz4.ID:
        return lz4.decompress(section, magic=magic, max_bytes=max_bytes)
    if codec == zstd.ID:
        if magic < 2:  # KIP-110
            raise CodecError.of(
                zstd.NAME, f"not allowed in magic {magic}; expected 2", code="codec-not-allowed"
            )
        return zstd.decompress(section, max_bytes=max_bytes)
    raise CodecError.of(
        f"codec {codec}", "there is no such codec; expected 0 to 4", code="unknown-codec"
    )
