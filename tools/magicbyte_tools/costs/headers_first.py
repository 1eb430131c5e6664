"""Measures another idea for a v3: the metadata of all records first, then their keys and values.

A broker that validates a compressed batch checks offsets, timestamps and the presence of keys.
In v2 these are stored between keys and values, so the whole payload is decompressed.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import lz4.frame
import zstandard
from construct import Int8sb

from magicbyte_construct import Records, Varint, Varlong
from magicbyte_tools.costs.codecs import COMPRESSORS

LEN_PIECE = 64
"""Compressed bytes per call of a decompressor: the resolution of the measurement."""


@dataclass(frozen=True, slots=True)
class SplitPayload:
    """A v2 payload, rearranged so that the metadata of all records precedes keys and values."""

    metadata_bytes: int
    payload: bytes


def headers_first(payload: bytes) -> SplitPayload:
    """Return the v2 *payload* with keys and values after all metadata. Its records have no headers."""
    metadata, content = bytearray(), bytearray()
    for record in Records.parse(payload):
        content += (record["key"] or b"") + (record["value"] or b"")
        metadata += Varint.build(record["len_body"])
        metadata += Int8sb.build(record["attributes"])
        metadata += Varlong.build(record["timestamp_delta"])
        for name in ("offset_delta", "len_key", "len_value", "num_headers"):
            metadata += Varint.build(record[name])
    return SplitPayload(len(metadata), bytes(metadata + content))


def read_until(codec: str, split: SplitPayload) -> tuple[int, int, int]:
    """Compress *split* and decompress it until all metadata is there.

    Returns the compressed bytes read, the bytes decompressed (in whole blocks), and the compressed size.
    """
    section = COMPRESSORS[codec][1](split.payload)
    feed = _decompressors()[codec]
    read = out = 0
    while out < split.metadata_bytes and read < len(section):
        piece = section[read : read + LEN_PIECE]
        read += len(piece)
        out += len(feed(piece))
    return read, out, len(section)


def _decompressors() -> dict[str, Callable[[bytes], bytes]]:
    return {
        "gzip": zlib.decompressobj(31).decompress,
        "lz4": lz4.frame.LZ4FrameDecompressor().decompress,
        "zstd": zstandard.ZstdDecompressor().decompressobj().decompress,
    }
