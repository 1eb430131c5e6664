"""Decompression of the codecs in Kafka's formats.

Accepts the bytes that Kafka's Java reader accepts; each module says where it is stricter. No
memory is allocated for a size that was not compared with the caller's limit first.
"""

from magicbyte.codecs import gzip, lz4, snappy, zstd
from magicbyte.errors import CodecError

__all__ = ["NAMES", "decompress", "unknown_codec"]

NONE = 0

NAMES = {
    NONE: "none",
    gzip.ID: gzip.NAME,
    snappy.ID: snappy.NAME,
    lz4.ID: lz4.NAME,
    zstd.ID: zstd.NAME,
}
"""Kafka's names of the codecs, by the number in the lowest three bits of the attributes."""


def decompress(codec: int, section: memoryview | bytes, *, magic: int, max_bytes: int) -> bytes:
    """Return the decompressed bytes of *section*, which an entry of *magic* compressed by *codec*.

    Raises CodecError if the bytes are not valid, the codec is unknown or *magic* does not allow
    it; LimitError if the result would exceed *max_bytes*. Both carry the position in *section*.
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
    raise unknown_codec(codec)


def unknown_codec(codec: int) -> CodecError:
    """Return the error for the number *codec* in the attributes of an entry."""
    return CodecError.of(
        f"codec {codec}", "there is no such codec; expected 0 to 4", code="unknown-codec"
    )
