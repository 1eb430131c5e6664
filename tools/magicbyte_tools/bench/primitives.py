"""Decompressors for the floor of the benchmark: Python functions of wheels, and C functions they export.

They trust their input, which is generated; a real reader has to check more.
"""

import ctypes
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cramjam
import numpy as np
import numpy.typing as npt
import zstandard
from isal import isal_zlib

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Section:
    """Payload of a v2 batch: its range in the file, and its decompressed size."""

    begin: int
    end: int
    raw_bytes: int


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of the file, as a memoryview and as an address, since primitives take one or the other."""

    view: memoryview
    address: int


@dataclass(frozen=True, slots=True)
class DecompressionArena:
    """Memory that payloads are decompressed into, as an array, a memoryview and an address."""

    array: Bytes
    view: memoryview
    address: int


Decompress = Callable[[Source, Section, DecompressionArena, int], int]
"""Decompresses a section into the arena from a position, and returns the end position."""


def _exported(module: str, name: str, result: Any, *arguments: Any) -> Any:
    """Return the C function *name* that the extension *module* exports; None if it exports none."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return None
    function = getattr(ctypes.PyDLL(spec.origin), name, None)
    if function is not None:
        function.restype, function.argtypes = result, arguments
    return function


ADDRESS, INT, SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t

LZ4_decompress_safe = _exported(
    "lz4.block._block", "LZ4_decompress_safe", INT, ADDRESS, ADDRESS, INT, INT
)
ZSTD_createDCtx = _exported("zstandard._cffi", "ZSTD_createDCtx", ADDRESS)
ZSTD_decompressDCtx = _exported(
    "zstandard._cffi", "ZSTD_decompressDCtx", SIZE, ADDRESS, ADDRESS, SIZE, ADDRESS, SIZE
)

LEN_LZ4_HEADER = 7
LEN_XERIAL_HEADER = 16
STORED = 1 << 31
"""Bit of an LZ4 block's length that is set if the block is not compressed."""


def lz4_pointer(source: Source, section: Section, arena: DecompressionArena, end: int) -> int:
    """Decompress lz4 by LZ4_decompress_safe of the lz4 wheel, block by block; return the end position."""
    position = section.begin + LEN_LZ4_HEADER
    room = section.raw_bytes + end
    while length := int.from_bytes(source.view[position : position + 4], "little"):
        position += 4
        if length & STORED:
            length ^= STORED
            arena.view[end : end + length] = source.view[position : position + length]
            end += length
        else:
            end += LZ4_decompress_safe(
                source.address + position, arena.address + end, length, room - end
            )
        position += length
    return end


def lz4_cramjam(source: Source, section: Section, arena: DecompressionArena, end: int) -> int:
    """Decompress lz4 by cramjam's frame decoder; return the end position in the arena."""
    into = arena.view[end:]
    return end + cramjam.lz4.decompress_into(source.view[section.begin : section.end], into)


def snappy_cramjam(source: Source, section: Section, arena: DecompressionArena, end: int) -> int:
    """Decompress snappy by cramjam, block by block of xerial's framing; return the end position."""
    position = section.begin + LEN_XERIAL_HEADER
    while position < section.end:
        length = int.from_bytes(source.view[position : position + 4], "big")
        position += 4
        block = source.view[position : position + length]
        end += cramjam.snappy.decompress_raw_into(block, arena.view[end:])
        position += length
    return end


CONTEXT = ZSTD_createDCtx and ZSTD_createDCtx()
DECOMPRESSOR = zstandard.ZstdDecompressor()


def zstd_pointer(source: Source, section: Section, arena: DecompressionArena, end: int) -> int:
    """Decompress zstd by ZSTD_decompressDCtx of the zstandard wheel, with one context for all sections."""
    written: int = ZSTD_decompressDCtx(
        CONTEXT,
        arena.address + end,
        section.raw_bytes,
        source.address + section.begin,
        section.end - section.begin,
    )
    return end + written


def zstd_stream(source: Source, section: Section, arena: DecompressionArena, end: int) -> int:
    """Decompress zstd by stream_reader of the zstandard wheel; return the end position in the arena."""
    stream = DECOMPRESSOR.stream_reader(source.view[section.begin : section.end])
    into = arena.view[end : end + section.raw_bytes]
    done = 0
    while done < section.raw_bytes and (count := stream.readinto(into[done:])):
        done += count
    return end + done


def gzip_isal(source: Source, section: Section, arena: DecompressionArena, end: int) -> int:
    """Decompress gzip by ISA-L, given the decompressed size; return the end position in the arena."""
    raw = isal_zlib.decompress(source.view[section.begin : section.end], 31, section.raw_bytes)
    arena.view[end : end + len(raw)] = raw
    return end + len(raw)


PRIMITIVES: dict[str, tuple[Any, ...]] = {
    "lz4": (*([lz4_pointer] if LZ4_decompress_safe else []), lz4_cramjam),
    "snappy": (snappy_cramjam,),
    "zstd": (*([zstd_pointer] if ZSTD_decompressDCtx else []), zstd_stream),
    "gzip": (gzip_isal,),
}
"""Primitives by codec. The lz4 and zstandard wheels of some platforms export no functions."""
