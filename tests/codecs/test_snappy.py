"""Tests that snappy is read as snappy-java's SnappyInputStream reads it."""

from collections.abc import Callable

import cramjam
import pytest

from magicbyte.codecs import snappy
from magicbyte.errors import CodecError, LimitError

TEXT = b"what a record holds, " * 40
MAGIC = b"\x82SNAPPY\0"
HEADER = MAGIC + b"\0\0\0\1" + b"\0\0\0\1"


def block(plain: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(plain))


def chunk(stored: bytes) -> bytes:
    return len(stored).to_bytes(4, "big") + stored


def decompress(section: bytes) -> bytes:
    return snappy.decompress(memoryview(section), max_bytes=1 << 20)


def test_chunks_are_one_stream() -> None:
    section = HEADER + chunk(block(b"one, ")) + chunk(block(b"")) + chunk(block(TEXT))
    assert decompress(section) == b"one, " + TEXT


def test_header_alone_holds_nothing() -> None:
    assert decompress(HEADER) == b""


@pytest.mark.parametrize("plain", [b"", b"short", TEXT])
def test_section_without_xerials_magic_is_one_raw_block(plain: bytes) -> None:
    assert decompress(block(plain)) == plain


def test_section_shorter_than_xerials_header_is_a_raw_block_whatever_it_begins_with() -> None:
    with pytest.raises(CodecError) as caught:
        decompress(HEADER[:15])
    assert caught.value.position == 0
    assert "compressed bytes cannot contain" in caught.value.reason


@pytest.mark.parametrize("versions", [b"\1\0\0\0\1\0\0\0", bytes(8), b"\xff" * 8])
def test_versions_of_the_first_header_are_not_looked_at(versions: bytes) -> None:
    assert decompress(MAGIC + versions + chunk(block(TEXT))) == TEXT


def test_streams_may_be_concatenated() -> None:
    one = HEADER + chunk(block(TEXT))
    assert decompress(one + HEADER + one) == TEXT + TEXT


@pytest.mark.parametrize("version", [2, 0x01000000])
def test_later_header_may_have_a_later_version(version: int) -> None:
    later = MAGIC + version.to_bytes(4, "big") + bytes(4)
    assert decompress(HEADER + chunk(block(b"x")) + later + chunk(block(TEXT))) == b"x" + TEXT


@pytest.mark.parametrize("version", [0, -1])
def test_later_header_of_an_older_version_is_an_error(version: int) -> None:
    first = HEADER + chunk(block(b"x"))
    later = MAGIC + version.to_bytes(4, "big", signed=True) + b"\0\0\0\1"
    with pytest.raises(CodecError, match=f"version {version}; expected 1") as caught:
        decompress(first + later + chunk(block(TEXT)))
    assert caught.value.position == len(first) + 8


@pytest.mark.parametrize("length", range(4, 16))
def test_later_header_that_is_cut_is_an_error(length: int) -> None:
    with pytest.raises(CodecError, match="ends inside a header"):
        decompress(HEADER + HEADER[:length])


def test_half_a_magic_is_neither_a_chunk_nor_a_header() -> None:
    with pytest.raises(CodecError, match="neither a chunk nor a header"):
        decompress(HEADER + HEADER[:4] + bytes(12))


@pytest.mark.parametrize("length", [-1, -(1 << 31), (512 << 20) + 1, (1 << 31) - 1])
def test_chunk_of_a_negative_or_huge_length_is_an_error(length: int) -> None:
    with pytest.raises(CodecError, match=f"chunk of {length} bytes; expected") as caught:
        decompress(HEADER + length.to_bytes(4, "big", signed=True) + block(TEXT))
    assert caught.value.position == 16


@pytest.mark.parametrize("length", [512 << 20, 2])
def test_chunk_longer_than_what_is_left_is_an_error(length: int) -> None:
    with pytest.raises(CodecError, match="1 are left"):
        decompress(HEADER + length.to_bytes(4, "big") + b"\0")


