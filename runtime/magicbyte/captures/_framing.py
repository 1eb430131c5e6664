"""Kafka's messages in the bytes of a stream: each is an int32, its length, and as many bytes."""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from magicbyte.captures._tcp_stream import MissingBytes

LENGTH_BYTES = 4
REQUEST_PROBE_BYTES = 14
"""Bytes by which the begin of a request is recognized: length, API key, version, correlation id, client id's length."""

RESPONSE_PROBE_BYTES = 8
"""Bytes by which the begin of a response is recognized: length and correlation id."""

TLS_TYPES = range(20, 25)
"""Content types of TLS records."""

LengthProblem = Callable[[int], None]


@dataclass(slots=True)
class MessageFramer:
    """Divides a stream into messages.

    It begins where *is_start* recognizes a message in the first bytes of a segment: a capture may begin
    inside a connection, and bytes may be missing.
    """

    is_start: Callable[[bytes], bool]
    num_probe_bytes: Callable[[], int]
    """Returns how many bytes `is_start` needs."""
    max_bytes: int
    """Length of the largest message that is read."""
    is_at_begin: bool = False
    """True if the first bytes begin the stream, and so a message, even if they are few."""
    is_framed: bool = False
    """True while it is known where messages begin."""
    has_framed: bool = False
    """True if a message has begun in this stream."""
    num_ignored: int = 0
    """Bytes that were in no message."""
    num_lost: int = 0
    """Messages with missing bytes, and messages that are too large."""
    _parts: list[bytes] = field(default_factory=list)
    _num_bytes: int = 0
    """Bytes in the parts."""
    _num_to_skip: int = 0
    """Bytes up to the end of a message that is lost."""

    def feed(self, stream_part: memoryview | bytes | MissingBytes) -> Iterator[bytes]:
        """Yield the messages, without their lengths, that end in *stream_part*."""
        if isinstance(stream_part, MissingBytes):
            self._lose(stream_part.num_bytes)
            return
        view = memoryview(stream_part)
        if self._num_to_skip:
            num_skipped = min(self._num_to_skip, len(view))
            self._num_to_skip -= num_skipped
            view = view[num_skipped:]
        if len(view):
            self._parts.append(bytes(view))
            self._num_bytes += len(view)
        if self._num_bytes and (self.is_framed or self._probe()):
            yield from self._messages()

    def _probe(self) -> bool:
        """Return whether the bytes begin a message; forget them if they do not."""
        data = self._joined()
        if len(data) < self.num_probe_bytes() and self.is_at_begin:
            return False
        self.is_at_begin = False
        if len(data) >= self.num_probe_bytes() and self.is_start(data):
            if not self.has_framed:  # bytes of a message that began before the capture
                self.num_ignored = 0
            self.is_framed = self.has_framed = True
            return True
        self.num_ignored += len(data)
        self._forget()
        return False

    def _messages(self) -> Iterator[bytes]:
        while self._num_bytes >= LENGTH_BYTES:
            length = self._length()
            if length < 0:
                self.num_ignored += self._num_bytes
                self._forget()
                self.is_framed = False
                return
            end = LENGTH_BYTES + length
            if length > self.max_bytes:
                self.num_lost += 1
                self._skip(end)
                continue
            if self._num_bytes < end:
                return
            data = self._joined()
            rest = data[end:]
            self._parts, self._num_bytes = ([rest] if rest else []), len(rest)
            yield data[LENGTH_BYTES:end]

    def _skip(self, end: int) -> None:
        """Leave out the bytes up to *end* of those that have come, and those that will."""
        data = self._joined()
        self._forget()
        if len(data) > end:
            self._parts, self._num_bytes = [data[end:]], len(data) - end
        else:
            self._num_to_skip = end - len(data)

    def _length(self) -> int:
        if len(self._parts[0]) < LENGTH_BYTES:
            self._joined()
        number: int = struct.unpack_from(">i", self._parts[0])[0]
        return number

    def _joined(self) -> bytes:
        """Return the bytes that have come, which are in one part then."""
        if len(self._parts) > 1:
            self._parts = [b"".join(self._parts)]
        return self._parts[0] if self._parts else b""

    def _forget(self) -> None:
        self._parts, self._num_bytes = [], 0

    def _lose(self, num_bytes: int) -> None:
        """Leave out missing bytes. If they are all of one message, the next one begins after that."""
        self.is_at_begin = False
        if self._num_to_skip:
            self.is_framed = num_bytes <= self._num_to_skip
            self._num_to_skip = max(self._num_to_skip - num_bytes, 0)
            if not self.is_framed:
                self.num_lost += 1
            return
        if self.is_framed and self._num_bytes >= LENGTH_BYTES:
            left = LENGTH_BYTES + self._length() - self._num_bytes
            self.num_lost += 1
            self._forget()
            self.is_framed = num_bytes <= left
            self._num_to_skip = left - num_bytes if self.is_framed else 0
            return
        self.num_lost += self.is_framed
        self.is_framed = False
        self._forget()


def is_tls(data: bytes) -> bool:
    """Return whether *data* begins with a record of TLS."""
    return len(data) >= 5 and data[0] in TLS_TYPES and data[1] == 3 and data[2] <= 4
