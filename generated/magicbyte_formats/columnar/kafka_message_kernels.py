# Generated from spec/*.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 232146531da3e2fa9eef5f46cb564151a6950b415a2f4240d320de3e4c90ff4e, kaitai-struct-compiler 0.11.0
"""Kernels of kafka_message: bytes to columns and back, without a Python object per record."""

from collections.abc import Callable
from functools import cache
from typing import Any

from magicbyte_kernels.checksums import (
    crc32,
)
from magicbyte_kernels.encode_kernels import (
    copy_within,
    fits_32_bits,
    has_room,
    is_valid,
)
from magicbyte_kernels.entry_kernels import (
    checksum_test,
    count_negative,
    scan_kernel,
    stop_at,
    verify_kernel,
)
from magicbyte_kernels.kernel_interface import (
    ABSENT,
    BUFFER_FULL,
    COPIED,
    DONE,
    IS_LENIENT,
    LEN_VIEW,
    STOP_REASON,
    UNWRITABLE,
    VIEWED,
)
from magicbyte_kernels.primitives import (
    called,
    copy,
    inlined,
    put1,
    put4,
    put4be,
    put8,
    put8be,
    s1,
    s4be,
    s4le,
    s8be,
    s8le,
    u1,
    u4be,
    view,
)


@inlined
def frame(p: int, available: int, desc: Any, n: int) -> int:
    """Fill descriptor *n* from the entry at *p*; return its size, or 0 for no entry."""
    if available < 26:
        return 0
    offset = s8be(p + 0)
    len_message = s4be(p + 8)
    crc = u4be(p + 12)
    magic = s1(p + 16)
    attributes = u1(p + 17)
    codec = attributes >> 0 & 0x7
    timestamp_type = attributes >> 3 & 0x1
    reserved = attributes >> 4 & 0xf
    if not (len_message >= 14):
        return 0
    if not (magic == 0 or magic == 1):
        return 0
    size = len_message + 12
    if size < 26 or size > available:
        return 0
    timestamp = ABSENT
    if magic >= 1:
        if size < 34:
            return 0
        timestamp = s8be(p + 18)
    desc[n, 1] = size
    desc[n, 2] = p
    desc[n, 3] = p + size
    desc[n, 4] = 0
    desc[n, 5] = 0
    desc[n, 6] = offset
    desc[n, 7] = len_message
    desc[n, 8] = crc
    desc[n, 9] = magic
    desc[n, 10] = attributes
    desc[n, 11] = codec
    desc[n, 12] = timestamp_type
    desc[n, 13] = reserved
    desc[n, 14] = timestamp
    desc[n, 15] = timestamp_type if magic >= 1 else ABSENT
    desc[n, 16] = 0
    return size


is_sound = checksum_test(crc32, 16, 8)
scan = scan_kernel(frame, is_sound)
verify = verify_kernel(is_sound)


def sections(desc: Any, entries: Any) -> None:
    """Narrow *entries* to their compressed bytes."""
    for n in entries:
        p = int(desc[n, 2])
        end = int(desc[n, 3])
        magic = int(desc[n, 9])
        p += 18
        begin = 0
        desc[n, 1] = 0
        if magic >= 1:
            timestamp = s8be(p)
            p += 8
        len_key = s4be(p)
        p += 4
        if not (len_key >= 0 or len_key == -1):
            continue
        if len_key >= 0:
            if len_key < 0 or len_key > end - p:
                continue
            p += len_key
        if p > end:
            continue
        len_value = s4be(p)
        p += 4
        if not (len_value >= 0 or len_value == -1):
            continue
        if len_value >= 0:
            if len_value < 0 or len_value > end - p:
                continue
            begin = p
            p += len_value
        if p > end:
            continue
        if begin != 0 and p == end:
            desc[n, 2] = begin
            desc[n, 1] = p - begin


