"""The schemas of the columns of a topic: for each type of record that frames name, the schema that reads it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.frame_search import find_frames
from magicbyte.decoding.framed_values import (
    FramedDecoder,
    SchemaRows,
    decode_rows,
    rows_of_schemas,
)
from magicbyte.decoding.message_indexes import IndexPath
from magicbyte.decoding.protobuf import ProtobufFiles
from magicbyte.decoding.schema_decoders import JSON_RECORD, SchemaDecoders
from magicbyte.decoding.schema_lookup import SchemaLookup
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.errors import InputError, SchemaError
from magicbyte.reading._schema_sources import schema_of_file

LATEST = "latest"
UNION = "union"
"""Reader schema with the fields of all versions."""

MAX_TRIED = 1000
"""Values of a batch that a new schema is tried with."""

Reader = tuple[SchemaText, IndexPath | None]
"""A schema, and the message in it for Protobuf."""


@dataclass(slots=True)
class RecordReaders:
    """The types of records of a topic, and the schema of the columns of each. Batches add to them."""

    topic: str
    side: str
    schema_texts: Sequence[SchemaText]
    lookup: SchemaLookup
    decoders: SchemaDecoders
    reader_schema: str | int = LATEST
    """Schema of the columns: `latest`, `union`, an id, or the path of a file."""
    _writers: dict[str, dict[Any, Reader]] = field(default_factory=dict)
    """Schemas by which values decoded, by the name of their record."""
    _seen: set[Any] = field(default_factory=set)

    @property
    def own_subject(self) -> str:
        """Subject of the topic by TopicNameStrategy."""
        return f"{self.topic}-{self.side}"

    def add(self, values: pa.Array, headers: pa.Array | None) -> bool:
        """Add the types of records that *values* have; return whether one is new."""
        has_new = False
        for group in rows_of_schemas(values, find_frames(values, headers, self.side), self.lookup):
            schema_text = group.schema_text
            if schema_text is None or (schema_text.cache_key, group.path) in self._seen:
                continue
            if not self._has_decoded(schema_text, group, values):
                continue  # bytes that only look framed add no columns
            self._seen.add((schema_text.cache_key, group.path))
            name = self.decoders.record_name(schema_text, group.path)
            if not isinstance(name, DecodeFault):
                self._writers.setdefault(name, {})[schema_text.cache_key] = schema_text, group.path
                has_new = True
        return has_new

    def _has_decoded(self, schema_text: SchemaText, group: SchemaRows, values: pa.Array) -> bool:
        decoder = self.decoders.decoder(schema_text, group.path, is_json=group.is_json)
        if isinstance(decoder, DecodeFault):
            return False
        rows, starts = group.rows[:MAX_TRIED], group.body_starts[:MAX_TRIED]
        return bool((decode_rows(decoder, values, rows, starts).error_codes == 0).any())

    @property
    def lacks_reader_schema(self) -> bool:
        """True if a schema was asked for by its id or a file, there are records, and it describes none of them."""
        if self.reader_schema in (LATEST, UNION) or not self._writers:
            return False
        chosen = self._reader_of_option()
        return not any(
            self._describes(chosen, next(iter(writers.values()))[1], name)
            for name, writers in self._writers.items()
        )

    @property
    def is_settled(self) -> bool:
        """True if no other record can belong to the topic: all are of its own subject, which describes a single type."""
        writers = [reader for by_key in self._writers.values() for reader in by_key.values()]
        return bool(writers) and all(self._is_only_type(*writer) for writer in writers)

    def _is_only_type(self, schema_text: SchemaText, path: IndexPath | None) -> bool:
        if self.own_subject not in schema_text.subjects:
            return False
        parsed = self.decoders.parsed(schema_text)
        return not isinstance(parsed, ProtobufFiles) or (path == (0,) and parsed.num_messages == 1)

    def decoder(self, *, may_grow: bool = False) -> FramedDecoder:
        """Return the decoder of the records that were added.

        Args:
            may_grow: Other records may follow: a value is below the name of its record, even if there is one so far.
        """
        readers = self.readers()
        has_names = bool(readers) and list(readers) != [JSON_RECORD]
        return FramedDecoder(
            self.side,
            self.lookup,
            self.decoders,
            readers,
            always_struct=may_grow and has_names and not self.is_settled,
        )

    def readers(self) -> dict[str, Reader]:
        """Return the schema of the columns of each record, by name.

        Raises InputError for a schema that was asked for and does not exist.
        """
        readers = {
            name: self._reader(name, list(writers.values()))
            for name, writers in self._writers.items()
        }
        return self._merged(readers)

    def _reader(self, name: str, writers: Sequence[Reader]) -> Reader:
        """Return the schema of the columns of the record *name*, and the message in it."""
        path = writers[0][1]
        if self.reader_schema == UNION:
            return self._union(name, writers), path
        if self.reader_schema != LATEST:
            chosen = self._reader_of_option()
            if self._describes(chosen, path, name):
                return chosen, path
        for schema_text in self.lookup.newest_like([schema_text for schema_text, _ in writers]):
            if self._describes(schema_text, path, name):
                return schema_text, path
        return writers[-1]

    def _union(self, name: str, writers: Sequence[Reader]) -> SchemaText:
        """Return the schema with the fields of all versions that describe the record *name*."""
        texts = [schema_text for schema_text, _ in writers]
        known = self.lookup.newest_like(texts)
        path = writers[0][1]
        versions = {
            one.cache_key: one for one in (*known, *texts) if self._is_version(one, path, name)
        }
        ordered = sorted(versions.values(), key=lambda one: (one.version or 0, one.id or 0))
        if ordered[-1].schema_type not in ("AVRO", "PROTOBUF"):
            return ordered[-1]
        try:
            return self.decoders.union(ordered, name)
        except SchemaError as error:
            raise InputError(
                f"the union of all versions of {', '.join(ordered[-1].subjects) or name}: {error}",
                "another reader schema, such as latest or an id",
            ) from error

    def _is_version(self, schema_text: SchemaText, path: IndexPath | None, name: str) -> bool:
        """Return whether *schema_text* describes the record *name*, or is of the topic's subject, whose record was renamed."""
        if self.decoders.parsed(schema_text) is None and schema_text.schema_type != "JSON":
            return False
        is_own = schema_text.schema_type == "AVRO" and self.own_subject in schema_text.subjects
        return is_own or self._describes(schema_text, path, name)

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

    def _merged(self, readers: Mapping[str, Reader]) -> dict[str, Reader]:
        """Return *readers* without the records that another one is the renamed version of: the same subject."""
        newest: dict[str, Reader] = {}
        by_subject: dict[tuple[str, IndexPath | None], str] = {}
        for name, (schema_text, path) in readers.items():
            own = self.own_subject
            is_own = schema_text.schema_type == "AVRO" and own in schema_text.subjects
            key = (own, path) if is_own else (name, path)
            if key not in by_subject:
                by_subject[key] = name
                newest[name] = schema_text, path
        return newest
