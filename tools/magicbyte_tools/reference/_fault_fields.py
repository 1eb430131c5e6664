"""Finds the field that has the fault of an invalid vector.

A generated Kaitai parser names the field whose value it refuses. Of faults that only a checksum or a codec
shows, the field is the one that the specification marks as checksum or as compressed.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kaitaistruct import ValidationFailedError

from magicbyte_tools.reference.layout import places
from magicbyte_tools.reference.library import FormatStructure, Library
from magicbyte_tools.reference.walk import parse

FieldKey = tuple[str, tuple[str, ...], str]
"""Format, path of the type and id of a field."""

MARKS = {"checksum": "-checksum", "codec": "-compressed"}
"""Key of the field that is at fault, by the class of checks that sees it."""

_FIELD = re.compile(r"((?:/types/\w+)*)/seq/(\d+)")


def fault_field(case: Mapping[str, Any], data_path: Path, library: Library) -> FieldKey | None:
    """Return the field that has the fault of the vector *case*, None where it is not one field."""
    structure = library.formats[case["format"]]
    if case.get("fields") is None:
        return _refused_field(structure, data_path.read_bytes(), library)
    mark = MARKS.get(str(case.get("caught_by")))
    if mark is None or (mark == "-compressed" and case.get("code") != "codec-error"):
        return None
    for entry, start in _entries(structure, case["fields"], library):
        if start == case["position"] or entry is structure:
            return _marked_field(entry, mark, library)
    return None


def _refused_field(structure: FormatStructure, data: bytes, library: Library) -> FieldKey | None:
    """Return the field that the Kaitai parser of *structure* refuses in *data*."""
    try:
        parse(structure, data)
    except ValidationFailedError as error:
        return _field_at(error, library)
    except Exception:
        # Bytes that end early, or text that is none, are no one field's fault.
        return None
    return None


def _field_at(error: ValidationFailedError, library: Library) -> FieldKey | None:
    """Return the field of `seq` that *error* names by its path in the specification of the class that raised it."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    name = str(frame.tb_frame.f_globals["__name__"]).rpartition(".")[2] if frame else ""
    match = _FIELD.fullmatch(error.src_path)
    if match is None or name not in library.formats:
        return None
    type_path = tuple(match[1].split("/types/")[1:])
    for structure in library.structures(name):
        if structure.type_path == type_path:
            return name, type_path, str(structure.fields[int(match[2])]["id"])
    return None


def _entries(
    structure: FormatStructure, tree: Any, library: Library
) -> Iterator[tuple[FormatStructure, int]]:
    """Yield the entries of the log *tree* and where they start; *structure* itself for another format."""
    entries = tree.get("entries") if isinstance(tree, dict) else None
    if structure.format != "kafka_log" or not isinstance(entries, list):
        yield structure, 0
        return
    start = 0
    for entry in entries:
        content = entry.get("content")
        if not isinstance(content, dict):
            return
        name = "kafka_message" if "message" in content else "kafka_record_batch"
        yield library.formats[name], start
        start += _size(library.formats[name], content, library)


def _size(structure: FormatStructure, tree: Any, library: Library) -> int:
    """Return the bytes of an entry, which has a field that counts the rest."""
    for place in places(structure, library):
        if place.field.get("-length-of") == "rest":
            return int(place.offset) + (place.fixed or 0) + int(tree[place.id])
    raise ValueError(f"{structure.name} has no length")


def _marked_field(structure: FormatStructure, mark: str, library: Library) -> FieldKey | None:
    """Return the first field of *structure* or of its parts with the key *mark*."""
    for inner in library.structures(structure.format):
        for one in inner.fields:
            if mark in one:
                return inner.format, inner.type_path, str(one["id"])
    return None
