"""The fused kernel: scan, decompress and decode in chunks of 256 KiB, so that a chunk stays in L2.

It returns to Python once for many chunks, because Python runs only one thread at a time.
"""

from magicbyte.engines.columnar import _control_block
from magicbyte.engines.columnar._control_block import (
    ADDRESS,
    CODEC,
    COLUMN_FULL,
    COUNT,
    DECODE_ARGS,
    DECOMPRESS_ARGS,
    DESCRIPTOR_BYTES,
    DONE,
    END,
    HAS_CODEC,
    HAS_CONTROL,
    IS_CONTROL,
    IS_VIEWED,
    LARGEST,
    LAST,
    LENGTH,
    LIMIT,
    MAX_BYTES,
    NEAR_END,
    NESTED,
    NEXT,
    NOT_VIEWABLE,
    NUM_BYTES,
    NUM_RECORDS,
    NUMBERS,
    POSITION,
    RESULTS,
    RUN_DESCRIPTOR,
    SCAN_ARGS,
    SCRATCH,
    SCRATCH_CAPACITY,
    SCRATCH_FULL,
    SECTIONS_ARGS,
    SIZE,
    START,
    STATE,
    STATUS,
    STOP_REASON,
    TABLE,
    TABLE_CAPACITY,
    UNSUPPORTED,
    VERIFY,
)
from magicbyte.engines.columnar._signatures import (
    DECODE,
    DECOMPRESS,
    OUTPUT_FULL,
    SCAN,
    SECTIONS,
    num_words,
    word_offset,
)
from magicbyte_kernels import kernel_interface
from magicbyte_kernels.primitives import call_kernel, called, inlined, put8, s8le

CHUNK_BYTES = 256 << 10
"""Stored bytes of a chunk, about; a larger entry is a chunk by itself. A part of the L2 cache.

With a quarter of that, the cost of starting each chunk was 5 % of the total, for records of 1,000 bytes."""
CHUNK_DECOMPRESSED_BYTES = 256 << 10
"""Capacity for the decompressed bytes of a chunk of small entries."""
MAX_SMALL_BYTES = CHUNK_DECOMPRESSED_BYTES // 8
"""Stored bytes of an entry that is likely to fit into that; if it does not, it is decompressed again."""

_scan, _sections, _decompress, _decode = (
    call_kernel(num_words(signature)) for signature in (SCAN, SECTIONS, DECOMPRESS, DECODE)
)
# Byte offsets of arguments among the words that a kernel is called with; of arrays, offsets of their
# addresses and sizes.
SCAN_FROM, SCAN_LENGTH, SCAN_MOST = (word_offset(SCAN, number) for number in range(3))
SCAN_VERIFY, SCAN_TABLE = word_offset(SCAN, 4), word_offset(SCAN, 5)
SECTIONS_TABLE, SECTIONS_CHOSEN = word_offset(SECTIONS, 0), word_offset(SECTIONS, 1)
SECTIONS_NUM_CHOSEN = SECTIONS_CHOSEN + 8
DECOMPRESS_TABLE = word_offset(DECOMPRESS, 0)
DECOMPRESS_FIRST, DECOMPRESS_LAST, DECOMPRESS_TO, DECOMPRESS_CAPACITY = (
    word_offset(DECOMPRESS, number) for number in (1, 2, 4, 5)
)
DECODE_TABLE, DECODE_STATE = word_offset(DECODE, 0), word_offset(DECODE, 3)
DECODE_FIRST, DECODE_LAST = word_offset(DECODE, 1), word_offset(DECODE, 2)


@inlined
def _get(block: int, slot: int) -> int:
    return s8le(block + 8 * slot)


@inlined
def _set(block: int, slot: int, value: int) -> None:
    put8(block + 8 * slot, value)


@inlined
def _field_address(block: int, n: int, field_slot: int) -> int:
    """Return the address of a field of descriptor *n*."""
    return _get(block, TABLE) + n * _get(block, DESCRIPTOR_BYTES) + 8 * _get(block, field_slot)


@inlined
def _field(block: int, n: int, field_slot: int) -> int:
    return s8le(_field_address(block, n, field_slot))


@inlined
def _add_status(block: int, status: int) -> None:
    _set(block, STATUS, _get(block, STATUS) | status)


