"""Decodes keys or values whose frames name the schemas that they were written with."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from magicbyte.decoding._avro_text import AvroTextDecoder
from magicbyte.decoding._value_slices import scatter
from magicbyte.decoding.avro import AvroDecoder, DecodedValues
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.frame_search import find_frames
from magicbyte.decoding.kafka_serdes import ValueDecoder
from magicbyte.decoding.message_indexes import IndexPath, index_paths
from magicbyte.decoding.schema_decoders import JSON_RECORD, SchemaDecoders
from magicbyte.decoding.schema_frames import (
    NO_ID,
    FrameKind,
    Frames,
    Int32Array,
    Int64Array,
    Prefixes,
)
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.engines.columnar.avro_columns import FaultCodes
from magicbyte.tables.arrays import null_mask

Int16Array = np.ndarray[Any, np.dtype[np.int16]]

MAX_COMPARED = 16
"""Up to this many different numbers, all rows are compared with each, which is faster than sorting the rows."""

MAX_INFLATED_BYTES = 64 << 20
"""Bytes of the largest value that is decompressed."""


class KnownSchemas(Protocol):
    """Schemas that frames may name."""

    def schema_of(self, frame_kind: FrameKind, id_: int, token: str | None) -> SchemaText | None:
        """Return the schema that a frame of *frame_kind* names by *id_*, or by *token*; None if it is not known."""


@dataclass(slots=True)
class SideValues:
    """Keys or values of an Arrow batch, decoded."""

    array: pa.Array
    """A value for each row; null where the bytes are null or did not decode."""
    fault_codes: FaultCodes
    """0 for each row that decoded or is null, else the reason; see `fault_name`."""
    ids: Int64Array
    """Ids of the frames, known or not; NO_ID for none."""
    schema_texts: Sequence[SchemaText] = ()
    """Schemas that the frames name, without the unknown ones."""
    schema_numbers: Int32Array | None = None
    """Number of the schema of each row in *schemas*; -1 for none. None: there are no schemas."""


class SideDecoder(Protocol):
    """Decodes the keys or the values of Arrow batches."""

    @property
    def field_type(self) -> pa.DataType:
        """Arrow type of the column."""

    @property
    def metadata(self) -> dict[str, str] | None:
        """Metadata of the Arrow field."""

    def decode(self, values: pa.Array, headers: pa.Array | None) -> SideValues:
        """Return *values* decoded."""


@dataclass(frozen=True, slots=True)
class SchemaRows:
    """Rows of one schema, and of one message of it."""

    schema_text: SchemaText | None
    path: IndexPath | None
    rows: Int64Array
    body_starts: Int32Array
    is_json: bool = False
    """True if the bodies are in Avro's JSON encoding."""


def rows_of_schemas(
    values: pa.Array, frames: Frames, known_schemas: KnownSchemas
) -> Iterator[SchemaRows]:
    """Yield the framed rows of *values* by schema and message; the schema is None where it is not known."""
    prefixes: Prefixes | None = None
    for rows, frame_kind, id_, token in _rows_by_frame(frames):
        schema_text = known_schemas.schema_of(frame_kind, id_, token)
        if schema_text is None or schema_text.schema_type != "PROTOBUF":
            yield from _by_encoding(schema_text, frames, rows)
            continue
        prefixes = prefixes or Prefixes(values)
        paths, starts = index_paths(prefixes, frames, rows)
        for path in dict.fromkeys(paths):
            is_path = np.array([one == path for one in paths])
            yield SchemaRows(schema_text, path, rows[is_path], starts[is_path])


def _by_encoding(
    schema_text: SchemaText | None, frames: Frames, rows: Int64Array
) -> Iterator[SchemaRows]:
    are_json = frames.are_json[rows]
    for is_json in (False, True):
        some = rows[are_json == is_json]
        if len(some):
            yield SchemaRows(schema_text, None, some, frames.body_starts[some], is_json)


