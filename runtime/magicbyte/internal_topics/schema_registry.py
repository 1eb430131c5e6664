"""Schemas of a registry, folded from the records of its topic, by default `_schemas`.

Keys and values are JSON (SchemaRegistryKeyType and the key and value classes of Confluent's registry;
Karapace writes the same, with an empty value where Confluent's writes a null).
"""

import hashlib
import json
import struct
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from magicbyte.findings import Finding, excerpt
from magicbyte.internal_topics._registry_values import (
    RegistryRecordError,
    json_object,
    optional_text,
    references_of,
    required_integer,
    required_text,
    rules_digest,
)

DEFAULT_CONTEXT = "."
SCHEMA_TYPES = ("AVRO", "PROTOBUF", "JSON")

SETTINGS = ("CONFIG", "MODE")
"""Key types of the records that configure a subject, a context or the registry."""

IGNORED = ("NOOP", "CONTEXT")
"""Key types without an effect on schemas: a leader's marker, and the name of a context."""


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A schema that another one imports by *name*."""

    name: str
    subject: str
    version: int


@dataclass(slots=True, kw_only=True)
class SchemaVersion:
    """A version of a subject, and the record that registered it."""

    subject: str
    """Subject with its context, as the registry writes it: `:.ctx:orders-value`, or `orders-value`."""
    version: int
    id: int
    """Id of the schema, which is unique in a context."""
    schema_type: str
    text: str
    references: tuple[SchemaReference, ...] = ()
    properties: Mapping[str, Any] | None = None
    """Metadata: tags, properties and names of sensitive properties."""
    rule_set: Mapping[str, Any] | None = None
    is_deleted: bool = False
    """True if it is deleted softly: readers still get it by its id."""
    is_gone: bool = False
    """True if the registry no longer has it; its record is still in the log."""
    offset: int | None = None
    timestamp: int | None = None

    @property
    def context(self) -> str:
        return split_subject(self.subject)[0]

    @property
    def guid(self) -> str:
        """GUID of the schema: the MD5 of its text, references, metadata and rules (Schema.getGuid)."""
        digest = hashlib.md5(self.text.encode("utf-8", "surrogatepass"), usedforsecurity=False)
        for reference in self.references:
            digest.update(reference.name.encode() + reference.subject.encode())
            digest.update(struct.pack(">i", reference.version))
        digest.update(rules_digest(self.properties, self.rule_set))
        return str(uuid.UUID(bytes=digest.digest()))


@dataclass(slots=True)
class SubjectSettings:
    """Configuration and mode of a subject, of a context, or of the registry."""

    subject: str | None
    """Subject; a context such as `:.ctx:`; None for the registry."""
    config: Mapping[str, Any] = field(default_factory=dict)
    mode: str | None = None
    offset: int | None = None
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class Association:
    """A subject that belongs to the keys or values of a topic, or to another resource."""

    subject: str | None
    resource_type: str | None
    resource_namespace: str | None
    resource_name: str | None
    association_type: str | None
    """Kind of the association, such as `key` or `value`."""
    lifecycle: str | None
    is_frozen: bool
    offset: int


def split_subject(subject: str) -> tuple[str, str]:
    """Return the context of *subject*, and its name in it (QualifiedSubject)."""
    if subject.startswith(":"):
        context, colon, name = subject[1:].partition(":")
        if colon:
            return context or DEFAULT_CONTEXT, name
    return DEFAULT_CONTEXT, subject


def in_context(subject: str, context_name: str) -> str:
    """Return *subject* as a schema of *context_name* names it: in that context unless it names one."""
    if context_name == DEFAULT_CONTEXT or subject.startswith(":"):
        return subject
    return f":{context_name}:{subject}"


class SchemaRegistry:
    """Subjects, settings and associations, as a registry has them after the records that were applied."""

    def __init__(self) -> None:
        self.all_versions: list[SchemaVersion] = []
        """Versions in the order of their records, with those that are gone."""
        self.settings: dict[str | None, SubjectSettings] = {}
        self.associations: dict[tuple[Any, ...], Association] = {}
        self.findings: list[Finding] = []
        """Findings about the records, without topic and partition."""
        self._versions: dict[tuple[str, int], SchemaVersion] = {}
        self._by_id: dict[tuple[str, int], SchemaVersion] = {}
        self._by_guid: dict[str, SchemaVersion] | None = None

    def apply(
        self,
        record_key: bytes | None,
        value: bytes | None,
        *,
        offset: int,
        timestamp: int | None = None,
    ) -> None:
        """Apply a record; one that cannot be read is a finding."""
        try:
            fields = json_object(record_key, "key")
            key_type = required_text(fields, "keytype")
            record_fields = json_object(value, "value") if value else None
            if key_type == "SCHEMA":
                self._apply_schema(fields, record_fields, offset, timestamp)
            elif key_type == "DELETE_SUBJECT":
                self._delete_subject(record_fields)
            elif key_type == "CLEAR_SUBJECT":
                self._clear_subject(record_fields)
            elif key_type in SETTINGS:
                self._apply_settings(key_type, fields, record_fields, offset, timestamp)
            elif key_type == "ASSOC":
                self._apply_association(fields, record_fields, offset)
            elif key_type not in IGNORED:
                raise RegistryRecordError("keytype", key_type, "a key type of a schema registry")
        except RegistryRecordError as error:
            self.findings.append(
                Finding(
                    code="internal-record-invalid",
                    message=f"the record at offset {offset} is ignored: {error}",
                    base_offset=offset,
                    field=error.field,
                    found=excerpt(error.found),
                    expected=error.expected,
                )
            )

    def add(self, schema_version: SchemaVersion) -> bool:
        """Add *schema_version*; return False if its id has another text already, which stays."""
        context, id_ = schema_version.context, schema_version.id
        first = self._by_id.setdefault((context, id_), schema_version)
        if first.text != schema_version.text:
            return False
        self._by_guid = None
        key = schema_version.subject, schema_version.version
        old = self._versions.get(key)
        if old is not None and (old.id, old.text) == (schema_version.id, schema_version.text):
            old.is_deleted = schema_version.is_deleted
            return True
        if old is not None:
            old.is_gone = True
        self._versions[key] = schema_version
        self.all_versions.append(schema_version)
        return True

    def _apply_schema(
        self,
        fields: Mapping[str, Any],
        record_fields: Mapping[str, Any] | None,
        offset: int,
        timestamp: int | None,
    ) -> None:
        subject, number = required_text(fields, "subject"), required_integer(fields, "version")
        if record_fields is None:
            gone = self._versions.pop((subject, number), None)
            if gone is not None:
                gone.is_gone = True
            return
        version = version_of(record_fields, subject, number, offset=offset, timestamp=timestamp)
        if self.add(version):
            return
        first = self._by_id[version.context, version.id]
        self.findings.append(
            Finding(
                code="schema-id-conflict",
                message=f"the record at offset {offset} gives id {version.id} another schema, "
                f"{subject} version {number}; the first one stays, "
                f"{first.subject} version {first.version} at offset {first.offset}",
                base_offset=offset,
                field="id",
                found=f"{subject} version {number}",
                expected=f"{first.subject} version {first.version}",
            )
        )

    def _delete_subject(self, record_fields: Mapping[str, Any] | None) -> None:
        if record_fields is None:
            return
        subject, last = (
            required_text(record_fields, "subject"),
            required_integer(record_fields, "version"),
        )
        for (name, number), version in self._versions.items():
            if name == subject and number <= last:
                version.is_deleted = True

    def _clear_subject(self, record_fields: Mapping[str, Any] | None) -> None:
        if record_fields is None:
            return
        subject = required_text(record_fields, "subject")
        context, name = split_subject(subject)
        for key, version in list(self._versions.items()):
            is_match = key[0] == subject or (not name and version.context == context)
            if is_match and version.is_deleted:
                version.is_gone = True
                del self._versions[key]

    def _apply_settings(
        self,
        key_type: str,
        fields: Mapping[str, Any],
        record_fields: Mapping[str, Any] | None,
        offset: int,
        timestamp: int | None,
    ) -> None:
        subject = optional_text(fields, "subject")
        settings = self.settings.setdefault(subject, SubjectSettings(subject))
        settings.offset, settings.timestamp = offset, timestamp
        if key_type == "CONFIG":
            settings.config = record_fields or {}
        else:
            settings.mode = optional_text(record_fields or {}, "mode")
        if not settings.config and settings.mode is None:
            del self.settings[subject]

    def _apply_association(
        self, fields: Mapping[str, Any], record_fields: Mapping[str, Any] | None, offset: int
    ) -> None:
        names = ("tenant", "resourceName", "resourceNamespace", "resourceType", "associationType")
        texts = {name: optional_text(fields, name) for name in (*names, "subject")}
        key = tuple(texts.values())
        if record_fields is None:
            self.associations.pop(key, None)
            return
        self.associations[key] = Association(
            texts["subject"],
            texts["resourceType"],
            texts["resourceNamespace"],
            texts["resourceName"],
            texts["associationType"],
            optional_text(record_fields, "lifecycle"),
            record_fields.get("frozen") is True,
            offset,
        )

    # Look-ups

    def by_id(self, id_: int, context_name: str = DEFAULT_CONTEXT) -> SchemaVersion | None:
        """Return the first version that was registered with *id_* in *context_name*, gone or not."""
        return self._by_id.get((context_name, id_))

    def versions_with_id(
        self, id_: int, context_name: str = DEFAULT_CONTEXT
    ) -> list[SchemaVersion]:
        """Return the versions of all subjects that have *id_* in *context_name*, gone or not, by offset."""
        return [one for one in self.all_versions if (one.id, one.context) == (id_, context_name)]

    def contexts_of(self, id_: int) -> list[str]:
        """Return the contexts in which *id_* is a schema, the default one first."""
        contexts = [context for context, other in self._by_id if other == id_]
        return sorted(contexts, key=lambda context: (context != DEFAULT_CONTEXT, context))

    def by_guid(self, guid: str) -> SchemaVersion | None:
        """Return the first version with *guid*."""
        if self._by_guid is None:
            self._by_guid = {}
            for version in self.all_versions:
                self._by_guid.setdefault(version.guid, version)
        return self._by_guid.get(guid)

    def versions_of(self, subject: str) -> list[SchemaVersion]:
        """Return the versions of *subject* in the order of their numbers; also those that are gone."""
        versions = [version for version in self.all_versions if version.subject == subject]
        return sorted(versions, key=lambda version: (version.version, version.offset or 0))

    def referenced(
        self, schema_version: SchemaVersion, reference: SchemaReference
    ) -> SchemaVersion | None:
        """Return the version that *reference* of *schema_version* names: the registry's, else one that is gone."""
        subject = in_context(reference.subject, schema_version.context)
        current = self._versions.get((subject, reference.version))
        if current is not None:
            return current
        gone = [old for old in self.versions_of(subject) if old.version == reference.version]
        return gone[-1] if gone else None

    def imports_of(
        self, schema_version: SchemaVersion
    ) -> Iterator[tuple[str, SchemaVersion | None]]:
        """Yield the names and schemas that *schema_version* needs, each after those that it needs itself.

        The schema is None where the log does not have it.
        """
        seen: set[str] = set()

        def visit(
            importer: SchemaVersion, depth: int
        ) -> Iterator[tuple[str, SchemaVersion | None]]:
            for reference in importer.references:
                if reference.name in seen or depth > MAX_IMPORT_DEPTH:
                    continue
                seen.add(reference.name)
                imported = self.referenced(importer, reference)
                if imported is not None:
                    yield from visit(imported, depth + 1)
                yield reference.name, imported

        yield from visit(schema_version, 0)