@called
def _scan_entries(block: int, n: int, position: int, most: int) -> int:
    """Describe entry *n*, which begins at *position*, and the entries after it, *most* in total.

    Returns the number of the first entry that is incomplete, of another format, or has a wrong checksum.
    """
    p, results = _get(block, SCAN_ARGS), _get(block, RESULTS)
    put8(p + SCAN_FROM, _get(block, ADDRESS) + position)
    put8(p + SCAN_LENGTH, _get(block, LENGTH) - position)
    put8(p + SCAN_MOST, most)
    put8(p + SCAN_TABLE, _get(block, TABLE) + n * _get(block, DESCRIPTOR_BYTES))
    put8(p + SCAN_VERIFY, _get(block, VERIFY))
    _add_status(block, _scan(_get(block, _control_block.SCAN), results, p))
    return n + s8le(results)


@called
def _supported(block: int, n: int, position: int, scanned: int) -> int:
    """Set positions of entries from *n* on; return the first that is unsupported, or *scanned*.

    Ends also at the first that is compressed where entry *n* is not, and the other way round.
    """
    width, limit = _get(block, DESCRIPTOR_BYTES), _get(block, LIMIT)
    codec, size = _field_address(block, n, CODEC), _field_address(block, n, SIZE)
    start, end = _field_address(block, n, START), _field_address(block, n, END)
    to, control, count = (
        _field_address(block, n, POSITION),
        _field_address(block, n, IS_CONTROL),
        _field_address(block, n, NUM_RECORDS),
    )
    has_control, has_count = _get(block, IS_CONTROL) >= 0, _get(block, NUM_RECORDS) >= 0
    is_compressed, controls = s8le(codec) != 0, 0
    last = scanned
    for k in range(scanned - n):
        at = k * width
        is_control = has_control and s8le(control + at) != 0
        is_unsupported = is_compressed and is_control
        if has_count and s8le(count + at) <= 0:
            # Compaction leaves batches without records. Bytes in one are a finding.
            has_bytes = s8le(end + at) > s8le(start + at)
            is_unsupported |= s8le(count + at) < 0 or is_compressed or has_bytes
        if is_unsupported or s8le(end + at) > limit:
            _set(block, STOP_REASON, UNSUPPORTED if is_unsupported else NEAR_END)
            last = n + k
            break
        if (s8le(codec + at) != 0) != is_compressed:
            last = n + k
            break
        put8(to + at, position)
        position += s8le(size + at)
        controls |= int(is_control)
    _set(block, HAS_CONTROL, _get(block, HAS_CONTROL) | controls)
    return last


@called
def _payload_bytes(block: int, first: int, last: int) -> int:
    """Return the bytes from the start of entry *first* to the end of entry *last*; update LARGEST."""
    num_bytes = _field(block, last, END) - _field(block, first, START)
    _set(block, LARGEST, max(_get(block, LARGEST), num_bytes))
    return num_bytes


@called
def _decode_entries(block: int, table_number: int, first: int, last: int) -> int:
    """Decode the entries [first, last) of *table_number*; return the first that was not decoded."""
    p, results = _get(block, DECODE_ARGS), _get(block, RESULTS)
    put8(p + DECODE_TABLE, table_number)
    put8(p + DECODE_FIRST, first)
    put8(p + DECODE_LAST, last)
    _add_status(block, _decode(_get(block, _control_block.DECODE), results, p))
    stop = s8le(results)
    if stop < last:
        is_full = (
            s8le(_get(block, STATE) + 8 * kernel_interface.STOP_REASON)
            == kernel_interface.BUFFER_FULL
        )
        _set(block, STOP_REASON, COLUMN_FULL if is_full else UNSUPPORTED)
        _set(block, LAST, last)
    return stop


@called
def _decode_uncompressed(block: int, n: int, last: int) -> int:
    """Decode the entries [n, last), which are not compressed; return the first that was not decoded."""
    run = _get(block, RUN_DESCRIPTOR)
    if run == 0:
        for k in range(n, last):
            _payload_bytes(block, k, k)
        return _decode_entries(block, _get(block, TABLE), n, last)
    _payload_bytes(block, n, last - 1)
    put8(run + 8 * _get(block, START), _field(block, n, START))
    put8(run + 8 * _get(block, END), _field(block, last - 1, END))
    stop = _decode_entries(block, run, 0, 1)
    _set(block, LAST, last)
    return last if stop else n


@called
def _narrow_to_sections(block: int, n: int, last: int) -> int:
    """Narrow the messages [n, last) to their compressed bytes; return the first that has none."""
    end = _field(block, last - 1, POSITION) + _field(block, last - 1, SIZE)
    numbers = _get(block, NUMBERS)
    for k in range(n, last):
        put8(_field_address(block, k, NESTED), 1)
        put8(numbers + 8 * k, k)
    p, results = _get(block, SECTIONS_ARGS), _get(block, RESULTS)
    put8(p + SECTIONS_TABLE, _get(block, TABLE))
    put8(p + SECTIONS_CHOSEN, numbers + 8 * n)
    put8(p + SECTIONS_NUM_CHOSEN, last - n)
    _add_status(block, _sections(_get(block, _control_block.SECTIONS), results, p))
    stop = last
    for k in range(last - 1, n - 1, -1):
        if _field(block, k, SIZE) == 0:
            stop = k
        # The kernel sets the size 0 where there is no section: restore the size of the message.
        put8(_field_address(block, k, SIZE), end - _field(block, k, POSITION))
        end = _field(block, k, POSITION)
    return stop


