"""Tests of compression: the frames that Kafka's producer writes, their levels, and what is refused."""

import re

import pytest

from magicbyte import codecs
from magicbyte.codecs import lz4, snappy
from magicbyte.errors import InputError
from magicbyte_tools.vectors.xxh32 import xxh32

PLAIN = b"".join(b"offset %d, value %d\n" % (n, n * n) for n in range(20_000))
NOISE = bytes(number * number % 251 for number in range(70_000))
LEVELS = {1: (1, 9), 2: (), 3: (1, 3, 9, 17), 4: (-5, 1, 22)}


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("plain", [b"", b"x", bytes(1 << 16), PLAIN, NOISE], ids=len)
def test_compressed_payload_is_decompressed_again(codec: int, magic: int, plain: bytes) -> None:
    if codec == 4 and magic < 2:
        pytest.skip("zstd is not allowed in messages")
    for level in (None, *LEVELS.get(codec, ())):
        section = codecs.compress(codec, memoryview(plain), magic=magic, level=level)
        assert type(section) is bytes
        decompressed = codecs.decompress(codec, section, magic=magic, max_bytes=len(plain))
        assert decompressed == plain


@pytest.mark.parametrize("codec", [1, 4])
def test_higher_level_compresses_further(codec: int) -> None:
    low, high = (
        codecs.compress(codec, PLAIN, magic=2, level=LEVELS[codec][number]) for number in (0, -1)
    )
    assert len(high) < len(low)


def test_lz4_takes_its_fast_mode_at_level_9_as_kafka_does() -> None:
    fast, nine, high = (lz4.compress(PLAIN, level=level) for level in (None, 9, 10))
    assert fast == nine
    assert len(high) < len(fast)


def test_lz4_header_has_the_checksum_of_its_magic() -> None:
    assert lz4.HEADER[-1] == xxh32(lz4.HEADER[4:6]) >> 8 & 0xFF
    assert lz4.HEADER_OF_MAGIC_0[-1] == xxh32(lz4.HEADER_OF_MAGIC_0[:6]) >> 8 & 0xFF
    assert codecs.compress(3, PLAIN, magic=0)[:7] == lz4.HEADER_OF_MAGIC_0
    assert codecs.compress(3, PLAIN, magic=1)[:7] == lz4.HEADER


def test_lz4_stores_a_block_that_does_not_get_shorter() -> None:
    noise = bytes(range(256))
    section = lz4.compress(noise)
    assert section[7:] == (256 | lz4.UNCOMPRESSED).to_bytes(4, "little") + noise + bytes(4)


def test_snappy_writes_chunks_of_32_kib() -> None:
    section = snappy.compress(PLAIN)
    sizes, position = [], len(snappy.HEADER)
    while position < len(section):
        (length,) = snappy.CHUNK_LENGTH.unpack_from(section, position)
        block = section[position + 4 : position + 4 + length]
        sizes.append(len(codecs.decompress(2, block, magic=2, max_bytes=1 << 20)))
        position += 4 + length
    assert set(sizes[:-1]) == {32 << 10}
    assert sum(sizes) == len(PLAIN)


@pytest.mark.parametrize(
    ("codec", "level", "message"),
    [
        (1, 0, "level 0 of codec gzip; expected 1 to 9"),
        (2, 1, "level 1 of codec snappy; expected none: it has no levels"),
        (3, 18, "level 18 of codec lz4; expected 1 to 17"),
        (4, 23, "level 23 of codec zstd; expected -131072 to 22"),
        (5, None, "codec 5; expected 0 to 4"),
    ],
)
def test_levels_that_kafka_does_not_have_are_refused(
    codec: int, level: int | None, message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        codecs.compress(codec, b"", magic=2, level=level)