def test_chunk_of_no_bytes_is_an_error() -> None:
    with pytest.raises(CodecError, match="inside the length"):
        decompress(HEADER + bytes(4))


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("before", [HEADER, HEADER + chunk(block(TEXT))], ids=["header", "chunk"])
def test_bytes_too_few_for_a_chunk_are_an_error_as_they_would_be_lost(
    before: bytes, length: int
) -> None:
    with pytest.raises(CodecError, match=f"{length} bytes after") as caught:
        decompress(before + bytes(length))
    assert caught.value.position == len(before)


def test_empty_section_is_an_error() -> None:
    with pytest.raises(CodecError):
        decompress(b"")


@pytest.mark.parametrize("wrap", [bytes, lambda stored: HEADER + chunk(stored)])
def test_claim_above_the_limit_is_judged_before_the_bytes(wrap: Callable[[bytes], bytes]) -> None:
    stored = b"\x80\x80\x80\x01" + b"\xff" * (1 << 17)  # 2 MiB claimed; no block at all
    with pytest.raises(LimitError) as caught:
        decompress(wrap(stored))
    assert caught.value.claimed == 1 << 21


@pytest.mark.parametrize("wrap", [bytes, lambda stored: HEADER + chunk(stored)])
def test_claim_that_the_bytes_cannot_come_to_is_damage(wrap: Callable[[bytes], bytes]) -> None:
    with pytest.raises(CodecError, match=r"claims 4294967295 bytes, which .* cannot contain"):
        decompress(wrap(b"\xff\xff\xff\xff\x0f" + TEXT))


def test_claim_is_judged_by_what_the_bytes_behind_it_can_come_to() -> None:
    body = bytes(5)
    with pytest.raises(
        CodecError, match="claims 111 bytes, which 5 compressed bytes cannot contain"
    ):
        decompress(bytes([111]) + body)
    with pytest.raises(CodecError) as caught:
        decompress(bytes([110]) + body)
    assert "cannot" not in caught.value.reason


def test_densest_block_is_not_mistaken_for_damage() -> None:
    plain = bytes(1 << 20)
    assert decompress(block(plain)) == plain


@pytest.mark.parametrize("claimed", [len(TEXT) - 1, len(TEXT) + 1])
def test_block_that_comes_to_another_length_than_claimed_is_an_error(claimed: int) -> None:
    body = block(TEXT)[2:]
    with pytest.raises(CodecError):
        decompress(bytes([claimed & 0x7F | 0x80, claimed >> 7]) + body)


def test_limit_counts_all_chunks_and_names_the_one_that_passes_it() -> None:
    one = chunk(block(TEXT))
    assert snappy.decompress(HEADER + 3 * one, max_bytes=3 * len(TEXT)) == 3 * TEXT
    with pytest.raises(LimitError) as caught:
        snappy.decompress(HEADER + 3 * one, max_bytes=3 * len(TEXT) - 1)
    assert caught.value.position == 16 + 2 * len(one) + 4


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        ("00", 0),
        ("7f", 127),
        ("8001", 128),
        ("8000", 0),
        ("ffffffff0f", (1 << 32) - 1),
        ("8080808000", 0),
    ],
)
def test_uvarint_is_read_in_any_form_that_fits(stored: str, value: int) -> None:
    data = memoryview(b"x" + bytes.fromhex(stored) + b"y")
    end = len(data) - 1
    assert snappy.read_uvarint(data, 1, end) == (value, end)


@pytest.mark.parametrize(
    ("stored", "what"),
    [
        ("", "end inside"),
        ("80", "end inside"),
        ("80808080", "end inside"),
        ("8080808010", "32 bits"),
        ("808080808000", "32 bits"),
        ("ffffffffff01", "32 bits"),
    ],
)
def test_uvarint_that_is_cut_or_does_not_fit_is_an_error(stored: str, what: str) -> None:
    data = memoryview(bytes.fromhex(stored) + b"\0")
    with pytest.raises(CodecError, match=what):
        snappy.read_uvarint(data, 0, len(data) - 1)
