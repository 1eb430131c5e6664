"""Part of the kernel for Avro that reads values without inner values."""

from magicbyte.engines.columnar import avro_program as code
from magicbyte.engines.columnar._avro_reads import (
    NO_MEMORY,
    copy_within,
    field,
    is_text,
    read_long,
    reserve,
)
from magicbyte.engines.columnar.avro_program import COLUMN_BYTES, Fault
from magicbyte_kernels.primitives import (
    called,
    double_of_float,
    double_of_int,
    float_of_int,
    inlined,
    put1,
    put4,
    put8,
    s8le,
    u1,
    u4le,
)

MAX_INT, LEAST_WORD = (1 << 31) - 1, -(1 << 63)
COLUMN_IS_FULL = -NO_MEMORY - code.COLUMN_FULL
NANOS_IN_MILLISECOND = 1_000_000
DECIMAL_WORD_BYTES = 8


@inlined
def _address(columns: int, column_number: int, row_index: int, width: int) -> int:
    return field(columns + column_number * COLUMN_BYTES, code.DATA) + row_index * width


@inlined
def _integer(at: int, is_int: bool, columns: int, row_index: int, p: int, end: int) -> int:
    number, p = read_long(p, end)
    if p <= 0:
        return p
    if is_int and (number > MAX_INT or number < -MAX_INT - 1):
        return -Fault.INT_RANGE
    column, form, below = field(at, code.COLUMN), field(at, code.A), field(at, code.B)
    if below and (number < 0 or number >= below):
        return -Fault.TIME_OF_DAY
    if column >= 0:
        if form == code.AS_INT64:
            put8(_address(columns, column, row_index, 8), number)
        elif form == code.AS_INT32:
            put4(_address(columns, column, row_index, 4), number)
        elif form == code.AS_DOUBLE:
            put8(_address(columns, column, row_index, 8), double_of_int(number))
        else:
            put4(_address(columns, column, row_index, 4), float_of_int(number))
    return p


@inlined
def _fixed(at: int, columns: int, row_index: int, p: int, end: int, fast_end: int) -> int:
    column, size = field(at, code.COLUMN), field(at, code.A)
    if size > end - p:
        return -Fault.ENDS_EARLY
    if column >= 0:
        to = _address(columns, column, row_index, size)
        if size == 8:
            put8(to, s8le(p))
        elif size == 4:
            put4(to, u4le(p))
        else:
            copy_within(to, p, size, fast_end)
    return p + size


@inlined
def _byte_string(
    at: int, columns: int, row_index: int, p: int, end: int, fast_end: int, control: int
) -> int:
    size, p = read_long(p, end)
    if p <= 0:
        return p
    if size < 0 or size > end - p:
        return -Fault.LENGTH
    column = field(at, code.COLUMN)
    if column >= 0:
        if field(at, code.A) and not is_text(p, size):
            return -Fault.UTF8
        to = reserve(columns, column, row_index, size, control)
        if to == 0:
            return COLUMN_IS_FULL
        copy_within(to, p, size, fast_end)
    return p + size


@inlined
def _enum(at: int, columns: int, table_address: int, row_index: int, p: int, end: int) -> int:
    index, p = read_long(p, end)
    if p <= 0:
        return p
    if index < 0 or index >= field(at, code.B):
        return -Fault.ENUM_INDEX
    column = field(at, code.COLUMN)
    if column >= 0:
        symbol = s8le(table_address + 8 * (field(at, code.A) + index))
        if symbol < 0:
            return -Fault.NO_READER_SYMBOL
        put4(_address(columns, column, row_index, 4), symbol)
    return p


@inlined
def _boolean(at: int, columns: int, row_index: int, p: int, end: int) -> int:
    if p >= end:
        return -Fault.ENDS_EARLY
    if u1(p) > 1:
        return -Fault.BOOLEAN
    column = field(at, code.COLUMN)
    if column >= 0:
        put1(_address(columns, column, row_index, 1), u1(p))
    return p + 1


@inlined
def _wider_float(at: int, columns: int, row_index: int, p: int, end: int) -> int:
    if end - p < 4:
        return -Fault.ENDS_EARLY
    column = field(at, code.COLUMN)
    if column >= 0:
        put8(_address(columns, column, row_index, 8), double_of_float(u4le(p)))
    return p + 4


@called
def _word(p: int, end: int, index: int, sign: int) -> int:
    """Return the word of 64 bits of number *index*, from the lowest, of the big-endian number [p, end)."""
    word, shift = 0, 0
    last = end - DECIMAL_WORD_BYTES * index
    while shift < 64:
        last -= 1
        byte = u1(last) if last >= p else sign & 0xFF
        if shift == 56:
            byte = (byte ^ 0x80) - 0x80
        word |= byte << shift
        shift += 8
    return word


@inlined
def _is_below(word: int, bound_word: int, is_signed: bool) -> bool:
    """Return whether *word* is less than *bound_word*, both with or without a sign."""
    if is_signed:
        return word < bound_word
    return (word ^ LEAST_WORD) < (bound_word ^ LEAST_WORD)


@called
def _is_within(to: int, word_count: int, bounds: int) -> bool:
    """Return whether the number at *to* is within *bounds*: the largest and the least number, as word_count."""
    for bound in range(2):
        index = word_count - 1
        while index >= 0:
            word, other = s8le(to + 8 * index), s8le(bounds + 8 * (bound * word_count + index))
            if word != other:
                is_signed = index == word_count - 1
                if _is_below(word, other, is_signed) == (bound == 1):
                    return False
                break
            index -= 1
    return True


