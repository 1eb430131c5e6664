"""The file `meta.properties` of a log.dir: which broker and which cluster the log.dir belongs to."""

import re
from dataclasses import dataclass

from magicbyte.errors import FormatError
from magicbyte.findings import Finding, excerpt
from magicbyte.logdir.checkpoints import uuid_bytes

META_PROPERTIES = "meta.properties"

MAX_META_PROPERTIES_BYTES = 1 << 16
"""A broker writes about 130 bytes; a longer file is not one of Kafka's."""

KNOWN_VERSIONS = ("0", "1")
"""Version 0 has `broker.id` and is ZooKeeper's, version 1 has `node.id` and is KRaft's."""

MAX_RESERVED_ID = 99
"""Directory ids up to this number stand for no directory (DirectoryId.reserved)."""

_NUMBER = re.compile(r"[+-]?\d{1,10}")
_SEPARATOR = re.compile(r"(?:[^\\:= \t\f]|\\.)*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """The properties that a broker reads in `meta.properties`; None for those that are absent."""

    version: str = "0"
    node_id: int | None = None
    cluster_id: str | None = None
    directory_id: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    """All keys and values, by key."""

    @property
    def is_kraft(self) -> bool:
        """True if the file has the form that brokers without ZooKeeper write."""
        return self.version == "1"

    @property
    def has_reserved_directory_id(self) -> bool:
        raw = None if self.directory_id is None else uuid_bytes(self.directory_id)
        return raw is not None and int.from_bytes(raw) <= MAX_RESERVED_ID


def parse_meta_properties(data: bytes) -> MetaProperties:
    """Return the content of a `meta.properties` file.

    A file without a version is version 0, as in Kafka. Raises FormatError (`meta-properties-invalid`)
    where a broker cannot parse the file: an unknown version, an id that is no number, a directory
    id that is no UUID, or version 1 without node.id or cluster.id.
    """
    properties = java_properties(data)
    version = properties.get("version", "0").strip()
    if version not in KNOWN_VERSIONS:
        raise _invalid("version", version, "0 or 1")
    name = "node.id" if version == "1" else "broker.id"
    node_id: int | None = None
    if name in properties:
        text = properties[name].strip()
        if not _NUMBER.fullmatch(text):
            raise _invalid(name, text, "a number")
        node_id = int(text)
    cluster_id = properties.get("cluster.id")
    if version == "1" and (node_id is None or cluster_id is None):
        missing = name if node_id is None else "cluster.id"
        raise _invalid("version", version, f"0, since there is no {missing}")
    directory_id = properties.get("directory.id")
    if directory_id is not None and uuid_bytes(directory_id) is None:
        raise _invalid("directory.id", directory_id, "a UUID in base64")
    return MetaProperties(
        version,
        node_id,
        cluster_id,
        directory_id,
        tuple(sorted(properties.items())),
    )


def java_properties(data: bytes) -> dict[str, str]:
    """Return keys and values of *data* as java.util.Properties reads them.

    The last of several lines with one key counts. A backslash at the end of a line continues it.
    """
    properties: dict[str, str] = {}
    for line in _logical_lines(data.decode("latin-1")):
        key = _SEPARATOR.match(line)
        end = key.end() if key else 0
        rest = line[end:].lstrip(" \t\f")
        if rest[:1] in ("=", ":"):
            rest = rest[1:].lstrip(" \t\f")
        properties[_unescaped(line[:end])] = _unescaped(rest)
    return properties


def _logical_lines(text: str) -> list[str]:
    """Return the lines of *text* without comments and blank lines, with continued lines joined."""
    lines: list[str] = []
    is_continued = False
    for raw in re.split(r"\r\n|\r|\n", text):
        line = raw.lstrip(" \t\f")
        if not is_continued:
            if not line or line[0] in "#!":
                continue
            lines.append("")
        num_backslashes = len(line) - len(line.rstrip("\\"))
        is_continued = num_backslashes % 2 == 1
        lines[-1] += line[:-1] if is_continued else line
    return lines


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        return _CONTROLS.get(escape, escape)

    return _ESCAPE.sub(character, text)


def _invalid(field: str, value: str, expected: str) -> FormatError:
    return FormatError(
        Finding(
            code="meta-properties-invalid",
            message=f"{field} {excerpt(value)!r}, expected {expected}",
            field=field,
            found=excerpt(value),
            expected=expected,
        )
    )
