"""The decoder of the keys or of the values of a topic, as its form and the evidence in its records decide."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from magicbyte.decoding.composite_keys import SuffixedKeyDecoder
from magicbyte.decoding.connect_envelope import ConnectDecoder, EnvelopeError
from magicbyte.decoding.decode_option import DecodeForm
from magicbyte.decoding.evidence import envelope_schemas, recognize
from magicbyte.decoding.foreign_key_joins import (
    CombinedKeyDecoder,
    SubscriptionDecoder,
    SubscriptionResponseDecoder,
)
from magicbyte.decoding.framed_values import (
    FramedDecoder,
    SideDecoder,
    SideValues,
)
from magicbyte.decoding.json_text import JsonTextDecoder
from magicbyte.decoding.kafka_serdes import ValueDecoder, primitive_decoder
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_lookup import SchemaLookup
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.errors import InputError
from magicbyte.reading._plain_side import PlainSide, best_side
from magicbyte.reading._record_readers import LATEST, RecordReaders
from magicbyte.reading._schema_sources import schema_of_form
from magicbyte.reading.typed_columns import RecordTypes
from magicbyte.tables.json_values import JSON_METADATA, ONE_OF_METADATA

SampleBatches = Callable[[], Iterator[tuple[pa.Array, pa.Array]]]
"""Yields all keys or values of a topic, with the headers of the same records."""


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
        if form.file is not None:
            return SideChoice(self._of_file(form), name, NAMED)
        decoder: ValueDecoder | None
        if form.inner is not None:
            decoder = _composed_decoder(form)
        elif form.name == "connect":
            decoder = self._connect()
        elif form.name == "json":
            decoder = JsonTextDecoder()
        else:
            decoder = primitive_decoder(form.name)
        assert decoder is not None
        is_json = isinstance(decoder, JsonTextDecoder)
        return SideChoice(PlainSide(self.side, decoder, is_json=is_json), name, NAMED)

    def _connect(self) -> ConnectDecoder:
        try:
            return ConnectDecoder(envelope_schemas(self.sample[0]))
        except EnvelopeError as error:
            raise InputError(
                f"{self.side}s of {self.topic} that are no envelopes of JsonConverter: {error}",
                "JSON objects with schema and payload; or the form json",
            ) from error

    def _of_file(self, form: DecodeForm) -> PlainSide:
        """Return the decoder of a schema of a file, after the frame with which most of the sample decode."""
        schema_text = schema_of_form(form)
        return best_side(self.side, schema_text, self.decoders, self.sample)

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