@called
def _is_text_within(p: int, size: int, bounds: int) -> bool:
    """Return whether the big-endian number at *p* is within *bounds*, which have as many bytes."""
    for bound in range(2):
        for index in range(size):
            byte, other = u1(p + index), s8le(bounds + 8 * (bound * size + index))
            if byte != other:
                if index == 0:
                    byte, other = byte ^ 0x80, other ^ 0x80
                if (byte < other) == (bound == 1):
                    return False
                break
    return True


@inlined
def _decimal_end(at: int, p: int, end: int) -> tuple[int, int]:
    """Return where the bytes of a decimal begin, or the negative fault, and end."""
    size = field(at, code.A)
    if size < 0:
        size, p = read_long(p, end)
        if p <= 0:
            return p, 0
        if size < 0 or size > end - p:
            return -Fault.LENGTH, 0
    elif size > end - p:
        return -Fault.ENDS_EARLY, 0
    if size == 0:
        return -Fault.DECIMAL_EMPTY, 0
    return p, p + size


@inlined
def _without_sign_bytes(p: int, end: int) -> int:
    """Return the first byte of the number [p, end) that it needs."""
    while end - p > 1 and u1(p) == (0xFF if u1(p + 1) & 0x80 else 0):
        p += 1
    return p


@called
def _decimal(at: int, columns: int, table_address: int, row_index: int, p: int, end: int) -> int:
    begin, after = _decimal_end(at, p, end)
    if begin <= 0:
        return begin
    first = _without_sign_bytes(begin, after)
    words = field(at, code.C)
    if after - first > DECIMAL_WORD_BYTES * words:
        return -Fault.DECIMAL_DIGITS
    to = _address(columns, field(at, code.COLUMN), row_index, DECIMAL_WORD_BYTES * words)
    sign = -(u1(first) >> 7)
    for index in range(words):
        put8(to + 8 * index, _word(first, after, index, sign))
    if not _is_within(to, words, table_address + 8 * field(at, code.B)):
        return -Fault.DECIMAL_DIGITS
    return after


@called
def _decimal_text(
    at: int,
    columns: int,
    table_address: int,
    row_index: int,
    p: int,
    end: int,
    fast_end: int,
    control: int,
) -> int:
    begin, after = _decimal_end(at, p, end)
    if begin <= 0:
        return begin
    first = _without_sign_bytes(begin, after)
    most = field(at, code.C)
    if after - first > most:
        return -Fault.DECIMAL_DIGITS
    if after - first == most and not _is_text_within(
        first, most, table_address + 8 * field(at, code.B)
    ):
        return -Fault.DECIMAL_DIGITS
    to = reserve(columns, field(at, code.COLUMN), row_index, after - first, control)
    if to == 0:
        return COLUMN_IS_FULL
    copy_within(to, first, after - first, fast_end)
    return after


@inlined
def _hexadecimal_digit(number: int) -> int:
    return number + (0x30 if number < 10 else 0x57)


@called
def _uuid(at: int, columns: int, row_index: int, p: int, end: int, control: int) -> int:
    """Read 16 bytes as the text of a UUID: groups of 4, 2, 2, 2 and 6 bytes."""
    if end - p < 16:
        return -Fault.ENDS_EARLY
    to = reserve(columns, field(at, code.COLUMN), row_index, 36, control)
    if to == 0:
        return COLUMN_IS_FULL
    for position in range(16):
        if position == 4 or position == 6 or position == 8 or position == 10:
            put1(to, 0x2D)
            to += 1
        byte = u1(p + position)
        put1(to, _hexadecimal_digit(byte >> 4))
        put1(to + 1, _hexadecimal_digit(byte & 15))
        to += 2
    return p + 16


@inlined
def _duration(at: int, columns: int, row_index: int, p: int, end: int) -> int:
    if end - p < 12:
        return -Fault.ENDS_EARLY
    months, days = u4le(p), u4le(p + 4)
    if months > MAX_INT or days > MAX_INT:
        return -Fault.DURATION
    to = _address(columns, field(at, code.COLUMN), row_index, 16)
    put4(to, months)
    put4(to + 4, days)
    put8(to + 8, u4le(p + 8) * NANOS_IN_MILLISECOND)
    return p + 12


@inlined
def read_scalar(
    at: int,
    operation: int,
    columns: int,
    table_address: int,
    row_index: int,
    p: int,
    end: int,
    fast_end: int,
    control: int,
) -> int:
    """Run the instruction *at*; return the address of the next byte, or the negative fault."""
    if operation == code.BYTES:
        return _byte_string(at, columns, row_index, p, end, fast_end, control)
    if operation == code.LONG or operation == code.INT:
        return _integer(at, operation == code.INT, columns, row_index, p, end)
    if operation == code.FIXED:
        return _fixed(at, columns, row_index, p, end, fast_end)
    if operation == code.BOOLEAN:
        return _boolean(at, columns, row_index, p, end)
    if operation == code.ENUM:
        return _enum(at, columns, table_address, row_index, p, end)
    if operation == code.FLOAT_AS_DOUBLE:
        return _wider_float(at, columns, row_index, p, end)
    if operation == code.DECIMAL:
        return _decimal(at, columns, table_address, row_index, p, end)
    if operation == code.DECIMAL_TEXT:
        return _decimal_text(at, columns, table_address, row_index, p, end, fast_end, control)
    if operation == code.UUID:
        return _uuid(at, columns, row_index, p, end, control)
    return _duration(at, columns, row_index, p, end)