def _rows_by_frame(
    frames: Frames,
) -> Iterator[tuple[Int64Array, FrameKind, int, str | None]]:
    """Yield the rows whose frames are the same, with kind, id and token of the frame."""
    for kind in np.unique(frames.kinds).tolist():
        if kind == FrameKind.NONE:
            continue
        of_kind = np.flatnonzero(frames.kinds == kind)
        for token_number, of_token in _rows_by_number(of_kind, frames.tokens.value_numbers):
            token = None if token_number < 0 else frames.tokens.values[token_number]
            for id_, rows in _rows_by_number(of_token, frames.ids):
                yield rows, FrameKind(kind), id_, token


def _rows_by_number(rows: Int64Array, number_of_row: Any) -> Iterator[tuple[int, Int64Array]]:
    """Yield the *rows* that have the same number in *number_of_row*, with this number."""
    of_rows = number_of_row[rows]
    different = np.unique(of_rows)
    if len(different) <= MAX_COMPARED:
        for number in different.tolist():
            yield number, rows if len(different) == 1 else rows[of_rows == number]
        return
    order = np.argsort(of_rows, kind="stable")
    bounds = np.searchsorted(of_rows[order], different)
    for number, some in zip(different.tolist(), np.split(order, bounds[1:]), strict=True):
        yield number, rows[some]


def decode_rows(
    decoder: ValueDecoder, values: pa.Array, rows: Any, body_starts: Any
) -> DecodedValues:
    """Decode some *rows* of *values*, in steps that the decoder can take."""
    step = len(rows)
    if isinstance(decoder, AvroDecoder | AvroTextDecoder):
        step = decoder.max_values
    decoded_parts = []
    for first in range(0, max(len(rows), 1), max(step, 1)):
        some = slice(first, first + step)
        is_all = len(rows) == len(values) and step >= len(rows)
        chosen = values if is_all else values.take(pa.array(rows[some]))
        decoded_parts.append(
            decoder.decode(chosen, np.ascontiguousarray(body_starts[some], np.int32))
        )
    if len(decoded_parts) == 1:
        return decoded_parts[0]
    return DecodedValues(
        pa.concat_arrays([part.array for part in decoded_parts]),
        np.concatenate([part.error_codes for part in decoded_parts]),
        np.concatenate([part.error_positions for part in decoded_parts]),
    )


