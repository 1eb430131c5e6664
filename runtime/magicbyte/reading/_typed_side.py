"""The decoder of the keys or of the values of a topic, as its form and the evidence in its records decide."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding.composite_keys import SuffixedKeyDecoder
from magicbyte.decoding.connect_envelope import ConnectDecoder, EnvelopeError
from magicbyte.decoding.decode_option import FORMS, DecodeForm
from magicbyte.decoding.evidence import Recognition, envelope_schemas, recognize
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.frame_search import find_frames
from magicbyte.decoding.framed_values import (
    FramedDecoder,
    SideDecoder,
    SideValues,
    decode_rows,
    rows_of_schemas,
)
from magicbyte.decoding.json_text import JsonShapeDecoder, JsonTextDecoder
from magicbyte.decoding.kafka_serdes import ValueDecoder, primitive_decoder
from magicbyte.decoding.message_indexes import IndexPath
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_frames import NO_ID, PREFIX_SIZES, FrameKind
from magicbyte.decoding.schema_lookup import SchemaLookup
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.errors import InputError, SchemaError
from magicbyte.reading._schema_sources import schema_of_file, schema_of_form
from magicbyte.tables.arrays import null_mask
from magicbyte.tables.json_values import JSON_METADATA, ONE_OF_METADATA

LATEST = "latest"

SampleBatches = Callable[[], Iterator[tuple[pa.Array, pa.Array]]]
"""Yields all keys or values of a topic, with the headers of the same records."""


@dataclass(slots=True)
class PlainSide:
    """Values of one decoder, after a frame of one kind or without one; schema ids are shown all the same."""

    side: str
    decoder: ValueDecoder
    frame_kind: FrameKind = FrameKind.NONE
    is_json: bool = False

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


@dataclass(slots=True)
class FramedSide:
    """Values whose frames name schemas."""

    framed_decoder: FramedDecoder

    @property
    def field_type(self) -> pa.DataType:
        return self.framed_decoder.type

    @property
    def metadata(self) -> dict[str, str] | None:
        if len(self.framed_decoder.types) > 1:
            return ONE_OF_METADATA
        return JSON_METADATA if self.framed_decoder.is_json else None

    def decode(self, values: pa.Array, headers: pa.Array | None) -> SideValues:
        return self.framed_decoder.decode(values, headers)


@dataclass(frozen=True, slots=True)
class SideChoice:
    """The decoder of a side, and the reason for it."""

    side_decoder: SideDecoder
    form: str
    evidence: str


@dataclass(slots=True)
class SidePlanner:
    """Chooses the decoder of the keys or values of a topic."""

    topic: str
    side: str
    schema_texts: Sequence[SchemaText]
    decoders: SchemaDecoders
    sample: tuple[pa.Array, pa.Array]
    """First keys or values of the topic, and the headers of their records."""
    all_batches: SampleBatches
    reader_schema: str | int = LATEST
    """Schema of the columns: `latest`, an id, or the path of a file."""

    def choose(self, form: DecodeForm) -> SideChoice:
        """Return the decoder for *form*.

        Raises InputError for a form or a schema that cannot be used.
        """
        lookup = SchemaLookup(self.schema_texts, self.topic, self.side, self.decoders)
        if form.name == "auto":
            recognition = recognize(self.topic, self.side, *self.sample, lookup, self.decoders)
            choice = self._of_form(DecodeForm(recognition.form), lookup)
            return SideChoice(choice.side_decoder, recognition.form, _sentence(recognition))
        return self._of_form(form, lookup)

    def _of_form(self, form: DecodeForm, lookup: SchemaLookup) -> SideChoice:
        name = str(form)
        if form.name == "registry":
            return SideChoice(FramedSide(self._framed(lookup)), name, "the form was named")
        frame_kind = FrameKind.NONE
        decoder: ValueDecoder | None
        if form.inner is not None:
            inner = primitive_decoder(form.inner.name)
            assert inner is not None
            decoder = SuffixedKeyDecoder(form.name, inner)
        elif form.name == "connect":
            decoder = self._connect()
        elif form.file is None and form.name == "json":
            decoder = JsonTextDecoder()
        elif form.name in FORMS:
            decoder = primitive_decoder(form.name)
        else:
            decoder = self._of_file(form)
            frame_kind = self._frame_of(decoder)
        assert decoder is not None
        is_json = isinstance(decoder, JsonTextDecoder)
        plain = PlainSide(self.side, decoder, frame_kind, is_json)
        return SideChoice(plain, name, "the form was named")

    def _connect(self) -> ConnectDecoder:
        try:
            return ConnectDecoder(envelope_schemas(self.sample[0]))
        except EnvelopeError as error:
            raise InputError(
                f"{self.side}s of {self.topic} that are no envelopes of JsonConverter: {error}",
                "JSON objects with schema and payload; or the form json",
            ) from error

    def _of_file(self, form: DecodeForm) -> ValueDecoder:
        schema_text = schema_of_form(form)
        if form.name == "json":
            return JsonShapeDecoder(schema_text.text, schema_text.label)
        decoder = self.decoders.decoder(schema_text, (0,))
        if isinstance(decoder, DecodeFault):
            raise self.decoders.faults.get(
                schema_text.cache_key,
                SchemaError("no message", "a message", where=schema_text.label),
            )
        return decoder

    def _frame_of(self, decoder: ValueDecoder) -> FrameKind:
        """Return the kind of frame after which most of the sample decode by *decoder*; none where that is as good."""
        values, headers = self.sample
        frames = find_frames(values, headers, self.side)
        rows = np.flatnonzero(~null_mask(values))
        best, most = FrameKind.NONE, -1
        for frame_kind in (
            FrameKind.NONE,
            *map(FrameKind, np.unique(frames.kinds[frames.kinds > 0])),
        ):
            if frame_kind not in PREFIX_SIZES and frame_kind is not FrameKind.NONE:
                starts = np.zeros(len(rows), np.int32)
            else:
                starts = np.full(len(rows), PREFIX_SIZES[frame_kind], np.int32)
            codes = decode_rows(decoder, values, rows, starts).error_codes
            is_kind = frames.kinds[rows] == frame_kind
            num_decoded = int(((codes == 0) & (is_kind | (frame_kind is FrameKind.NONE))).sum())
            if num_decoded > most:
                best, most = frame_kind, num_decoded
        return best

    def _framed(self, lookup: SchemaLookup) -> FramedDecoder:
        """Return the decoder of all records that the topic has, by the schemas of their frames."""
        records: dict[str, dict[Any, tuple[SchemaText, IndexPath | None]]] = {}
        for schema_text, path in self._occurring(lookup):
            name = self.decoders.record_name(schema_text, path)
            if not isinstance(name, DecodeFault):
                records.setdefault(name, {})[schema_text.cache_key] = schema_text, path
        readers: dict[str, tuple[SchemaText, IndexPath | None]] = {}
        for name, writers in records.items():
            readers[name] = self._reader(name, list(writers.values()), lookup)
        return FramedDecoder(self.side, lookup, self.decoders, self._merged(readers))

    def _occurring(self, lookup: SchemaLookup) -> Iterator[tuple[SchemaText, IndexPath | None]]:
        """Yield the schemas, with their messages, that frames of the topic name."""
        seen: set[Any] = set()
        for values, headers in self.all_batches():
            frames = find_frames(values, headers, self.side)
            for group in rows_of_schemas(values, frames, lookup):
                if (
                    group.schema_text is not None
                    and (group.schema_text.cache_key, group.path) not in seen
                ):
                    seen.add((group.schema_text.cache_key, group.path))
                    if self._has_decoded(group.schema_text, group, values):
                        yield group.schema_text, group.path
                    else:
                        seen.discard((group.schema_text.cache_key, group.path))

    def _has_decoded(self, schema_text: SchemaText, group: Any, values: pa.Array) -> bool:
        """Return whether a value decodes by *schema_text*: bytes that only look framed add no columns."""
        decoder = self.decoders.decoder(schema_text, group.path, is_json=group.is_json)
        if isinstance(decoder, DecodeFault):
            return False
        rows, starts = group.rows[:1000], group.body_starts[:1000]
        return bool((decode_rows(decoder, values, rows, starts).error_codes == 0).any())

    def _reader(
        self,
        name: str,
        writers: Sequence[tuple[SchemaText, IndexPath | None]],
        lookup: SchemaLookup,
    ) -> tuple[SchemaText, IndexPath | None]:
        """Return the schema of the columns of the record *name*, and the message in it."""
        path = writers[0][1]
        if self.reader_schema != LATEST:
            chosen = self._reader_of_option()
            if self._describes(chosen, path, name):
                return chosen, path
        for schema_text in lookup.newest_like([schema_text for schema_text, _ in writers]):
            if self._describes(schema_text, path, name):
                return schema_text, path
        return writers[-1]

    def _describes(self, schema_text: SchemaText, path: IndexPath | None, name: str) -> bool:
        return self.decoders.record_name(schema_text, path) == name

    def _reader_of_option(self) -> SchemaText:
        """Return the schema that the option names: by its id, or by the path of a file."""
        if isinstance(self.reader_schema, int) or self.reader_schema.isdigit():
            matches = [
                schema_text
                for schema_text in self.schema_texts
                if schema_text.id == int(self.reader_schema)
            ]
            if not matches:
                raise InputError(
                    f"no schema with id {self.reader_schema}", "the id of a schema in the log"
                )
            return matches[0]
        schema_type = "PROTOBUF" if not self.reader_schema.endswith((".avsc", ".json")) else "AVRO"
        return schema_of_file(self.reader_schema, schema_type)

    def _merged(
        self, readers: Mapping[str, tuple[SchemaText, IndexPath | None]]
    ) -> dict[str, tuple[SchemaText, IndexPath | None]]:
        """Return *readers* without the records that another one is the renamed version of: the same subject."""
        newest: dict[str, tuple[SchemaText, IndexPath | None]] = {}
        by_subject: dict[tuple[str, IndexPath | None], str] = {}
        for name, (schema_text, path) in readers.items():
            own = f"{self.topic}-{self.side}"
            is_own = schema_text.schema_type == "AVRO" and own in schema_text.subjects
            key = (own, path) if is_own else (name, path)
            if key not in by_subject:
                by_subject[key] = name
                newest[name] = schema_text, path
        return newest


def _sentence(recognition: Recognition) -> str:
    return recognition.sentence
