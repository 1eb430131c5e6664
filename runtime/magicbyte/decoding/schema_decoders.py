"""Decoders of schemas, made once for each schema, and the names of the records that schemas describe."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from magicbyte.decoding._avro_text import AvroTextDecoder
from magicbyte.decoding.avro import AvroDecoder, AvroJsonDecoder, AvroSchema, parse_schema
from magicbyte.decoding.avro import union_of_versions as avro_union
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.json_text import JsonTextDecoder
from magicbyte.decoding.kafka_serdes import ValueDecoder
from magicbyte.decoding.message_indexes import IndexPath
from magicbyte.decoding.protobuf import ProtobufDecoder, ProtobufFiles, compile_schema
from magicbyte.decoding.protobuf import union_of_versions as protobuf_union
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.errors import NotColumnarError, SchemaError

JSON_RECORD = "json"
"""Name of the record of all JSON schemas: their values are text."""


@dataclass(slots=True)
class SchemaDecoders:
    """Parsed and compiled schemas, and the decoders of pairs of a writer's and a reader's schema."""

    faults: dict[Hashable, SchemaError] = field(default_factory=dict)
    """Errors of the schemas that cannot be used, by their keys; see `SchemaText.cache_key`."""
    labels: dict[Hashable, str] = field(default_factory=dict)
    """Names of these schemas for people."""
    _parsed: dict[Hashable, AvroSchema | ProtobufFiles | None] = field(default_factory=dict)
    _decoders: dict[Hashable, ValueDecoder | DecodeFault] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        # Decoders are made again by the process that gets them; protoc does not run there.
        parsed = {key: schema for key, schema in self._parsed.items() if schema is not None}
        return _with_parsed, (parsed,)

    def parsed(self, schema_text: SchemaText) -> AvroSchema | ProtobufFiles | None:
        """Return *schema_text* parsed or compiled; None for JSON, and for a schema that cannot be used."""
        key = schema_text.cache_key
        if key not in self._parsed:
            try:
                self._parsed[key] = self._parse(schema_text)
            except SchemaError as error:
                self.faults[key], self.labels[key] = error, schema_text.label
                self._parsed[key] = None
        return self._parsed[key]

    def _parse(self, schema_text: SchemaText) -> AvroSchema | ProtobufFiles | None:
        if schema_text.schema_type == "AVRO":
            if schema_text.missing_imports:
                raise SchemaError(
                    f"refers to {', '.join(schema_text.missing_imports)}, which is not known",
                    "a registry that has all references",
                    where=schema_text.label,
                )
            return parse_schema(schema_text.text, [text for _, text in schema_text.imports])
        if schema_text.schema_type == "PROTOBUF":
            return compile_schema(schema_text)
        if schema_text.schema_type != "JSON":
            raise SchemaError(
                f"schema type {schema_text.schema_type}",
                "AVRO, PROTOBUF or JSON",
                where=schema_text.label,
            )
        return None

    def record_name(self, schema_text: SchemaText, path: IndexPath | None) -> str | DecodeFault:
        """Return the full name of the record or message that *schema_text* describes, or why there is none."""
        parsed = self.parsed(schema_text)
        if schema_text.cache_key in self.faults:
            return DecodeFault.BAD_SCHEMA
        if isinstance(parsed, AvroSchema):
            return parsed.name
        if isinstance(parsed, ProtobufFiles):
            descriptor = self._descriptor(schema_text, parsed, path)
            return DecodeFault.MESSAGE_INDEX if descriptor is None else str(descriptor.full_name)
        return JSON_RECORD

    def _descriptor(
        self, schema_text: SchemaText, files: ProtobufFiles, path: IndexPath | None
    ) -> Any:
        if schema_text.message_name is not None:
            return files.named(schema_text.message_name)
        return None if path is None else files.at(path)

    def union(self, schema_texts: Sequence[SchemaText], name: str) -> SchemaText:
        """Return a schema that has the fields of all *schema_texts*, versions of Avro or Protobuf, the oldest version first.

        Args:
            schema_texts: Versions that can be used.
            name: Full name of the record or message in the newest version.
        Raises:
            SchemaError: A field has types that cannot be promoted to one of them.
        """
        newest = schema_texts[-1]
        parsed = [self.parsed(one) for one in schema_texts]
        avro = [one for one in parsed if isinstance(one, AvroSchema)]
        protobuf = [one for one in parsed if isinstance(one, ProtobufFiles)]
        return SchemaText(
            schema_type=newest.schema_type,
            text=avro_union(avro).text if avro else "",
            descriptor_set=protobuf_union(protobuf) if protobuf else None,
            message_name=name if protobuf else None,
            label=f"union of {len(schema_texts)} versions of {', '.join(newest.subjects)}",
            identity=("union", *(one.cache_key for one in schema_texts)),
            subjects=newest.subjects,
        )

    def decoder(
        self,
        writer_schema: SchemaText,
        path: IndexPath | None,
        reader_schema: SchemaText | None = None,
        *,
        is_json: bool = False,
    ) -> ValueDecoder | DecodeFault:
        """Return the decoder of values of *writer_schema* as *reader_schema* has them, by default the writer itself.

        Args:
            path: Message indexes of the values, for Protobuf.
            is_json: True for values in Avro's JSON encoding.
        Returns:
            The decoder, or the reason why there is none.
        """
        key = (
            writer_schema.cache_key,
            path,
            None if reader_schema is None else reader_schema.cache_key,
            is_json,
        )
        if key not in self._decoders:
            name = self.record_name(writer_schema, path)
            self._decoders[key] = (
                name
                if isinstance(name, DecodeFault)
                else self._make(writer_schema, name, path, reader_schema)
            )
            decoder, parsed = self._decoders[key], self.parsed(writer_schema)
            if is_json and isinstance(decoder, AvroDecoder | AvroJsonDecoder):
                assert isinstance(parsed, AvroSchema)
                self._decoders[key] = AvroTextDecoder(parsed, decoder)
        return self._decoders[key]

    def _make(
        self,
        writer_schema: SchemaText,
        name: str,
        path: IndexPath | None,
        reader_schema: SchemaText | None,
    ) -> ValueDecoder | DecodeFault:
        parsed = self.parsed(writer_schema)
        target = parsed if reader_schema is None else self.parsed(reader_schema)
        try:
            if isinstance(parsed, AvroSchema) and isinstance(target, AvroSchema):
                return avro_decoder(parsed, target)
            if isinstance(parsed, ProtobufFiles) and isinstance(target, ProtobufFiles):
                # Protobuf has no resolution: the reader's message skips the fields that it does not have.
                return ProtobufDecoder(target.named(name))
        except SchemaError:
            return DecodeFault.INCOMPATIBLE
        return JsonTextDecoder() if parsed is None and target is None else DecodeFault.INCOMPATIBLE


def avro_decoder(writer_schema: AvroSchema, reader_schema: AvroSchema) -> ValueDecoder:
    """Return a decoder into columns, or one into JSON text if the reader's schema has no columns.

    Raises SchemaError if the reader's schema cannot read values of the writer's.
    """
    try:
        AvroDecoder(reader_schema)
    except NotColumnarError:
        return AvroJsonDecoder(writer_schema, reader_schema)
    return AvroDecoder(writer_schema, reader_schema)


def _with_parsed(parsed: dict[Hashable, AvroSchema | ProtobufFiles | None]) -> SchemaDecoders:
    return SchemaDecoders(_parsed=parsed)
