"""Files embedded in an object of remote storage: a range of it, or chunks that are compressed one by one.

They are read like any other file. A chunk that does not decompress does not end the read: it is
replaced by bytes that no entry begins with, so that it is reported as damage.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

from magicbyte.codecs import zstd
from magicbyte.errors import ChangedError, CodecError, LimitError
from magicbyte.findings import Finding
from magicbyte.storage import File, UnreadableBytes

MAX_CACHED_CHUNKS = 2
"""Chunks that an open file keeps decompressed: an entry may span two of them."""

UNREADABLE_BYTE = b"\xff"
"""A size field of such bytes is -1, which no entry has."""


@dataclass(frozen=True, slots=True)
class EmbeddedRange:
    """Range of an object that holds the bytes of a file. Small, and can be pickled."""

    object_bytes: int
    """Bytes of the object."""
    size_bytes: int
    """Bytes of the file."""
    position: int = 0
    """First byte of the file in the object."""
    chunk_bytes: int = 0
    """Decompressed bytes of each chunk but the last, which has the rest; 0: the file is not compressed."""
    stored_bytes: tuple[int, ...] = ()
    """Bytes of each chunk in the object, in order; each is a zstd frame."""
    object_path: str | None = None
    """Path of the object, if several files are embedded in it, each with a path of its own."""


class EmbeddedFile:
    """A file that is *embedded* in the object *path*; only its first *size_bytes* are read."""

    descriptor = None

    def __init__(
        self, stored: File, path: str, embedded: EmbeddedRange, *, size_bytes: int | None
    ) -> None:
        """Read the range *embedded* of the object *path*, which *stored* reads."""
        self.path = path
        self.name = path.rpartition("/")[2]
        self.size_bytes = embedded.size_bytes if size_bytes is None else size_bytes
        self.damaged_chunks: dict[int, Finding] = {}
        """Findings about chunks that do not decompress, by the byte of the file at which they begin."""
        self._unreadable_chunks: UnreadableBytes | None = None
        self._embedded = embedded
        self._ends = tuple(accumulate(embedded.stored_bytes, initial=embedded.position))
        self._chunks: OrderedDict[int, bytes] = OrderedDict()
        self._object = stored

    @property
    def unreadable(self) -> UnreadableBytes | None:
        """Ranges that cannot be read; where they are compressed, whole chunks."""
        in_object, begin = self._object.unreadable, self._embedded.position
        if self._embedded.chunk_bytes or in_object is None:
            return self._unreadable_chunks
        shifted = UnreadableBytes(self.path)
        for part in in_object.between(begin, begin + self._embedded.size_bytes):
            shifted.add(part.start - begin, part.end - begin, part.reason)
        return shifted

    def read_at(self, position: int, length: int) -> bytes:
        if position + length > self.size_bytes:
            raise ChangedError(
                f"the file ends at byte {self.size_bytes}",
                f"{length} bytes from {position}",
                path=self.path,
            )
        each = self._embedded.chunk_bytes
        if not each:
            return self._object.read_at(self._embedded.position + position, length)
        parts = []
        while length > 0:
            number, at = divmod(position, each)
            parts.append(self._chunk(number)[at : at + length])
            position, length = position + len(parts[-1]), length - len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def will_read(self, start: int, end: int) -> None:
        """Announce reads in [start, end): the object's bytes of these are read ahead."""
        begin, each = self._embedded.position, self._embedded.chunk_bytes
        if each:
            first, last = start // each, min(-(-end // each), len(self._ends) - 1)
            self._object.will_read(self._ends[first], self._ends[last])
        else:
            self._object.will_read(begin + start, begin + end)

    def reader(self, length: int) -> Callable[[int], bytes]:
        return lambda position: self.read_at(position, min(length, self.size_bytes - position))

    def damaged_chunk(self, start: int, end: int) -> Finding | None:
        """Return the finding about a chunk that overlaps [start, end); None if all decompress."""
        each = self._embedded.chunk_bytes
        for begin, finding in self.damaged_chunks.items():
            if begin < end and start < begin + each:
                return finding
        return None

    def _chunk(self, number: int) -> bytes:
        """Return the decompressed bytes of chunk *number*."""
        if number in self._chunks:
            self._chunks.move_to_end(number)
            return self._chunks[number]
        begin = number * self._embedded.chunk_bytes
        length = min(self._embedded.chunk_bytes, self._embedded.size_bytes - begin)
        start, end = self._ends[number : number + 2]
        compressed = self._object.read_at(start, end - start)
        in_object = self._object.unreadable
        if in_object is not None and (parts := in_object.between(start, end)):
            return self._unreadable_chunk(begin, length, parts[0].reason)
        try:
            chunk = zstd.decompress(compressed, max_bytes=length)
            if len(chunk) != length:
                raise CodecError.of(zstd.NAME, f"{len(chunk)} bytes, expected {length}")
        except (CodecError, LimitError) as error:
            reason = f"{error.claimed} bytes" if isinstance(error, LimitError) else error.reason
            self.damaged_chunks[begin] = Finding(
                code="chunk-unreadable",
                message=f"chunk {number}, at byte {start} of the object, does not decompress to "
                f"{length} bytes: {reason}",
                position=begin,
                found=reason,
                expected=f"{length} bytes",
            )
            chunk = UNREADABLE_BYTE * length
        self._chunks[number] = chunk
        while len(self._chunks) > MAX_CACHED_CHUNKS:
            self._chunks.popitem(last=False)
        return chunk

    def _unreadable_chunk(self, begin: int, length: int, reason: str) -> bytes:
        """Remember that the chunk at byte *begin* cannot be read, and return bytes in its place."""
        if self._unreadable_chunks is None:
            self._unreadable_chunks = UnreadableBytes(self.path)
        self._unreadable_chunks.add(begin, begin + length, reason)
        return UNREADABLE_BYTE * length

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception_info: object) -> None:
        self._object.__exit__(*exception_info)
