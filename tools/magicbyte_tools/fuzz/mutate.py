"""Mutates a log entry: its bytes, numbers in its header, or numbers in its payload."""

from collections.abc import Sequence
from random import Random

from magicbyte_formats.wire import RecordBatchHeader
from magicbyte_tools.fuzz.numbers import (
    ODD_BYTES,
    ODD_NUMBERS,
    odd_integer,
    odd_varint,
    read_varint,
    varint,
)
from magicbyte_tools.fuzz.seed import MAGIC_AT, Seed, seal, seal_messages, set_size

MAX_MORE_BYTES = 8
"""Limit of the bytes inserted or deleted by one mutation; a piece of another entry may be larger."""

MAX_BYTES = 1 << 13


def mutated(chance: Random, seed: Seed, others: Sequence[Seed], *, sealed: float = 0.5) -> bytes:
    """Return a mutation of *seed*, possibly with pieces of *others*; most have a correct size field.

    The share *sealed* of the mutations has a correct checksum.
    """
    if seed.payload and chance.random() < 0.65:
        made = _by_payload(chance, seed, seed.payload, others)
    else:
        made = _by_entry(chance, seed, others)
    if len(made) > MAGIC_AT and chance.random() < 0.9:
        set_size(made)
    if chance.random() < sealed:
        seal(made)
    return bytes(made)


def altered(chance: Random, entry_buffer: bytearray, others: Sequence[Seed]) -> None:
    """Change *entry_buffer* at a random position: a bit, a byte, or inserted, deleted or copied bytes."""
    if not entry_buffer:
        return
    at = chance.randrange(len(entry_buffer))
    match chance.randrange(10):
        case 0 | 1 | 2:
            entry_buffer[at] ^= 1 << chance.randrange(8)
        case 3 | 4:
            entry_buffer[at] = chance.choice(ODD_BYTES)
        case 5:
            entry_buffer[at] = chance.randrange(256)
        case 6:
            entry_buffer[at:at] = chance.randbytes(chance.randrange(1, MAX_MORE_BYTES))
        case 7:
            del entry_buffer[at : at + chance.randrange(1, MAX_MORE_BYTES)]
        case 8:
            del entry_buffer[at:]
        case _:
            other = chance.choice(others)
            piece = other.payload or other.data
            begin = chance.randrange(len(piece))
            piece = piece[begin : begin + chance.choice((2, 8, 40, 200))]
            behind = at if chance.random() < 0.5 else at + len(piece)
            if len(entry_buffer) < MAX_BYTES:
                entry_buffer[at:behind] = piece


def _by_entry(chance: Random, seed: Seed, others: Sequence[Seed]) -> bytearray:
    data = bytearray(seed.data)
    if chance.random() < 0.5:
        at, width = chance.choice(seed.of_header)
        number = int.from_bytes(data[at : at + width], "big", signed=True)
        data[at : at + width] = odd_integer(chance, number, width)
    elif chance.random() < 0.15:
        # Another codec or another format for the same bytes: every field is read differently.
        at = RecordBatchHeader.POSITIONS["attributes"] + 1 if seed.magic == 2 else MAGIC_AT + 1
        data[at] ^= chance.randrange(8)
        if chance.random() < 0.3:
            data[MAGIC_AT] = chance.choice((0, 1, 2, 3))
    else:
        altered(chance, data, others)
    if chance.random() < 0.3:
        altered(chance, data, others)
    return data


def _by_payload(chance: Random, seed: Seed, plain: bytes, others: Sequence[Seed]) -> bytearray:
    payload, count = bytearray(plain), None
    drawn = chance.random()
    if drawn < 0.55:
        _change_number(chance, payload, seed)
    elif drawn < 0.65:
        count = _change_records(chance, payload, seed, others)
    else:
        altered(chance, payload, others)
    while chance.random() < 0.2:
        altered(chance, payload, others)
    if seed.magic < 2:
        if chance.random() < 0.9:
            seal_messages(payload)
        return seed.holding(bytes(payload))
    if chance.random() < 0.05:
        count = seed.num_records + chance.choice((-1, 1)) if count is None else count
        count = chance.choice((count, 0, -1, len(payload), len(payload) // 7))
    return seed.holding(bytes(payload), count)


def _change_number(chance: Random, payload: bytearray, seed: Seed) -> None:
    """Replace a random number in *payload*; often also correct the length of its record or message."""
    field = chance.choice(seed.fields)
    if not field.is_varint:
        width = field.end - field.begin
        number = int.from_bytes(payload[field.begin : field.end], "big", signed=True)
        payload[field.begin : field.end] = odd_integer(chance, number, width)
        return
    number, _ = read_varint(payload, field.begin)
    new = odd_varint(chance, number)
    payload[field.begin : field.end] = new
    owner = seed.fields[field.owner]
    if owner is not field and chance.random() < 0.7:
        length, _ = read_varint(payload, owner.begin)
        more = len(new) - (field.end - field.begin)
        if chance.random() < 0.3:
            # The number is a length: insert or delete bytes so that it is right again.
            more += _insert_or_delete(payload, field.begin + len(new), new, number)
        payload[owner.begin : owner.end] = varint(length + more)


def _insert_or_delete(payload: bytearray, at: int, new: bytes, before: int) -> int:
    """Insert or delete bytes at *at* by as much as a length changed; return how many, negative if deleted."""
    if new[-1] & 0x80:
        return 0
    more = read_varint(new, 0)[0] - max(before, 0)
    if not -before <= more <= MAX_BYTES:
        return 0
    if more > 0:
        payload[at:at] = bytes(more)
    else:
        del payload[at : at - more]
    return more


def _change_records(
    chance: Random, payload: bytearray, seed: Seed, others: Sequence[Seed]
) -> int | None:
    """Delete, repeat or insert a record in *payload*; return the number of records that it should have."""
    begins = [field.begin for number, field in enumerate(seed.fields) if field.owner == number]
    if seed.magic < 2:
        begins = [field.begin - 8 for field in seed.fields if seed.fields[field.owner] is field]
    at = chance.randrange(len(begins))
    begin = begins[at]
    end = begins[at + 1] if at + 1 < len(begins) else len(payload)
    count = seed.num_records if seed.magic == 2 else 0
    if chance.random() < 0.3:
        del payload[begin:end]
        return count - 1
    if chance.random() < 0.5:
        payload[begin:begin] = payload[begin:end]
        return count + 1
    other = chance.choice(others)
    if other.payload is not None and other.magic == seed.magic:
        payload[begin:begin] = other.payload
        return count + (other.num_records if seed.magic == 2 else 0)
    payload[begin:end] = varint(chance.choice(ODD_NUMBERS)) + payload[begin:end]
    return count
