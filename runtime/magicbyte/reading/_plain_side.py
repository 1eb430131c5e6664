"""Keys or values of one decoder, without a frame or after frames of one kind, and which of these a topic has."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.frame_search import find_frames
from magicbyte.decoding.framed_values import SideValues, decode_rows
from magicbyte.decoding.json_text import JsonShapeDecoder
from magicbyte.decoding.kafka_serdes import ValueDecoder
from magicbyte.decoding.message_indexes import IndexPath, index_paths
from magicbyte.decoding.protobuf import ProtobufFiles
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_frames import NO_ID, FrameKind, Frames, Int64Array, Prefixes
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.errors import SchemaError
from magicbyte.tables.arrays import null_mask
from magicbyte.tables.json_values import JSON_METADATA

FIRST_MESSAGE: IndexPath = (0,)

MAX_PATHS = 20
"""Different messages of a sample that are tried, the most frequent ones."""


@dataclass(slots=True)
class PlainSide:
    """Values of one decoder, after a frame of one kind or without one; schema ids are shown all the same."""

    side: str
    decoder: ValueDecoder
    frame_kind: FrameKind = FrameKind.NONE
    is_json: bool = False
    path: IndexPath | None = None
    """Protobuf message that the frame of a value has to name; None: there is none between a frame and its body."""

    @property
    def field_type(self) -> pa.DataType:
        return self.decoder.type

    @property
    def metadata(self) -> dict[str, str] | None:
        return JSON_METADATA if self.is_json else None

    def decode(self, values: pa.Array, headers: pa.Array | None) -> SideValues:
        rows = np.arange(len(values))
        ids = np.full(len(values), NO_ID, np.int64)
        codes = np.zeros(len(values), np.int16)
        if self.frame_kind is FrameKind.NONE:
            starts = np.zeros(len(values), np.int32)
        else:
            frames = find_frames(values, headers, self.side)
            is_framed = frames.kinds == self.frame_kind
            starts, ids = (
                np.where(is_framed, frames.body_starts, 0),
                np.where(is_framed, frames.ids, NO_ID),
            )
            codes[~is_framed & ~null_mask(values)] = DecodeFault.NO_FRAME
            if self.path is not None:
                framed = np.flatnonzero(is_framed)
                paths, starts[framed] = index_paths(Prefixes(values), frames, framed)
                is_other = np.array([path != self.path for path in paths], np.bool_)
                codes[framed[is_other]] = DecodeFault.OTHER_RECORD
            rows = np.flatnonzero(codes == 0)
            starts = starts[rows]
        decoded = decode_rows(self.decoder, values, rows, starts)
        array = decoded.array
        if len(rows) != len(values):
            indexes = np.zeros(len(values), np.int64)
            indexes[rows] = np.arange(len(rows))
            array = array.take(pa.array(indexes, mask=codes != 0))
        codes[rows] = decoded.error_codes
        return SideValues(array, codes, ids)


def best_side(
    side: str,
    schema_text: SchemaText,
    decoders: SchemaDecoders,
    sample: tuple[pa.Array, pa.Array],
) -> PlainSide:
    """Return the decoder of *schema_text*, the schema of a file, after the frame with which most of *sample* decode.

    Without a frame is preferred to a frame with which as many decode.

    Args:
        side: `key` or `value`.
        schema_text: Schema of a file.
        decoders: Decoders, shared with other users.
        sample: Keys or values of the topic, and the headers of their records.
    Raises:
        SchemaError: The schema cannot be used.
    """
    values, headers = sample
    is_null = null_mask(values)

    def num_decoded(plain: PlainSide) -> int:
        return int(((plain.decode(values, headers).fault_codes == 0) & ~is_null).sum())

    return max(_possible_sides(side, schema_text, decoders, sample), key=num_decoded)


def _possible_sides(
    side: str,
    schema_text: SchemaText,
    decoders: SchemaDecoders,
    sample: tuple[pa.Array, pa.Array],
) -> Iterator[PlainSide]:
    """Yield a side for no frame, then one for each kind of frame of *sample* and each message that frames name."""
    values, headers = sample
    if schema_text.schema_type == "JSON":
        decoder: ValueDecoder = JsonShapeDecoder(schema_text.text, schema_text.label)
    else:
        decoder = _decoder(schema_text, FIRST_MESSAGE, decoders)
    yield PlainSide(side, decoder)
    frames = find_frames(values, headers, side)
    files = None if schema_text.schema_type == "JSON" else decoders.parsed(schema_text)
    for frame_kind in map(FrameKind, np.unique(frames.kinds[frames.kinds > 0])):
        yield PlainSide(side, decoder, frame_kind)
        if isinstance(files, ProtobufFiles):
            framed = np.flatnonzero(frames.kinds == frame_kind)
            for path in _paths(schema_text, files, values, frames, framed):
                is_known = schema_text.message_name is None and files.at(path) is not None
                of_path = _decoder(schema_text, path, decoders) if is_known else decoder
                yield PlainSide(side, of_path, frame_kind, path=path)


def _paths(
    schema_text: SchemaText,
    files: ProtobufFiles,
    values: pa.Array,
    frames: Frames,
    rows: Int64Array,
) -> list[IndexPath]:
    """Return the messages that the frames of *rows* name: of those in *files*, if there are such.

    Where the user has named the message and frames name it too, it is the only one: Protobuf reads many messages as
    another one without a fault.
    """
    found = index_paths(Prefixes(values), frames, rows)[0]
    counts = Counter(path for path in found if path is not None)
    paths = [path for path, _ in counts.most_common(MAX_PATHS)]
    if schema_text.message_name is None:
        return [path for path in paths if files.at(path) is not None] or paths
    name = files.named(schema_text.message_name).full_name
    known = {path: files.at(path) for path in counts}
    return [
        path for path, one in known.items() if one is not None and one.full_name == name
    ] or paths


def _decoder(schema_text: SchemaText, path: IndexPath, decoders: SchemaDecoders) -> ValueDecoder:
    decoder = decoders.decoder(schema_text, path)
    if not isinstance(decoder, DecodeFault):
        return decoder
    error = decoders.faults.get(schema_text.cache_key, SchemaError("no message", "a message"))
    if schema_text.schema_type != "AVRO":
        raise error
    where = ": ".join(filter(None, (schema_text.label, error.where)))
    raise SchemaError(error.found, error.expected, where=where)
