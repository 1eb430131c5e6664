"""A pass over the headers of a file's entries, which reads as little else as it can."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from magicbyte.engines.header_scan import MAX_HEADERS
from magicbyte.engines.protocol import BatchHeaders, Entries, Entry
from magicbyte.errors import FormatError
from magicbyte.reading.damage import UnsoundRange
from magicbyte.reading.walk import SoundEntries, Walk

MAX_SMALL_BYTES = 4096
"""A message up to this size is read as a whole, with its neighbours: reading all of many small
messages takes less time than reading each one's header."""

BLOCK_BYTES = 1 << 20
"""Bytes of small messages that are read at a time."""


@dataclass
class HeaderWalk(Walk):
    """A pass over headers alone; checksums are verified only where a search needs them."""

    cached_headers: Sequence[BatchHeaders] = ()
    """Headers that are known already, and are not read again."""

    def _pieces(self) -> Iterator[SoundEntries | UnsoundRange]:
        position = self.start
        while position < self.end:
            entries: Entries | None = None
            for cached in self.cached_headers:
                if entries := cached.between(position, self.end):
                    break
            entries = entries or self.engine.read_headers(self.file, position, self.end)
            if not entries:
                try:
                    entry = self._read_header(position)
                except FormatError as error:
                    damage = self._damage.at(position, error.finding)
                    yield from damage.ranges
                    position = damage.resume
                    continue
                entries = self._small_messages(entry) or self._large_messages(entry)
            yield SoundEntries(entries, memoryview(b""), position, self._order.follow(entries))
            position = int(entries.column("position")[-1] + entries.column("size_bytes")[-1])

    def _small_messages(self, first: Entry) -> Entries | None:
        """Return messages from *first* on, read as a whole; None where *first* is a batch or large."""
        if first.magic == 2 or first.size_bytes > MAX_SMALL_BYTES:
            return None
        position = first.position
        data = self.file.read_at(position, min(BLOCK_BYTES, self.end - position))
        return self.engine.scan(
            memoryview(data), origin=position, verify=False, limits=self.limits
        ).entries

    def _large_messages(self, first: Entry) -> Entries:
        """Return *first* and the large messages after it, up to anything else.

        Following the offsets of many entries takes little more time than of one.
        """
        entries = [first]
        with suppress(FormatError):
            while (
                entries[-1].magic < 2
                and len(entries) < MAX_HEADERS
                and (position := entries[-1].end) < self.end
            ):
                entry = self._read_header(position)
                if entry.magic == 2 or entry.size_bytes <= MAX_SMALL_BYTES:
                    break
                entries.append(entry)
        return Entries(entries)
