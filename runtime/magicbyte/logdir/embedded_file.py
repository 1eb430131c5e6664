"""Files that lie in an object of remote storage: a part of it, or chunks that are compressed one by one.

What is above reads them as any other file. A chunk that cannot be had does not end the reading: its
place is filled with what no entry begins with, so that it is found as damage, and `unread` says why.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

from magicbyte import storage
from magicbyte.codecs import zstd
from magicbyte.errors import ChangedError, CodecError, LimitError
from magicbyte.findings import Finding
from magicbyte.storage import File, Store

MAX_CACHED_CHUNKS = 2
"""Chunks that an open file keeps decompressed: an entry may lie in two of them."""

UNREADABLE_BYTE = b"\xff"
"""A size field of these is -1."""


@dataclass(frozen=True, slots=True)
class EmbeddedRange:
    """Where the bytes of a file lie in an object. Small, and can be pickled."""

    object_bytes: int
    """Bytes of the object."""
    size_bytes: int
    """Bytes of the file."""
    position: int = 0
    """Where it begins in the object."""
    chunk_bytes: int = 0
    """Bytes of the file in each chunk but the last, which has the rest; 0: it lies there as it is."""
    stored_bytes: tuple[int, ...] = ()
    """Bytes of each chunk in the object, one behind the other: a frame of zstd each."""


class EmbeddedFile:
    """The file that lies *inside* the object *path*, of which *size_bytes* are read."""

    descriptor = None

    def __init__(
        self, path: str, embedded: EmbeddedRange, *, size_bytes: int | None, store: Store | None
    ) -> None:
        self.path = path
        self.name = path.rpartition("/")[2]
        self.size_bytes = embedded.size_bytes if size_bytes is None else size_bytes
        self.unread: dict[int, Finding] = {}
        """Chunks that could not be had, by the byte of the file at which they begin."""
        self._embedded = embedded
        self._ends = tuple(accumulate(embedded.stored_bytes, initial=embedded.position))
        self._chunks: OrderedDict[int, bytes] = OrderedDict()
        self._object: File = storage.open_file(path, size_bytes=embedded.object_bytes, store=store)

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

    def reader(self, length: int) -> Callable[[int], bytes]:
        return lambda position: self.read_at(position, min(length, self.size_bytes - position))

    def why_unread(self, start: int, end: int) -> Finding | None:
        """Return why bytes between *start* and *end* could not be had; None where that is not so."""
        each = self._embedded.chunk_bytes
        return next(
            (why for begin, why in self.unread.items() if begin < end and start < begin + each),
            None,
        )

    def _chunk(self, number: int) -> bytes:
        """Return the bytes of a chunk."""
        if number in self._chunks:
            self._chunks.move_to_end(number)
            return self._chunks[number]
        begin = number * self._embedded.chunk_bytes
        length = min(self._embedded.chunk_bytes, self._embedded.size_bytes - begin)
        start, end = self._ends[number : number + 2]
        try:
            plain = zstd.decompress(self._object.read_at(start, end - start), max_bytes=length)
            if len(plain) != length:
                raise CodecError.of(zstd.NAME, f"{len(plain)} bytes, expected {length}")
        except (CodecError, LimitError) as error:
            why = f"{error.claimed} bytes" if isinstance(error, LimitError) else error.reason
            self.unread[begin] = Finding(
                code="chunk-unreadable",
                message=f"chunk {number}, at byte {start} of the object, does not decompress to "
                f"{length} bytes: {why}",
                position=begin,
                found=why,
                expected=f"{length} bytes",
            )
            plain = UNREADABLE_BYTE * length
        self._chunks[number] = plain
        while len(self._chunks) > MAX_CACHED_CHUNKS:
            self._chunks.popitem(last=False)
        return plain

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._object.__exit__(*error)
