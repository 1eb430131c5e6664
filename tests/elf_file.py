"""Reads from an ELF shared library what the dynamic linker reads: segments, symbols, libraries it needs."""

import struct
from pathlib import Path
from typing import NamedTuple

LOAD, DYNAMIC, GNU_STACK = 1, 2, 0x6474E551
"""Types of segments."""
EXECUTABLE, WRITABLE = 1, 2
"""Flags of segments."""
NEEDED, HASH, STRING_TABLE, SYMBOL_TABLE = 1, 4, 5, 6
"""Tags of dynamic entries."""


class Segment(NamedTuple):
    type: int
    flags: int
    position: int
    address: int
    size: int


class ElfFile:
    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        (self.machine,) = struct.unpack_from("<H", self.data, 18)
        (position,) = struct.unpack_from("<Q", self.data, 32)
        size, count = struct.unpack_from("<HH", self.data, 54)
        self.segments = [self._segment(position + size * number) for number in range(count)]
        self.dynamic: list[tuple[int, int]] = []
        for segment in self.segments:
            if segment.type == DYNAMIC:
                part = self.data[segment.position : segment.position + segment.size]
                self.dynamic = list(struct.iter_unpack("<qQ", part))

    def _segment(self, at: int) -> Segment:
        kind, flags, position, address, _, size = struct.unpack_from("<IIQQQQ", self.data, at)
        return Segment(kind, flags, position, address, size)

    def _position(self, address: int) -> int:
        """Return the position in the file of what is loaded at *address*."""
        for segment in self.segments:
            if segment.type == LOAD and 0 <= address - segment.address < segment.size:
                return segment.position + address - segment.address
        raise ValueError(f"nothing is loaded at {address:#x}")

    def symbols(self) -> dict[str, bool]:
        """Return the dynamic symbols, and whether the library defines each."""
        entries = dict(self.dynamic)
        texts, table, hashes = (
            self._position(entries[tag]) for tag in (STRING_TABLE, SYMBOL_TABLE, HASH)
        )
        _, count = struct.unpack_from("<II", self.data, hashes)
        symbols = {}
        for number in range(1, count):
            name, _, _, section = struct.unpack_from("<IBBH", self.data, table + 24 * number)
            begin = texts + name
            symbols[self.data[begin : self.data.index(0, begin)].decode()] = section != 0
        return symbols

    def needed_libraries(self) -> int:
        """Return how many other libraries it needs."""
        return sum(tag == NEEDED for tag, _ in self.dynamic)
