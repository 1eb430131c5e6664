"""Tests that other libraries decompress the frames that the vectors' framers write."""

import gzip
import zlib

import cramjam
import lz4.frame
import pytest
import zstandard

from magicbyte_tools.vectors import framers
from magicbyte_tools.vectors.xxh32 import xxh32

TEXTS = [b"", b"a", b"short", bytes(range(256)) * 9]


@pytest.mark.parametrize("text", TEXTS, ids=len)
def test_gzip_reads_a_stored_member(text: bytes) -> None:
    assert gzip.decompress(framers.gzip(text)) == text


@pytest.mark.parametrize("text", TEXTS, ids=len)
def test_snappy_reads_literals(text: bytes) -> None:
    assert bytes(cramjam.snappy.decompress_raw(framers.snappy(text))) == text


def test_snappy_reads_a_copy() -> None:
    block = framers.snappy(b"abcd", claimed=12) + framers.snappy_copy(offset=4, length=8)
    assert bytes(cramjam.snappy.decompress_raw(block)) == b"abcd" * 3


@pytest.mark.parametrize("flg", [0x60, 0x70, 0x68, 0x64, 0x7C])
@pytest.mark.parametrize("text", TEXTS[1:], ids=len)
def test_lz4_reads_a_frame_with_every_option(text: bytes, flg: int) -> None:
    assert lz4.frame.decompress(framers.lz4(text, flg=flg)) == text


@pytest.mark.parametrize("literals", [4, 14, 15, 16, 300])
@pytest.mark.parametrize("length", [4, 18, 19, 20, 280, 1000])
def test_lz4_reads_a_copy_of_any_length(literals: int, length: int) -> None:
    head, tail = b"x" * literals, b"the last bytes are literals"
    block = framers.lz4_sequence(head, offset=1, length=length) + framers.lz4_sequence(tail)
    plain = b"x" * (literals + length) + tail
    assert lz4.frame.decompress(framers.lz4(plain, blocks=[framers.lz4_packed(block)])) == plain


@pytest.mark.parametrize("text", TEXTS, ids=len)
@pytest.mark.parametrize("is_sized", [False, True])
def test_zstd_reads_a_frame(text: bytes, is_sized: bool) -> None:
    frame = framers.zstd(framers.zstd_raw(text), content_size=len(text) if is_sized else None)
    assert zstandard.ZstdDecompressor().decompress(frame, max_output_size=10_000) == text


def test_zstd_reads_a_run() -> None:
    frame = framers.zstd(framers.zstd_run(b"z", 3000), framers.zstd_raw(b"end"))
    plain = zstandard.ZstdDecompressor().decompress(frame, max_output_size=10_000)
    assert plain == b"z" * 3000 + b"end"


def test_xxh32_is_that_of_its_published_vectors() -> None:
    assert xxh32(b"") == 0x02CC5D05
    assert xxh32(b"", seed=0x9E3779B1) == 0x36B78AE7
    assert xxh32(b"abc") == 0x32D153FF
    assert xxh32(b"Nobody inspects the spammish repetition") == 0xE2293B2F


def test_a_stored_block_is_deflate() -> None:
    assert zlib.decompress(framers.stored(b"text"), wbits=-15) == b"text"
