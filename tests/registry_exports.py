"""Exports of schema registries, as the registries write them, made from the answers of another registry."""

import io
import json
import struct
import zipfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import fastavro

RecordPair = tuple[bytes | None, bytes | None]

BYTES_OR_NULL = ["bytes", "null"]
HEADER = {
    "type": "record",
    "name": "Header",
    "fields": [{"name": "key", "type": "bytes"}, {"name": "value", "type": "bytes"}],
}
KARAPACE_RECORD = {
    "type": "record",
    "name": "Record",
    "fields": [
        {"name": "key", "type": BYTES_OR_NULL},
        {"name": "value", "type": BYTES_OR_NULL},
        {"name": "headers", "type": {"type": "array", "items": HEADER}},
        {"name": "offset", "type": "long"},
        {"name": "timestamp", "type": "long"},
        {"name": "checksum_checkpoint", "type": BYTES_OR_NULL},
    ],
}
"""Schema of a record in Karapace's backups of version 3 (karapace.backup.backends.v3.schema)."""

GLOBAL_IDS_FROM = 1000
"""Global ids begin here, so that none is a content id."""


def write_backup_v1(path: Path, pairs: Iterable[RecordPair]) -> Path:
    texts = [["null" if one is None else one.decode() for one in pair] for pair in pairs]
    path.write_text(json.dumps(texts))
    return path


def write_backup_v2(path: Path, pairs: Iterable[RecordPair]) -> Path:
    lines = [
        b"\t".join(b"null" if one is None else one.hex().upper().encode() for one in pair)
        for pair in pairs
    ]
    path.write_bytes(b"/V2\n" + b"".join(line + b"\n" for line in lines))
    return path


def write_backup_v3(folder: Path, pairs: Iterable[RecordPair]) -> Path:
    """Write a backup of version 3, whose metadata nobody reads but for the first line; return the metadata file."""
    folder.mkdir()
    out = io.BytesIO()
    for offset, (key, value) in enumerate(pairs):
        content = io.BytesIO()
        record = {"key": key, "value": value, "headers": [{"key": b"h", "value": b"v"}]}
        record |= {"offset": offset, "timestamp": 0, "checksum_checkpoint": None}
        fastavro.schemaless_writer(content, KARAPACE_RECORD, record)
        out.write(struct.pack(">I", content.tell()) + content.getvalue())
    (folder / "_schemas:0.data").write_bytes(out.getvalue())
    metadata = folder / "_schemas.metadata"
    metadata.write_bytes(b"/V3\n" + struct.pack(">I", 0))
    return metadata


def apicurio_files(answers: Iterable[Mapping[str, Any]]) -> dict[str, bytes]:
    """Return the files of an export of Apicurio's registry by name: content ids are the ids of *answers*."""
    files = {"manifest-2026.Manifest.json": b'{"systemName":"Apicurio Registry"}'}
    for number, answer in enumerate(answers):
        text = answer["schema"].encode()
        references = [
            {"artifactId": one["subject"], "name": one["name"], "version": str(one["version"])}
            for one in answer.get("references", ())
        ]
        content_hash = sha256(text).hexdigest()
        content = {"contentId": answer["id"], "contentHash": content_hash}
        content |= {"artifactType": answer.get("schemaType", "AVRO")}
        content |= {"serializedReferences": json.dumps(references) if references else None}
        version = {"globalId": GLOBAL_IDS_FROM + number, "groupId": None}
        version |= {"artifactId": answer["subject"], "version": str(answer["version"])}
        version |= {"versionOrder": answer["version"], "contentId": answer["id"]}
        folder = f"groups/default/artifacts/{answer['subject']}/versions"
        files[f"content/{content_hash}.Content.json"] = json.dumps(content).encode()
        files[f"content/{content_hash}.Content.data"] = text
        files[f"{folder}/{answer['version']}.ArtifactVersion.json"] = json.dumps(version).encode()
    return files


def write_apicurio_zip(path: Path, answers: Iterable[Mapping[str, Any]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in apicurio_files(answers).items():
            archive.writestr(name, content)
    return path


def write_apicurio_folder(folder: Path, answers: Iterable[Mapping[str, Any]]) -> Path:
    for name, content in apicurio_files(answers).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
