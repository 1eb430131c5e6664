"""Schemas of the registries below a dataset's paths, of exports and of files."""

import os
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from magicbyte.decoding.decode_option import DecodeForm
from magicbyte.decoding.json_text import parse_json
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.errors import InputError, MissingError
from magicbyte.findings import Finding
from magicbyte.internal_topics.schema_registry import (
    SchemaRegistry,
    SchemaVersion,
    registry_of,
)
from magicbyte.logdir.discover import described, discover
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._apicurio_export import is_export_folder, schemas_of_export
from magicbyte.reading._karapace_backup import (
    DATA,
    MARKER_V2,
    MARKER_V3,
    METADATA,
    BackupRecord,
    data_files,
    data_records,
    is_listed_backup,
    line_records,
    listed_records,
)
from magicbyte.reading._schema_rows import (
    LIKELY_NAMES,
    REGISTRY_TOPIC,
    read_registry,
    registries,
)
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.read_options import NO_RANGE, ReadOptions
from magicbyte.reading.results import Report
from magicbyte.storage import Storage

SchemaPath = str | os.PathLike[str]

SUFFIXES = {".avsc": "AVRO", ".proto": "PROTOBUF"}
MAX_FILE_BYTES = 256 << 20
EXPECTED = (
    "the topic _schemas, the answers of GET /schemas, a backup of Karapace, an export of Apicurio's "
    "registry, or .avsc files"
)
"""Sources of schemas that a path may be, as errors name them."""


@dataclass(slots=True)
class RegistryLogs:
    """Logs of a registry's topic that are not part of a dataset."""

    logs: tuple[PartitionLog, ...]
    options: ReadOptions = field(
        default_factory=lambda: ReadOptions(isolation_level="read_uncommitted", on_damage="skip")
    )
    unreadable: list[Finding] = field(default_factory=list)

    @property
    def all_topics(self) -> list[str]:
        return sorted({log.topic for log in self.logs if log.topic})

    def of_topics(self, topics: Iterable[str]) -> TopicSource:
        names = set(topics)
        return replace(self, logs=tuple(log for log in self.logs if log.topic in names))


def schemas_of_dataset(topic_source: TopicSource, report: Report) -> list[SchemaText]:
    """Return the schemas of all registries below the paths of *topic_source*, in and outside of its range."""
    # A schema may be registered after the end of the range that is read, and before its records are written.
    schema_texts: list[SchemaText] = []
    for topic, registry in registries(_WholeTopics(topic_source), report):
        schema_texts += texts_of_registry(registry, topic)
    return schema_texts


class _WholeTopics:
    """A topic source without a range."""

    def __init__(self, topic_source: TopicSource) -> None:
        self._source = topic_source
        self.logs = topic_source.logs
        self.options = replace(topic_source.options, offsets=NO_RANGE, times=NO_RANGE)
        self.unreadable = topic_source.unreadable

    @property
    def all_topics(self) -> list[str]:
        return self._source.all_topics

    def of_topics(self, topics: Iterable[str]) -> TopicSource:
        return _WholeTopics(self._source.of_topics(topics))


def texts_of_registry(registry: SchemaRegistry, name: str) -> list[SchemaText]:
    """Return the schemas of *registry*, one for each version of a subject."""
    return [_text_of(registry, schema_version, name) for schema_version in registry.all_versions]


def _text_of(registry: SchemaRegistry, schema_version: SchemaVersion, name: str) -> SchemaText:
    imports = list(registry.imports_of(schema_version))
    others = registry.versions_with_id(schema_version.id, schema_version.context)
    subjects = (
        schema_version.subject,
        *(one.subject for one in others if one is not schema_version),
    )
    return SchemaText(
        schema_type=schema_version.schema_type,
        text=schema_version.text,
        imports=tuple((alias, one.text) for alias, one in imports if one is not None),
        missing_imports=tuple(alias for alias, one in imports if one is None),
        label=f"{schema_version.subject} version {schema_version.version} (id {schema_version.id})",
        identity=(name, schema_version.context, schema_version.id),
        id=schema_version.id,
        version=schema_version.version,
        subjects=tuple(dict.fromkeys(subjects)),
        guids=(schema_version.guid,),
        is_gone=schema_version.is_gone or schema_version.is_deleted,
    )


def load_schemas(path: SchemaPath) -> list[SchemaText]:
    """Return the schemas at *path*: an export of a registry, a `_schemas` topic, or files of schemas.

    Args:
        path: File or folder: answers of `GET /schemas` as JSON, a backup of Karapace, an export of Apicurio's registry, a
            segment, partition folder or log.dir with the registry's topic, an `.avsc` file, or a folder of such files.
    Returns:
        The schemas.
    Raises:
        InputError: Nothing of this is there.
    """
    location = Path(path)
    if not location.exists():
        raise MissingError(FileNotFoundError(2, "No such file"), str(path))
    if location.is_dir():
        return _schemas_of_folder(location)
    is_segment = location.suffix == ".log"  # Karapace's backups may have this suffix, too
    schema_texts = _schemas_of_logs(location) if is_segment else []
    schema_texts = schema_texts or _schemas_of_file(location)
    if not schema_texts:
        raise InputError("no schemas", EXPECTED, path=str(path))
    return schema_texts


