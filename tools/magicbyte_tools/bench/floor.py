"""The floor of the benchmark: verifies checksums, decompresses payloads and copies them once.

No reader of batches can do less. The decompressor is the fastest of several on the file that is
read; their ratios are printed on stderr.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import crc32c
import numpy as np

from magicbyte import codecs
from magicbyte.engines.entry import Entry, read_entry
from magicbyte.limits import Limits
from magicbyte_formats.wire import CODEC_NAMES, RecordBatchHeader
from magicbyte_tools.bench.primitives import (
    PRIMITIVES,
    Bytes,
    Decompress,
    DecompressionArena,
    Section,
    Source,
)

GROUP = 512 << 10
"""Decompressed bytes per copy: few enough to be still in the processor's cache."""

OUT = 4 << 20
"""Size in bytes of the buffer that payloads are copied to; it is reused, so its pages are warm."""


class Floor:
    def load(self, path: Path, via: str) -> None:
        data = path.read_bytes()
        array = np.frombuffer(data, np.uint8)
        self.array, self.source = array, Source(memoryview(data), array.ctypes.data)
        entries = _entries(data)
        if any(entry.magic != 2 for entry in entries):
            raise ValueError("the floor is that of v2 batches")
        self.rows = sum(entry.record_count or 0 for entry in entries)
        self.checked = [
            (e.position + RecordBatchHeader.CHECKSUM.start, e.end, e.crc) for e in entries
        ]
        self.sections = [_section(data, entry) for entry in entries]
        self.groups = _groups(self.sections)
        size = max(sum(s.raw_bytes for s in self.sections[slice(*group)]) for group in self.groups)
        arena = np.zeros(size, np.uint8)
        self.arena = DecompressionArena(arena, arena.data, arena.ctypes.data)
        self.out = np.zeros(max(OUT, size), np.uint8)
        codec = CODEC_NAMES[entries[0].codec]
        self.decompress = self._fastest(codec) if codec != "none" else None

    def read(self, mode: str, threads: int) -> int:
        used = 0
        for first, last in self.groups:
            for begin, end, crc in self.checked[first:last]:
                if crc32c.crc32c(self.source.view[begin:end]) != crc:
                    raise ValueError(f"byte {begin}: a wrong checksum")
            whole = self._raw(first, last)
            if used + len(whole) > len(self.out):
                used = 0
            np.copyto(self.out[used : used + len(whole)], whole)
            used += len(whole)
        return self.rows

    def check(self) -> tuple[int, int]:
        return self.read("columns", 1), 0

    def _raw(self, first: int, last: int) -> Bytes:
        """Return the decompressed payloads of sections [first, last); without a codec, the file's bytes."""
        if self.decompress is None:
            return self.array[self.sections[first].begin : self.sections[last - 1].end]
        end = 0
        for section in self.sections[first:last]:
            end = self.decompress(self.source, section, self.arena, end)
        return self.arena.array[:end]

    def _fastest(self, codec: str) -> Decompress:
        """Return the fastest primitive for *codec*. Raises ValueError if one gives a wrong size."""
        durations_ns: dict[Decompress, int] = {}
        for primitive in PRIMITIVES[codec]:
            self.decompress = primitive
            for _ in range(3):
                begun = time.thread_time_ns()
                for first, last in self.groups:
                    whole = self._raw(first, last)
                    if len(whole) != sum(s.raw_bytes for s in self.sections[first:last]):
                        raise ValueError(f"{primitive.__name__} gives {len(whole)} bytes")
                spent = time.thread_time_ns() - begun
                durations_ns[primitive] = min(spent, durations_ns.get(primitive, spent))
        best = min(durations_ns, key=durations_ns.__getitem__)
        ratios = (
            f"{p.__name__} {spent / durations_ns[best]:.2f}" for p, spent in durations_ns.items()
        )
        print(f"floor, {codec}: {', '.join(ratios)}", file=sys.stderr)
        return best


def _entries(data: bytes) -> list[Entry]:
    entries: list[Entry] = []
    position = 0
    while position < len(data):
        entries.append(read_entry(data, position))
        position = entries[-1].end
    return entries


def _section(data: bytes, entry: Entry) -> Section:
    begin = entry.position + RecordBatchHeader.SIZE
    stored = memoryview(data)[begin : entry.end]
    limit = Limits().max_batch_bytes
    raw = codecs.decompress(entry.codec, stored, magic=entry.magic, max_bytes=limit)
    return Section(begin, entry.end, len(raw))


def _groups(sections: Sequence[Section]) -> list[tuple[int, int]]:
    """Return runs of sections of about GROUP decompressed bytes each, as half-open index ranges."""
    groups, first, size = [], 0, 0
    for number, section in enumerate(sections):
        if size >= GROUP:
            groups.append((first, number))
            first, size = number, 0
        size += section.raw_bytes
    return [*groups, (first, len(sections))]
