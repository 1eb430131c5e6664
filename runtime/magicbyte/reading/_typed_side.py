"""The decoder of the keys or of the values of a topic, as its form and the evidence in its records decide."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from magicbyte.decoding.composite_keys import SuffixedKeyDecoder
from magicbyte.decoding.connect_envelope import ConnectDecoder, EnvelopeError
from magicbyte.decoding.decode_option import FORMS, DecodeForm
from magicbyte.decoding.evidence import envelope_schemas, recognize
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.foreign_key_joins import (
    CombinedKeyDecoder,
    SubscriptionDecoder,
    SubscriptionResponseDecoder,
)
from magicbyte.decoding.frame_search import find_frames
from magicbyte.decoding.framed_values import (
    FramedDecoder,
    SideDecoder,
    SideValues,
    decode_rows,
)
from magicbyte.decoding.json_text import JsonShapeDecoder, JsonTextDecoder
from magicbyte.decoding.kafka_serdes import ValueDecoder, primitive_decoder
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_frames import NO_ID, PREFIX_SIZES, FrameKind
from magicbyte.decoding.schema_lookup import SchemaLookup
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.errors import InputError, SchemaError
from magicbyte.reading._record_readers import LATEST, RecordReaders
from magicbyte.reading._schema_sources import schema_of_form
from magicbyte.reading.typed_columns import RecordTypes
from magicbyte.tables.arrays import null_mask
from magicbyte.tables.json_values import JSON_METADATA, ONE_OF_METADATA

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
    growing: RecordReaders | None = None
    """Readers to which each batch adds its types of records; None: the columns are fixed."""

    @property
    def field_type(self) -> pa.DataType:
        return self.framed_decoder.type

    @property
    def metadata(self) -> dict[str, str] | None:
        if self.framed_decoder.has_members:
            return ONE_OF_METADATA
        return JSON_METADATA if self.framed_decoder.is_json else None

    def decode(self, values: pa.Array, headers: pa.Array | None) -> SideValues:
        if self.growing is not None and self.growing.add(values, headers):
            self.framed_decoder = self.growing.decoder(may_grow=True)
        return self.framed_decoder.decode(values, headers)


NAMED = "the form was named"


@dataclass(frozen=True, slots=True)
class SideChoice:
    """The decoder of a side, and the reason for it."""

    side_decoder: SideDecoder
    form: str
    evidence: str
    is_certain: bool = True
    """False if the topic has no value yet from which the form could be recognized."""


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
    record_types: RecordTypes
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
            return SideChoice(
                choice.side_decoder,
                recognition.form,
                choice.evidence.replace(NAMED, recognition.sentence),
                is_certain=recognition.num_values > 0,
            )
        return self._of_form(form, lookup)

    def _of_form(self, form: DecodeForm, lookup: SchemaLookup) -> SideChoice:
        name = str(form)
        if form.name == "registry":
            return self._of_frames(lookup, name)
        frame_kind = FrameKind.NONE
        decoder: ValueDecoder | None
        if form.inner is not None:
            decoder = _composed_decoder(form)
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
        return SideChoice(plain, name, NAMED)

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

    def _of_frames(self, lookup: SchemaLookup, name: str) -> SideChoice:
        readers = RecordReaders(
            self.topic, self.side, self.schema_texts, lookup, self.decoders, self.reader_schema
        )
        readers.add(*self.sample)
        is_growing = self.record_types is RecordTypes.GROWING
        if self.record_types is RecordTypes.ALL and not readers.is_settled:
            for values, headers in self.all_batches():
                readers.add(values, headers)
        framed = FramedSide(readers.decoder(may_grow=is_growing), readers if is_growing else None)
        if readers.lacks_reader_schema:
            reason = (
                f"{NAMED}; the reader schema {self.reader_schema} describes none of their records, "
                "so the columns are those of the newest schema"
            )
            return SideChoice(framed, name, reason)
        return SideChoice(framed, name, NAMED)


def _composed_decoder(form: DecodeForm) -> ValueDecoder:
    """Return the decoder of a form of Kafka Streams, which has other forms in it."""
    inner, primary = (
        None if part is None else primitive_decoder(part.name)
        for part in (form.inner, form.primary)
    )
    assert inner is not None
    if form.name == "subscription":
        return SubscriptionDecoder(inner)
    if form.name == "subscription-response":
        return SubscriptionResponseDecoder(inner)
    if primary is None:
        return SuffixedKeyDecoder(form.name, inner)
    return CombinedKeyDecoder(inner, primary)