@inlined
def decode_rows(desc: Any, first: int, last: int, state: Any, mode_timestamp: int, mode_key: int, mode_value: int, mode_offset: int) -> int:
    """Fill the columns that the modes request from the entries [first, last)."""
    state[STOP_REASON] = 0
    is_lenient = int(state[IS_LENIENT])
    records_rows = int(state[11])
    records_capacity = int(state[12])
    to_timestamp_data = int(state[13])
    to_timestamp_nulls = int(state[14])
    to_key_offsets = int(state[15])
    to_key_bytes = int(state[16])
    to_key_capacity = int(state[17])
    to_key_used = int(state[18])
    to_key_valid = int(state[19])
    to_key_nulls = int(state[20])
    to_value_offsets = int(state[21])
    to_value_bytes = int(state[22])
    to_value_capacity = int(state[23])
    to_value_used = int(state[24])
    to_value_valid = int(state[25])
    to_value_nulls = int(state[26])
    to_offset_data = int(state[27])
    for n in range(first, last):
        p = int(desc[n, 2])
        p_end = int(desc[n, 3])
        payload_start = row_start = p
        if mode_key == COPIED and p_end - p > to_key_capacity - to_key_used:
            state[STOP_REASON] = BUFFER_FULL
            return n
        if mode_value == COPIED and p_end - p > to_value_capacity - to_value_used:
            state[STOP_REASON] = BUFFER_FULL
            return n
        rows_before = records_rows
        while p < p_end:
            row_start = p
            if records_rows >= records_capacity:
                state[STOP_REASON] = BUFFER_FULL
                return n
            if p_end - p < 26:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            offset = s8be(p + 0)
            len_message = s4be(p + 8)
            crc = u4be(p + 12)
            magic = s1(p + 16)
            attributes = u1(p + 17)
            codec = attributes >> 0 & 0x7
            if not (len_message >= 14):
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if not (magic == 0 or magic == 1):
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            size = len_message + 12
            if size < 26 or size > p_end - p:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if desc[n, 5]:
                if codec != 0:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                    return n
                if magic != desc[n, 9]:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                    return n
                if crc32(p + 16, p + size) != crc:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                    return n
            end = p + size
            p += 18
            timestamp = -1
            if magic >= 1:
                timestamp = s8be(p)
                p += 8
            len_key = s4be(p)
            if len_key < -1:
                if not is_lenient:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                    return n
                count_negative(state, records_rows - rows_before, row_start - payload_start)
            p += 4
            if p > end:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if mode_timestamp:
                to_timestamp = timestamp
                put8(to_timestamp_data + 8 * records_rows, to_timestamp)
                if to_timestamp == -1:
                    to_timestamp_nulls += 1
            if mode_key == COPIED:
                put4(to_key_offsets + 4 * records_rows, to_key_used)
            if len_key >= 0:
                size = len_key
                if size < 0 or size > end - p:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                    return n
                if mode_key:
                    put1(to_key_valid + records_rows, 1)
                    if mode_key == VIEWED:
                        view(to_key_offsets + LEN_VIEW * records_rows, p, size, p - to_key_bytes)
                    else:
                        copy(to_key_bytes + to_key_used, p, size)
                        to_key_used += size
                p += size
            elif mode_key:
                put1(to_key_valid + records_rows, 0)
                to_key_nulls += 1
                if mode_key == VIEWED:
                    view(to_key_offsets + LEN_VIEW * records_rows, p, 0, p - to_key_bytes)
            len_value = s4be(p)
            if len_value < -1:
                if not is_lenient:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                    return n
                count_negative(state, records_rows - rows_before, row_start - payload_start)
            p += 4
            if p > end:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if mode_value == COPIED:
                put4(to_value_offsets + 4 * records_rows, to_value_used)
            if len_value >= 0:
                size = len_value
                if size < 0 or size > end - p:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                    return n
                if mode_value:
                    put1(to_value_valid + records_rows, 1)
                    if mode_value == VIEWED:
                        view(to_value_offsets + LEN_VIEW * records_rows, p, size, p - to_value_bytes)
                    else:
                        copy(to_value_bytes + to_value_used, p, size)
                        to_value_used += size
                p += size
            elif mode_value:
                put1(to_value_valid + records_rows, 0)
                to_value_nulls += 1
                if mode_value == VIEWED:
                    view(to_value_offsets + LEN_VIEW * records_rows, p, 0, p - to_value_bytes)
            if p != end:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if mode_offset:
                put8(to_offset_data + 8 * records_rows, offset)
            records_rows += 1
        if records_rows == rows_before:
            stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
            return n
        desc[n, 4] = records_rows - rows_before
        state[11] = records_rows
        if mode_timestamp:
            state[14] = to_timestamp_nulls
        if mode_key == COPIED:
            put4(to_key_offsets + 4 * records_rows, to_key_used)
            state[18] = to_key_used
        if mode_key:
            state[20] = to_key_nulls
        if mode_value == COPIED:
            put4(to_value_offsets + 4 * records_rows, to_value_used)
            state[24] = to_value_used
        if mode_value:
            state[26] = to_value_nulls
    return last


