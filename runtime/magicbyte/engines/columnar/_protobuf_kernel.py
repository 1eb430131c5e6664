"""Kernel that checks the wire format of Protobuf messages: `protobuf_program` says what its numbers mean.

It reads within the message alone, and needs a stack of fixed size, however deep a message is nested.
"""

from magicbyte.engines.columnar import protobuf_program as code
from magicbyte.engines.columnar._avro_reads import field, set_field
from magicbyte.engines.columnar.protobuf_program import (
    FIELD_BYTES,
    FRAME_SEEN,
    TOO_LARGE,
    TYPE_BYTES,
    UNUSUAL,
    USUAL,
)
from magicbyte_kernels.primitives import called, inlined, put1, s4le, u1

MAX_TAG_BYTES, MAX_VARINT_BYTES = 5, 10
MAX_TAG = (1 << 32) - 1
MAX_STEPS = 8
"""Fields that are compared one after the other before a binary search."""
GROUP_END = 4


@called
def _long_varint(p: int, end: int, max_bytes: int) -> tuple[int, int]:
    number, shift, last = 0, 0, p + max_bytes
    if last > end:
        last = end
    while p < last:
        byte = u1(p)
        p += 1
        if shift < 63:
            number |= (byte & 127) << shift
        elif byte > 1:
            return 0, 0
        elif byte == 1:
            number |= -(1 << 63)
        if byte < 128:
            return number, p
        shift += 7
    return 0, 0


@inlined
def _varint(p: int, end: int, max_bytes: int) -> tuple[int, int]:
    """Return the varint at *p*, and the address after it; 0 if it is not whole, or longer than *max_bytes*."""
    if p < end:
        byte = u1(p)
        if byte < 128:
            return byte, p + 1
    return _long_varint(p, end, max_bytes)


