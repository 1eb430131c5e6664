"""Entries by turns: some are framed and verified, decompressed and decoded, then the next.

What a turn reads is in the processor's nearest caches until it is done with; and Python, which holds
one thread at a time, is come back to once for many turns.
"""

from magicbyte.engines.columnar import control_block
from magicbyte.engines.columnar.control_block import (
    ADDRESS,
    AT,
    AT_EDGE,
    CODEC,
    COUNT,
    DECODE_BY,
    DONE,
    END,
    HAS_CODEC,
    HAS_CONTROL,
    INFLATE_BY,
    IS_ALIKE,
    IS_CONTROL,
    LARGEST,
    LAST,
    LENGTH,
    LIMIT,
    MADE,
    MOST,
    MOST_MADE,
    NESTED,
    NO_COLUMN,
    NO_PLACE,
    NUM_RECORDS,
    NUMBERS,
    ODD,
    PLAIN,
    POSITION,
    RESULTS,
    ROOM,
    SCAN_BY,
    SECTIONS_BY,
    SIZE,
    START,
    STATE,
    STATUS,
    TABLE,
    WHOLE,
    WHY,
    WIDTH,
    WRONG,
)
from magicbyte.engines.columnar.signatures import (
    DECODE,
    INFLATE,
    SCAN,
    SECTIONS,
    array_place,
    num_words,
    place,
)
from magicbyte.engines.columnar.stops import NO_ROOM
from magicbyte_kernels import kernel_interface
from magicbyte_kernels.primitives import call_kernel, called, inlined, put8, s8le

TURN_BYTES = 256 << 10
"""Stored bytes that a turn takes, about, or its one entry: a part of the second cache.

With a quarter of that, what each turn costs was a twentieth of all, for records of 1,000 bytes."""
TURN_ROOM = 256 << 10
"""Plain bytes that a turn makes, where its entries are small."""
MOST_SMALL = TURN_ROOM // 8
"""Stored bytes of an entry that is likely to come to fewer: what does not is begun anew."""

_scan, _sections, _inflate, _decode = (
    call_kernel(num_words(one)) for one in (SCAN, SECTIONS, INFLATE, DECODE)
)
# Where that which a kernel is called with has its arguments; of arrays, their addresses and sizes.
SCANNED, SCANNED_LENGTH, MOST_SCANNED = (place(SCAN, number) for number in range(3))
VERIFIED, SCANNED_TO = place(SCAN, 4), array_place(SCAN, 5)
NARROWED, CHOSEN = array_place(SECTIONS, 0), array_place(SECTIONS, 1)
NUM_CHOSEN, LEN_CHOSEN = CHOSEN - 16, CHOSEN + 8
INFLATED_FROM = array_place(INFLATE, 0)
INFLATED, TO_INFLATE, TO, PLAIN_ROOM = (place(INFLATE, number) for number in (1, 2, 4, 5))
DECODED_FROM, DECODED, TO_DECODE = array_place(DECODE, 0), place(DECODE, 1), place(DECODE, 2)
DECODED_TO = array_place(DECODE, 3)


@inlined
def _get(sheet: int, number: int) -> int:
    return s8le(sheet + 8 * number)


@inlined
def _put(sheet: int, number: int, value: int) -> None:
    put8(sheet + 8 * number, value)


@inlined
def _place(sheet: int, n: int, name: int) -> int:
    """Return where the descriptor of entry *n* has what *name* is the place of."""
    return _get(sheet, TABLE) + n * _get(sheet, WIDTH) + 8 * _get(sheet, name)


@inlined
def _field(sheet: int, n: int, name: int) -> int:
    return s8le(_place(sheet, n, name))


@inlined
def _note(sheet: int, status: int) -> None:
    _put(sheet, STATUS, _get(sheet, STATUS) | status)


@called
def _frame(sheet: int, n: int, position: int, most: int) -> int:
    """Describe entry *n*, which begins at *position*, and those behind it, *most* at most.

    Returns the first that is not framed, or whose checksum is wrong.
    """
    p, results = _get(sheet, SCAN_BY), _get(sheet, RESULTS)
    put8(p + SCANNED, _get(sheet, ADDRESS) + position)
    put8(p + SCANNED_LENGTH, _get(sheet, LENGTH) - position)
    put8(p + MOST_SCANNED, most)
    put8(p + SCANNED_TO, _get(sheet, TABLE) + n * _get(sheet, WIDTH))
    put8(p + VERIFIED, 1)
    _note(sheet, _scan(_get(sheet, control_block.SCAN), results, p))
    count = s8le(results)
    if count == 0:
        # Is it the checksum, or is there no entry?
        put8(p + MOST_SCANNED, 1)
        put8(p + VERIFIED, 0)
        _note(sheet, _scan(_get(sheet, control_block.SCAN), results, p))
        put8(_place(sheet, n, POSITION), position)
        _put(sheet, WHY, WRONG if s8le(results) else DONE)
    return n + count


