"""Looks up schemas by the ids, GUIDs and fingerprints of frames, for the keys or values of a topic."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from magicbyte.decoding.avro import AvroSchema
from magicbyte.decoding.evidence import is_subject_of, is_subject_of_others
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_frames import FrameKind
from magicbyte.decoding.schema_text import SchemaText


@dataclass(slots=True)
class SchemaLookup:
    """Schemas of registries and files."""

    schema_texts: Sequence[SchemaText]
    """A schema for each version of a subject, by registry and offset."""
    topic: str
    side: str
    decoders: SchemaDecoders
    _by_id: dict[int, list[SchemaText]] = field(default_factory=dict)
    _by_token: dict[str, SchemaText] | None = None
    _chosen: dict[int, SchemaText | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for schema_text in self.schema_texts:
            if schema_text.id is not None:
                self._by_id.setdefault(schema_text.id, []).append(schema_text)

    def schema_of(self, frame_kind: FrameKind, id_: int, token: str | None) -> SchemaText | None:
        """Return the schema that a frame of *frame_kind* names by *id_*, or by *token*; None if it is not known."""
        if token is None:
            if id_ not in self._chosen:
                self._chosen[id_] = self._choose(self._by_id.get(id_, ()))
            return self._chosen[id_]
        if self._by_token is None:
            self._by_token = self._tokens()
        return self._by_token.get(token)

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


def _is_in_context(schema_text: SchemaText) -> bool:
    return all(subject.startswith(":") for subject in schema_text.subjects)
