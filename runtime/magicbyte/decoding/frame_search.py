"""Finds the frames of keys and values: in their first bytes, and in the headers of their records."""

import string
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from magicbyte.decoding._header_frames import read_headers
from magicbyte.decoding.schema_frames import (
    NO_ID,
    PREFIX_SIZES,
    FrameKind,
    Frames,
    Int64Array,
    Prefixes,
    ValuesByRow,
    uuid_text,
)

GLUE_COMPRESSIONS = {0: FrameKind.GLUE, 5: FrameKind.GLUE_ZLIB}
IS_OF_AZURE_ID = np.zeros(256, np.bool_)
"""Bytes of an id of Azure's registry: 32 letters and digits."""
IS_OF_AZURE_ID[list((string.ascii_letters + string.digits).encode())] = True


def find_frames(values: pa.Array, headers: pa.Array | None, side: str) -> Frames:
    """Return the frames of *values*, a binary array.

    Args:
        headers: Headers of the same records; None: not looked at.
        side: `key` or `value`: the names of headers contain it.
    """
    num_rows = len(values)
    frames = Frames(
        np.zeros(num_rows, np.uint8),
        np.full(num_rows, NO_ID, np.int64),
        np.zeros(num_rows, np.int32),
        ValuesByRow.none(num_rows),
        ValuesByRow.none(num_rows),
        ValuesByRow.none(num_rows),
        np.zeros(num_rows, np.bool_),
    )
    if not num_rows:
        return frames
    prefixes = Prefixes(values)
    _find_prefixes(prefixes, frames)
    if headers is not None:
        read_headers(headers, side, frames, prefixes.sizes >= 0)
    return frames


def _find_prefixes(prefixes: Prefixes, frames: Frames) -> None:
    first, second, sizes = prefixes.byte(0), prefixes.byte(1), prefixes.sizes

    def mark(rows: Int64Array, frame_kind: FrameKind) -> None:
        frames.kinds[rows] = frame_kind
        frames.body_starts[rows] = PREFIX_SIZES[frame_kind]

    def name(rows: Int64Array, start: int, end: int, to_text: Callable[[bytes], str]) -> None:
        """Give *rows* the tokens in bytes *start* to *end*; many rows have the same one."""
        if len(rows):
            encoded = prefixes.contents(rows, start, end).dictionary_encode()
            numbers = encoded.indices.to_numpy(zero_copy_only=False)
            frames.tokens.set(
                rows, numbers, [to_text(one) for one in encoded.dictionary.to_pylist()]
            )
            frames.ids[rows] = NO_ID

    framed = np.flatnonzero((first == 0) & (sizes >= 5))
    mark(framed, FrameKind.CONFLUENT)
    # Ids are int32: a first bit that is set is part of no id.
    frames.ids[framed] = prefixes.number(1, 4, framed)
    # No registry gives the id 0: four zero bytes are the first half of an id of eight bytes.
    is_long = (frames.ids[framed] == 0) & (sizes[framed] >= 9)
    long_rows = framed[is_long]
    mark(long_rows, FrameKind.APICURIO_8_BYTES)
    frames.ids[long_rows] = prefixes.number(5, 4, long_rows)
    azure_rows = framed[(frames.ids[framed] < 256) & (sizes[framed] >= 36)]
    for position in range(
        4, 36
    ):  # every value with an id below 256 begins with four zero bytes, too
        azure_rows = azure_rows[IS_OF_AZURE_ID[prefixes.byte(position, azure_rows)]]
    mark(azure_rows, FrameKind.AZURE_PREFIX)
    name(azure_rows, 4, 36, lambda token: token.decode("ascii").lower())
    guid_rows = np.flatnonzero((first == 1) & (sizes >= 17))
    mark(guid_rows, FrameKind.CONFLUENT_GUID)
    name(guid_rows, 1, 17, uuid_text)
    is_glue = (first == 3) & (sizes >= 18)
    for compression, frame_kind in GLUE_COMPRESSIONS.items():
        glue_rows = np.flatnonzero(is_glue & (second == compression))
        mark(glue_rows, frame_kind)
        name(glue_rows, 2, 18, uuid_text)
    avro_rows = np.flatnonzero((first == 0xC3) & (second == 1) & (sizes >= 10))
    mark(avro_rows, FrameKind.SINGLE_OBJECT)
    name(avro_rows, 2, 10, lambda token: token[::-1].hex())
