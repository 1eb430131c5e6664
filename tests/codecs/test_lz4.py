"""Tests of lz4: each row of a table of frame features that Kafka's reader accepts or rejects."""

import lz4.block
import lz4.frame
import pytest

from magicbyte.codecs import lz4 as codec
from magicbyte.errors import CodecError, LimitError

TEXT = b"what a record holds, " * 40
MAGIC = bytes.fromhex("04224d18")
JAVA = bytes.fromhex("604082")
END = bytes(4)

GOLDEN = [("6040", "82", "1a"), ("6050", "fb", "77"), ("6060", "51", "d6"), ("6070", "73", "10")]
GOLDEN += [("6440", "a7", "0c"), ("7040", "ad", "ec")]
"""FLG and BD, their checksum, and what Kafka wrote before 0.10 (KAFKA-3160)."""


def block(plain: bytes, *, is_stored: bool = False) -> bytes:
    body: bytes = plain if is_stored else lz4.block.compress(plain, store_size=False)
    return (len(body) | is_stored << 31).to_bytes(4, "little") + body


def frame(*blocks: bytes, descriptor: bytes = JAVA, end: bytes = END) -> bytes:
    return MAGIC + descriptor + b"".join(blocks) + end


def decompress(section: bytes, *, magic: int = 2) -> bytes:
    return codec.decompress(memoryview(section), max_bytes=1 << 24, magic=magic)


def assert_error(section: bytes, what: str, position: int, *, magic: int = 2) -> None:
    with pytest.raises(CodecError, match=what) as caught:
        decompress(section, magic=magic)
    assert caught.value.position == position


def test_blocks_of_one_frame_are_one_stream() -> None:
    section = frame(block(b"one, "), block(b"two, ", is_stored=True), block(TEXT))
    assert decompress(section) == b"one, two, " + TEXT


@pytest.mark.parametrize("has_content_checksum", [False, True])
@pytest.mark.parametrize("has_block_checksums", [False, True])
@pytest.mark.parametrize("has_size", [False, True])
@pytest.mark.parametrize("size_id", [4, 5, 6, 7])
def test_frame_that_the_reference_library_writes_is_read_with_any_flags(
    size_id: int, has_size: bool, has_block_checksums: bool, has_content_checksum: bool
) -> None:
    plain = b"%d" * 4_500_000
    section = lz4.frame.compress(
        plain,
        block_size=size_id,
        block_linked=False,
        content_checksum=has_content_checksum,
        block_checksum=has_block_checksums,
        store_size=has_size,
    )
    assert decompress(section) == plain


def test_another_frame_magic_is_an_error() -> None:
    assert_error(b"\x05" + frame()[1:], "frame magic 05224d18; expected 04224d18", 0)


@pytest.mark.parametrize("number", range(16))
def test_skippable_frames_are_not_supported(number: int) -> None:
    skippable = (0x184D2A50 + number).to_bytes(4, "little") + bytes(4)
    assert_error(skippable + frame(block(TEXT)), "frame magic", 0)


@pytest.mark.parametrize("version", [0, 2, 3])
def test_another_version_is_an_error(version: int) -> None:
    flg = version << 6 | 0x20
    assert_error(frame(descriptor=bytes([flg, 0x40, 0])), f"version {version}", 4, magic=0)


def test_dependent_blocks_are_an_error() -> None:
    section = lz4.frame.compress(TEXT * 200, block_linked=True, store_size=False)
    assert section[4] & 0x20 == 0
    assert_error(section, "dependent blocks", 4)
    assert_error(frame(descriptor=bytes([0x41, 0x40, 0])), "dependent blocks", 4, magic=0)


@pytest.mark.parametrize("bit", [0, 1])
def test_reserved_bits_of_flg_must_be_0(bit: int) -> None:
    assert_error(frame(descriptor=bytes([0x60 | 1 << bit, 0x40, 0])), "FLG", 4, magic=0)


@pytest.mark.parametrize("bit", [0, 1, 2, 3, 7])
def test_reserved_bits_of_bd_must_be_0(bit: int) -> None:
    assert_error(frame(descriptor=bytes([0x60, 0x40 | 1 << bit, 0])), "BD", 5, magic=0)


