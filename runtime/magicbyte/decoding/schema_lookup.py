"""Looks up schemas by the ids, GUIDs and fingerprints of frames, for the keys or values of a topic."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from magicbyte.decoding.avro import AvroSchema
from magicbyte.decoding.evidence import is_subject_of, is_subject_of_others
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_frames import FrameKind
from magicbyte.decoding.schema_text import DEFAULT_GROUP, SchemaText

MAX_HEADER_SCHEMAS = 1000
"""Different schemas in headers, and names in headers, that are looked up: each one is kept."""
SCHEMA_TYPES = ("AVRO", "PROTOBUF", "JSON")


@dataclass(slots=True)
class SchemaLookup:
    """Schemas of registries and files."""

    schema_texts: Sequence[SchemaText]
    """A schema for each version of a subject, by registry and offset."""
    topic: str
    side: str
    decoders: SchemaDecoders
    _by_id: dict[int, list[SchemaText]] = field(default_factory=dict)
    _by_global_id: dict[int, list[SchemaText]] = field(default_factory=dict)
    _by_token: dict[str, SchemaText] | None = None
    _chosen: dict[tuple[FrameKind, int], SchemaText | None] = field(default_factory=dict)
    _in_headers: dict[tuple[FrameKind, str], SchemaText | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for schema_text in self.schema_texts:
            if schema_text.id is not None:
                self._by_id.setdefault(schema_text.id, []).append(schema_text)
            if schema_text.global_id is not None:
                self._by_global_id.setdefault(schema_text.global_id, []).append(schema_text)

    def schema_of(self, frame_kind: FrameKind, id_: int, token: str | None) -> SchemaText | None:
        """Return the schema that a frame of *frame_kind* names by *id_*, or by *token*; None if it is not known."""
        if token is None:
            key = frame_kind, id_
            if key not in self._chosen:
                self._chosen[key] = self._choose(self._candidates(frame_kind, id_))
            return self._chosen[key]
        if frame_kind in (FrameKind.SCHEMA_HEADER, FrameKind.APICURIO_ARTIFACT):
            return self._of_headers(frame_kind, token)
        if self._by_token is None:
            self._by_token = self._tokens()
        return self._by_token.get(token)

    def _candidates(self, frame_kind: FrameKind, id_: int) -> list[SchemaText]:
        """Return the schemas that *id_* may name: Apicurio's serializers write a content id or a global id."""
        by_id, by_global_id = self._by_id.get(id_, []), self._by_global_id.get(id_, [])
        if frame_kind is FrameKind.APICURIO_CONTENT_ID:
            return by_id
        if frame_kind is FrameKind.APICURIO_GLOBAL_ID and self._by_global_id:
            return by_global_id
        if frame_kind is FrameKind.APICURIO_8_BYTES:
            return [*by_global_id, *by_id]
        return [*by_id, *by_global_id]

    def _of_headers(self, frame_kind: FrameKind, token: str) -> SchemaText | None:
        """Return the schema that several headers together name, or one that a header has."""
        key = frame_kind, token
        if key not in self._in_headers:
            if len(self._in_headers) >= MAX_HEADER_SCHEMAS:
                return None
            is_artifact = frame_kind is FrameKind.APICURIO_ARTIFACT
            texts = json.loads(token)
            found = self._of_artifact(*texts) if is_artifact else _of_schema_header(*texts)
            self._in_headers[key] = found
        return self._in_headers[key]

    def _of_artifact(
        self,
        content_hash: str | None,
        group: str | None,
        artifact: str | None,
        artifact_version: str | None,
    ) -> SchemaText | None:
        """Return the schema with *content_hash*, else the version of an artifact, by default its newest one."""
        known = [(one.artifact, one) for one in self.schema_texts if one.artifact is not None]
        for names, schema_text in known:
            if content_hash is not None and names.content_hash == content_hash:
                return schema_text
        versions = [
            schema_text
            for names, schema_text in known
            if (names.group, names.artifact) == (group or DEFAULT_GROUP, artifact)
            and artifact_version in (None, names.version)
        ]
        return max(versions, key=lambda one: one.version or 0, default=None)

    def _choose(self, candidates: Sequence[SchemaText]) -> SchemaText | None:
        """Return the schema of the topic's subject, else of the default context, else the only one.

        An id is unique in a context only: without a subject of the topic, ids of several contexts are ambiguous.
        """
        for one in candidates:
            if any(is_subject_of(subject, self.topic, self.side) for subject in one.subjects[:1]):
                return one
        default = [one for one in candidates if not _is_in_context(one)]
        others = [one for one in default if self._is_of_others(one)]
        if default:
            return next((one for one in default if one not in others), default[0])
        texts = {one.text for one in candidates}
        return candidates[0] if len(texts) == 1 else None

    def _is_of_others(self, schema_text: SchemaText) -> bool:
        return any(
            is_subject_of_others(one, self.topic, self.side) for one in schema_text.subjects[:1]
        )

    def _tokens(self) -> dict[str, SchemaText]:
        tokens: dict[str, SchemaText] = {}
        for schema_text in self.schema_texts:
            for guid in schema_text.guids:
                tokens.setdefault(guid, schema_text)
        for schema_text in self.schema_texts:
            if schema_text.schema_type == "AVRO":
                parsed = self.decoders.parsed(schema_text)
                if isinstance(parsed, AvroSchema):
                    tokens.setdefault(f"{parsed.canonical_fingerprint():016x}", schema_text)
        return tokens

    def newest_like(self, schema_texts: Iterable[SchemaText]) -> list[SchemaText]:
        """Return the versions of the subjects of *schema_texts*, the newest first; only the topic's own if there are any."""
        names = {subject for schema_text in schema_texts for subject in schema_text.subjects}
        own = {name for name in names if is_subject_of(name, self.topic, self.side)}
        wanted = own or names
        versions = [one for one in self.schema_texts if wanted.intersection(one.subjects)]
        return sorted(versions, key=lambda one: (not one.is_gone, one.version or 0, one.id or 0))[
            ::-1
        ]


def _of_schema_header(text: str, schema_type: str | None) -> SchemaText | None:
    type_name = (schema_type or "AVRO").upper()
    if type_name not in SCHEMA_TYPES:
        return None
    return SchemaText(schema_type=type_name, text=text, label="schema in a header")


def _is_in_context(schema_text: SchemaText) -> bool:
    return all(subject.startswith(":") for subject in schema_text.subjects)
