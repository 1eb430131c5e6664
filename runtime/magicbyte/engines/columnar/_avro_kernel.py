"""Kernel that runs a program over Avro values and fills Arrow buffers: `avro_program` says what its numbers mean.

Every read is within the value, and every write within the memory that the caller has provided. A value that
has a fault leaves no trace but its fault: the counters are set back, and its row becomes null.
"""

from magicbyte.engines.columnar import avro_program as code
from magicbyte.engines.columnar._avro_reads import (
    NO_MEMORY,
    field,
    read_long,
    set_field,
)
from magicbyte.engines.columnar._avro_scalars import read_scalar
from magicbyte.engines.columnar.avro_program import (
    COLUMN_BYTES,
    FRAME_BYTES,
    INSTRUCTION_BYTES,
    SLACK,
    SPACE_BYTES,
    Fault,
)
from magicbyte_kernels.primitives import called, inlined, put1, put2, put4, put8, s4le, s8le, u1


@called
def _put_absent(columns: int, spaces: int, first: int, last: int, row_index: int) -> None:
    """Write null to *row_index* of all columns [first, last) that are in the space of the first one."""
    column, end = columns + first * COLUMN_BYTES, columns + last * COLUMN_BYTES
    space = field(column, code.SPACE)
    while column < end:
        if field(column, code.SPACE) == space:
            valid, kind = field(column, code.VALIDITY), field(column, code.KIND)
            if valid:
                put1(valid + row_index, 0)
            if kind == code.FIXED_WIDTH:
                width = field(column, code.WIDTH)
                at = field(column, code.DATA) + row_index * width
                for position in range(width):
                    put1(at + position, 0)
            elif kind != code.NO_DATA:
                size = field(column, code.USED)
                if kind == code.ITEMS:
                    size = field(spaces + field(column, code.WIDTH) * SPACE_BYTES, code.COUNT)
                put4(field(column, code.OFFSETS) + 4 * (row_index + 1), size)
        column += COLUMN_BYTES


@called
def _roll_back(columns: int, spaces: int, num_columns: int, row_index: int) -> None:
    """Set the counters of all columns back to those before the value in *row_index*."""
    set_field(spaces, code.START, row_index)
    column, end = columns, columns + num_columns * COLUMN_BYTES
    while column < end:
        kind = field(column, code.KIND)
        if kind == code.BYTE_STRINGS or kind == code.ITEMS:
            start = field(spaces + field(column, code.SPACE) * SPACE_BYTES, code.START)
            size = s4le(field(column, code.OFFSETS) + 4 * start)
            if kind == code.ITEMS:
                items = spaces + field(column, code.WIDTH) * SPACE_BYTES
                set_field(items, code.COUNT, size)
                set_field(items, code.START, size)
            else:
                set_field(column, code.USED, size)
        column += COLUMN_BYTES


@inlined
def _block_items(at: int, spaces: int, p: int, end: int, control: int) -> tuple[int, int]:
    """Read the number of items in the next block of the list instruction *at*.

    Returns it, and the address after it, or the negative fault.
    """
    number, p = read_long(p, end)
    if p <= 0:
        return 0, p
    if number < 0:
        if number == -(1 << 63):
            return 0, -Fault.BLOCK_COUNT
        number = -number
        # The bytes of the block: they help only who skips it.
        _, p = read_long(p, end)
        if p <= 0:
            return 0, p
    least = field(at, code.C)
    if least == 0:
        empty = field(control, code.EMPTY_ITEMS)
        if number > code.MAX_EMPTY_ITEMS - empty:
            return 0, -Fault.EMPTY_ITEMS
        set_field(control, code.EMPTY_ITEMS, empty + number)
    elif number > (end - p) // least:
        return 0, -Fault.BLOCK_COUNT
    space = field(at, code.A)
    if space >= 0:
        items = spaces + space * SPACE_BYTES
        needed = field(items, code.COUNT) + number
        if needed > field(items, code.SPACE_CAPACITY):
            set_field(control, code.FULL_INDEX, space)
            set_field(control, code.NEEDED, needed)
            return 0, -NO_MEMORY - code.SPACE_FULL
    return number, p


