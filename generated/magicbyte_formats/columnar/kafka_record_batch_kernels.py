# Generated from spec/*.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 232146531da3e2fa9eef5f46cb564151a6950b415a2f4240d320de3e4c90ff4e, kaitai-struct-compiler 0.11.0
"""Kernels of kafka_record_batch: bytes to columns and back, without a Python object per record."""

from collections.abc import Callable
from functools import cache
from typing import Any

from magicbyte_kernels.checksums import (
    crc32c,
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
    is_ascii,
    put1,
    put2be,
    put4,
    put4be,
    put8,
    put8be,
    put_zigzag,
    s1,
    s2be,
    s4be,
    s4le,
    s8be,
    s8le,
    u2be,
    u4be,
    view,
    wrap,
    zigzag32,
    zigzag64,
    zigzag_size,
)


@inlined
def frame(p: int, available: int, desc: Any, n: int) -> int:
    """Fill descriptor *n* from the entry at *p*; return its size, or 0 for no entry."""
    if available < 61:
        return 0
    base_offset = s8be(p + 0)
    len_batch = s4be(p + 8)
    partition_leader_epoch = s4be(p + 12)
    magic = s1(p + 16)
    crc = u4be(p + 17)
    attributes = u2be(p + 21)
    codec = attributes >> 0 & 0x7
    timestamp_type = attributes >> 3 & 0x1
    is_transactional = attributes >> 4 & 0x1
    is_control = attributes >> 5 & 0x1
    has_delete_horizon = attributes >> 6 & 0x1
    reserved = attributes >> 7 & 0x1ff
    last_offset_delta = s4be(p + 23)
    base_timestamp = s8be(p + 27)
    max_timestamp = s8be(p + 35)
    producer_id = s8be(p + 43)
    producer_epoch = s2be(p + 51)
    base_sequence = s4be(p + 53)
    num_records = s4be(p + 57)
    if not (len_batch >= 49):
        return 0
    if not (magic == 2):
        return 0
    if not (num_records >= 0):
        return 0
    size = len_batch + 12
    if size < 61 or size > available:
        return 0
    desc[n, 1] = size
    desc[n, 2] = p + 61
    desc[n, 3] = p + size
    desc[n, 4] = 0
    desc[n, 5] = 0
    desc[n, 6] = base_offset
    desc[n, 7] = len_batch
    desc[n, 8] = partition_leader_epoch
    desc[n, 9] = magic
    desc[n, 10] = crc
    desc[n, 11] = attributes
    desc[n, 12] = last_offset_delta
    desc[n, 13] = base_timestamp
    desc[n, 14] = max_timestamp
    desc[n, 15] = producer_id
    desc[n, 16] = producer_epoch
    desc[n, 17] = base_sequence
    desc[n, 18] = num_records
    desc[n, 19] = codec
    desc[n, 20] = timestamp_type
    desc[n, 21] = is_transactional
    desc[n, 22] = is_control
    desc[n, 23] = has_delete_horizon
    desc[n, 24] = reserved
    return size


is_sound = checksum_test(crc32c, 21, 10)
scan = scan_kernel(frame, is_sound)
verify = verify_kernel(is_sound)


def sections(desc: Any, entries: Any) -> None:
    """Do nothing: the compressed bytes of an entry are its payload."""


