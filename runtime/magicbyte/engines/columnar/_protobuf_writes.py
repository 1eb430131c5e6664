"""Part of the kernel for Protobuf that writes columns, and rolls them back: `protobuf_program` says what its numbers mean."""

from magicbyte.engines.columnar import protobuf_program as code
from magicbyte.engines.columnar._avro_reads import copy_within, field, is_text, set_field
from magicbyte.engines.columnar.protobuf_program import (
    COLUMN_BYTES,
    COUNTER_BYTES,
    NO_MEMORY,
    UNUSUAL,
    USUAL,
)
from magicbyte_kernels.primitives import (
    BITS_63,
    called,
    inlined,
    put1,
    put4,
    put8,
    s4le,
    s8le,
    u4le,
)

LOW_32 = 0xFFFFFFFF


@inlined
def _reserve(column_address: int, row_index: int, size: int, control: int) -> int:
    """Return the number of bytes or items before the *size* new ones of *row_index*; -1 if there is no memory for them."""
    counter = field(column_address, code.COUNTER)
    used = field(counter, code.COUNT)
    after = used + size
    if after > field(column_address, code.CAPACITY):
        set_field(control, code.FULL_COLUMN, column_address)
        set_field(control, code.NEEDED, after)
        return -1
    set_field(counter, code.COUNT, after)
    put4(field(column_address, code.ENDS) + 4 * row_index, after)
    return used


@inlined
def _target(at: int, columns: int, row_index: int, control: int) -> tuple[int, int]:
    """Return the column of a value of the field *at*, and its row; row -1 if there is no memory for it.

    A repeated field gets one item more.
    """
    column_address = columns + field(at, code.COLUMN)
    if field(at, code.SEEN) < 0:
        row_index = _reserve(column_address, row_index, 1, control)
        column_address += COLUMN_BYTES
    if row_index >= 0:
        valid = field(column_address, code.VALIDITY)
        if valid:
            put1(valid + row_index, 1)
    return column_address, row_index


@inlined
def put_in_form(number_form: int, data_address: int, row_index: int, number: int) -> None:
    if number_form == code.AS_INT64:
        put8(data_address + 8 * row_index, number)
    elif number_form == code.AS_INT32:
        put4(data_address + 4 * row_index, number)
    elif number_form == code.AS_BOOLEAN:
        put1(data_address + row_index, 1 if number != 0 else 0)
    elif number_form == code.FROM_ZIGZAG64:
        put8(data_address + 8 * row_index, ((number >> 1) & BITS_63) ^ -(number & 1))
    else:
        put4(data_address + 4 * row_index, ((number & LOW_32) >> 1) ^ -(number & 1))


@inlined
def put_number(at: int, columns: int, row_index: int, number: int, control: int) -> int:
    """Write the varint *number* of the field *at*; return the verdict."""
    column_address, row_index = _target(at, columns, row_index, control)
    if row_index < 0:
        return NO_MEMORY
    put_in_form(field(at, code.FORM), field(column_address, code.DATA), row_index, number)
    return USUAL


@inlined
def put_fixed(at: int, columns: int, row_index: int, p: int, size: int, control: int) -> int:
    """Write the 4 or 8 bytes at *p*; return the verdict."""
    column_address, row_index = _target(at, columns, row_index, control)
    if row_index < 0:
        return NO_MEMORY
    if size == 8:
        put8(field(column_address, code.DATA) + 8 * row_index, s8le(p))
    else:
        put4(field(column_address, code.DATA) + 4 * row_index, u4le(p))
    return USUAL


@inlined
def put_bytes(at: int, columns: int, row_index: int, p: int, end: int, control: int) -> int:
    """Write the bytes from *p* to *end*; return the verdict."""
    size = end - p
    if field(at, code.FORM) == code.AS_TEXT and not is_text(p, size):
        return UNUSUAL
    column_address, row_index = _target(at, columns, row_index, control)
    if row_index < 0:
        return NO_MEMORY
    used = _reserve(column_address, row_index, size, control)
    if used < 0:
        return NO_MEMORY
    fast_end = field(control, code.CONTENT_END) - code.SLACK
    copy_within(field(column_address, code.DATA) + used, p, size, fast_end)
    return USUAL


