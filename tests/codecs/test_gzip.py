"""Tests that gzip is read as java.util.zip.GZIPInputStream reads it, by isal and by zlib."""

import zlib

import pytest

from magicbyte.codecs import gzip
from magicbyte.errors import CodecError, LimitError

TEXT = b"what a record holds, " * 40
FEXTRA_FNAME_FCOMMENT = b"\x1f\x8b\x08\x1c\0\0\0\0\0\xff" + b"\x05\0extra" + b"name\0" + b"why\0"


@pytest.fixture(params=["isal", "zlib"], autouse=True)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "zlib":
        monkeypatch.setattr(gzip, "deflate", zlib)
        monkeypatch.setattr(gzip, "DeflateError", zlib.error)


def member(plain: bytes, header: bytes = b"\x1f\x8b\x08\0\0\0\0\0\0\xff") -> bytes:
    trailer = zlib.crc32(plain).to_bytes(4, "little") + len(plain).to_bytes(4, "little")
    return header + zlib.compress(plain, wbits=-15) + trailer


def decompress(section: bytes) -> bytes:
    return gzip.decompress(memoryview(section), max_bytes=1 << 20)


def test_members_are_one_stream() -> None:
    assert decompress(member(b"one, ") + member(b"") + member(TEXT)) == b"one, " + TEXT


def test_header_with_all_fields_is_read() -> None:
    assert decompress(member(TEXT, FEXTRA_FNAME_FCOMMENT)) == TEXT


@pytest.mark.parametrize("flags", [0x01, 0x20, 0x40, 0x80, 0xE1])
def test_flags_without_a_field_add_nothing(flags: int) -> None:
    assert decompress(member(TEXT, b"\x1f\x8b\x08" + bytes([flags, 0, 0, 0, 0, 0, 255]))) == TEXT


@pytest.mark.parametrize(("flag", "field"), [(4, b"\2\0ab"), (8, b"n\0"), (8, b"\0"), (16, b"c\0")])
def test_each_field_is_passed_over_alone(flag: int, field: bytes) -> None:
    header = b"\x1f\x8b\x08" + bytes([flag, 0, 0, 0, 0, 0, 255])
    assert decompress(member(TEXT, header + field)) == TEXT


@pytest.mark.parametrize(
    ("flag", "field", "whole"),
    [(0, b"", 0), (2, b"", 2), (4, b"\2\0ab", 4), (8, b"n\0", 2), (16, b"c\0", 2)],
)
def test_header_that_is_cut_is_told_from_a_member_that_is(
    flag: int, field: bytes, whole: int
) -> None:
    header = b"\x1f\x8b\x08" + bytes([flag, 0, 0, 0, 0, 0, 255])
    field = field or (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")[:whole]
    for length in range(whole):
        with pytest.raises(CodecError, match="inside a member's header") as caught:
            decompress(header + field[:length])
        assert caught.value.position == 0
    with pytest.raises(CodecError, match=r"inside a member \(") as caught:
        decompress(header + field)
    assert caught.value.position == 10 + whole


def test_long_name_is_passed_over() -> None:
    header = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + b"n" * 100_000 + b"\0"
    assert decompress(member(TEXT, header)) == TEXT


def test_header_checksum_is_verified() -> None:
    header = b"\x1f\x8b\x08\x02\0\0\0\0\0\xff"
    right = (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
    assert decompress(member(TEXT, header + right)) == TEXT
    with pytest.raises(CodecError, match="CRC-16") as caught:
        decompress(member(TEXT, header + bytes([right[0] ^ 1, right[1]])))
    assert caught.value.position == 10


@pytest.mark.parametrize(
    "garbage",
    [
        b"\0",
        bytes(100),
        b"not a member at all",
        b"\x1f\x8b\x07" + bytes(100),
        member(TEXT, FEXTRA_FNAME_FCOMMENT)[:20],
    ],
    ids=["a byte", "zeros", "text", "another method", "cut in a header"],
)
def test_bytes_after_a_member_that_begin_no_other_are_ignored(garbage: bytes) -> None:
    assert decompress(member(TEXT) + garbage) == TEXT


@pytest.mark.parametrize("length", range(1, 19))
def test_fewer_bytes_than_a_member_can_have_are_ignored_behind_one(length: int) -> None:
    assert decompress(member(TEXT) + member(TEXT)[:length]) == TEXT


@pytest.mark.parametrize("length", range(19, len(member(TEXT))))
def test_second_member_that_is_cut_is_an_error(length: int) -> None:
    with pytest.raises(CodecError, match="ends inside"):
        decompress(member(TEXT) + member(TEXT)[:length])


def test_second_member_that_is_damaged_is_an_error() -> None:
    damaged = bytearray(member(TEXT))
    damaged[10] = 0xFF
    with pytest.raises(CodecError) as caught:
        decompress(member(TEXT) + bytes(damaged))
    assert caught.value.position == len(member(TEXT)) + 10


@pytest.mark.parametrize("length", range(len(member(TEXT))))
def test_member_that_is_cut_is_an_error(length: int) -> None:
    with pytest.raises(CodecError, match="ends inside"):
        decompress(member(TEXT)[:length])


@pytest.mark.parametrize("behind", [b"", member(TEXT)], ids=["last", "first of two"])
@pytest.mark.parametrize(("at", "what"), [(8, "CRC-32"), (4, "size")])
def test_checksum_and_size_are_verified_at_each_members_end(
    at: int, what: str, behind: bytes
) -> None:
    damaged = bytearray(member(TEXT))
    damaged[-at] ^= 1
    with pytest.raises(CodecError, match=what) as caught:
        decompress(bytes(damaged) + behind)
    assert caught.value.position == len(damaged) - at


def test_other_magic_and_other_methods_are_errors() -> None:
    with pytest.raises(CodecError, match="magic 28b5; expected 1f8b"):
        decompress(b"\x28\xb5\x2f\xfd" + bytes(20))
    with pytest.raises(CodecError, match="method 7; expected 8"):
        decompress(b"\x1f\x8b\x07" + bytes(20))


def test_limit_counts_all_members_and_names_the_one_that_passes_it() -> None:
    section = member(TEXT) * 3
    assert gzip.decompress(section, max_bytes=3 * len(TEXT)) == 3 * TEXT
    with pytest.raises(LimitError) as caught:
        gzip.decompress(section, max_bytes=3 * len(TEXT) - 1)
    assert 2 * len(member(TEXT)) <= caught.value.position < len(section)


def test_no_more_is_decompressed_than_shows_that_it_is_too_much() -> None:
    with pytest.raises(LimitError) as caught:
        gzip.decompress(member(TEXT), max_bytes=10)
    assert caught.value.claimed == 11
