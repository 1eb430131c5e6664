"""Entries by turns: some verified, decompressed and decoded, then the next.

What a turn makes plain is read while it is still in the processor's nearest cache; and Python, which
holds one thread at a time, is come back to once for many turns.
"""

from typing import Any

from magicbyte.engines.columnar.signatures import DECODE, INFLATE, VERIFY, num_words, place
from magicbyte.engines.columnar.stops import NO_ROOM
from magicbyte_formats.columnar.primitives import call_kernel, called, put8, s8le

TURN_BYTES = 128 << 10
"""Stored bytes that a turn takes, unless its one entry has more."""
TURN_ROOM = 2 * TURN_BYTES
"""Plain bytes that it makes at a time, where entries are small."""
MOST_SMALL = TURN_BYTES // 4
"""Stored bytes of an entry that is likely to come to fewer: what does not is begun anew."""

_verify, _inflate, _decode = (call_kernel(num_words(one)) for one in (VERIFY, INFLATE, DECODE))
VERIFIED, TO_VERIFY = place(VERIFY, 2), place(VERIFY, 3)
INFLATED, TO_INFLATE, ROOM = place(INFLATE, 1), place(INFLATE, 2), place(INFLATE, 5)
DECODED, TO_DECODE = place(DECODE, 1), place(DECODE, 2)


@called
def _run(p: int, first_at: int, first: int, last_at: int, last: int) -> int:
    """Set which entries the arguments at *p* are about, and return *p*."""
    put8(p + first_at, first)
    put8(p + last_at, last)
    return p


def pump(
    desc: Any, at: Any, first: int, end: int, verified: int, most_bytes: int, room: int, calls: Any
) -> tuple[int, int, int, int]:
    """Decode entries from *first* to before *end*, until they come to *most_bytes*.

    *at* are the places of codec, magic, start and end in a descriptor. The checksums of entries
    before *verified* are known to be right. There is *room* where they are made plain. *calls* has
    the addresses of `verify`, `inflate` and `decode`, those of their arguments, and one for results.
    Returns the entry that was not decoded, up to where those from it on are plain all the same, up
    to where checksums are right, and the plain bytes of all.
    """
    results = int(calls[6])
    n, made = first, 0
    while n < end and made < most_bytes:
        last, stored = n, 0
        while last < end and (last == n or stored < TURN_BYTES):
            stored += int(desc[last, at[3]]) - int(desc[last, at[2]])
            last += 1
        if verified < last:
            begin = max(n, verified)
            _verify(int(calls[0]), results, _run(int(calls[3]), VERIFIED, begin, TO_VERIFY, last))
            verified = s8le(results)
            if verified < last:
                last = verified
                end = verified
        while n < last and made < most_bytes:
            p = _run(int(calls[4]), INFLATED, n, TO_INFLATE, last)
            is_small = int(desc[n, at[3]]) - int(desc[n, at[2]]) <= MOST_SMALL
            put8(p + ROOM, min(room, TURN_ROOM) if is_small else room)
            _inflate(int(calls[1]), results, p)
            stop = s8le(results)
            if stop == n and s8le(results + 8) == NO_ROOM:
                put8(p + ROOM, room)
                _inflate(int(calls[1]), results, p)
                stop = s8le(results)
            if stop == n:
                return n, n, verified, made
            made += s8le(results + 16)
            _decode(int(calls[2]), results, _run(int(calls[5]), DECODED, n, TO_DECODE, stop))
            n = s8le(results)
            if n < stop:
                return n, stop, verified, made
    return n, n, verified, made
