"""Fast encoders of all forms of compressed payloads, for building millions of log entries."""

import gzip as zlib_gzip
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import cramjam
import lz4.frame
import zstandard

from magicbyte_formats.wire import Codec
from magicbyte_tools.vectors import framers

_zstd_sized = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=True)
_zstd_stream = zstandard.ZstdCompressor(level=1, write_content_size=False)


def _raw_snappy(plain: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(plain))


_lz4 = partial(lz4.frame.compress, block_linked=False, store_size=False)
_lz4_checked = partial(lz4.frame.compress, block_linked=False, content_checksum=True)
_lz4_linked = partial(lz4.frame.compress, block_linked=True, block_checksum=True)


class CompressedForm(NamedTuple):
    codec: Codec
    compress: Callable[[bytes], bytes]


FORMS = {
    "none": CompressedForm(Codec.NONE, bytes),
    "gzip": CompressedForm(Codec.GZIP, lambda plain: zlib_gzip.compress(plain, 1, mtime=0)),
    "snappy": CompressedForm(Codec.SNAPPY, _raw_snappy),
    "xerial": CompressedForm(Codec.SNAPPY, lambda plain: framers.xerial(_raw_snappy(plain))),
    "lz4": CompressedForm(Codec.LZ4, _lz4),
    "lz4-checked": CompressedForm(Codec.LZ4, _lz4_checked),
    "lz4-linked": CompressedForm(Codec.LZ4, _lz4_linked),
    "lz4-3160": CompressedForm(Codec.LZ4, lambda plain: framers.compress(3, plain, magic=0)),
    "zstd": CompressedForm(Codec.ZSTD, _zstd_stream.compress),
    "zstd-sized": CompressedForm(Codec.ZSTD, _zstd_sized.compress),
    "zstd-raw": CompressedForm(Codec.ZSTD, lambda plain: framers.compress(4, plain)),
}
"""Compressed forms by name; `xerial` is snappy in Java's framing, `lz4-3160` has the header checksum of v0."""

USUAL = {
    Codec.NONE: "none",
    Codec.GZIP: "gzip",
    Codec.SNAPPY: "xerial",
    Codec.LZ4: "lz4",
    Codec.ZSTD: "zstd",
}
"""Form in which the payload of an entry from a log is compressed again, by codec."""

OF_MESSAGES = tuple(name for name, form in FORMS.items() if form.codec not in (0, Codec.ZSTD))
OF_BATCHES = tuple(name for name in FORMS if name != "lz4-3160")