def _schemas_of_folder(folder: Path) -> list[SchemaText]:
    if is_export_folder(folder):
        return schemas_of_export(folder)
    schema_texts = _schemas_of_logs(folder)
    for pattern in ("*.avsc", "*.json", f"*{METADATA}", "*.zip"):
        for file in sorted(folder.glob(pattern)):
            try:
                schema_texts += _schemas_of_file(file)
            except InputError:
                continue  # a folder may have other files
    if not schema_texts:
        raise InputError("no schemas", EXPECTED, path=str(folder))
    return schema_texts


def _schemas_of_logs(location: Path) -> list[SchemaText]:
    logs: dict[Any, PartitionLog] = {}
    storage = Storage()
    try:
        discovered = discover([location], storage, strict=False)[0]
    except InputError:
        return []
    for log in discovered:
        is_registry = log.topic is None or log.topic.endswith(LIKELY_NAMES)
        if is_registry and log.state is None:
            logs.setdefault((log.topic, log.partition), described(log, storage=storage))
    schema_texts: list[SchemaText] = []
    for (topic, _), log in logs.items():
        registry = read_registry(RegistryLogs((log,)), topic or REGISTRY_TOPIC, Report())
        schema_texts += texts_of_registry(registry, str(location))
    return schema_texts


def _schemas_of_file(file: Path) -> list[SchemaText]:
    if zipfile.is_zipfile(file):
        return schemas_of_export(file)
    data = read_schema_file(file)
    if file.suffix in SUFFIXES:
        return [schema_of_file(file, SUFFIXES[file.suffix])]
    if data.startswith(MARKER_V3) or file.suffix == DATA:
        records = (
            record
            for part in data_files(file)
            for record in data_records(read_schema_file(part), part)
        )
        return _texts_of_backup(records, file)
    if data.startswith(MARKER_V2):
        return _texts_of_backup(line_records(data, file), file)
    try:
        file_value = parse_json(data.decode("utf-8"))
        if is_listed_backup(file_value):
            return _texts_of_backup(listed_records(file_value, file), file)
        answers = file_value if isinstance(file_value, list) else [file_value]
        if not all(isinstance(one, dict) for one in answers):
            raise ValueError("no objects with subject, version and id")
        return texts_of_registry(registry_of(answers), str(file))
    except (ValueError, TypeError) as error:
        raise InputError(
            f"no schemas: {error}",
            EXPECTED,
            path=str(file),
        ) from error


def _texts_of_backup(records: Iterable[BackupRecord], file: Path) -> list[SchemaText]:
    registry = SchemaRegistry()
    for key, value, offset in records:
        registry.apply(key, value, offset=offset)
    return texts_of_registry(registry, str(file))


def read_schema_file(file: Path) -> bytes:
    """Return the bytes of *file*; InputError if it cannot be read or is too large."""
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise InputError("too large a file", f"at most {MAX_FILE_BYTES} bytes", path=str(file))
        return file.read_bytes()
    except OSError as error:
        raise MissingError(error, str(file)) from error


def schema_of_file(path: SchemaPath, schema_type: str, message: str | None = None) -> SchemaText:
    """Return the schema in the file at *path*.

    A `.proto` file may import files that are next to it or below its folder; a file without this suffix is a
    FileDescriptorSet of protoc.
    """
    file = Path(path)
    data = read_schema_file(file)
    label = str(path)
    if schema_type == "PROTOBUF" and file.suffix != ".proto":
        return SchemaText(
            schema_type=schema_type,
            text="",
            descriptor_set=data,
            label=label,
            message_name=message,
            identity=("file", label, data),
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("bytes that are not UTF-8", "the text of a schema", path=label) from error
    imports = _imports_of(file) if schema_type == "PROTOBUF" else ()
    return SchemaText(
        schema_type=schema_type,
        text=text,
        imports=tuple(imports),
        label=label,
        message_name=message,
    )


MAX_IMPORTED_FILES = 1000


def _imports_of(main: Path) -> Iterator[tuple[str, str]]:
    """Yield the other `.proto` files below the folder of *main*, by the path under which it imports them."""
    files = sorted(main.parent.rglob("*.proto"))
    for file in files[:MAX_IMPORTED_FILES]:
        if file.resolve() != main.resolve():
            name = file.relative_to(main.parent).as_posix()
            yield name, read_schema_file(file).decode("utf-8", "replace")


FILE_TYPES = {"avro": "AVRO", "protobuf": "PROTOBUF", "json": "JSON"}


def schema_of_form(form: DecodeForm) -> SchemaText:
    """Return the schema of the file that *form* names."""
    assert form.file is not None
    return schema_of_file(form.file, FILE_TYPES[form.name], form.message)