@inlined
def put_time(at: int, columns: int, row_index: int, nanoseconds: int, control: int) -> int:
    """Write a time; return the verdict."""
    column_address, row_index = _target(at, columns, row_index, control)
    if row_index < 0:
        return NO_MEMORY
    put8(field(column_address, code.DATA) + 8 * row_index, nanoseconds)
    return USUAL


@inlined
def begin_message(at: int, columns: int, row_index: int, verdict: int, control: int) -> int:
    """Return the row of a message in the field *at*, -1 if there is no memory for it; *row_index* if it is not written."""
    if verdict == USUAL:
        _, row_index = _target(at, columns, row_index, control)
    return row_index


@called
def put_packed_fixed(
    at: int, columns: int, row_index: int, p: int, end: int, size: int, control: int
) -> int:
    """Write packed numbers of 4 or 8 bytes; return the verdict."""
    lists = columns + field(at, code.COLUMN)
    used = _reserve(lists, row_index, (end - p) // size, control)
    if used < 0:
        return NO_MEMORY
    to = field(lists + COLUMN_BYTES, code.DATA) + used * size
    fast_end = field(control, code.CONTENT_END) - code.SLACK
    copy_within(to, p, end - p, fast_end)
    return USUAL


@inlined
def reserve_packed(
    at: int, columns: int, row_index: int, count: int, control: int
) -> tuple[int, int]:
    """Return the address of the items' column, and the row of the first of *count* new items; -1 without memory."""
    lists = columns + field(at, code.COLUMN)
    return field(lists + COLUMN_BYTES, code.DATA), _reserve(lists, row_index, count, control)


@inlined
def begin_row(control: int) -> None:
    """Note how many bytes and items there are before the message."""
    counter, end = field(control, code.COUNTERS), field(control, code.COUNTERS_END)
    while counter < end:
        set_field(counter, code.START, field(counter, code.COUNT))
        counter += COUNTER_BYTES


@called
def _clear_row(column_address: int, row_index: int) -> None:
    """Set *row_index* of the column to zero."""
    valid, ends, width = (
        field(column_address, code.VALIDITY),
        field(column_address, code.ENDS),
        field(column_address, code.WIDTH),
    )
    if valid:
        put1(valid + row_index, 0)
    if ends:
        put4(ends + 4 * row_index, 0)
    at = field(column_address, code.DATA) + row_index * width
    for position in range(width):
        put1(at + position, 0)


@called
def roll_back(columns: int, control: int, row_index: int) -> None:
    """Remove the values that the message of *row_index* has written."""
    column_address, end = columns, field(control, code.COLUMNS_END)
    while column_address < end:
        items = field(column_address, code.LIST)
        if items == 0:
            _clear_row(column_address, row_index)
        else:
            for item in range(field(items, code.START), field(items, code.COUNT)):
                _clear_row(column_address, item)
        column_address += COLUMN_BYTES
    counter, end = field(control, code.COUNTERS), field(control, code.COUNTERS_END)
    while counter < end:
        set_field(counter, code.COUNT, field(counter, code.START))
        counter += COUNTER_BYTES


@called
def fill_ends(columns: int, control: int) -> None:
    """Give rows without bytes or items the end of the row before them."""
    column_address, end = columns, field(control, code.COLUMNS_END)
    while column_address < end:
        ends, items = field(column_address, code.ENDS), field(column_address, code.LIST)
        num_rows = field(items, code.COUNT) if items else field(control, code.NUM_ROWS)
        greatest = 0
        if ends:
            for row_index in range(num_rows):
                row_end = s4le(ends + 4 * row_index)
                if row_end > greatest:
                    greatest = row_end
                put4(ends + 4 * row_index, greatest)
        column_address += COLUMN_BYTES