@called
def _usual(sheet: int, n: int, position: int, framed: int) -> int:
    """Give entries their positions, up to one that is unusual or is compressed where *n* is not.

    Returns that, or *framed*.
    """
    width, limit = _get(sheet, WIDTH), _get(sheet, LIMIT)
    codec, end, size = _place(sheet, n, CODEC), _place(sheet, n, END), _place(sheet, n, SIZE)
    to, control, count = (
        _place(sheet, n, POSITION),
        _place(sheet, n, IS_CONTROL),
        _place(sheet, n, NUM_RECORDS),
    )
    has_control, has_count = _get(sheet, IS_CONTROL) >= 0, _get(sheet, NUM_RECORDS) >= 0
    is_compressed, controls = s8le(codec) != 0, 0
    last = framed
    for k in range(framed - n):
        at = k * width
        is_control = has_control and s8le(control + at) != 0
        is_empty = has_count and s8le(count + at) <= 0
        is_odd = is_empty or (is_compressed and is_control)
        if is_odd or s8le(end + at) > limit:
            _put(sheet, WHY, ODD if is_odd else AT_EDGE)
            last = n + k
            break
        if (s8le(codec + at) != 0) != is_compressed:
            last = n + k
            break
        put8(to + at, position)
        position += s8le(size + at)
        controls |= int(is_control)
    _put(sheet, HAS_CONTROL, _get(sheet, HAS_CONTROL) | controls)
    return last


@called
def _sized(sheet: int, first: int, last: int) -> int:
    """Return the bytes from where entry *first* starts to where entry *last* ends, and note them."""
    num_bytes = _field(sheet, last, END) - _field(sheet, first, START)
    _put(sheet, LARGEST, max(_get(sheet, LARGEST), num_bytes))
    return num_bytes


@called
def _decoded(sheet: int, table: int, first: int, last: int) -> int:
    """Decode what *table* describes from *first* to before *last*; return where that ended."""
    p, results = _get(sheet, DECODE_BY), _get(sheet, RESULTS)
    put8(p + DECODED_FROM, table)
    put8(p + DECODED, first)
    put8(p + TO_DECODE, last)
    _note(sheet, _decode(_get(sheet, control_block.DECODE), results, p))
    done = s8le(results)
    if done < last:
        is_full = (
            s8le(_get(sheet, STATE) + 8 * kernel_interface.STOP_REASON)
            == kernel_interface.BUFFER_FULL
        )
        _put(sheet, WHY, NO_COLUMN if is_full else ODD)
        _put(sheet, LAST, last)
    return done


@called
def _take_plain(sheet: int, n: int, last: int) -> int:
    """Decode entries from *n* to before *last*, which are not compressed; return where that ended."""
    whole = _get(sheet, WHOLE)
    if whole == 0:
        for k in range(n, last):
            _sized(sheet, k, k)
        return _decoded(sheet, _get(sheet, TABLE), n, last)
    _sized(sheet, n, last - 1)
    put8(whole + 8 * _get(sheet, START), _field(sheet, n, START))
    put8(whole + 8 * _get(sheet, END), _field(sheet, last - 1, END))
    done = _decoded(sheet, whole, 0, 1)
    _put(sheet, LAST, last)
    return last if done else n


@called
def _narrowed(sheet: int, n: int, last: int) -> int:
    """Have messages from *n* to before *last* be their compressed bytes; return the first that has none."""
    behind = _field(sheet, last - 1, POSITION) + _field(sheet, last - 1, SIZE)
    numbers = _get(sheet, NUMBERS)
    for k in range(n, last):
        put8(_place(sheet, k, NESTED), 1)
        put8(numbers + 8 * k, k)
    p, results = _get(sheet, SECTIONS_BY), _get(sheet, RESULTS)
    put8(p + NARROWED, _get(sheet, TABLE))
    put8(p + CHOSEN, numbers + 8 * n)
    put8(p + NUM_CHOSEN, last - n)
    put8(p + LEN_CHOSEN, last - n)
    _note(sheet, _sections(_get(sheet, control_block.SECTIONS), results, p))
    ready = last
    for k in range(last - 1, n - 1, -1):
        if _field(sheet, k, SIZE) == 0:
            ready = k
        # They are whole messages still for who asks how large they are.
        put8(_place(sheet, k, SIZE), behind - _field(sheet, k, POSITION))
        behind = _field(sheet, k, POSITION)
    return ready