@inlined
def decode_rows(desc: Any, first: int, last: int, state: Any, mode_key: int, mode_value: int, mode_headers: int, mode_offset: int, mode_timestamp: int, mode_sequence: int) -> int:
    """Fill the columns that the modes request from the entries [first, last)."""
    state[STOP_REASON] = 0
    is_lenient = int(state[IS_LENIENT])
    records_rows = int(state[11])
    records_capacity = int(state[12])
    to_key_offsets = int(state[13])
    to_key_bytes = int(state[14])
    to_key_capacity = int(state[15])
    to_key_used = int(state[16])
    to_key_valid = int(state[17])
    to_key_nulls = int(state[18])
    to_value_offsets = int(state[19])
    to_value_bytes = int(state[20])
    to_value_capacity = int(state[21])
    to_value_used = int(state[22])
    to_value_valid = int(state[23])
    to_value_nulls = int(state[24])
    to_headers_offsets = int(state[25])
    to_offset_data = int(state[39])
    to_timestamp_data = int(state[40])
    to_timestamp_nulls = int(state[41])
    to_sequence_data = int(state[42])
    to_sequence_nulls = int(state[43])
    headers_rows = int(state[26])
    headers_capacity = int(state[27])
    to_headers_key_offsets = int(state[28])
    to_headers_key_bytes = int(state[29])
    to_headers_key_capacity = int(state[30])
    to_headers_key_used = int(state[31])
    to_headers_value_offsets = int(state[33])
    to_headers_value_bytes = int(state[34])
    to_headers_value_capacity = int(state[35])
    to_headers_value_used = int(state[36])
    to_headers_value_valid = int(state[37])
    to_headers_value_nulls = int(state[38])
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
        if mode_headers and p_end - p > to_headers_key_capacity - to_headers_key_used:
            state[STOP_REASON] = BUFFER_FULL
            return n
        if mode_headers and p_end - p > to_headers_value_capacity - to_headers_value_used:
            state[STOP_REASON] = BUFFER_FULL
            return n
        rows_before = records_rows
        base_offset = int(desc[n, 6])
        base_timestamp = int(desc[n, 13])
        max_timestamp = int(desc[n, 14])
        base_sequence = int(desc[n, 17])
        num_records = int(desc[n, 18])
        timestamp_type = int(desc[n, 20])
        if num_records < 0:
            stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
            return n
        records_most = min(num_records, (p_end - p) // 7)
        if records_most > records_capacity - records_rows:
            state[STOP_REASON] = BUFFER_FULL
            return n
        for _ in range(records_most):
            row_start = p
            len_body, p = zigzag32(p)
            if p == 0:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if p > p_end:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            size = len_body
            if size < 0 or size > p_end - p:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            body_end = p + size
            attributes_ = s1(p)
            if not (attributes_ == 0):
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            timestamp_delta, p = zigzag64(p + 1)
            if p == 0:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            offset_delta, p = zigzag32(p)
            if p == 0:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            len_key, p = zigzag32(p)
            if p == 0:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if len_key < -1:
                if not is_lenient:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                    return n
                count_negative(state, records_rows - rows_before, row_start - payload_start)
            if p > body_end:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if mode_key == COPIED:
                put4(to_key_offsets + 4 * records_rows, to_key_used)
            if len_key >= 0:
                size = len_key
                if size < 0 or size > body_end - p:
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
            len_value, p = zigzag32(p)
            if p == 0:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if len_value < -1:
                if not is_lenient:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                    return n
                count_negative(state, records_rows - rows_before, row_start - payload_start)
            if p > body_end:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if mode_value == COPIED:
                put4(to_value_offsets + 4 * records_rows, to_value_used)
            if len_value >= 0:
                size = len_value
                if size < 0 or size > body_end - p:
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
            num_headers, p = zigzag32(p)
            if p == 0:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if not (num_headers >= 0):
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if p > body_end:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            if num_headers < 0:
                stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
                return n
            headers_most = min(num_headers, (body_end - p) // 2)
            if mode_headers:
                put4(to_headers_offsets + 4 * records_rows, headers_rows)
                if headers_most > headers_capacity - headers_rows:
                    state[STOP_REASON] = BUFFER_FULL
                    return n
            for element in range(headers_most):
                element_start = p
                headers_len_key, p = zigzag32(p)
                if p == 0:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, element, element_start - payload_start)
                    return n
                if not (headers_len_key >= 0):
                    stop_at(state, records_rows - rows_before, row_start - payload_start, element, element_start - payload_start)
                    return n
                if p > body_end:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, element, element_start - payload_start)
                    return n
                if mode_headers:
                    put4(to_headers_key_offsets + 4 * headers_rows, to_headers_key_used)
                size = headers_len_key
                if size < 0 or size > body_end - p:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, element, element_start - payload_start)
                    return n
                if mode_headers:
                    if not is_ascii(p, size):
                        state[32] = 1
                    copy(to_headers_key_bytes + to_headers_key_used, p, size)
                    to_headers_key_used += size
                p += size
                headers_len_value, p = zigzag32(p)
                if p == 0:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, element, element_start - payload_start)
                    return n
                if p > body_end:
                    stop_at(state, records_rows - rows_before, row_start - payload_start, element, element_start - payload_start)
                    return n
                if mode_headers:
                    put4(to_headers_value_offsets + 4 * headers_rows, to_headers_value_used)
                if headers_len_value >= 0:
                    size = headers_len_value
                    if size < 0 or size > body_end - p:
                        stop_at(state, records_rows - rows_before, row_start - payload_start, element, element_start - payload_start)
                        return n
                    if mode_headers:
                        put1(to_headers_value_valid + headers_rows, 1)
                        copy(to_headers_value_bytes + to_headers_value_used, p, size)
                        to_headers_value_used += size
                    p += size
                elif mode_headers:
                    put1(to_headers_value_valid + headers_rows, 0)
                    to_headers_value_nulls += 1
                headers_rows += 1
            element_start = p
            if headers_most < num_headers:
                stop_at(state, records_rows - rows_before, row_start - payload_start, headers_most, element_start - payload_start)
                return n
            if p != body_end:
                stop_at(state, records_rows - rows_before, row_start - payload_start, headers_most, element_start - payload_start)
                return n
            if mode_offset:
                put8(to_offset_data + 8 * records_rows, wrap(base_offset + offset_delta))
            if mode_timestamp:
                to_timestamp = wrap(max_timestamp if (timestamp_type == 1) else (base_timestamp + timestamp_delta))
                put8(to_timestamp_data + 8 * records_rows, to_timestamp)
                if to_timestamp == -1:
                    to_timestamp_nulls += 1
            if mode_sequence:
                to_sequence = wrap((-1) if (base_sequence < 0) else ((base_sequence + offset_delta) % 2147483648))
                put4(to_sequence_data + 4 * records_rows, to_sequence)
                if to_sequence == -1:
                    to_sequence_nulls += 1
            records_rows += 1
        row_start = p
        if records_most < num_records:
            stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
            return n
        if p != p_end:
            stop_at(state, records_rows - rows_before, row_start - payload_start, 0, 0)
            return n
        desc[n, 4] = records_rows - rows_before
        state[11] = records_rows
        if mode_key == COPIED:
            put4(to_key_offsets + 4 * records_rows, to_key_used)
            state[16] = to_key_used
        if mode_key:
            state[18] = to_key_nulls
        if mode_value == COPIED:
            put4(to_value_offsets + 4 * records_rows, to_value_used)
            state[22] = to_value_used
        if mode_value:
            state[24] = to_value_nulls
        if mode_headers:
            put4(to_headers_offsets + 4 * records_rows, headers_rows)
        if mode_timestamp:
            state[41] = to_timestamp_nulls
        if mode_sequence:
            state[43] = to_sequence_nulls
        state[26] = headers_rows
        if mode_headers:
            put4(to_headers_key_offsets + 4 * headers_rows, to_headers_key_used)
            state[31] = to_headers_key_used
        if mode_headers:
            put4(to_headers_value_offsets + 4 * headers_rows, to_headers_value_used)
            state[36] = to_headers_value_used
        if mode_headers:
            state[38] = to_headers_value_nulls
    return last


