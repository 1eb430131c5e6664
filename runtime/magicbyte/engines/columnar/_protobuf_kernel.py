"""Kernel that decodes usual Protobuf messages into columns: `protobuf_program` says what its numbers mean.

It reads within the message alone, and needs a stack of fixed size, however deep a message is nested. A message that is
not usual leaves nothing in the columns: its row is null.
"""

from magicbyte.engines.columnar import protobuf_program as code
from magicbyte.engines.columnar._avro_reads import field, set_field
from magicbyte.engines.columnar._protobuf_reads import (
    MAX_VARINT_BYTES,
    count_varints,
    find_field,
    is_known,
    read_length,
    read_tag,
    read_time,
    read_varint,
)
from magicbyte.engines.columnar._protobuf_writes import (
    begin_message,
    begin_row,
    fill_ends,
    put_bytes,
    put_fixed,
    put_in_form,
    put_number,
    put_packed_fixed,
    put_time,
    reserve_packed,
    roll_back,
)
from magicbyte.engines.columnar.protobuf_program import (
    FIELD_BYTES,
    FRAME_SEEN,
    NO_MEMORY,
    NULL,
    TOO_LARGE,
    TYPE_BYTES,
    UNUSUAL,
    USUAL,
)
from magicbyte_kernels.primitives import called, inlined, put1, s4le, u1

GROUP_END = 4


@called
def _see_late(frame_at: int, bit: int) -> bool:
    """Return whether *bit*, beyond the first word, was seen in the message of *frame_at*, and set it."""
    at = FRAME_SEEN + (bit >> 6)
    bits, mask = field(frame_at, at), 1 << (bit & 63)
    set_field(frame_at, at, bits | mask)
    return (bits & mask) != 0


@inlined
def _mark(frame_at: int, at: int, seen_bits: int, verdict: int) -> tuple[int, int]:
    """Return the bits of SEEN with the bit of the field *at*, and the verdict; repeated fields have no bit."""
    bit, is_again = field(at, code.SEEN), False
    if bit >= 64:
        is_again = _see_late(frame_at, bit)
    elif bit >= 0:
        is_again = (seen_bits >> bit & 1) != 0
        seen_bits |= 1 << bit
    return seen_bits, UNUSUAL if is_again else verdict


@inlined
def _packed_varints(
    at: int,
    closed_enums: int,
    columns: int,
    kind: int,
    p: int,
    end: int,
    row_index: int,
    control: int,
) -> int:
    data, to = reserve_packed(at, columns, row_index, count_varints(p, end), control)
    if to < 0:
        return NO_MEMORY
    form = field(at, code.FORM)
    while p < end:
        number, p = read_varint(p, end, MAX_VARINT_BYTES)
        if p == 0 or (kind != code.VARINT and not is_known(at, closed_enums, kind, number)):
            return UNUSUAL
        put_in_form(form, data, to, number)
        to += 1
    return USUAL


@called
def _packed(
    at: int,
    closed_enums: int,
    columns: int,
    kind: int,
    p: int,
    end: int,
    row_index: int,
    control: int,
) -> tuple[int, int]:
    """Write packed numbers, unless *row_index* is -1; return the verdict, and the memory that they take in columns."""
    if kind == code.GROUP or field(at, code.SEEN) >= 0:
        return UNUSUAL, 0
    item_bytes = field(at, code.ITEM_BYTES)
    if kind == code.FIXED64 or kind == code.FIXED32:
        size = 8 if kind == code.FIXED64 else 4
        used = (end - p) // size * item_bytes
        if row_index < 0 or (end - p) & (size - 1):
            return UNUSUAL, used
        return put_packed_fixed(at, columns, row_index, p, end, size, control), used
    used = count_varints(p, end) * item_bytes
    if row_index < 0:
        return UNUSUAL, used
    return _packed_varints(at, closed_enums, columns, kind, p, end, row_index, control), used


@inlined
def _byte_value(
    at: int,
    closed_enums: int,
    columns: int,
    kind: int,
    p: int,
    end: int,
    row_index: int,
    control: int,
) -> tuple[int, int]:
    """Write the bytes from *p* to *end*, unless *row_index* is -1; return the verdict, and the memory that items take."""
    if kind == code.BYTES and row_index >= 0:
        return put_bytes(at, columns, row_index, p, end, control), 0
    if kind == code.TIME and row_index >= 0:
        nanoseconds, verdict = read_time(p, end)
        if verdict == USUAL:
            verdict = put_time(at, columns, row_index, nanoseconds, control)
        return verdict, 0
    if kind == code.BYTES or kind == code.TIME:
        return UNUSUAL, 0
    return _packed(at, closed_enums, columns, kind, p, end, row_index, control)


