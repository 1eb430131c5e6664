"""Schemas as texts, with all that they import: the input of decoders."""

from collections.abc import Hashable
from dataclasses import dataclass

DEFAULT_GROUP = "default"
"""Group of artifacts for which Apicurio's registry has no other."""


@dataclass(frozen=True, slots=True)
class ApicurioArtifact:
    """A version of an artifact of Apicurio's registry."""

    group: str
    artifact: str
    version: str
    content_hash: str | None = None
    """SHA-256 of the content, in base 16."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaText:
    """A schema of a registry or of a file."""

    schema_type: str
    """`AVRO`, `PROTOBUF` or `JSON`."""
    text: str
    imports: tuple[tuple[str, str], ...] = ()
    """Names and texts of the schemas that it needs, each after those that it needs itself."""
    missing_imports: tuple[str, ...] = ()
    """Names of schemas that it needs and that are not known."""
    label: str = ""
    """Name for people, such as `orders-value version 2 (id 5)` or the path of a file."""
    identity: Hashable = None
    """Value that is equal for equal schemas of a registry; None: the texts decide."""
    id: int | None = None
    version: int | None = None
    """Version in its subject, if a registry has it."""
    subjects: tuple[str, ...] = ()
    """Subjects that have it; *version* belongs to the first one."""
    guids: tuple[str, ...] = ()
    global_id: int | None = None
    """Global id in Apicurio's registry, whose content id is *id*; None for other registries."""
    artifact: ApicurioArtifact | None = None
    is_gone: bool = False
    """True if the registry deleted it, softly or for good."""
    descriptor_set: bytes | None = None
    """Serialized FileDescriptorSet in the place of *text*, for a Protobuf schema of a file."""
    message_name: str | None = None
    """Full name of the Protobuf message; None: the message indexes name it, else the first one."""

    @property
    def cache_key(self) -> Hashable:
        """Value by which decoders are cached."""
        content = self.identity or (self.schema_type, self.text, self.imports, self.descriptor_set)
        return content, self.message_name