@inlined
def _list_step(
    at: int,
    program: int,
    columns: int,
    spaces: int,
    frame_address: int,
    control: int,
    p: int,
    end: int,
    row_index: int,
) -> tuple[int, int, int, int]:
    """Begin a list, or go on after an item of it.

    Returns the next instruction, the frame_address of the innermost list, the address of the next byte, or the negative
    fault, and the row_index.
    """
    if field(at, code.OPERATION) == code.LIST:
        frame_address += FRAME_BYTES
        put8(frame_address, row_index)
        remaining = 0
    else:
        at = program + field(at, code.A) * INSTRUCTION_BYTES
        space = field(at, code.A)
        row_index += 1
        if space >= 0:
            set_field(spaces + space * SPACE_BYTES, code.COUNT, row_index)
        remaining = s8le(frame_address + 8) - 1
    if remaining == 0:
        remaining, p = _block_items(at, spaces, p, end, control)
        if p <= 0:
            return at, frame_address, p, row_index
        space = field(at, code.A)
        count = 0
        if space >= 0:
            count = field(spaces + space * SPACE_BYTES, code.COUNT)
        if remaining == 0:
            row_index = s8le(frame_address)
            column = field(at, code.COLUMN)
            if column >= 0:
                put4(
                    field(columns + column * COLUMN_BYTES, code.OFFSETS) + 4 * (row_index + 1),
                    count,
                )
            return (
                program + field(at, code.B) * INSTRUCTION_BYTES,
                frame_address - FRAME_BYTES,
                p,
                row_index,
            )
        row_index = count
    put8(frame_address + 8, remaining)
    return at + INSTRUCTION_BYTES, frame_address, p, row_index


@inlined
def _branch(
    at: int,
    program: int,
    table_address: int,
    columns: int,
    spaces: int,
    p: int,
    end: int,
    row_index: int,
) -> tuple[int, int]:
    """Read the branch of a union; return its instruction, and the address of the next byte or the negative fault."""
    branch, p = read_long(p, end)
    if p <= 0:
        return at, p
    column, operand = field(at, code.COLUMN), field(at, code.A)
    if field(at, code.OPERATION) == code.NULLABLE:
        if branch < 0 or branch > 1:
            return at, -Fault.UNION_BRANCH
        if branch == field(at, code.C):
            _put_absent(columns, spaces, column, operand, row_index)
            return program + field(at, code.B) * INSTRUCTION_BYTES, p
        put1(field(columns + column * COLUMN_BYTES, code.VALIDITY) + row_index, 1)
        return at + INSTRUCTION_BYTES, p
    if branch < 0 or branch >= field(at, code.B):
        return at, -Fault.UNION_BRANCH
    return program + s8le(table_address + 8 * (operand + branch)) * INSTRUCTION_BYTES, p


