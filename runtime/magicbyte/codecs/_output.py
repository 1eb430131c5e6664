"""Growing buffer for decompressed bytes, with the caller's limit."""

from io import BytesIO

from magicbyte.errors import LimitError

LEN_SMALL = 1 << 20
LEN_RESERVE = 1 << 25
"""Smallest buffer above LEN_SMALL. C libraries map such a size instead of taking it from the heap,
so unwritten pages cost nothing and the end is released without a copy."""


class DecompressedOutput:
    """Buffer for at most *max_bytes* decompressed bytes.

    Uses memory for the written bytes only, not for twice as many: a buffer on the heap is copied
    when it grows, so above 1 MiB a buffer of the largest allowed size is memory-mapped.
    """

    __slots__ = ("_bytes", "_is_reserved", "max_bytes", "num_bytes")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.num_bytes = 0
        self._bytes = BytesIO()
        self._is_reserved = False

    @property
    def num_left(self) -> int:
        """Bytes that may still be added."""
        return self.max_bytes - self.num_bytes

    def claim(self, num_bytes: int, *, position: int) -> None:
        """Raise LimitError, with *position* in the section, if *num_bytes* more exceed the limit."""
        if num_bytes > self.num_left:
            raise LimitError.of(
                "max_batch_bytes",
                self.num_bytes + num_bytes,
                limit=self.max_bytes,
                position=position,
            )

    def append(self, content: bytes | memoryview, *, position: int) -> None:
        """Add *content*. Raises LimitError, with *position* in the section, if it exceeds the limit."""
        self.claim(len(content), position=position)
        self.num_bytes += len(content)
        if self.num_bytes > LEN_SMALL and not self._is_reserved:
            self._reserve()
        self._bytes.write(content)

    def value(self) -> bytes:
        """Return all added bytes."""
        self._bytes.truncate()
        return self._bytes.getvalue()

    def _reserve(self) -> None:
        small, self._bytes = self._bytes, BytesIO(bytes(max(self.max_bytes, LEN_RESERVE)))
        self._bytes.write(small.getbuffer())
        self._is_reserved = True