MAX_IMPORT_DEPTH = 64
"""Longest chain of references that is followed."""


def version_of(
    record_fields: Mapping[str, Any],
    subject: str,
    number: int,
    *,
    offset: int | None = None,
    timestamp: int | None = None,
) -> SchemaVersion:
    """Return the version that *record_fields* describes: a value of the topic, or an answer of the registry."""
    schema_type = optional_text(record_fields, "schemaType") or "AVRO"
    references = tuple(
        SchemaReference(*reference) for reference in references_of(record_fields.get("references"))
    )
    metadata, rule_set = record_fields.get("metadata"), record_fields.get("ruleSet")
    return SchemaVersion(
        subject=subject,
        version=number,
        id=required_integer(record_fields, "id"),
        schema_type=schema_type.upper(),
        text=required_text(record_fields, "schema"),
        references=references,
        properties=metadata if isinstance(metadata, dict) else None,
        rule_set=rule_set if isinstance(rule_set, dict) else None,
        is_deleted=record_fields.get("deleted") is True,
        offset=offset,
        timestamp=timestamp,
    )


def registry_of(answers: Sequence[Mapping[str, Any]]) -> SchemaRegistry:
    """Return the registry that *answers* describe: objects with subject, version, id and schema.

    `GET /schemas` answers with a list of them, `GET /subjects/S/versions/V` with one.

    Raises RegistryRecordError for an answer without one of these.
    """
    registry = SchemaRegistry()
    for answer in answers:
        subject, number = required_text(answer, "subject"), required_integer(answer, "version")
        registry.add(version_of(answer, subject, number))
    return registry


def compact_json(value: Any) -> str | None:
    """Return *value* as JSON of one line; None if there is none."""
    if value is None:
        return None
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
