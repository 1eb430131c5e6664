"""Decompression of the codecs in Kafka's formats.

Accepts the bytes that Kafka's Java reader accepts; each module says where it is stricter. No
memory is allocated for a size that was not compared with the caller's limit first.
"""

from magicbyte.errors import CodecError
from magicbyte_formats.wire import CODEC_NAMES, Codec

__all__ = ["decompress", "unknown_codec"]


def decompress(codec: int, section: memoryview | bytes, *, magic: int, max_bytes: int) -> bytes:
    """Return the decompressed bytes of *section*, which an entry of *magic* compressed by *codec*.

    Raises CodecError if the bytes are not valid, the codec is unknown or *magic* does not allow
    it; LimitError if the result would exceed *max_bytes*. Both carry the position in *section*.
    """
    # Each library is imported for the first section of its codec.
    match codec:
        case Codec.NONE:
            return bytes(section)
        case Codec.GZIP:
            from magicbyte.codecs import gzip

            return gzip.decompress(section, max_bytes=max_bytes)
        case Codec.SNAPPY:
            from magicbyte.codecs import snappy

            return snappy.decompress(section, max_bytes=max_bytes)
        case Codec.LZ4:
            from magicbyte.codecs import lz4

            return lz4.decompress(section, magic=magic, max_bytes=max_bytes)
        case Codec.ZSTD:
            if magic < 2:  # KIP-110
                raise CodecError.of(
                    CODEC_NAMES[codec],
                    f"not allowed in magic {magic}; expected 2",
                    code="codec-not-allowed",
                )
            from magicbyte.codecs import zstd

            return zstd.decompress(section, max_bytes=max_bytes)
    raise unknown_codec(codec)


def unknown_codec(codec: int) -> CodecError:
    """Return the error for the number *codec* in the attributes of an entry."""
    return CodecError.of(
        f"codec {codec}", "there is no such codec; expected 0 to 4", code="unknown-codec"
    )