@called
def _decompress_entries(block: int, n: int, last: int) -> int:
    """Decompress entries from *n* on, as many as fit; return the first that was not decompressed."""
    p, results = _get(block, DECOMPRESS_ARGS), _get(block, RESULTS)
    put8(p + DECOMPRESS_TABLE, _get(block, TABLE))
    put8(p + DECOMPRESS_TO, _get(block, SCRATCH))
    put8(p + DECOMPRESS_FIRST, n)
    put8(p + DECOMPRESS_LAST, last)
    capacity = _get(block, SCRATCH_CAPACITY)
    is_small = _field(block, n, END) - _field(block, n, START) <= MAX_SMALL_BYTES
    put8(p + DECOMPRESS_CAPACITY, min(capacity, CHUNK_DECOMPRESSED_BYTES) if is_small else capacity)
    _add_status(block, _decompress(_get(block, _control_block.DECOMPRESS), results, p))
    if s8le(results) == n and is_small and s8le(results + 8) == OUTPUT_FULL:
        put8(p + DECOMPRESS_CAPACITY, capacity)
        _add_status(block, _decompress(_get(block, _control_block.DECOMPRESS), results, p))
    if s8le(results) == n:
        is_full = s8le(results + 8) == OUTPUT_FULL
        _set(block, STOP_REASON, SCRATCH_FULL if is_full else UNSUPPORTED)
    return s8le(results)


@called
def _decode_compressed(block: int, n: int, last: int) -> int:
    """Decode the entries [n, last), which are compressed; return the first that was not decoded."""
    _set(block, HAS_CODEC, 1)
    ready = _narrow_to_sections(block, n, last) if _get(block, RUN_DESCRIPTOR) else last
    while n < ready and _get(block, NUM_BYTES) < _get(block, MAX_BYTES):
        decompressed = _decompress_entries(block, n, ready)
        if decompressed == n:
            return n
        stop = _decode_entries(block, _get(block, TABLE), n, decompressed)
        for k in range(n, stop):
            _set(block, NUM_BYTES, _get(block, NUM_BYTES) + _payload_bytes(block, k, k))
        n = stop
        if stop < decompressed:
            return n
    if n == ready < last:
        _set(block, STOP_REASON, UNSUPPORTED)
    return n


def decode_fused(block: int) -> None:
    """Scan, decompress and decode entries, as the control block at address *block* says."""
    put8(_get(block, DECODE_ARGS) + DECODE_STATE, _get(block, STATE))
    _set(block, STOP_REASON, DONE)
    n, position, chunk = _get(block, COUNT), _get(block, NEXT), 1
    while n < _get(block, TABLE_CAPACITY) and position < _get(block, LENGTH):
        if _get(block, NUM_BYTES) >= _get(block, MAX_BYTES):
            break
        scanned = _scan_entries(block, n, position, min(chunk, _get(block, TABLE_CAPACITY) - n))
        if scanned == n or _get(block, STATUS):
            break
        is_compressed = _field(block, n, CODEC) != 0
        if n and is_compressed and _get(block, IS_VIEWED):
            _set(block, STOP_REASON, NOT_VIEWABLE)
            break
        last = _supported(block, n, position, scanned)
        if last == n:
            break
        _set(block, STOP_REASON, DONE)
        end = _field(block, last - 1, POSITION) + _field(block, last - 1, SIZE)
        # Where compressed and uncompressed entries alternate, the entries after *last* are scanned twice.
        chunk = max(min(CHUNK_BYTES * (last - n) // (end - position), 2 * (last - n)), 1)
        if is_compressed:
            stop = _decode_compressed(block, n, last)
        else:
            stop = _decode_uncompressed(block, n, last)
        reason = _get(block, STOP_REASON)
        if stop == n and last - n > 1 and reason == UNSUPPORTED and not is_compressed:
            chunk = (last - n) // 2  # bisect towards the unsupported message of the run
            continue
        if stop < last:
            end = _field(block, stop, POSITION)
        if not is_compressed:
            _set(block, NUM_BYTES, _get(block, NUM_BYTES) + end - position)
        n, position = stop, end
        if reason != DONE or _get(block, STATUS):
            break
    _set(block, COUNT, n)
    _set(block, NEXT, position)