@inlined
def _value(
    at: int,
    closed_enums: int,
    columns: int,
    kind: int,
    wire: int,
    p: int,
    end: int,
    row_index: int,
    verdict: int,
    control: int,
) -> tuple[int, int, int]:
    """Write a value that is no message, if *verdict* is USUAL. *kind* is -1 for a field that is not known.

    Returns the verdict, memory that items take in columns, and the address after the value, 0 if it is not whole.
    """
    used = 0
    if verdict != USUAL:
        row_index = -1
    if wire == code.VARINT:
        number, p = read_varint(p, end, MAX_VARINT_BYTES)
        if p == 0 or (kind > code.VARINT and not is_known(at, closed_enums, kind, number)):
            return UNUSUAL, 0, p
        if kind >= 0 and row_index >= 0:
            verdict = put_number(at, columns, row_index, number, control)
    elif wire == code.BYTES:
        last, p = read_length(p, end)
        if p == 0:
            return UNUSUAL, 0, 0
        if kind >= 0:
            verdict, used = _byte_value(
                at, closed_enums, columns, kind, p, last, row_index, control
            )
        p = last
    else:
        size = 8 if wire == code.FIXED64 else 4
        if size > end - p:
            return UNUSUAL, 0, 0
        if kind >= 0 and kind != wire:
            return UNUSUAL, 0, p + size
        if kind >= 0 and row_index >= 0:
            verdict = put_fixed(at, columns, row_index, p, size, control)
        p += size
    return verdict, used, p


@inlined
def _save(
    frame_at: int,
    end: int,
    group: int,
    first: int,
    last: int,
    cursor: int,
    needed: int,
    seen_bits: int,
    row_index: int,
) -> None:
    set_field(frame_at, code.FRAME_END, end)
    set_field(frame_at, code.FRAME_GROUP, group)
    set_field(frame_at, code.FRAME_FIRST, first)
    set_field(frame_at, code.FRAME_LAST, last)
    set_field(frame_at, code.FRAME_CURSOR, cursor)
    set_field(frame_at, code.FRAME_NEEDED, needed)
    set_field(frame_at, code.FRAME_ROW, row_index)
    set_field(frame_at, FRAME_SEEN, seen_bits)


@inlined
def _clear(frame_at: int, frame_bytes: int) -> None:
    """Clear the bits of SEEN after the first word, which is a variable of the walk."""
    at = frame_at + 8 * FRAME_SEEN + 8
    while at < frame_at + frame_bytes:
        set_field(at, 0, 0)
        at += 8


@inlined
def _saved(frame_at: int) -> tuple[int, int, int, int, int, int, int, int]:
    """Return what `_save` has saved: end, group, row, first and last field, cursor, needed bits, bits."""
    return (
        field(frame_at, code.FRAME_END),
        field(frame_at, code.FRAME_GROUP),
        field(frame_at, code.FRAME_ROW),
        field(frame_at, code.FRAME_FIRST),
        field(frame_at, code.FRAME_LAST),
        field(frame_at, code.FRAME_CURSOR),
        field(frame_at, code.FRAME_NEEDED),
        field(frame_at, FRAME_SEEN),
    )


@inlined
def _message_end(
    wire: int, number: int, p: int, end: int, verdict: int
) -> tuple[int, int, int, int]:
    """Return the end of a message or group, its beginning, 0 for a fault, the number of the group, and the verdict."""
    if wire == code.BYTES:
        end, p = read_length(p, end)
        return end, p, 0, verdict
    return end, p, number, UNUSUAL  # decoders take groups in several ways


@inlined
def _type(types: int, at: int, kind: int) -> tuple[int, int, int]:
    """Return the first field, the one after the last field, and the needed bits of the messages in the field *at*."""
    if kind != code.MESSAGE and kind != code.GROUP:
        return 0, 0, 0  # a group that is not known
    inner = types + field(at, code.INNER) * TYPE_BYTES
    return (
        field(inner, code.FIRST_FIELD),
        field(inner, code.END_FIELD),
        field(inner, code.NUM_NEEDED),
    )