@called
def _inflated(sheet: int, n: int, last: int) -> int:
    """Make entries from *n* on plain, as many as there is room for; return the first that is not."""
    p, results = _get(sheet, INFLATE_BY), _get(sheet, RESULTS)
    put8(p + INFLATED_FROM, _get(sheet, TABLE))
    put8(p + TO, _get(sheet, PLAIN))
    put8(p + INFLATED, n)
    put8(p + TO_INFLATE, last)
    room = _get(sheet, ROOM)
    is_small = _field(sheet, n, END) - _field(sheet, n, START) <= MOST_SMALL
    put8(p + PLAIN_ROOM, min(room, TURN_ROOM) if is_small else room)
    _note(sheet, _inflate(_get(sheet, control_block.INFLATE), results, p))
    if s8le(results) == n and is_small and s8le(results + 8) == NO_ROOM:
        put8(p + PLAIN_ROOM, room)
        _note(sheet, _inflate(_get(sheet, control_block.INFLATE), results, p))
    if s8le(results) == n:
        _put(sheet, WHY, NO_PLACE if s8le(results + 8) == NO_ROOM else ODD)
    return s8le(results)


@called
def _take_compressed(sheet: int, n: int, last: int) -> int:
    """Decode entries from *n* to before *last*, which are compressed; return where that ended."""
    _put(sheet, HAS_CODEC, 1)
    ready = _narrowed(sheet, n, last) if _get(sheet, WHOLE) else last
    while n < ready and _get(sheet, MADE) < _get(sheet, MOST_MADE):
        stop = _inflated(sheet, n, ready)
        if stop == n:
            return n
        done = _decoded(sheet, _get(sheet, TABLE), n, stop)
        for k in range(n, done):
            _put(sheet, MADE, _get(sheet, MADE) + _sized(sheet, k, k))
        n = done
        if done < stop:
            return n
    if n == ready < last:
        _put(sheet, WHY, ODD)
    return n


def pump(sheet: int) -> None:
    """Have kernels take entries by turns, as far as nothing about them is unusual.

    What they are, and what becomes of them, stands in the *sheet* at that address, as `turns` says.
    """
    put8(_get(sheet, DECODE_BY) + DECODED_TO, _get(sheet, STATE))
    _put(sheet, WHY, DONE)
    n, position, turn = _get(sheet, COUNT), _get(sheet, AT), 1
    while n < _get(sheet, MOST) and position < _get(sheet, LENGTH):
        if _get(sheet, MADE) >= _get(sheet, MOST_MADE):
            break
        framed = _frame(sheet, n, position, min(turn, _get(sheet, MOST) - n))
        if framed == n or _get(sheet, STATUS):
            break
        is_compressed = _field(sheet, n, CODEC) != 0
        if n and _get(sheet, IS_ALIKE) and (_field(sheet, n - 1, CODEC) != 0) != is_compressed:
            _put(sheet, WHY, ODD)
            break
        last = _usual(sheet, n, position, framed)
        if last == n:
            break
        _put(sheet, WHY, DONE)
        behind = _field(sheet, last - 1, POSITION) + _field(sheet, last - 1, SIZE)
        # Where plain and compressed ones alternate, what is framed beyond them is framed again.
        turn = max(min(TURN_BYTES * (last - n) // (behind - position), 2 * (last - n)), 1)
        done = _take_compressed(sheet, n, last) if is_compressed else _take_plain(sheet, n, last)
        if done == n and last - n > 1 and _get(sheet, WHY) == ODD and not is_compressed:
            turn = (last - n) // 2  # towards the one that is odd
            continue
        if done < last:
            behind = _field(sheet, done, POSITION)
        if not is_compressed:
            _put(sheet, MADE, _get(sheet, MADE) + behind - position)
        n, position = done, behind
        if _get(sheet, WHY) != DONE or _get(sheet, STATUS):
            break
    _put(sheet, COUNT, n)
    _put(sheet, AT, position)