def decode(desc: Any, first: int, last: int, state: Any) -> int:
    """Fill the columns that the modes in the state request."""
    return decode_rows(desc, first, last, state, int(state[28]), int(state[29]), int(state[30]), int(state[31]))


@cache
def decoder(mode_timestamp: int, mode_key: int, mode_value: int, mode_offset: int) -> Callable[[Any, int, int, Any], int]:
    """Return the kernel for these modes alone; it does not read them from the state."""

    def decode(desc: Any, first: int, last: int, state: Any) -> int:
        return decode_rows(desc, first, last, state, int(mode_timestamp), int(mode_key), int(mode_value), int(mode_offset))

    return decode


@called
def encode(addresses: Any, first: int, last: int, desc: Any, most: int, is_estimated: int, to: int, end: int) -> tuple[int, int, int]:
    """Write the rows from *first* on at address *to*."""
    from_timestamp_data = int(addresses[0])
    from_key_offsets = int(addresses[1])
    from_key_bytes = int(addresses[2])
    from_key_end = int(addresses[3])
    from_key_valid = int(addresses[4])
    from_key_first_bit = int(addresses[5])
    from_value_offsets = int(addresses[6])
    from_value_bytes = int(addresses[7])
    from_value_end = int(addresses[8])
    from_value_valid = int(addresses[9])
    from_value_first_bit = int(addresses[10])
    from_offset_data = int(addresses[11])
    magic = int(desc[0, 9])
    p = to
    row = first
    while row < last:
        from_key_begin = s4le(from_key_offsets + 4 * row)
        from_key_size = s4le(from_key_offsets + 4 * row + 4) - from_key_begin
        len_key = from_key_size
        if not is_valid(from_key_valid, from_key_first_bit + row):
            len_key = -1
            from_key_size = 0
        from_value_begin = s4le(from_value_offsets + 4 * row)
        from_value_size = s4le(from_value_offsets + 4 * row + 4) - from_value_begin
        len_value = from_value_size
        if not is_valid(from_value_valid, from_value_first_bit + row):
            len_value = -1
            from_value_size = 0
        timestamp = s8le(from_timestamp_data + 8 * row)
        size = 26 + from_key_size + from_value_size + (8 if magic >= 1 else 0)
        if not fits_32_bits(size):
            return row, p, UNWRITABLE
        if row > first and not has_room(p - to, size, most, is_estimated):
            return row, p, DONE
        if size > end - 64 - p:
            return row, p, BUFFER_FULL
        begin = p
        p += 18
        if magic >= 1:
            put8be(p, timestamp)
            p += 8
        put4be(p, len_key)
        p += 4
        if len_key >= 0:
            copy_within(p, from_key_bytes + from_key_begin, from_key_size, from_key_end)
            p += from_key_size
        put4be(p, len_value)
        p += 4
        if len_value >= 0:
            copy_within(p, from_value_bytes + from_value_begin, from_value_size, from_value_end)
            p += from_value_size
        p = begin
        put8be(p + 0, s8le(from_offset_data + 8 * row))
        put4be(p + 8, size - 12)
        put1(p + 16, int(desc[0, 9]))
        put1(p + 17, int(desc[0, 11]) << 0 | int(desc[0, 12]) << 3 | int(desc[0, 13]) << 4)
        put4be(p + 12, crc32(p + 16, p + size))
        p += size
        row += 1
    return row, p, DONE