@pytest.mark.parametrize("size_id", [0, 1, 2, 3])
def test_block_size_id_must_be_4_to_7(size_id: int) -> None:
    descriptor = bytes([0x60, size_id << 4, 0])
    assert_error(frame(descriptor=descriptor), f"block size id {size_id}", 5, magic=0)


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize(("flg_bd", "right", "broken"), GOLDEN)
def test_right_header_checksum_is_accepted_in_every_magic(
    flg_bd: str, right: str, broken: str, magic: int
) -> None:
    section = frame(descriptor=bytes.fromhex(flg_bd + right), end=END + bytes(4))
    assert decompress(section, magic=magic) == b""


@pytest.mark.parametrize(("flg_bd", "right", "broken"), GOLDEN)
def test_broken_header_checksum_is_accepted_in_magic_0_only(
    flg_bd: str, right: str, broken: str
) -> None:
    section = frame(descriptor=bytes.fromhex(flg_bd + broken), end=END + bytes(4))
    assert decompress(section, magic=0) == b""
    for magic in (1, 2):
        assert_error(section, "header checksum", 6, magic=magic)


def test_header_checksum_is_not_looked_at_in_magic_0() -> None:
    for checksum in range(256):
        section = frame(block(TEXT), descriptor=bytes([0x60, 0x40, checksum]))
        assert decompress(section, magic=0) == TEXT


@pytest.mark.parametrize("size", [0, 1, len(TEXT), (1 << 64) - 1])
def test_content_size_is_skipped_and_not_used(size: int) -> None:
    descriptor = b"\x68\x40" + size.to_bytes(8, "little") + b"\0"
    assert decompress(frame(block(TEXT), descriptor=descriptor), magic=0) == TEXT


def test_content_size_is_covered_by_the_header_checksum() -> None:
    section = bytearray(lz4.frame.compress(TEXT, block_linked=False, store_size=True))
    section[6] ^= 1
    assert_error(bytes(section), "header checksum", 14)


@pytest.mark.parametrize("is_stored", [False, True])
def test_block_checksum_is_verified(is_stored: bool) -> None:
    plain = bytes(range(256)) if is_stored else TEXT
    section = bytearray(
        lz4.frame.compress(plain, block_linked=False, block_checksum=True, store_size=False)
    )
    assert bool(section[10] & 0x80) == is_stored
    assert decompress(bytes(section)) == plain
    section[-5] ^= 1
    assert_error(bytes(section), "block checksum", len(section) - 8)


def test_damage_that_still_decompresses_is_found_by_the_block_checksum() -> None:
    section = bytearray(
        lz4.frame.compress(TEXT, block_linked=False, block_checksum=True, store_size=False)
    )
    section[13] ^= 1
    assert_error(bytes(section), "block checksum", len(section) - 8)


def test_content_checksum_is_not_verified() -> None:
    section = lz4.frame.compress(TEXT, block_linked=False, content_checksum=True, store_size=False)
    assert decompress(section[:-4] + b"\xff" * 4) == TEXT


@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_content_checksum_that_is_cut_is_an_error(length: int) -> None:
    section = frame(descriptor=bytes.fromhex("6440a7"), end=END + bytes(length))
    assert_error(section, "ends inside", 11)


@pytest.mark.parametrize("is_stored", [False, True])
@pytest.mark.parametrize(
    ("descriptor", "allowed"),
    [("604082", 1 << 16), ("6050fb", 1 << 18), ("606051", 1 << 20), ("607073", 1 << 22)],
)
def test_block_larger_than_the_declared_maximum_is_an_error(
    descriptor: str, allowed: int, is_stored: bool
) -> None:
    given = bytes.fromhex(descriptor)
    longest = frame(block(bytes(allowed), is_stored=True), descriptor=given)
    assert decompress(longest) == bytes(allowed)
    length = allowed + 1
    stated = (length | is_stored << 31).to_bytes(4, "little")
    section = frame(stated + bytes(length), descriptor=given)
    assert_error(section, f"block of {length} bytes; the frame allows {allowed}", 7)


