"""Message indexes: the path of a Protobuf message in its file, between the frame and the body."""

import numpy as np

from magicbyte.decoding.schema_frames import Frames, Int32Array, Prefixes

MAX_INDEXES = 100
"""Messages inside of messages: protoc itself allows fewer."""
MAX_VARINT_BYTES = 5

IndexPath = tuple[int, ...]


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
    prefixes: Prefixes, frames: Frames, rows: Int32Array
) -> tuple[list[IndexPath | None], Int32Array]:
    """Return the path of each of *rows*, and the byte at which its body begins."""
    starts = frames.body_starts[rows].copy()
    message_paths: list[IndexPath | None] = [None] * len(rows)
    cache: dict[bytes, tuple[IndexPath, int] | None] = {}
    sizes = prefixes.sizes[rows]
    for number, (row, start, size) in enumerate(
        zip(rows.tolist(), starts.tolist(), sizes.tolist(), strict=True)
    ):
        in_header = frames.index_bytes.get(row)
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