class FramedDecoder:
    """Decodes the keys or the values of a topic by the schemas that their frames name.

    A topic of one record has its columns; a topic of several ones has a struct with a member for each, and
    sets one of them.

    Args:
        side: `key` or `value`.
        schemas: Schemas that frames may name.
        decoders: Decoders, shared with other users.
        readers: Schema of the columns of each record, by its name.
        always_struct: A topic of one record has a struct with one member, too.
    """

    def __init__(
        self,
        side: str,
        known_schemas: KnownSchemas,
        decoders: SchemaDecoders,
        readers: Mapping[str, tuple[SchemaText, IndexPath | None]],
        *,
        always_struct: bool = False,
    ) -> None:
        self._side, self._known, self._decoders = side, known_schemas, decoders
        self._readers = {name: schema_text for name, (schema_text, _) in readers.items()}
        self.types: dict[str, pa.DataType] = {}
        """Arrow type of each record, by name."""
        for name, (schema_text, path) in readers.items():
            decoder = decoders.decoder(schema_text, path)
            if not isinstance(decoder, DecodeFault):
                self.types[name] = decoder.type
        self.has_members = always_struct or len(self.types) > 1
        """True if the column is a struct with a member for each record."""

    @property
    def is_json(self) -> bool:
        """True if all values are JSON text."""
        return list(self.types) == [JSON_RECORD] and not self.has_members

    @property
    def type(self) -> pa.DataType:
        """Arrow type of a value."""
        if not self.types:
            return pa.null()
        if not self.has_members:
            return next(iter(self.types.values()))
        return pa.struct(list(self.types.items()))

    def decode(self, values: pa.Array, headers: pa.Array | None) -> SideValues:
        """Decode *values*, a binary array, with the headers of the same records."""
        frames = find_frames(values, headers, self._side)
        fault_codes = np.zeros(len(values), np.int16)
        fault_codes[(frames.kinds == FrameKind.NONE) & ~null_mask(values)] = DecodeFault.NO_FRAME
        schema_texts: list[SchemaText] = []
        schema_numbers = np.full(len(values), -1, np.int32)
        values = _inflated(values, frames, fault_codes)
        arrays_by_record: dict[str, tuple[list[pa.Array], list[Any]]] = {}
        for group in rows_of_schemas(values, frames, self._known):
            rows = group.rows[fault_codes[group.rows] == 0]
            starts = group.body_starts[fault_codes[group.rows] == 0]
            if group.schema_text is None:
                fault_codes[rows] = DecodeFault.NO_SCHEMA
                continue
            schema_numbers[rows] = len(schema_texts)
            schema_texts.append(group.schema_text)
            if group.schema_text.id is not None and bool((frames.ids[rows] == NO_ID).all()):
                frames.ids[rows] = group.schema_text.id  # where a GUID names the schema
            name, decoder = self._decoder(group)
            if isinstance(decoder, DecodeFault):
                fault_codes[rows] = decoder
                continue
            decoded = decode_rows(decoder, values, rows, starts)
            fault_codes[rows] = decoded.error_codes
            arrays, places = arrays_by_record.setdefault(name, ([], []))
            arrays.append(decoded.array)
            places.append(rows)
        array = self._joined(arrays_by_record, fault_codes)
        return SideValues(array, fault_codes, frames.ids, schema_texts, schema_numbers)

    def _decoder(self, group: SchemaRows) -> tuple[str, ValueDecoder | DecodeFault]:
        assert group.schema_text is not None
        name = self._decoders.record_name(group.schema_text, group.path)
        if isinstance(name, DecodeFault):
            return "", name
        if name not in self.types:
            # Avro reads any record as any other one. Only a version of the same subject is a record that was renamed.
            renamed = [
                one
                for one in self.types
                if not {*self._readers[one].subjects}.isdisjoint(group.schema_text.subjects)
            ]
            if len(renamed) != 1:
                return "", DecodeFault.OTHER_RECORD
            (name,) = renamed
        reader_schema = self._readers[name]
        decoder = self._decoders.decoder(
            group.schema_text, group.path, reader_schema, is_json=group.is_json
        )
        if not isinstance(decoder, DecodeFault) and decoder.type != self.types[name]:
            return name, DecodeFault.INCOMPATIBLE
        return name, decoder

    def _joined(
        self,
        arrays_by_record: Mapping[str, tuple[list[pa.Array], list[Any]]],
        fault_codes: Int16Array,
    ) -> pa.Array:
        num_rows = len(fault_codes)
        members = [
            scatter(*arrays_by_record.get(name, ([], [])), num_rows, kind)
            for name, kind in self.types.items()
        ]
        if not members:
            return pa.nulls(num_rows)
        if not self.has_members:
            return members[0]
        is_set = np.zeros(num_rows, np.bool_)
        for _, places in arrays_by_record.values():
            for rows in places:
                is_set[rows] = fault_codes[rows] == 0
        mask = pa.array(~is_set)
        return pa.StructArray.from_arrays(members, fields=list(self.type), mask=mask)


def _inflated(values: pa.Array, frames: Frames, fault_codes: Int16Array) -> pa.Array:
    """Return *values* with the compressed bodies of AWS Glue decompressed, after a frame of the same size."""
    rows = np.flatnonzero(frames.kinds == FrameKind.GLUE_ZLIB).tolist()
    if not rows:
        return values
    contents = values.to_pylist()
    for row in rows:
        start = int(frames.body_starts[row])
        try:
            inflater = zlib.decompressobj()
            body = inflater.decompress(contents[row][start:], MAX_INFLATED_BYTES)
            if not inflater.eof:
                raise zlib.error
            contents[row] = contents[row][:start] + body
        except zlib.error:
            fault_codes[row] = DecodeFault.COMPRESSION
    return pa.array(contents, pa.binary())