@inlined
def _decode_value(
    program: int,
    table_address: int,
    columns: int,
    spaces: int,
    stack: int,
    control: int,
    p: int,
    end: int,
    row_index: int,
) -> int:
    """Run the program over the value [p, end). Return 0, or the negative fault, which begins at FAULT_ADDRESS."""
    at, frame_address = program, stack - FRAME_BYTES
    fast_end = field(control, code.CONTENT_END) - SLACK
    value_p, value_end = p, end
    while True:
        begin, operation = p, field(at, code.OPERATION)
        if operation <= code.LAST_SCALAR:
            p = read_scalar(
                at, operation, columns, table_address, row_index, p, end, fast_end, control
            )
            at += INSTRUCTION_BYTES
        elif operation == code.NULLABLE or operation == code.UNION:
            at, p = _branch(at, program, table_address, columns, spaces, p, end, row_index)
        elif operation == code.LIST or operation == code.LIST_NEXT:
            at, frame_address, p, row_index = _list_step(
                at, program, columns, spaces, frame_address, control, p, end, row_index
            )
        elif operation == code.VALID:
            column = columns + field(at, code.COLUMN) * COLUMN_BYTES
            put1(field(column, code.VALIDITY) + row_index, 1)
            at += INSTRUCTION_BYTES
        elif operation == code.ABSENT:
            _put_absent(columns, spaces, field(at, code.COLUMN), field(at, code.A), row_index)
            at += INSTRUCTION_BYTES
        elif operation == code.JUMP:
            at = program + field(at, code.A) * INSTRUCTION_BYTES
        elif operation == code.CONSTANT:
            value_p, value_end = p, end
            p = field(control, code.CONSTANTS) + field(at, code.A)
            end = p + field(at, code.B)
            fast_end = field(control, code.CONSTANTS_END) - SLACK
            at += INSTRUCTION_BYTES
        elif operation == code.CONSTANT_END:
            p, end = value_p, value_end
            fast_end = field(control, code.CONTENT_END) - SLACK
            at += INSTRUCTION_BYTES
        elif operation == code.FAULT:
            p = -field(at, code.A)
        else:
            p = 0 if p == end else -Fault.LEFT_OVER
        if p <= 0:
            set_field(control, code.FAULT_ADDRESS, begin)
            return p


@inlined
def _value_offset(control: int, row_index: int) -> int:
    address = field(control, code.OFFSET_ADDRESS)
    if field(control, code.OFFSET_BYTES) == 8:
        return s8le(address + 8 * row_index)
    return s4le(address + 4 * row_index)


@inlined
def _is_null(control: int, row_index: int) -> bool:
    bits, bit = field(control, code.VALID_BITS), field(control, code.FIRST_BIT) + row_index
    return bits != 0 and (u1(bits + (bit >> 3)) >> (bit & 7)) & 1 == 0


@inlined
def _start(control: int, row_index: int) -> int:
    starts = field(control, code.STARTS)
    return s4le(starts + 4 * row_index) if starts else field(control, code.COMMON_START)


def decode_avro(
    program: int, table_address: int, columns: int, spaces: int, stack: int, control: int
) -> int:
    """Decode values from NEXT_ROW on; return DONE, or COLUMN_FULL or SPACE_FULL if memory is needed.

    In that case, NEXT_ROW is the value that needs it; nothing of it has been written.
    """
    num_columns = field(control, code.NUM_COLUMNS)
    row_index, last = field(control, code.NEXT_ROW), field(control, code.LAST_ROW)
    while row_index < last:
        fault, position = 0, 0
        if _is_null(control, row_index):
            _put_absent(columns, spaces, 0, num_columns, row_index)
        else:
            content = field(control, code.CONTENT)
            begin, end = (
                content + _value_offset(control, row_index),
                content + _value_offset(control, row_index + 1),
            )
            start = _start(control, row_index)
            set_field(control, code.EMPTY_ITEMS, 0)
            if start < 0 or start > end - begin:
                fault = -Fault.FRAME
                set_field(control, code.FAULT_ADDRESS, end)
            elif row_index == field(control, code.REFUSED_ROW):
                fault = -Fault.OUTPUT_LIMIT
                set_field(control, code.FAULT_ADDRESS, begin + start)
            else:
                fault = _decode_value(
                    program,
                    table_address,
                    columns,
                    spaces,
                    stack,
                    control,
                    begin + start,
                    end,
                    row_index,
                )
            if fault:
                _roll_back(columns, spaces, num_columns, row_index)
                if fault <= -NO_MEMORY:
                    set_field(control, code.NEXT_ROW, row_index)
                    return -fault - NO_MEMORY
                _put_absent(columns, spaces, 0, num_columns, row_index)
                position = field(control, code.FAULT_ADDRESS) - begin
        put2(field(control, code.FAULT_CODES) + 2 * row_index, -fault)
        put4(field(control, code.FAULT_POSITIONS) + 4 * row_index, position)
        row_index += 1
    set_field(control, code.NEXT_ROW, row_index)
    return code.DONE
