"""Tests that zstd is read as zstd-jni's ZstdInputStream reads it."""

from collections.abc import Callable

import pytest
import zstandard

from magicbyte.codecs import zstd
from magicbyte.errors import CodecError, LimitError

TEXT = b"what a record holds, " * 40
MIB = 1 << 20
MAGIC = bytes.fromhex("28b52ffd")
SKIPPABLE = bytes.fromhex("502a4d18") + b"\4\0\0\0" + b"skip"
EMPTY_BLOCK, EMPTY_LAST_BLOCK = b"\0\0\0", b"\1\0\0"


def sized(plain: bytes, *, has_checksum: bool = False) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=has_checksum).compress(plain)


def streamed(plain: bytes, *, has_checksum: bool = False, window_log: int = 21) -> bytes:
    """Return a zstd frame without a content size, as Kafka's producers write them."""
    parameters = zstandard.ZstdCompressionParameters(
        write_content_size=False, write_checksum=has_checksum, window_log=window_log
    )
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return stream.compress(plain) + stream.flush()


def decompress(section: bytes) -> bytes:
    return zstd.decompress(memoryview(section), max_bytes=4 * MIB)


@pytest.mark.parametrize("plain", [b"", b"x", TEXT, bytes(MIB), bytes(range(256)) * 10_000])
@pytest.mark.parametrize("has_checksum", [False, True])
def test_frame_is_read_with_and_without_its_size(plain: bytes, has_checksum: bool) -> None:
    assert decompress(sized(plain, has_checksum=has_checksum)) == plain
    assert decompress(streamed(plain, has_checksum=has_checksum)) == plain


def test_frames_are_one_stream() -> None:
    section = streamed(b"one, ") + sized(b"two, ") + sized(b"") + streamed(TEXT)
    assert decompress(section) == b"one, two, " + TEXT


def test_skippable_frames_are_skipped() -> None:
    section = SKIPPABLE + streamed(b"one, ") + SKIPPABLE + SKIPPABLE + sized(TEXT) + SKIPPABLE
    assert decompress(section) == b"one, " + TEXT


@pytest.mark.parametrize("number", range(16))
def test_all_sixteen_magics_are_skippable(number: int) -> None:
    assert decompress(bytes([SKIPPABLE[0] + number]) + SKIPPABLE[1:] + sized(TEXT)) == TEXT


def test_empty_section_holds_nothing_as_for_zstd_jni() -> None:
    assert decompress(b"") == b""
    assert decompress(SKIPPABLE) == b""


def test_empty_blocks_inside_a_frame_do_not_end_it() -> None:
    body = (len(TEXT) << 3).to_bytes(3, "little") + TEXT
    section = MAGIC + b"\0\x58" + EMPTY_BLOCK * 9 + body + EMPTY_BLOCK * 9 + EMPTY_LAST_BLOCK
    assert decompress(section) == TEXT
    assert decompress(section + section) == TEXT + TEXT


@pytest.mark.parametrize(
    "section",
    [sized(TEXT), streamed(TEXT), streamed(TEXT, has_checksum=True), SKIPPABLE],
    ids=["sized", "streamed", "checksum", "skippable"],
)
@pytest.mark.parametrize("before", [b"", streamed(b"one, ")], ids=["first", "second"])
def test_frame_that_is_cut_is_an_error_and_never_gives_its_first_part(
    section: bytes, before: bytes
) -> None:
    for length in range(1, len(section)):
        with pytest.raises(CodecError) as caught:
            decompress(before + section[:length])
        assert caught.value.position == len(before)


@pytest.mark.parametrize("garbage", [b"\0", b"\0\0\0", bytes(4), b"garbage behind", b"\x28"])
@pytest.mark.parametrize("frame", [sized(TEXT), streamed(TEXT)], ids=["sized", "streamed"])
def test_garbage_behind_a_frame_is_an_error(frame: bytes, garbage: bytes) -> None:
    with pytest.raises(CodecError) as caught:
        decompress(frame + garbage)
    assert caught.value.position == len(frame)


@pytest.mark.parametrize("plain", [b"", TEXT, bytes(MIB)], ids=["nothing", "text", "a step"])
@pytest.mark.parametrize("compress", [sized, streamed])
@pytest.mark.parametrize("behind", [b"", sized(TEXT)], ids=["last", "first of two"])
def test_content_checksum_is_verified(
    plain: bytes, compress: Callable[..., bytes], behind: bytes
) -> None:
    section = bytearray(compress(plain, has_checksum=True))
    section[-1] ^= 1
    with pytest.raises(CodecError, match="checksum"):
        decompress(bytes(section) + behind)