def decode(desc: Any, first: int, last: int, state: Any) -> int:
    """Fill the columns that the modes in the state request."""
    return decode_rows(desc, first, last, state, int(state[44]), int(state[45]), int(state[46]), int(state[47]), int(state[48]), int(state[49]))


@cache
def decoder(mode_key: int, mode_value: int, mode_headers: int, mode_offset: int, mode_timestamp: int, mode_sequence: int) -> Callable[[Any, int, int, Any], int]:
    """Return the kernel for these modes alone; it does not read them from the state."""

    def decode(desc: Any, first: int, last: int, state: Any) -> int:
        return decode_rows(desc, first, last, state, int(mode_key), int(mode_value), int(mode_headers), int(mode_offset), int(mode_timestamp), int(mode_sequence))

    return decode


@inlined
def write_header(p: int, size: int, num_rows: int, desc: Any) -> None:
    """Write the header of an entry of *size* bytes at *p*, whose payload is there."""
    put8be(p + 0, int(desc[0, 6]))
    put4be(p + 8, size - 12)
    put4be(p + 12, int(desc[0, 8]))
    put1(p + 16, 2)
    put2be(p + 21, int(desc[0, 19]) << 0 | int(desc[0, 20]) << 3 | int(desc[0, 21]) << 4 | int(desc[0, 22]) << 5 | int(desc[0, 23]) << 6 | int(desc[0, 24]) << 7)
    put4be(p + 23, int(desc[0, 12]))
    put8be(p + 27, int(desc[0, 13]))
    put8be(p + 35, int(desc[0, 14]))
    put8be(p + 43, int(desc[0, 15]))
    put2be(p + 51, int(desc[0, 16]))
    put4be(p + 53, int(desc[0, 17]))
    put4be(p + 57, num_rows)
    put4be(p + 17, crc32c(p + 21, p + size))


