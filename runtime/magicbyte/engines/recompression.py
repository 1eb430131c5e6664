"""Changes the codec of batches and wrapper messages: their records stay unchanged."""

import struct

from magicbyte import codecs
from magicbyte.checksum import crc32c
from magicbyte.limits import DEFAULT_LIMITS, Limits
from magicbyte_formats.wire import RecordBatchHeader

_CRC = struct.Struct(">I")
CODEC_BITS = 0x7


def recompress_batch(
    batch: memoryview | bytes,
    codec: int,
    *,
    level: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> bytes:
    """Return a sound v2 batch with its records compressed by *codec* at *level*; 0 stores them unchanged.

    All fields but size, codec and checksum are kept, and so is every byte of the records. Raises CodecError
    or LimitError if the batch cannot be decompressed, InputError if *codec* has no such *level*.
    """
    view = memoryview(batch)
    header = RecordBatchHeader.unpack_from(view)
    section: memoryview | bytes = view[RecordBatchHeader.SIZE :]
    if header.num_records and header.codec:
        section = codecs.decompress(
            header.codec, section, magic=2, max_bytes=limits.max_batch_bytes
        )
    if header.num_records:
        section = codecs.compress(codec, section, magic=2, level=level)
    attributes = header.attributes & ~CODEC_BITS | (codec if header.num_records else 0)
    return sealed_batch(header._replace(attributes=attributes), section)


def sealed_batch(header: RecordBatchHeader, section: memoryview | bytes) -> bytes:
    """Return the batch of *header* and *section*, its records as stored, with the size and checksum that they have."""
    start = RecordBatchHeader.LENGTH.start
    size = RecordBatchHeader.SIZE + len(section) - start
    fields = RecordBatchHeader.FIXED.pack(*header._replace(len_batch=size, crc=0))
    covered = RecordBatchHeader.CHECKSUM
    checksum = crc32c(section, crc32c(fields[covered.start :]))
    end = covered.field_position + _CRC.size
    return b"".join((fields[: covered.field_position], _CRC.pack(checksum), fields[end:], section))
