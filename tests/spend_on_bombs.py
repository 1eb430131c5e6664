"""Read a log with a decompression bomb in a new process; print memory and time as JSON.

Run as ``python spend_on_bombs.py NAME FOLDER ENGINE`` with a name of ``BOMBS``; needs Linux's /proc.
"""

import json
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import zstandard

import log_builder as b
import magicbyte as mb
from memory_growth import measured

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BOMB_BYTES = 10 * GIB
SNAPPY_BOMB_BYTES = 512 * MIB
"""A byte of snappy decompresses to 22 at most; a larger bomb would fill the disk."""

MAX_BATCH_BYTES = 16 * MIB


# What the bombs repeat: zeros, which begin no record. The limit must end them before that counts.


def gzip_bomb(size: int) -> bytes:
    member = zlib.compressobj(wbits=31)
    return (member.compress(bytes(MIB)) + member.flush()) * (size // MIB)


def snappy_block_bomb(size: int) -> bytes:
    """Return a raw snappy block: 4 zeros, then copies of 64 bytes at distance 1."""
    copies = -(-(size - 4) // 64)
    return b.uvarint(4 + 64 * copies) + b"\x0c\0\0\0\0" + b"\xfe\1\0" * copies


def xerial_bomb(size: int) -> bytes:
    block = snappy_block_bomb(32 * KIB)
    return (
        b"\x82SNAPPY\0"
        + b"\0\0\0\1" * 2
        + (len(block).to_bytes(4, "big") + block) * (size // (32 * KIB))
    )


def lz4_bomb(size: int) -> bytes:
    frame: bytes = lz4.frame.compress(
        bytes(4 * MIB),
        block_size=lz4.frame.BLOCKSIZE_MAX4MB,
        block_linked=False,
        store_size=False,
    )
    return frame[:7] + frame[7:-4] * (size // (4 * MIB)) + frame[-4:]


def zstd_bomb(size: int) -> bytes:
    """Return a zstd frame of *size* zeros: each 128 KiB are a block of 4 bytes."""
    block = (128 * KIB << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    return b"\x28\xb5\x2f\xfd\0\x58" + block * (size // (128 * KIB)) + b"\1\0\0"


def zstd_claim() -> bytes:
    """Return a zstd frame with a content size of 8 GiB and one empty block."""
    return b"\x28\xb5\x2f\xfd\xe0" + (8 * GIB).to_bytes(8, "little") + b"\1\0\0"


def batch(codec: int, section: bytes) -> bytes:
    return b.batch([b.record()], 2, codec=codec, section=section)


def wrapper(codec: int, section: bytes) -> bytes:
    return b.wrapper([], 2, magic=1, codec=codec, section=section)


def many_small_records() -> bytes:
    """Return a sound batch with 64 MiB of records of 7 bytes."""
    one = b.record(b"")
    count = 64 * MIB // len(one)
    section = zstandard.compress(one * count)
    return b.batch([b.record()], 2, codec=b.ZSTD, count=count, last_delta=0, section=section)


BOMBS: dict[str, Callable[[], bytes]] = {
    "v2 gzip": lambda: batch(b.GZIP, gzip_bomb(BOMB_BYTES)),
    "v2 snappy block": lambda: batch(b.SNAPPY, snappy_block_bomb(SNAPPY_BOMB_BYTES)),
    "v2 snappy xerial": lambda: batch(b.SNAPPY, xerial_bomb(SNAPPY_BOMB_BYTES)),
    "v2 lz4": lambda: batch(b.LZ4, lz4_bomb(BOMB_BYTES)),
    "v2 zstd": lambda: batch(b.ZSTD, zstd_bomb(BOMB_BYTES)),
    "v2 zstd claim": lambda: batch(b.ZSTD, zstd_claim()),
    "v2 many small records": many_small_records,
    "v1 gzip": lambda: wrapper(b.GZIP, gzip_bomb(BOMB_BYTES)),
    "v1 snappy block": lambda: wrapper(b.SNAPPY, snappy_block_bomb(SNAPPY_BOMB_BYTES)),
    "v1 lz4": lambda: wrapper(b.LZ4, lz4_bomb(BOMB_BYTES)),
}

LARGE: dict[str, Callable[[], bytes]] = {
    "v2 entry": lambda: b.batch([b.record(bytes(256 * MIB))], 2),
    "v1 entry": lambda: b.message(bytes(256 * MIB), 2),
}
"""Sound entries, larger as they are stored than they may be."""


def read(path: Path, limits: mb.Limits, engine: str) -> tuple[list[int], mb.Report]:
    options = {"on_damage": "skip", "isolation_level": "read_uncommitted"}
    rows = mb.open(path, limits=limits, engine=engine, **options).records(["offset", "value"])
    offsets: list[int] = rows.to_table().column("offset").to_pylist()
    return offsets, rows.report


def main(name: str, folder: Path, engine: str) -> None:
    around = [b.batch(b.records(2), 0), b.batch(b.records(2), 3)]
    entry = (BOMBS | LARGE)[name]()
    folder.mkdir()
    path = folder / f"{0:020}.log"
    with path.open("wb") as log:
        log.writelines([around[0], entry, around[1]])
    num_bytes, start = len(entry), len(around[0])
    del entry
    limit = "max_entry_bytes" if name in LARGE else "max_batch_bytes"
    limits = mb.Limits(**{limit: MAX_BATCH_BYTES})
    warm = folder / "warm.log"
    content = [b.record(bytes(100 * KIB))]
    entries = [b.batch(content, 10 + codec, codec=codec) for codec in range(5)]
    entries += [b.wrapper([b.message(bytes(KIB))], 20 + c, codec=c) for c in (1, 2, 3)]
    warm.write_bytes(b"".join([*entries, b.batch(crc=1)]))
    read(warm, limits, engine)
    (offsets, report), cost = measured(lambda: read(path, limits, engine))
    findings = [[f.code, f.position, f.length, f.severity, str(f)] for f in report.findings]
    place = {"entry_position": start, "entry_bytes": num_bytes}
    print(
        json.dumps(
            {"offsets": offsets, "findings": findings, "bytes": report.bytes, **place, **cost}
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