@called
def encode(addresses: Any, first: int, last: int, desc: Any, most: int, is_estimated: int, to: int, end: int) -> tuple[int, int, int]:
    """Write the rows from *first* on at address *to*."""
    from_key_offsets = int(addresses[0])
    from_key_bytes = int(addresses[1])
    from_key_end = int(addresses[2])
    from_key_valid = int(addresses[3])
    from_key_first_bit = int(addresses[4])
    from_value_offsets = int(addresses[5])
    from_value_bytes = int(addresses[6])
    from_value_end = int(addresses[7])
    from_value_valid = int(addresses[8])
    from_value_first_bit = int(addresses[9])
    from_headers_offsets = int(addresses[10])
    from_headers_valid = int(addresses[11])
    from_headers_first_bit = int(addresses[12])
    from_headers_key_offsets = int(addresses[13])
    from_headers_key_bytes = int(addresses[14])
    from_headers_key_end = int(addresses[15])
    from_headers_value_offsets = int(addresses[16])
    from_headers_value_bytes = int(addresses[17])
    from_headers_value_end = int(addresses[18])
    from_headers_value_valid = int(addresses[19])
    from_headers_value_first_bit = int(addresses[20])
    from_offset_data = int(addresses[21])
    from_timestamp_data = int(addresses[22])
    base_offset = int(desc[0, 6])
    base_timestamp = int(desc[0, 13])
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
        from_headers_first = s4le(from_headers_offsets + 4 * row)
        from_headers_size = s4le(from_headers_offsets + 4 * row + 4) - from_headers_first
        if not is_valid(from_headers_valid, from_headers_first_bit + row):
            from_headers_size = 0
        from_headers_bytes = 0
        for element in range(from_headers_first, from_headers_first + from_headers_size):
            from_headers_key_begin = s4le(from_headers_key_offsets + 4 * element)
            from_headers_key_size = s4le(from_headers_key_offsets + 4 * element + 4) - from_headers_key_begin
            from_headers_value_begin = s4le(from_headers_value_offsets + 4 * element)
            from_headers_value_size = s4le(from_headers_value_offsets + 4 * element + 4) - from_headers_value_begin
            headers_len_value = from_headers_value_size
            if not is_valid(from_headers_value_valid, from_headers_value_first_bit + element):
                headers_len_value = -1
                from_headers_value_size = 0
            headers_len_key = from_headers_key_size
            from_headers_bytes += from_headers_key_size + from_headers_value_size + zigzag_size(headers_len_key) + zigzag_size(headers_len_value)
        attributes_ = 0
        timestamp_delta = wrap(s8le(from_timestamp_data + 8 * row) - base_timestamp)
        offset_delta = wrap(s8le(from_offset_data + 8 * row) - base_offset)
        if not fits_32_bits(offset_delta):
            return row, p, UNWRITABLE
        num_headers = from_headers_size
        body_size = 1 + from_key_size + from_value_size + from_headers_bytes + zigzag_size(timestamp_delta) + zigzag_size(offset_delta) + zigzag_size(len_key) + zigzag_size(len_value) + zigzag_size(num_headers)
        if not fits_32_bits(body_size):
            return row, p, UNWRITABLE
        len_body = body_size
        size = body_size + zigzag_size(len_body)
        if row > first and not has_room(p - to, size, most, is_estimated):
            return row, p, DONE
        if size > end - 64 - p:
            return row, p, BUFFER_FULL
        p = put_zigzag(p, len_body)
        put1(p, attributes_)
        p += 1
        p = put_zigzag(p, timestamp_delta)
        p = put_zigzag(p, offset_delta)
        p = put_zigzag(p, len_key)
        if len_key >= 0:
            copy_within(p, from_key_bytes + from_key_begin, from_key_size, from_key_end)
            p += from_key_size
        p = put_zigzag(p, len_value)
        if len_value >= 0:
            copy_within(p, from_value_bytes + from_value_begin, from_value_size, from_value_end)
            p += from_value_size
        p = put_zigzag(p, num_headers)
        for element in range(from_headers_first, from_headers_first + from_headers_size):
            from_headers_key_begin = s4le(from_headers_key_offsets + 4 * element)
            from_headers_key_size = s4le(from_headers_key_offsets + 4 * element + 4) - from_headers_key_begin
            from_headers_value_begin = s4le(from_headers_value_offsets + 4 * element)
            from_headers_value_size = s4le(from_headers_value_offsets + 4 * element + 4) - from_headers_value_begin
            headers_len_value = from_headers_value_size
            if not is_valid(from_headers_value_valid, from_headers_value_first_bit + element):
                headers_len_value = -1
                from_headers_value_size = 0
            headers_len_key = from_headers_key_size
            p = put_zigzag(p, headers_len_key)
            copy_within(p, from_headers_key_bytes + from_headers_key_begin, from_headers_key_size, from_headers_key_end)
            p += from_headers_key_size
            p = put_zigzag(p, headers_len_value)
            if headers_len_value >= 0:
                copy_within(p, from_headers_value_bytes + from_headers_value_begin, from_headers_value_size, from_headers_value_end)
                p += from_headers_value_size
        row += 1
    return row, p, DONE