@called
def _search(fields: int, first: int, last: int, number: int) -> int:
    """Return the entry of *number* among the fields from *first* to before *last*; -1 if there is none."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if field(fields + middle * FIELD_BYTES, code.NUMBER) < number:
            first = middle + 1
        else:
            last = middle
    if first < end and field(fields + first * FIELD_BYTES, code.NUMBER) == number:
        return first
    return -1


@inlined
def _find(fields: int, cursor: int, first: int, last: int, number: int) -> int:
    """Return the entry of *number*; most messages have their fields in order, so it is at *cursor* or soon after."""
    steps = 0
    while cursor < last and steps < MAX_STEPS:
        found = field(fields + cursor * FIELD_BYTES, code.NUMBER)
        if found == number:
            return cursor
        if found > number:
            break
        cursor += 1
        steps += 1
    return _search(fields, first, last, number)


@called
def _is_enum_number(closed_enums: int, first: int, last: int, number: int) -> bool:
    number = ((number & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000
    while first < last:
        middle = (first + last) >> 1
        found = field(closed_enums, middle)
        if found == number:
            return True
        if found < number:
            first = middle + 1
        else:
            last = middle
    return False


@called
def _packed(at: int, closed_enums: int, kind: int, p: int, end: int) -> tuple[int, int]:
    """Return the verdict on the packed numbers of the field *at*, and how many they are."""
    if kind == code.FIXED64:
        return (UNUSUAL if (end - p) & 7 else USUAL), (end - p) >> 3
    if kind == code.FIXED32:
        return (UNUSUAL if (end - p) & 3 else USUAL), (end - p) >> 2
    count = 0
    while p < end:
        number, p = _varint(p, end, MAX_VARINT_BYTES)
        if p == 0:
            return UNUSUAL, count
        count += 1
        if kind == code.CLOSED_ENUM and not _is_enum_number(
            closed_enums, field(at, code.INNER), field(at, code.INNER_END), number
        ):
            return UNUSUAL, count
    return USUAL, count


@called
def _see_late(frame_at: int, bit: int) -> bool:
    """Return whether *bit*, beyond the first word, was seen in the message of *frame_at*, and set it."""
    at = FRAME_SEEN + (bit >> 6)
    bits, mask = field(frame_at, at), 1 << (bit & 63)
    set_field(frame_at, at, bits | mask)
    return (bits & mask) != 0


@inlined
def _mark(fields: int, frame_at: int, at: int, seen_bits: int) -> tuple[int, bool]:
    """Return the bits of SEEN with the bit of the field *at*, and whether it was set; repeated fields have no bit."""
    bit = field(at, code.SEEN)
    if bit < 0:
        return seen_bits, False
    if bit < 64:
        return seen_bits | 1 << bit, (seen_bits >> bit & 1) != 0
    return seen_bits, _see_late(frame_at, bit)


@called
def _number_verdict(at: int, closed_enums: int, kind: int, number: int) -> int:
    """Return the verdict on a varint of a field that is none, or a closed enum."""
    if kind == code.CLOSED_ENUM and _is_enum_number(
        closed_enums, field(at, code.INNER), field(at, code.INNER_END), number
    ):
        return USUAL
    return UNUSUAL


@called
def _packed_verdict(at: int, closed_enums: int, kind: int, p: int, end: int) -> tuple[int, int]:
    """Return the verdict on bytes where the field *at* has numbers, and the memory that they take in columns."""
    if kind == code.GROUP or field(at, code.SEEN) >= 0:
        return UNUSUAL, 0
    verdict, count = _packed(at, closed_enums, kind, p, end)
    return verdict, count * field(at, code.ITEM_BYTES)


@inlined
def _length(p: int, end: int) -> tuple[int, int]:
    """Return the address of the end of the bytes whose length is at *p*, and of their beginning, 0 for a fault."""
    size, p = _varint(p, end, MAX_VARINT_BYTES)
    if p == 0 or size < 0 or size > end - p:
        return 0, 0
    return p + size, p


@inlined
def _pass_value(
    at: int, closed_enums: int, kind: int, wire: int, p: int, end: int
) -> tuple[int, int, int]:
    """Pass over a value that is no message. *kind* is -1 for a field that is not known.

    Returns the verdict on it, memory that it takes in columns, and the address after it, 0 if it is not whole.
    """
    if wire == code.VARINT:
        number, p = _varint(p, end, MAX_VARINT_BYTES)
        return (
            (_number_verdict(at, closed_enums, kind, number) if kind > code.VARINT else USUAL),
            0,
            p,
        )
    if wire == code.BYTES:
        last, p = _length(p, end)
        if p and kind >= 0 and kind != code.BYTES:
            verdict, used = _packed_verdict(at, closed_enums, kind, p, last)
            return verdict, used, last
        return USUAL, 0, last
    size = 8 if wire == code.FIXED64 else 4
    return (
        (UNUSUAL if kind >= 0 and kind != wire else USUAL),
        0,
        (p + size if size <= end - p else 0),
    )


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
) -> None:
    set_field(frame_at, code.FRAME_END, end)
    set_field(frame_at, code.FRAME_GROUP, group)
    set_field(frame_at, code.FRAME_FIRST, first)
    set_field(frame_at, code.FRAME_LAST, last)
    set_field(frame_at, code.FRAME_CURSOR, cursor)
    set_field(frame_at, code.FRAME_NEEDED, needed)
    set_field(frame_at, FRAME_SEEN, seen_bits)


@inlined
def _clear(frame_at: int, frame_bytes: int) -> None:
    """Clear the bits of SEEN after the first word, which is a variable of the walk."""
    at = frame_at + 8 * FRAME_SEEN + 8
    while at < frame_at + frame_bytes:
        set_field(at, 0, 0)
        at += 8


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
def _check_message(
    types: int,
    fields: int,
    closed_enums: int,
    stack: int,
    control: int,
    p: int,
    end: int,
    spare: int,
) -> tuple[int, int]:
    """Return the verdict on the message from *p* to *end*, and the bytes of *spare* that it leaves."""
    frame_bytes = field(control, code.FRAME_BYTES)
    verdict = field(control, code.COMMON_VERDICT)
    frame_at, last_frame = stack, stack + (code.MAX_DEPTH - 1) * frame_bytes
    # The innermost message: its fields, the one that was found last, its bits, the bits that it needs, its group.
    first, last = field(types, code.FIRST_FIELD), field(types, code.END_FIELD)
    cursor, seen_bits, needed, group = first, 0, 0, 0
    _clear(frame_at, frame_bytes)
    while spare >= 0:
        if p < end:
            tag, p = _varint(p, end, MAX_TAG_BYTES)
            number, wire = tag >> 3, tag & 7
            if p == 0 or number == 0 or tag > MAX_TAG or wire > code.FIXED32:
                return UNUSUAL, spare
            if wire != GROUP_END:
                at, kind = 0, -1
                found = _find(fields, cursor, first, last, number)
                if found >= 0:
                    cursor, at = found, fields + found * FIELD_BYTES
                    kind = field(at, code.KIND)
                    spare -= field(at, code.ITEM_BYTES)
                    seen_bits, is_again = _mark(fields, frame_at, at, seen_bits)
                    if is_again:
                        verdict = UNUSUAL
                if wire != code.GROUP and (wire != code.BYTES or kind != code.MESSAGE):
                    other, used, p = _pass_value(at, closed_enums, kind, wire, p, end)
                    if p == 0:
                        return UNUSUAL, spare
                    verdict |= other
                    spare -= used
                    continue
                inner_end, inner_group = end, number
                if wire == code.BYTES:
                    inner_end, p = _length(p, end)
                    inner_group = 0
                else:
                    verdict = UNUSUAL  # decoders take groups in several ways
                if p == 0 or frame_at == last_frame:
                    return UNUSUAL, spare
                _save(frame_at, end, group, first, last, cursor, needed, seen_bits)
                frame_at += frame_bytes
                end, group = inner_end, inner_group
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
        end, group = field(frame_at, code.FRAME_END), field(frame_at, code.FRAME_GROUP)
        first, last = field(frame_at, code.FRAME_FIRST), field(frame_at, code.FRAME_LAST)
        cursor, seen_bits = field(frame_at, code.FRAME_CURSOR), field(frame_at, FRAME_SEEN)
        needed = field(frame_at, code.FRAME_NEEDED)
    return TOO_LARGE, spare


def check_protobuf(types: int, fields: int, closed_enums: int, stack: int, control: int) -> int:
    """Write a verdict on each message; return how many are not usual."""
    offsets, content = field(control, code.OFFSET_ADDRESS), field(control, code.CONTENT)
    verdicts, num_rows = field(control, code.VERDICTS), field(control, code.NUM_ROWS)
    spare, others = field(control, code.SPARE_BYTES), 0
    for row in range(num_rows):
        p, end = content + s4le(offsets + 4 * row), content + s4le(offsets + 4 * row + 4)
        verdict, left = _check_message(types, fields, closed_enums, stack, control, p, end, spare)
        if verdict == UNUSUAL:
            left = spare - code.OBJECT_RATIO * (spare - left)
            if left < 0:
                verdict = TOO_LARGE
        if verdict != TOO_LARGE:
            spare = left
        if verdict != USUAL:
            others += 1
        put1(verdicts + row, verdict)
    return others