@called
def _decode_message(
    types: int,
    fields: int,
    closed_enums: int,
    columns: int,
    stack: int,
    control: int,
    p: int,
    end: int,
    row_index: int,
    spare: int,
) -> tuple[int, int]:
    """Decode the message from *p* to *end* into *row_index*; return the verdict, and the bytes of *spare* that it leaves."""
    frame_bytes = field(control, code.FRAME_BYTES)
    verdict = field(control, code.COMMON_VERDICT)
    frame_at, last_frame = stack, stack + (code.MAX_DEPTH - 1) * frame_bytes
    # The innermost message: its fields, the one that was found last, its bits, the bits that it needs, its group.
    first, last = field(types, code.FIRST_FIELD), field(types, code.END_FIELD)
    cursor, seen_bits, needed, group = first, 0, 0, 0
    _clear(frame_at, frame_bytes)
    while spare >= 0:
        if p < end:
            number, wire, p = read_tag(p, end)
            if p == 0:
                return UNUSUAL, spare
            if wire != GROUP_END:
                at, kind = 0, -1
                found = find_field(fields, cursor, first, last, number)
                if found >= 0:
                    cursor, at = found, fields + found * FIELD_BYTES
                    kind = field(at, code.KIND)
                    spare -= field(at, code.ITEM_BYTES)
                    seen_bits, verdict = _mark(frame_at, at, seen_bits, verdict)
                elif needed:
                    verdict = UNUSUAL  # google.protobuf leaves out map entries with other fields
                if wire != code.GROUP and (wire != code.BYTES or kind != code.MESSAGE):
                    verdict, used, p = _value(
                        at, closed_enums, columns, kind, wire, p, end, row_index, verdict, control
                    )
                    if p == 0 or verdict == NO_MEMORY:
                        return verdict, spare
                    spare -= used
                    continue
                _save(frame_at, end, group, first, last, cursor, needed, seen_bits, row_index)
                end, p, group, verdict = _message_end(wire, number, p, end, verdict)
                if p == 0 or frame_at == last_frame:
                    return UNUSUAL, spare
                row_index = begin_message(at, columns, row_index, verdict, control)
                if row_index < 0:
                    return NO_MEMORY, spare
                frame_at += frame_bytes
                first, last, needed = _type(types, at, kind)
                cursor, seen_bits = first, 0
                _clear(frame_at, frame_bytes)
                continue
            if group != number:
                return UNUSUAL, spare
        elif group:
            return UNUSUAL, spare
        if needed and seen_bits != (1 << needed) - 1:
            verdict = UNUSUAL
        if frame_at == stack:
            return verdict, spare
        frame_at -= frame_bytes
        end, group, row_index, first, last, cursor, needed, seen_bits = _saved(frame_at)
    return TOO_LARGE, spare


@inlined
def _bounds(control: int, row_index: int) -> tuple[int, int]:
    """Return where the message of *row_index* begins and ends; an empty one if the frame is longer than the value."""
    offsets = field(control, code.OFFSET_ADDRESS) + 4 * row_index
    content, starts = field(control, code.CONTENT), field(control, code.STARTS)
    start = s4le(starts + 4 * row_index) if starts else field(control, code.COMMON_START)
    p, end = content + s4le(offsets) + start, content + s4le(offsets + 4)
    return (p if p < end else end), end


@inlined
def _is_null(control: int, row_index: int) -> bool:
    bits, bit = field(control, code.VALID_BITS), field(control, code.FIRST_BIT) + row_index
    return bits != 0 and (u1(bits + (bit >> 3)) >> (bit & 7)) & 1 == 0


def decode_protobuf(
    types: int, fields: int, closed_enums: int, columns: int, stack: int, control: int
) -> int:
    """Decode messages from NEXT_ROW on, and write a verdict on each; return DONE, or COLUMN_FULL if memory is needed.

    In that case, NEXT_ROW is the message that needs it; nothing of it has been written.
    """
    verdicts, spare = field(control, code.VERDICTS), field(control, code.SPARE_BYTES)
    row_index, last = field(control, code.NEXT_ROW), field(control, code.LAST_ROW)
    while row_index < last:
        verdict = NULL
        if not _is_null(control, row_index):
            begin_row(control)
            p, end = _bounds(control, row_index)
            verdict, left = _decode_message(
                types, fields, closed_enums, columns, stack, control, p, end, row_index, spare
            )
            if verdict == USUAL:
                put1(field(columns, code.VALIDITY) + row_index, 1)
            else:
                roll_back(columns, control, row_index)
            if verdict == NO_MEMORY:
                break
            if verdict == UNUSUAL:
                left = spare - code.OBJECT_RATIO * (spare - left)
                if left < 0:
                    verdict = TOO_LARGE
            if verdict != TOO_LARGE:
                spare = left
        put1(verdicts + row_index, verdict)
        row_index += 1
    set_field(control, code.NEXT_ROW, row_index)
    set_field(control, code.SPARE_BYTES, spare)
    if row_index < last:
        return code.COLUMN_FULL
    if row_index == field(control, code.NUM_ROWS):
        fill_ends(columns, control)
    return code.DONE
