"""Where a codec puts what it decompressed: bytes that grow, up to the caller's limit."""

from io import BytesIO

from magicbyte.errors import LimitError

LEN_SMALL = 1 << 20
LEN_RESERVE = 1 << 25
"""Beyond what C libraries take from their heap, so that pages cost nothing until written and
the end can be given back without a copy."""


class Output:
    """Plain bytes in the making, at most *max_bytes* of them.

    Memory is what was written, not twice that: bytes that grow on the heap are copied when
    their place becomes too small, so beyond 1 MiB they get a place for all that may come.
    """

    __slots__ = ("_bytes", "_is_reserved", "max_bytes", "num_bytes")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.num_bytes = 0
        self._bytes = BytesIO()
        self._is_reserved = False

    @property
    def room(self) -> int:
        """Bytes that may still come."""
        return self.max_bytes - self.num_bytes

    def claim(self, num_bytes: int, *, position: int) -> None:
        """Raise LimitError, at *position* of the section, where *num_bytes* more are too many."""
        if num_bytes > self.room:
            raise LimitError.of(
                "max_batch_bytes",
                self.num_bytes + num_bytes,
                limit=self.max_bytes,
                position=position,
            )

    def append(self, plain: bytes | memoryview, *, position: int) -> None:
        """Add *plain*, or raise LimitError at *position* of the section."""
        self.claim(len(plain), position=position)
        self.num_bytes += len(plain)
        if self.num_bytes > LEN_SMALL and not self._is_reserved:
            self._reserve()
        self._bytes.write(plain)

    def value(self) -> bytes:
        """Return what was added."""
        self._bytes.truncate()
        return self._bytes.getvalue()

    def _reserve(self) -> None:
        small, self._bytes = self._bytes, BytesIO(bytes(max(self.max_bytes, LEN_RESERVE)))
        self._bytes.write(small.getbuffer())
        self._is_reserved = True
