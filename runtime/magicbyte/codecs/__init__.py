"""Decompression and compression by the codecs in Kafka's formats.

Compression gives the frames that Kafka's producer writes: other libraries compress, so other bytes, which
decompress to the same. Decompression accepts the bytes that Kafka's Java reader accepts; each
module says where it is stricter. No memory is allocated for a size that was not compared with the caller's limit first.
"""

from magicbyte.errors import CodecError, InputError
from magicbyte_formats.wire import CODEC_NAMES, Codec

__all__ = ["check_level", "compress", "decompress", "unknown_codec"]


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


def compress(
    codec: int, raw_bytes: memoryview | bytes, *, magic: int, level: int | None = None
) -> bytes:
    """Return *raw_bytes* compressed by *codec*, as Kafka's producer does it for an entry of *magic*.

    *level* is what Kafka calls `compression.gzip.level` and so on; default: Kafka's. Raises InputError if
    the codec is unknown, *magic* does not allow it, or it has no such level.
    """
    if level is not None or codec not in CODEC_NAMES or magic < 2:
        check_level(codec, level, magic=magic)
    match codec:
        case Codec.GZIP:
            from magicbyte.codecs import gzip

            return gzip.compress(raw_bytes, level=level)
        case Codec.SNAPPY:
            from magicbyte.codecs import snappy

            return snappy.compress(raw_bytes)
        case Codec.LZ4:
            from magicbyte.codecs import lz4

            return lz4.compress(raw_bytes, level=level, magic=magic)
        case Codec.ZSTD:
            from magicbyte.codecs import zstd

            return zstd.compress(raw_bytes, level=level)
    return bytes(raw_bytes)


def check_level(codec: int, level: int | None, *, magic: int = 2) -> None:
    """Raise InputError if no entry of *magic* can be compressed by *codec* at *level*; None is its default."""
    if codec not in CODEC_NAMES:
        raise InputError(f"codec {codec}", "0 to 4")
    if codec == Codec.ZSTD and magic < 2:  # KIP-110
        raise InputError(f"codec zstd in magic {magic}", "a codec that magic 0 and 1 allow: 0 to 3")
    if level is None:
        return
    levels = range(0)
    match codec:
        case Codec.GZIP:
            from magicbyte.codecs import gzip

            levels = gzip.LEVELS
        case Codec.LZ4:
            from magicbyte.codecs import lz4

            levels = lz4.LEVELS
        case Codec.ZSTD:
            from magicbyte.codecs import zstd

            levels = zstd.LEVELS
    if level not in levels:
        expected = f"{levels.start} to {levels.stop - 1}" if levels else "none: it has no levels"
        raise InputError(f"level {level} of codec {CODEC_NAMES[codec]}", expected)


def unknown_codec(codec: int) -> CodecError:
    """Return the error for the number *codec* in the attributes of an entry."""
    return CodecError.of(
        f"codec {codec}", "there is no such codec; expected 0 to 4", code="unknown-codec"
    )
