"""Turns the cases of test vectors into the files of tests/vectors: bytes, JSON and the manifest."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from construct import ConstructError

from magicbyte_tools.conformance.judge import WITHOUT_FIELDS
from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.case_levels import levels, needs
from magicbyte_tools.vectors.input_classes import CLASSES, WITHOUT_A_CASE
from magicbyte_tools.vectors.tree import tree

HERE = Path(__file__).parent

VERSION = "1.1"
"""Version of the vectors. tests/vectors/CHANGELOG.md says what changes it."""

WITHOUT_GRAMMAR = ("kafka_coordinator_record",)
"""Formats whose cases state the fields, since no grammar describes them."""

LICENCE = "CC0-1.0"
"""Licence of the vectors: public domain."""


class CaseBuildError(Exception):
    """A test vector is inconsistent: its path is used twice, or its bytes contradict its fields."""


def cases() -> Iterator[VectorCase]:
    """Yield the cases of every `*_cases` module of this package."""
    for path in sorted(HERE.glob("*_cases.py")):
        yield from import_module(f"{__package__}.{path.stem}").cases()


def files(all_cases: Iterable[VectorCase]) -> dict[str, bytes]:
    """Return the files of tests/vectors by relative path: cases and manifest."""
    files_by_path: dict[str, bytes] = {}
    entries = []
    ids = set()
    for case in sorted(all_cases, key=lambda case: case.path):
        if case.id in ids:
            raise CaseBuildError(f"{case.id}: there twice")
        ids.add(case.id)
        files_by_path[f"{case.path}.json"] = text(document(case))
        if isinstance(case.data, bytes):
            files_by_path[f"{case.path}.bin"] = case.data
        else:
            files_by_path |= {f"{case.path}/{name}": data for name, data in case.data.items()}
        entries.append(manifest_entry(case))
    manifest = {
        "version": VERSION,
        "licence": LICENCE,
        "classes": {str(number): name for number, name in CLASSES.items()},
        "classes_without_a_case": {str(n): why for n, why in WITHOUT_A_CASE.items()},
        "cases": entries,
    }
    files_by_path["manifest.json"] = text(manifest)
    return files_by_path


def document(case: VectorCase) -> dict[str, Any]:
    """Return the contents of a case's JSON file."""
    content = case.json(fields_of(case))
    first = ("format", "why", "made", "source", "verdict")
    counted = {"levels": levels(case), "needs": needs(case)}
    named = {name: content.pop(name) for name in first}
    return named | {name: value for name, value in counted.items() if value} | content


def fields_of(case: VectorCase) -> Any:
    """Return the parsed fields of *case* as JSON, or None where the grammar must refuse the bytes.

    Raises CaseBuildError where the Construct parser accepts bytes that the case calls unreadable,
    or refuses bytes that it calls readable.
    """
    if not isinstance(case.data, bytes) or case.format in WITHOUT_FIELDS:
        return None
    if case.fields is not None or case.format in WITHOUT_GRAMMAR:
        return case.fields
    try:
        found = tree(case.format, case.data)
    except ConstructError as error:
        if case.has_fields:
            raise CaseBuildError(f"{case.path}: the twin refuses it: {error}") from error
        return None
    if not case.has_fields:
        raise CaseBuildError(f"{case.path}: the twin reads it, {found}")
    return found


def manifest_entry(case: VectorCase) -> dict[str, Any]:
    index_entry: dict[str, Any] = {
        "id": case.id,
        "path": case.path,
        "format": case.format,
        "verdict": case.verdict,
        "sha256": digest(case),
    }
    optional = {"levels": levels(case), "needs": needs(case)}
    if not isinstance(case.data, bytes):
        index_entry["files"] = sorted(case.data)  # a jar and a Go module cannot list a folder
    return index_entry | {name: value for name, value in optional.items() if value}


def digest(case: VectorCase) -> str:
    """Return the SHA-256 of a case's bytes; for a folder, of its files' names, sizes and bytes."""
    if isinstance(case.data, bytes):
        return hashlib.sha256(case.data).hexdigest()
    total = hashlib.sha256()
    for name, data in sorted(case.data.items()):
        total.update(f"{name}\0{len(data)}\0".encode() + data)
    return total.hexdigest()


def text(value: Any) -> bytes:
    """Encode *value* as JSON with one line per key, log entry and record, so that diffs stay short.

    There are no blanks: with them, the vectors are larger by a twelfth.
    """
    return (_json(value, 0, 3) + "\n").encode()


def _json(value: Any, depth: int, deepest: int) -> str:
    if depth < deepest and isinstance(value, dict) and value:
        parts = [f"{_json(k, 0, 0)}:{_json(v, depth + 1, deepest)}" for k, v in value.items()]
        return "{\n" + ",\n".join(parts) + "\n}"
    if depth < deepest and isinstance(value, list) and any(isinstance(v, dict) for v in value):
        parts = [_json(v, depth + 1, depth + 1) for v in value]
        return "[\n" + ",\n".join(parts) + "\n]"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