def test_claim_above_the_limit_is_judged_before_the_bytes() -> None:
    eight_gib = MAGIC + b"\xe0" + (8 << 30).to_bytes(8, "little")  # and no block
    with pytest.raises(LimitError) as caught:
        decompress(eight_gib)
    assert (caught.value.claimed, caught.value.position) == (8 << 30, 0)


def test_claim_that_the_blocks_cannot_come_to_is_damage() -> None:
    claim = MAGIC + b"\xa0" + MIB.to_bytes(4, "little")
    with pytest.raises(CodecError, match=f"claims {MIB} bytes, its blocks contain 0 to 0"):
        decompress(claim + EMPTY_LAST_BLOCK)


@pytest.mark.parametrize(("claimed", "held"), [(9, "10 to 10"), (11, "10 to 10")])
def test_claim_is_compared_with_what_is_stored_as_it_is(claimed: int, held: str) -> None:
    claim = MAGIC + b"\xa0" + claimed.to_bytes(4, "little")
    stored = (10 << 3 | 1).to_bytes(3, "little") + bytes(10)
    with pytest.raises(CodecError, match=f"claims {claimed} bytes, its blocks contain {held}"):
        decompress(claim + stored)


def test_claims_of_all_frames_are_counted() -> None:
    section = sized(TEXT) + streamed(TEXT) + sized(TEXT)
    assert zstd.decompress(section, max_bytes=3 * len(TEXT)) == 3 * TEXT
    with pytest.raises(LimitError) as caught:
        zstd.decompress(section, max_bytes=3 * len(TEXT) - 1)
    assert caught.value.position == len(sized(TEXT) + streamed(TEXT))


def test_window_above_zstds_default_is_an_error() -> None:
    largest, next_one = (bytes([17 << 3]), bytes([17 << 3 | 1]))
    assert zstd.decompress(MAGIC + b"\0" + largest + EMPTY_LAST_BLOCK, max_bytes=1) == b""
    with pytest.raises(CodecError, match="window of 150994944 bytes"):
        decompress(MAGIC + b"\0" + next_one + EMPTY_LAST_BLOCK)


def test_a_frame_without_a_window_needs_room_for_its_claim() -> None:
    for claimed, what in ((zstd.MAX_WINDOW_BYTES, "claims"), ((1 << 27) + 2, "window")):
        section = MAGIC + b"\xa0" + claimed.to_bytes(4, "little") + EMPTY_LAST_BLOCK
        with pytest.raises(CodecError, match=f"{what}( of)? {claimed} bytes"):
            zstd.decompress(section, max_bytes=1 << 28)


def test_a_window_of_8_mib_is_taken_under_any_limit() -> None:
    compressed = (1 << 3 | 2 << 1).to_bytes(3, "little") + b"\0"
    blocks = 80 * compressed + EMPTY_LAST_BLOCK
    with pytest.raises(CodecError):  # no sooner than it is decompressed
        zstd.decompress(MAGIC + b"\0" + bytes([13 << 3]) + blocks, max_bytes=MIB)
    with pytest.raises(LimitError) as caught:
        zstd.decompress(MAGIC + b"\0" + bytes([13 << 3 | 1]) + blocks, max_bytes=MIB)
    assert caught.value.claimed == 18 * MIB


def test_large_window_that_holds_little_is_read_under_a_small_limit() -> None:
    assert decompress(streamed(TEXT, window_log=27)) == TEXT


def test_large_window_that_would_cost_as_much_as_the_limit_is_over_it() -> None:
    section = streamed(bytes(10 * MIB), window_log=27)
    with pytest.raises(LimitError) as caught:
        zstd.decompress(section, max_bytes=11 * MIB)
    assert caught.value.claimed > 11 * MIB
    raised = zstd.decompress(section, max_bytes=caught.value.claimed)
    assert raised == bytes(10 * MIB)


@pytest.mark.parametrize("kind", [3, 1])
def test_block_of_the_reserved_kind_or_above_the_maximum_is_an_error(kind: int) -> None:
    size = 4 if kind == 3 else (1 << 17) + 1
    block = (size << 3 | kind << 1 | 1).to_bytes(3, "little") + bytes(4)
    with pytest.raises(CodecError, match="block of kind"):
        decompress(MAGIC + b"\0\x58" + block)


def test_frame_that_needs_a_dictionary_is_an_error() -> None:
    samples: list[bytes | bytearray | memoryview] = [
        b"value %d of a record" % (n * n) for n in range(1000)
    ]
    dictionary = zstandard.train_dictionary(1024, samples)
    section = zstandard.ZstdCompressor(dict_data=dictionary).compress(TEXT)
    for whole in (section, section + section):
        with pytest.raises(CodecError, match=r"[Dd]ictionary"):
            decompress(whole)
