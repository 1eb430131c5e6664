"""The message of a Protobuf value: indexes or a name, between the frame and the body or in a header."""

import re

import numpy as np

from magicbyte.decoding.schema_frames import Frames, Int32Array, Int64Array, Prefixes

MAX_INDEXES = 100
"""Messages inside of messages: protoc itself allows fewer."""
MAX_VARINT_BYTES = 5

IndexPath = tuple[int, ...] | str
"""Path of a message in its file; or the name of one that is in no other message."""

MESSAGE_REFERENCE = re.compile(rb"([\x03-\x7f])\x0a([\x01-\x7d])([A-Za-z_][A-Za-z0-9_]*)")
"""The message `Ref` of Apicurio's serializers: its size, and its only field with the name of the message."""
MAX_REFERENCE_BYTES = 128


def read_indexes(data: bytes, *, is_zigzag: bool = True) -> tuple[IndexPath, int] | None:
    """Return the path at the beginning of *data*, and its number of bytes; None if there is none.

    Clients with `use.deprecated.format` write plain varints instead of zigzag ones.

    Example:
        >>> read_indexes(bytes([4, 2, 0]))
        ((1, 0), 3)
        >>> read_indexes(bytes([0, 9]))
        ((0,), 1)
    """
    position, count = 0, None
    path_numbers: list[int] = []
    while count is None or len(path_numbers) < count:
        number = shift = 0
        while True:
            if position >= len(data) or shift >= 7 * MAX_VARINT_BYTES:
                return None
            byte = data[position]
            position += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if is_zigzag:
            number = (number >> 1) ^ -(number & 1)
        if number < 0:
            return None
        if count is not None:
            path_numbers.append(number)
        elif number > MAX_INDEXES:
            return None
        else:
            count = number
    return (tuple(path_numbers) or (0,)), position


def index_paths(
    prefixes: Prefixes, frames: Frames, rows: Int64Array
) -> tuple[list[IndexPath | None], Int32Array]:
    """Return the path of each of *rows*, and the byte at which its body begins.

    Confluent's serializers write indexes after the frame or into the frame's header; Apicurio's write a `Ref` before
    the body, a header with the name, or both.
    """
    starts = frames.body_starts[rows].copy()
    message_paths: list[IndexPath | None] = [None] * len(rows)
    cache: dict[bytes, tuple[IndexPath, int] | None] = {}
    sizes = prefixes.sizes[rows]
    for number, (row, start, size) in enumerate(
        zip(rows.tolist(), starts.tolist(), sizes.tolist(), strict=True)
    ):
        in_header = frames.index_bytes.get(row)
        reference = None if in_header is not None else _reference(prefixes, row, start, size)
        name = frames.message_names.get(row)
        if reference is not None or name is not None:
            message_paths[number] = reference or name
            starts[number] = start + (len(reference) + 3 if reference is not None else 0)
            continue
        end = min(start + 2, size)
        data = in_header if in_header is not None else prefixes.content(row, start, end)
        if data not in cache:
            cache[data] = read_indexes(data)
        found = cache[data]
        if found is None and in_header is None:
            # Long paths are rare: two bytes are enough for the messages of most files.
            found = read_indexes(prefixes.content(row, start, min(start + 500, size)))
        if found is not None:
            message_paths[number] = found[0]
            if in_header is None:
                starts[number] = start + found[1]
    return message_paths, np.asarray(starts, np.int32)


def _reference(prefixes: Prefixes, row_number: int, start: int, size: int) -> str | None:
    """Return the name in a message `Ref` of Apicurio's serializers at the byte *start*; None if there is none."""
    front = prefixes.content(row_number, start, min(start + 2, size))
    if len(front) < 2 or front[1] != 0x0A or not 3 <= front[0] < MAX_REFERENCE_BYTES:
        return None
    reference = prefixes.content(row_number, start, min(start + 1 + front[0], size))
    match = MESSAGE_REFERENCE.fullmatch(reference)
    is_whole = match is not None and front[0] == len(reference) - 1 == len(match[3]) + 2
    return match[3].decode("ascii") if is_whole and match and match[2][0] == len(match[3]) else None
