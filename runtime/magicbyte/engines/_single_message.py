"""Encodes one message of v0 or v1: an ordinary one, or a wrapper around a compressed message set."""

import struct

from magicbyte import codecs
from magicbyte.checksum import crc32
from magicbyte.errors import InputError
from magicbyte_formats.wire import MessageHeader

_LENGTH, _CRC, _TIMESTAMP = struct.Struct(">i"), struct.Struct(">I"), struct.Struct(">q")
TIMESTAMP_TYPE_SHIFT = 3
MAX_BYTES = (1 << 31) - 1


def check_messages(magic: int, codec: int, timestamp_type: int, level: int | None) -> None:
    """Raise InputError if messages of *magic* cannot have these attributes."""
    if magic not in (0, 1):
        raise InputError(f"magic {magic}", "0 or 1")
    if timestamp_type not in ((0,) if magic == 0 else (0, 1)):
        raise InputError(f"timestamp_type {timestamp_type} in magic {magic}", "0, or 1 in magic 1")
    codecs.check_level(codec, level, magic=magic)


def encode_message(
    magic: int,
    offset: int,
    timestamp: int,
    key: bytes | None,
    value: bytes | None,
    *,
    codec: int = 0,
    timestamp_type: int = 0,
) -> bytes:
    """Return a message. Raises InputError if it has more than 2^31-1 bytes."""
    parts = [struct.pack(">bB", magic, codec | timestamp_type << TIMESTAMP_TYPE_SHIFT)]
    if magic >= 1:
        parts.append(_TIMESTAMP.pack(timestamp))
    for field_bytes in (key, value):
        parts.append(_LENGTH.pack(-1 if field_bytes is None else len(field_bytes)))
        parts.append(field_bytes or b"")
    covered = b"".join(parts)
    size = MessageHeader.CHECKSUM.start - MessageHeader.LENGTH.start + len(covered)
    if size > MAX_BYTES:
        raise InputError(f"a message of {size} bytes", f"{MAX_BYTES} bytes at most")
    frame = struct.pack(">qi", offset, size)
    return b"".join((frame, _CRC.pack(crc32(covered)), covered))


def wrap_messages(
    message_set: bytes | memoryview,
    magic: int,
    last_offset: int,
    timestamp: int,
    *,
    codec: int,
    timestamp_type: int,
    level: int | None,
) -> bytes:
    """Return the wrapper message of *message_set*, whose last message has *last_offset*."""
    value = codecs.compress(codec, message_set, magic=magic, level=level)
    return encode_message(
        magic, last_offset, timestamp, None, value, codec=codec, timestamp_type=timestamp_type
    )
