"""Segment of a log, or record set of the protocol: consecutive batches or messages of any magic.

Read like org.apache.kafka.common.record.ByteBufferLogInputStream: an incomplete entry at the end is
no error; an impossible size or magic is one. "Entry" means a batch or a message.
"""

import io
from typing import Any

from construct import (
    Construct,
    ConstructError,
    Container,
    Int8sb,
    Int32sb,
    ListContainer,
    ValidationError,
)
from construct.core import stream_read, stream_seek, stream_tell, stream_write

from magicbyte_construct.fields import bytes_left
from magicbyte_construct.message import MIN_MESSAGE_SIZE, Message
from magicbyte_construct.record_batch import RecordBatch

OVERHEAD = 12
"""Bytes of offset and size; the size does not count them."""

UP_TO_MAGIC = 17
"""Bytes of an entry up to its magic, which is included."""

FORMATS = {0: Message, 1: Message, 2: RecordBatch}
"""Construct of an entry, by its magic."""


def peek(stream: Any, path: str) -> tuple[int, int]:
    """Return size and magic of the next batch or message, without consuming it."""
    data = peek_bytes(stream, UP_TO_MAGIC, path)
    return Int32sb.parse(data[8:12]), Int8sb.parse(data[16:17])


def peek_bytes(stream: Any, count: int, path: str) -> bytes:
    """Return the next *count* bytes, without consuming them."""
    start = stream_tell(stream, path)
    data: bytes = stream_read(stream, count, path)
    stream_seek(stream, start, io.SEEK_SET, path)
    return data


class EntryConstruct(Construct):
    """Message or RecordBatch, depending on the magic."""

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        _, magic = peek(stream, path)
        if magic not in FORMATS:
            raise ValidationError(f"magic {magic} found, 0, 1 or 2 expected", path=path)
        return FORMATS[magic]._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        magic = obj.get("magic")
        return FORMATS.get(magic, RecordBatch)._build(obj, stream, context, path)


Entry = EntryConstruct()
"""Entry of a log: a Message if its magic is 0 or 1, else a RecordBatch."""


class LogConstruct(Construct):
    """Log with ``entries``, then an incomplete entry (``partial``) or zeros (``zero_tail``), if any.

    At most one of ``partial`` and ``zero_tail`` is not None. The error of an entry has the position
    of the entry as its attribute ``position`` and in its text.
    """

    def __init__(self) -> None:
        super().__init__()
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        log = Container(entries=ListContainer(), partial=None, zero_tail=None)
        while left := bytes_left(stream, path):
            position = stream_tell(stream, path)
            if is_zero_to_end(stream, path):
                log["zero_tail"] = stream.read()
                break
            if left < UP_TO_MAGIC:
                check_cut_size(stream, left, path)
                log["partial"] = stream.read()
                break
            size, magic = peek(stream, path)
            if MIN_MESSAGE_SIZE <= size > left - OVERHEAD and magic in FORMATS:
                log["partial"] = stream.read()
                break
            try:
                log["entries"].append(Entry._parsereport(stream, context, path))
            except ConstructError as error:
                error.position = position
                error.args = (f"{error} (entry at byte {position})",)
                raise
        return log

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        for entry in obj.get("entries") or ():
            Entry._build(entry, stream, context, path)
        for name in ("partial", "zero_tail"):
            tail = obj.get(name) or b""
            stream_write(stream, tail, len(tail), path)
        return obj


def check_cut_size(stream: Any, left: int, path: str) -> None:
    """Raise ValidationError if the last *left* bytes cannot be the beginning of an entry."""
    if left < OVERHEAD:
        return
    size = Int32sb.parse(peek_bytes(stream, OVERHEAD, path)[8:])
    if size < MIN_MESSAGE_SIZE:
        position = stream_tell(stream, path)
        error = ValidationError(
            f"size {size} found, at least {MIN_MESSAGE_SIZE} expected (entry at byte {position})",
            path=path,
        )
        error.position = position
        raise error


def is_zero_to_end(stream: Any, path: str) -> bool:
    """Return whether only zeros follow, as in a preallocated file, without consuming them."""
    start = stream_tell(stream, path)
    zero = not any(stream.read(OVERHEAD))  # no entry has the size 0
    while zero and (chunk := stream.read(1 << 16)):
        zero = chunk.count(0) == len(chunk)
    stream_seek(stream, start, io.SEEK_SET, path)
    return zero


Log = LogConstruct()
"""Log segment: ``entries``, and ``partial`` or ``zero_tail`` after them."""