def test_block_that_decompresses_to_more_than_the_declared_maximum_is_an_error() -> None:
    assert decompress(frame(block(bytes(1 << 16)))) == bytes(1 << 16)
    assert_error(frame(block(bytes((1 << 16) + 1))), "corrupt", 11)


def test_block_that_is_no_block_is_an_error() -> None:
    assert_error(frame(block(TEXT), b"\4\0\0\0" + b"\x0f\0\0\0"), "corrupt", 11 + len(block(TEXT)))


@pytest.mark.parametrize("behind", [b"x", bytes(100), frame(block(TEXT))])
def test_bytes_after_the_end_mark_are_ignored(behind: bytes) -> None:
    assert decompress(frame(block(TEXT)) + behind) == TEXT


@pytest.mark.parametrize("end_mark", [b"\0\0\0\0", b"\0\0\0\x80"])
def test_length_of_0_is_the_end_mark_whatever_its_highest_bit(end_mark: bytes) -> None:
    assert decompress(frame(block(TEXT), end=end_mark) + b"ignored") == TEXT


@pytest.mark.parametrize("token", [0, 15])
@pytest.mark.parametrize("is_first", [True, False])
def test_block_of_nothing_ends_the_payload_as_in_kafka(token: int, is_first: bool) -> None:
    nothing = (1).to_bytes(4, "little") + bytes([token])
    before = [] if is_first else [block(b"one, ")]
    section = frame(*before, nothing, block(b"two, "))
    assert decompress(section) == (b"" if is_first else b"one, ")


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("length", range(len(frame(block(TEXT)))))
def test_frame_that_is_cut_is_an_error(length: int, magic: int) -> None:
    with pytest.raises(CodecError):
        decompress(frame(block(TEXT))[:length], magic=magic)


def test_header_of_7_bytes_is_whole() -> None:
    assert_error((MAGIC + JAVA)[:6], "6 bytes; a frame's header has 7 or more", 0)
    assert_error(MAGIC + JAVA, "ends inside the frame", 7)


def test_header_that_is_cut_in_the_content_size_is_an_error() -> None:
    for length in range(2, 10):
        assert_error(MAGIC + b"\x68\x40" + bytes(length - 1), "inside the frame's header", 6)


def test_frame_that_is_cut_behind_a_block_is_told_from_a_block_that_is() -> None:
    section = lz4.frame.compress(TEXT, block_linked=False, block_checksum=True, store_size=False)
    assert_error(section[:-4], "ends inside the frame", len(section) - 4)
    assert_error(section[:-5], "ends inside a block", 7)
    section = lz4.frame.compress(TEXT, block_linked=False, store_size=False)
    assert_error(section[:-4], "ends inside the frame", len(section) - 4)
    assert_error(section[:-5], "ends inside a block", 7)


def test_frame_without_end_mark_is_an_error() -> None:
    assert_error(frame(block(TEXT), end=b""), "ends inside", 7 + len(block(TEXT)))


def test_a_large_block_is_read_in_parts_and_its_damage_is_of_the_whole() -> None:
    large, descriptor = bytes(range(256)) * (3 << 12), bytes.fromhex("607073")
    assert len(large) > codec.LEN_WHOLE
    good, first = block(large), block(b"one, ")
    section = frame(first, good, first, descriptor=descriptor)
    assert decompress(section) == b"one, " + large + b"one, "
    damaged = good[:4] + b"\xff" * (len(good) - 4)
    assert len(damaged) * codec.MAX_RATIO > codec.LEN_WHOLE
    section = frame(first, damaged, first, descriptor=descriptor)
    assert_error(section, "lz4", 7 + len(first) + 4)


def test_densest_block_is_not_mistaken_for_damage() -> None:
    plain = bytes(4 << 20)
    section = lz4.frame.compress(plain, block_size=7, block_linked=False, store_size=False)
    assert decompress(section) == plain


def test_limit_counts_all_blocks_and_names_the_one_that_passes_it() -> None:
    section = frame(*[block(TEXT)] * 3)
    assert codec.decompress(section, max_bytes=3 * len(TEXT)) == 3 * TEXT
    with pytest.raises(LimitError) as caught:
        codec.decompress(section, max_bytes=3 * len(TEXT) - 1)
    assert caught.value.position == 7 + 2 * len(block(TEXT))
