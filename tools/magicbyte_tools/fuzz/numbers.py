"""Encodes varints and integers, right ones and wrong ones."""

from random import Random

ODD_BYTES = (0, 1, 0x7F, 0x80, 0xFF)

ODD_NUMBERS = (0, 1, -1, -2, 2, 63, 64, -64, -65, 127, 128, 8191, 8192, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))  # fmt: skip
"""Limits of the ranges of varints and integers, and numbers beside the limits."""

MASK_64 = (1 << 64) - 1


def varint(number: int, length: int = 0) -> bytes:
    """Return *number* as a zigzag varint, padded to *length* bytes if its shortest form has fewer."""
    rest = (number << 1 ^ number >> 63) & MASK_64
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    while len(encoded) < length:
        encoded[-1] |= 0x80
        encoded.append(0)
    return bytes(encoded)


def read_varint(data: bytes | bytearray | memoryview, position: int) -> tuple[int, int]:
    """Return the zigzag varint at *position* of *data*, which must be sound, and its end position."""
    rest = shift = 0
    while True:
        byte = data[position]
        position += 1
        rest |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return rest >> 1 ^ -(rest & 1), position


def odd_varint(chance: Random, number: int) -> bytes:
    """Return a mutated varint in place of *number*: a near or distant number, too long, or without an end."""
    match chance.randrange(6):
        case 0:
            return varint(number + chance.choice((-2, -1, 1, 2)))
        case 1:
            return varint(-number - 1)
        case 2:
            return varint(number, chance.choice((2, 3, 4, 5, 6, 9, 10, 11)))
        case 3:
            return varint(chance.choice(ODD_NUMBERS))
        case 4:
            # Bits above the width of the number, which Java's reader drops.
            return varint(number, 5)[:-1] + bytes([chance.choice((0x10, 0x70, 0x7F, 0x80))])
        case _:
            # Zeros are short numbers one after another; a byte with bit 7 says that more follow.
            return bytes(chance.choice((1, 3, 5, 10))) if number else b"\xff" * 10


def odd_integer(chance: Random, number: int, width: int) -> bytes:
    """Return a mutated big-endian integer of *width* bytes in place of *number*."""
    near = number + chance.choice((-2, -1, 1, 2, 9, -9))
    new = near if chance.random() < 0.6 else chance.choice(ODD_NUMBERS)
    return (new & ((1 << 8 * width) - 1)).to_bytes(width, "big")
