"""Tests of decompression by codec number: payloads of libraries, limits, unknown codecs."""

import gzip
from collections.abc import Callable

import cramjam
import lz4.frame
import pytest
import zstandard

from magicbyte import codecs
from magicbyte.errors import CodecError, LimitError
from magicbyte_formats.wire import CODEC_NAMES

PLAIN = b"".join(b"offset %d, value %d\n" % (n, n * n) for n in range(20_000))

COMPRESS: dict[int, Callable[[bytes], bytes]] = {
    0: bytes,
    1: gzip.compress,
    2: lambda plain: bytes(cramjam.snappy.compress_raw(plain)),
    3: lambda plain: lz4.frame.compress(plain, block_linked=False),
    4: zstandard.compress,
}


@pytest.mark.parametrize("codec", COMPRESS)
@pytest.mark.parametrize("plain", [b"", b"x", PLAIN], ids=["nothing", "a byte", "much"])
@pytest.mark.parametrize("view", [bytes, memoryview])
def test_payload_compressed_by_a_library_is_decompressed(
    codec: int, plain: bytes, view: Callable[[bytes], bytes | memoryview]
) -> None:
    section = view(COMPRESS[codec](plain))
    decompressed = codecs.decompress(codec, section, magic=2, max_bytes=len(plain))
    assert type(decompressed) is bytes
    assert decompressed == plain


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_byte_more_than_the_limit_is_over_the_limit_and_not_damage(codec: int) -> None:
    with pytest.raises(LimitError) as caught:
        codecs.decompress(codec, COMPRESS[codec](PLAIN), magic=2, max_bytes=len(PLAIN) - 1)
    assert (caught.value.setting, caught.value.limit) == ("max_batch_bytes", len(PLAIN) - 1)
    assert caught.value.claimed >= len(PLAIN)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_empty_payload_is_within_a_limit_of_0_bytes(codec: int) -> None:
    assert codecs.decompress(codec, COMPRESS[codec](b""), magic=2, max_bytes=0) == b""


@pytest.mark.parametrize("codec", [5, 6, 7])
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_unknown_codec_is_named(codec: int, magic: int) -> None:
    with pytest.raises(CodecError, match=f"codec {codec}") as caught:
        codecs.decompress(codec, b"x", magic=magic, max_bytes=1)
    assert caught.value.code == "unknown-codec"


@pytest.mark.parametrize("magic", [0, 1])
def test_zstd_is_not_allowed_in_messages(magic: int) -> None:
    with pytest.raises(CodecError, match=f"magic {magic}") as caught:
        codecs.decompress(4, zstandard.compress(b"x"), magic=magic, max_bytes=1)
    assert caught.value.code == "codec-not-allowed"


def test_names_are_kafkas() -> None:
    assert CODEC_NAMES == {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
