"""Test vectors of single integers of variable length: varint, varlong and uvarint."""

from collections.abc import Iterator

import magicbyte_construct as twin
from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.single_structure import FormatCases

SOURCE = "ByteUtilsTest"
KINDS = {
    "kafka_varint": (twin.Varint, 5),
    "kafka_varlong": (twin.Varlong, 10),
    "kafka_uvarint": (twin.Uvarint, 5),
}
"""Construct parser of each format, and the greatest number of bytes of an integer."""

EDGES = {
    "kafka_varint": (0, -1, 1, 63, 64, -64, -65, 8191, 8192, 2**27 - 1, 2**31 - 1, -(2**31)),
    "kafka_varlong": (0, -1, 63, 64, 2**34, 2**41, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)),
    "kafka_uvarint": (0, 1, 127, 128, 16383, 16384, 2**28, 2**32 - 1),
}
"""Integers at which an encoding grows by a byte, and the least and greatest of each format."""


def cases() -> Iterator[VectorCase]:
    for format_id, (construct, longest) in KINDS.items():
        form = FormatCases(format_id, SOURCE)
        for number in EDGES[format_id]:
            data = construct.build(number)
            yield form.whole(
                named(number),
                data,
                f"{number} takes {len(data)} byte{'s' if len(data) > 1 else ''}.",
            )
        yield form.whole(
            "zero-in-two-bytes",
            b"\x80\x00",
            "A zero on top changes nothing: Java reads it, and so must others.",
            classes=[74],
        )
        yield form.whole(
            "zero-in-all-bytes",
            b"\x80" * (longest - 1) + b"\x00",
            "The longest form of the least number.",
            classes=[74],
        )
        yield form.doubtful(
            "spare-bits",
            b"\x81" + b"\x80" * (longest - 2) + b"\x70" if longest == 5 else b"\x80" * 9 + b"\x7e",
            "The last byte has bits for which there is no room.",
            caught_by="grammar",
            classes=[73],
            source="kafka-sharp varlong_overflow_bit_65; differences D15",
            made=f"a {longest}th byte with bits above its number's width",
            reason="Java drops the bits without a word; nothing writes them.",
        )
        yield form.broken(
            "one-byte-too-long",
            b"\x80" * longest + b"\x01",
            f"The {longest}th byte says that another follows: who reads on leaves the width.",
            classes=[72] if longest == 10 else [71],
            source="testInvalidVarint, testInvalidVarlong; differences D14",
        )
        for count, name in ((0, "empty"), (1, "cut-behind-a-byte"), (longest - 1, "cut-at-last")):
            yield form.broken(
                name,
                b"\x80" * count,
                "The bytes end where another must follow." if count else "There is no byte at all.",
                classes=[70],
                source="testUnderflowReadingVarlong",
            )


def named(number: int) -> str:
    return f"minus-{-number}" if number < 0 else str(number)
