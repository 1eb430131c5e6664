"""Tests that the cost of searching a hostile file for entries is proportional to its size.

The cost is counted, not timed: calls and bytes of reads, bytes of checksums.
"""

import struct
import zlib
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from extent import part
from magicbyte import Limits, checksum
from magicbyte.engines.factory import engine
from magicbyte.logdir import entry_candidates
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._walk import VerifiedWalk
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.storage import MemoryFile

MB = 1 << 20
ENTRY = struct.Struct(">qiib")
FIRST = 1000
"""Base offset of the file: all false headers have higher offsets, which the log could have."""


class CountingFile(MemoryFile):
    """A file in memory that counts the calls and the bytes of reads."""

    calls = 0
    read = 0

    def read_at(self, position: int, length: int) -> bytes:
        data = super().read_at(position, length)
        self.calls += 1
        self.read += len(data)
        return data


def fakes(length: int, period: int, size: Callable[[int], int], magic: int = 2) -> bytes:
    """Return *length* bytes with a false entry header every *period* bytes."""
    data = bytearray(length)
    for at in range(0, length - period, period):
        ENTRY.pack_into(data, at, FIRST + at, size(at), 0, magic)
        data[at + 17 : at + period] = b"\xee" * (period - 17)
    return bytes(data)


def message(offset: int) -> bytes:
    """Return a sound v0 message without key and value."""
    body = struct.pack(">bbii", 0, 0, -1, -1)
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def islands(length: int, between: bytes) -> bytes:
    """Return about *length* bytes: pairs of sound messages, each followed by *between*."""
    step = 2 * len(message(0)) + len(between)
    return b"".join(
        message(FIRST + 2 * n) + message(FIRST + 2 * n + 1) + between for n in range(length // step)
    )


SHAPES: dict[str, Callable[[int], bytes]] = {
    "each claims 100 MB": lambda length: fakes(length, 32, lambda at: 100 * MB),
    "each claims 1 KB": lambda length: fakes(length, 32, lambda at: 1012),
    "each claims 1 KB, in v0": lambda length: fakes(length, 32, lambda at: 1012, magic=0),
    "each claims all to the end": lambda length: fakes(length, 64, lambda at: length - at - 12),
    "each claims half of the rest": lambda length: fakes(
        length, 64, lambda at: (length - at) // 128 * 64 - 12
    ),
    "noise, then each claims all to the end": lambda length: (
        b"\xff" * 32 + fakes(length - 32, 64, lambda at: length - 32 - at - 12)
    ),
    "noise between sound messages": lambda length: islands(length, b"\xff" * 20),
    "zeros between sound messages": lambda length: islands(length, bytes(20)),
    "an entry that the end cuts off, over sound messages and garbage": lambda length: (
        ENTRY.pack(FIRST, length, 0, 2)
        + bytes(61)
        + b"".join(message(FIRST + 1 + n) for n in range((length - 100) // 26))
        + b"\xff" * 20
    ),
    "a header cut short between sound messages": lambda length: islands(
        length, ENTRY.pack(1 << 40, 100 * MB, 0, 2)
    ),
}


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], dict[str, int]]:
    """A function that walks over bytes and returns the number and bytes of reads and checksums."""
    summed = [0]

    def counting(function: Any) -> Any:
        def count(data: Any, value: int = 0) -> int:
            summed[0] += len(data)
            result: int = function(data, value)
            return result

        return count

    functions = {name: counting(getattr(checksum, name)) for name in checksum.__all__}
    monkeypatch.setattr(entry_candidates, "checksum", SimpleNamespace(**functions))

    def measure(data: bytes) -> dict[str, int]:
        summed[0] = 0
        file = CountingFile(data, "memory")
        bounds = Bounds(floor=FIRST - 1, ceiling=None)
        pieces = VerifiedWalk(file, engine=engine("auto"), limits=Limits(), bounds=bounds)
        covered = 0
        for piece in pieces:
            if isinstance(piece, UnsoundRange):
                covered += piece.length
            else:
                covered += sum(entry.size_bytes for entry in piece.entries)
        assert covered == len(data)
        return {"calls": file.calls, "read": file.read, "checksums": summed[0]}

    return measure


SLOW_SHAPES = {
    "noise between sound messages",
    "zeros between sound messages",
    "a header cut short between sound messages",
}
"""Shapes with a range without entries every 72 bytes, each of which takes half a millisecond."""


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_file_costs_in_proportion_to_its_size(cost, shape) -> None:
    """The constant part of each bound is scaled with the largest size, so that small files tell as much."""
    made = SHAPES[shape]
    most = MB // 4 if shape in SLOW_SHAPES else MB
    sizes = [most // 4, most // 2, most]
    free = {"calls": 1000 * most // MB, "read": 8 * most, "checksums": most}
    sizes += part([2 * MB, 4 * MB, 8 * MB], 0, "costs of a search")
    costs = [cost(made(size)) for size in sizes]
    for size, spent in zip(sizes, costs, strict=True):
        # 16 bytes per byte passed and 1 MiB on false candidates; once for what is framed.
        assert spent["checksums"] <= 16 * size + free["checksums"] + 2 * size, (size, spent)
        # Each byte a few times, and each candidate's header and what it leads to.
        assert spent["read"] <= 64 * size + free["read"], (size, spent)
        assert spent["calls"] <= size // 4 + free["calls"], (size, spent)
    for (small, few), (large, many) in pairwise(zip(sizes, costs, strict=True)):
        for what in free:
            assert many[what] <= 1.3 * large / small * few[what] + free[what], (what, costs)


def test_a_frame_by_chance_after_a_lost_byte_hides_no_entry(partition, workshop) -> None:
    """The size of the damaged message leads one byte too far, where its neighbour's bytes look like a header."""
    log = partition("2.8/formats/v1-kafkapython-none-0")
    (name,) = log.logs
    data = log.files[name]
    lost = data[:55733] + data[55734:]
    dataset = workshop.open(workshop.put({name: lost}, None, log.name), "read_uncommitted")
    offsets = dataset.records(["offset"]).to_table()["offset"].to_pylist()
    assert offsets == [offset for offset in range(1255) if offset != 1048]
