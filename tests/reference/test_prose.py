"""Tests that recompute numbers in the reference's prose that the specification does not contain."""

import re
import zlib

import crc32c

from magicbyte_construct import Varint
from magicbyte_tools.reference.prose import prose
from magicbyte_tools.vectors.xxh32 import xxh32

FRAME = bytes.fromhex("04224d18")
"""Magic number of an LZ4 frame."""


def rows(name: str, heading: str) -> list[list[str]]:
    """Return the rows of all tables in the section *heading* of the prose for the format *name*."""
    section = prose(name).section(heading)
    lines = re.findall(r"^\| (.+) \|$", section, re.MULTILINE)
    return [[cell.strip(" `") for cell in line.split(" | ")] for line in lines]


def test_the_bytes_of_varints() -> None:
    pairs = [row for row in rows("kafka_varint", "What the fields do not say") if len(row) == 2]
    assert len(pairs) == 9
    for number, shown in pairs[1:]:
        assert Varint.build(int(number)) == bytes.fromhex(shown)


def test_how_far_varints_of_so_many_bytes_reach() -> None:
    reaches = [row for row in rows("kafka_varint", "What the fields do not say") if len(row) == 3]
    assert len(reaches) == 6
    for width, least, most in (map(int, row) for row in reaches[1:]):
        count = min(7 * width, 32)
        assert (least, most) == (-(1 << (count - 1)), (1 << (count - 1)) - 1)


def test_the_check_values_of_the_checksums() -> None:
    (found,) = (row for row in rows("kafka_crc", "What the fields do not say") if "123" in row[0])
    digits = b"123456789"
    assert found[1:] == [f"{crc32c.crc32c(digits):08x}", f"{zlib.crc32(digits):08x}"]


def test_the_header_checksums_of_lz4_frames() -> None:
    table = [row for row in rows("kafka_message", "What the fields do not say") if len(row) == 3]
    frames = [row for row in table if re.fullmatch(r"[0-9a-f ]{5}", row[0])]
    assert len(frames) == 6
    for descriptor, right, wrong in frames:
        data = bytes.fromhex(descriptor)
        assert (right, wrong) == (header_checksum(data), header_checksum(FRAME + data))


def header_checksum(covered: bytes) -> str:
    return f"{xxh32(covered) >> 8 & 0xFF:02x}"
