"""Changes the codec of batches and wrapper messages: their records stay unchanged."""

import struct

from magicbyte import codecs
from magicbyte.checksum import crc32c
from magicbyte.engines._single_message import encode_message
from magicbyte.errors import CodecError, FormatError, InputError
from magicbyte.findings import Finding
from magicbyte.limits import DEFAULT_LIMITS, Limits
from magicbyte_formats.wire import CODEC_NAMES, MessageHeader, RecordBatchHeader

_UINT32, _INT32, _OFFSET = struct.Struct(">I"), struct.Struct(">i"), struct.Struct(">q")
_NUM_RECORDS = RecordBatchHeader.POSITIONS["num_records"]
_CODEC = RecordBatchHeader.POSITIONS["attributes"] + 1
"""The lower byte of the attributes."""
CODEC_BITS = 0x7


def recompress(
    log_entry: memoryview | bytes,
    codec: int,
    *,
    level: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> bytes:
    """Return a sound log entry with its records compressed by *codec* at *level*.

    A batch stays a batch, see `recompress_batch`. A wrapper message stays one, with the same bytes inside;
    an ordinary message becomes a wrapper message with it inside. Raises InputError for a wrapper message if
    *codec* is 0, because it would become several entries: decode it, and encode the rows as messages.
    """
    view = memoryview(log_entry)
    if view[RecordBatchHeader.POSITIONS["magic"]] >= 2:
        return recompress_batch(view, codec, level=level, limits=limits)
    header = MessageHeader.unpack_from(view)
    key, value = _key_and_value(view, header)
    if not header.codec:
        if not codec:
            return bytes(view)
        message_set = _OFFSET.pack(0 if header.magic else header.offset) + view[_OFFSET.size :]
    elif not codec:
        raise InputError("codec none for a wrapper message", "another codec")
    else:
        message_set = codecs.decompress(
            header.codec, value or b"", magic=header.magic, max_bytes=limits.max_batch_bytes
        )
    return encode_message(
        header.magic,
        header.offset,
        header.timestamp or 0,
        key if header.codec else None,
        codecs.compress(codec, message_set, magic=header.magic, level=level),
        codec=codec,
        timestamp_type=header.timestamp_type,
    )


def _key_and_value(
    view: memoryview, header: MessageHeader
) -> tuple[bytes | None, memoryview | None]:
    """Return key and value of the message at the beginning of *view*."""
    position = (
        MessageHeader.SIZE if header.timestamp is None else MessageHeader.POSITIONS["timestamp"] + 8
    )
    key_and_value: list[memoryview | None] = []
    for _ in range(2):
        (length,) = _INT32.unpack_from(view, position)
        position += _INT32.size
        end = position + max(length, 0)
        if end > len(view):
            raise FormatError(
                Finding(
                    code="bad-record",
                    message=f"key or value of {length} bytes, the message ends before",
                    position=position,
                )
            )
        key_and_value.append(view[position:end] if length >= 0 else None)
        position = end
    key, value = key_and_value
    return None if key is None else bytes(key), value


def recompress_batch(
    batch: memoryview | bytes,
    codec: int,
    *,
    level: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> bytes:
    """Return a sound v2 batch with its records compressed by *codec* at *level*; 0 stores them unchanged.

    All fields but size, codec and checksum are kept, and so is every byte of the records: the result is decompressed
    and compared. Raises CodecError or LimitError if the batch cannot be decompressed or the comparison fails,
    InputError if *codec* has no such *level*.
    """
    view = memoryview(batch).cast("B")  # Arrow's buffers have signed bytes, which equal no others
    # Numbers are changed in a copy of the header: tuples would take as long as lz4 for 16 KiB.
    header = bytearray(view[: RecordBatchHeader.SIZE])
    section: memoryview | bytes = view[RecordBatchHeader.SIZE :]
    (num_records,) = _INT32.unpack_from(header, _NUM_RECORDS)
    if num_records:
        stored_codec = header[_CODEC] & CODEC_BITS
        if stored_codec:
            max_bytes = limits.max_batch_bytes
            section = codecs.decompress(stored_codec, section, magic=2, max_bytes=max_bytes)
        if codec:
            raw_section = section
            section = codecs.compress(codec, raw_section, magic=2, level=level)
            max_bytes = max(len(raw_section), 1)
            if codecs.decompress(codec, section, magic=2, max_bytes=max_bytes) != raw_section:
                message = "the library does not give back the bytes that it has compressed"
                raise CodecError.of(CODEC_NAMES[codec], message)
        header[_CODEC] += codec - stored_codec
    return _sealed(header, section)


def sealed_batch(header: RecordBatchHeader, section: memoryview | bytes) -> bytes:
    """Return the batch of *header* and *section*, its records as stored, with the size and checksum that they have."""
    return _sealed(bytearray(RecordBatchHeader.FIXED.pack(*header)), section)


def _sealed(header: bytearray, section: memoryview | bytes) -> bytes:
    """Return the batch of *header*, in which size and checksum are set, and *section*."""
    size = RecordBatchHeader.SIZE + len(section) - RecordBatchHeader.LENGTH.start
    _INT32.pack_into(header, RecordBatchHeader.LENGTH.field_position, size)
    covered = RecordBatchHeader.CHECKSUM
    checksum = crc32c(section, crc32c(header[covered.start :]))
    _UINT32.pack_into(header, covered.field_position, checksum)
    return b"".join((header, section))
