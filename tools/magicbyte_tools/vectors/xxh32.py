"""xxHash-32, the checksum of an LZ4 frame's header and blocks."""

PRIMES = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1
MASK = 0xFFFFFFFF


def xxh32(data: bytes, seed: int = 0) -> int:
    """Return the xxHash-32 of *data* as an unsigned 32-bit integer."""
    p1, p2, p3, p4, p5 = PRIMES
    at = 0
    if len(data) >= 16:
        lanes = [(seed + p1 + p2) & MASK, (seed + p2) & MASK, seed, (seed - p1) & MASK]
        while at + 16 <= len(data):
            for lane in range(4):
                word = int.from_bytes(data[at : at + 4], "little")
                lanes[lane] = _rotate((lanes[lane] + word * p2) & MASK, 13) * p1 & MASK
                at += 4
        value = sum(_rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
    else:
        value = seed + p5
    value = (value + len(data)) & MASK
    while at + 4 <= len(data):
        word = int.from_bytes(data[at : at + 4], "little")
        value = _rotate((value + word * p3) & MASK, 17) * p4 & MASK
        at += 4
    for byte in data[at:]:
        value = _rotate((value + byte * p5) & MASK, 11) * p1 & MASK
    value = (value ^ value >> 15) * p2 & MASK
    value = (value ^ value >> 13) * p3 & MASK
    return value ^ value >> 16


def _rotate(value: int, by: int) -> int:
    return (value << by | value >> 32 - by) & MASK
