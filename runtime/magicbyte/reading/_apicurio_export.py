"""Schemas in an export of Apicurio's registry: a zip file, or the folder that it was unpacked to.

The registry writes `content/HASH.Content.json` and `.data` for each content, and
`groups/GROUP/artifacts/ARTIFACT/versions/VERSION.ArtifactVersion.json` for each version (EntityWriter, in releases 2 and 3).
"""

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from magicbyte.decoding.json_text import parse_json
from magicbyte.decoding.schema_text import DEFAULT_GROUP, ApicurioArtifact, SchemaText
from magicbyte.errors import InputError

CONTENT, CONTENT_BYTES = ".Content.json", ".Content.data"
VERSION = ".ArtifactVersion.json"
MANIFEST = ".Manifest.json"
ENDINGS = (CONTENT, CONTENT_BYTES, VERSION)

MAX_EXPORT_BYTES = 256 << 20
"""Bytes of all files of an export that are read, decompressed."""
MAX_IMPORT_DEPTH = 64

UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, EOFError),
    *(NotImplementedError, RuntimeError, OSError),
)
"""Errors of zipfile at a damaged archive, at one that is encrypted, and at a compression that it does not know."""

ReadFile = Callable[[str], bytes]


def schemas_of_export(path: Path) -> list[SchemaText]:
    """Return the schemas of the export at *path*.

    Raises:
        InputError: It is no export, or a file of it is not as the registry writes it.
    """
    if path.is_dir():
        sizes = {
            file.relative_to(path).as_posix(): file.stat().st_size
            for file in sorted(path.rglob("*"))
            if file.name.endswith(ENDINGS) and file.is_file()
        }
        return _schemas(path, sizes, lambda name: (path / name).read_bytes())
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {
                one.filename: one.file_size
                for one in archive.infolist()
                if one.filename.endswith(ENDINGS)
            }

            def read_file(name: str) -> bytes:
                with archive.open(name) as member:
                    # Without a size, zipfile decompresses up to a GiB in one step.
                    return member.read(sizes[name])

            return _schemas(path, sizes, read_file)
    except UNREADABLE as error:
        raise InputError(
            f"a zip file that cannot be read: {error}",
            "an export of Apicurio's registry",
            path=str(path),
        ) from error


def is_export_folder(folder: Path) -> bool:
    """Return whether *folder* is an unpacked export."""
    return any(folder.glob(f"*{MANIFEST}")) or any((folder / "content").glob(f"*{CONTENT}"))


def _schemas(path: Path, sizes: Mapping[str, int], read_file: ReadFile) -> list[SchemaText]:
    if sum(sizes.values()) > MAX_EXPORT_BYTES:
        raise InputError(
            f"{sum(sizes.values()):,} bytes of schemas",
            f"at most {MAX_EXPORT_BYTES:,} bytes",
            path=str(path),
        )
    export = _Export(path)
    for name in sizes:
        if name.endswith(CONTENT):
            content = export.fields(name, read_file(name))
            data_name = name.removesuffix(CONTENT) + CONTENT_BYTES
            if data_name in sizes:
                content["bytes"] = read_file(data_name)
                export.contents_by_id[export.integer(content, "contentId", name)] = content
        elif name.endswith(VERSION):
            version = export.fields(name, read_file(name))
            export.integer(version, "contentId", name)
            export.versions.append(version)
    if not export.contents_by_id or not export.versions:
        raise InputError(
            "no versions of artifacts with their content",
            "an export of Apicurio's registry",
            path=str(path),
        )
    return list(export.schema_texts())


@dataclass(slots=True)
class _Export:
    """Contents and versions of an export."""

    path: Path
    contents_by_id: dict[int, dict[str, Any]] = field(default_factory=dict)
    versions: list[dict[str, Any]] = field(default_factory=list)

    def fields(self, name: str, data: bytes) -> dict[str, Any]:
        try:
            fields = parse_json(data.decode("utf-8"))
        except ValueError as error:
            raise InputError(
                f"{name}: {error}", "JSON, as the registry writes it", path=str(self.path)
            ) from error
        if not isinstance(fields, dict):
            raise InputError(f"{name}: {type(fields).__name__}", "an object", path=str(self.path))
        return fields

    def integer(self, fields: Mapping[str, Any], key: str, name: str) -> int:
        number = fields.get(key)
        if not isinstance(number, int):
            raise InputError(f"{name}: {key} {number!r:.60}", "a number", path=str(self.path))
        return number

    def schema_texts(self) -> Iterator[SchemaText]:
        """Yield the schema of each version of an artifact, by global id."""
        for version in sorted(self.versions, key=_global_id):
            content = self.contents_by_id.get(version["contentId"])
            text = None if content is None else _text(content)
            if content is None or text is None:
                continue
            imports = list(self._imports(content, set(), 0))
            artifact = _artifact(version, content)
            order = version.get("versionOrder", version.get("versionId"))
            content_id = version["contentId"]
            yield SchemaText(
                schema_type=str(content.get("artifactType") or version.get("artifactType")).upper(),
                text=text,
                imports=tuple((alias, one) for alias, one in imports if one is not None),
                missing_imports=tuple(alias for alias, one in imports if one is None),
                label=f"{artifact.group}/{artifact.artifact} version {artifact.version} (content id {content_id})",
                identity=(str(self.path), content_id),
                id=content_id,
                global_id=_global_id(version),
                version=order if isinstance(order, int) else None,
                subjects=(artifact.artifact,),
                artifact=artifact,
                is_gone=version.get("state") == "DISABLED",
            )

    def _imports(
        self, content: Mapping[str, Any], seen: set[str], depth: int
    ) -> Iterator[tuple[str, str | None]]:
        """Yield the names and texts that *content* refers to, each after those that it needs itself."""
        for reference in _references(content):
            name = str(reference.get("name"))
            if name in seen or depth > MAX_IMPORT_DEPTH:
                continue
            seen.add(name)
            imported = self._referenced(reference)
            if imported is not None:
                yield from self._imports(imported, seen, depth + 1)
            yield name, None if imported is None else _text(imported)

    def _referenced(self, reference: Mapping[str, Any]) -> dict[str, Any] | None:
        names = reference.get("groupId") or DEFAULT_GROUP, reference.get("artifactId")
        for version in self.versions:
            is_same = (version.get("groupId") or DEFAULT_GROUP, version.get("artifactId")) == names
            if is_same and reference.get("version") in (None, version.get("version")):
                return self.contents_by_id.get(version["contentId"])
        return None


def _global_id(artifact_version: Mapping[str, Any]) -> int:
    number = artifact_version.get("globalId")
    return number if isinstance(number, int) else -1


def _artifact(artifact_version: Mapping[str, Any], content: Mapping[str, Any]) -> ApicurioArtifact:
    content_hash = content.get("contentHash")
    return ApicurioArtifact(
        str(artifact_version.get("groupId") or DEFAULT_GROUP),
        str(artifact_version.get("artifactId")),
        str(artifact_version.get("version")),
        content_hash if isinstance(content_hash, str) else None,
    )


def _text(content: Mapping[str, Any]) -> str | None:
    data: bytes = content["bytes"]
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _references(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    serialized = content.get("serializedReferences")
    if not isinstance(serialized, str) or not serialized:
        return []
    try:
        references = json.loads(serialized)
    except (ValueError, RecursionError):
        return []
    return (
        [one for one in references if isinstance(one, dict)] if isinstance(references, list) else []
    )
