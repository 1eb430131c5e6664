"""Schemas that the headers of records name: by id, GUID, content hash or artifact, or with their text."""

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.decoding.schema_frames import (
    IN_HEADERS,
    NO_ID,
    FrameKind,
    Frames,
    Int64Array,
    uuid_text,
)
from magicbyte.tables.arrays import Mask, value_offsets

AZURE_TYPE = re.compile(r"avro/binary\+([0-9a-fA-F]{32})")

ARTIFACT_HEADERS = ("contentHash", "groupId", "artifactId", "version")
SCHEMA_HEADERS = ("schema", "schemaType")
"""Headers of Apicurio's serializers that together name a schema, or are one, after `apicurio.value.`."""


class _Contents(NamedTuple):
    """Contents of the headers with one name."""

    rows: Int64Array
    numbers: Int64Array
    """Number of the content of each of *rows*."""
    values: list[bytes]


class _Naming(NamedTuple):
    """The schema that a header names."""

    frame_kind: FrameKind
    id: int = NO_ID
    token: str | None = None
    index_bytes: bytes | None = None


def read_headers(headers: pa.Array, side: str, frames: Frames, has_value: Mask) -> None:
    """Set the *frames* of the rows whose *headers* name a schema of *side*.

    Headers of the same name count from the last one, as `Headers.lastHeader` finds it.

    Args:
        has_value: True for each row whose key or value is not null.
    """
    apicurio = f"apicurio.{side}."
    protobuf_type = "apicurio.protobuf.type" + (".key" if side == "key" else "")
    readers: dict[str, Callable[[bytes], _Naming | None]] = {
        "content-type": _azure_naming,
        f"{apicurio}globalId": _global_id_naming,
        f"{apicurio}contentId": _content_id_naming,
        f"__{side}_schema_id": _confluent_naming,
    }
    artifact_names, schema_names = (
        [apicurio + name for name in names] for names in (ARTIFACT_HEADERS, SCHEMA_HEADERS)
    )
    encoding = f"{apicurio}encoding"
    wanted = [*readers, *artifact_names, *schema_names, encoding, protobuf_type]
    contents_by_name = _contents_by_name(headers, wanted, has_value)
    if not contents_by_name:
        return
    num_rows = len(headers)
    _name_by_artifact(frames, *_combined(contents_by_name, artifact_names, num_rows))
    for name, reader in readers.items():
        if name in contents_by_name:
            _assign(
                frames,
                contents_by_name[name],
                [reader(one) for one in contents_by_name[name].values],
            )
    _name_by_schema(frames, *_combined(contents_by_name, schema_names, num_rows))
    if encoding in contents_by_name:
        rows, numbers, values = contents_by_name[encoding]
        frames.are_json[rows] = np.array([one == b"JSON" for one in values])[numbers]
    if protobuf_type in contents_by_name:
        rows, numbers, values = contents_by_name[protobuf_type]
        frames.message_names.set(rows, numbers, [one.decode("utf-8", "replace") for one in values])


def _contents_by_name(
    headers: pa.Array, names: Sequence[str], has_value: Mask
) -> dict[str, _Contents]:
    """Return the contents of the headers with *names* of the rows that have a value."""
    offsets = value_offsets(headers)
    if offsets[-1] == offsets[0]:
        return {}
    pairs = headers.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    keys, values = pairs.field("key").cast(pa.string()), pairs.field("value")
    found = pc.index_in(keys, value_set=pa.array(names, pa.string()))
    name_numbers = found.fill_null(-1).to_numpy(zero_copy_only=False)
    positions = np.flatnonzero(name_numbers >= 0)
    contents_by_name: dict[str, _Contents] = {}
    for number in np.unique(name_numbers[positions]).tolist():
        chosen = positions[name_numbers[positions] == number]
        rows = np.searchsorted(offsets, offsets[0] + chosen, "right") - 1
        encoded = values.take(pa.array(chosen)).dictionary_encode()
        value_numbers = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        is_set = (value_numbers >= 0) & has_value[rows]
        contents_by_name[names[number]] = _Contents(
            rows[is_set], value_numbers[is_set], encoded.dictionary.to_pylist()
        )
    return contents_by_name


def _combined(
    contents_by_name: dict[str, _Contents], names: Sequence[str], num_rows: int
) -> tuple[Int64Array, Int64Array, list[tuple[str | None, ...]]]:
    """Return the rows that have one of *names*, the number of the texts of each, and these texts by name."""
    present = [name for name in names if name in contents_by_name]
    columns = np.full((num_rows, len(names)), -1, np.int64)
    for name in present:
        columns[contents_by_name[name].rows, names.index(name)] = contents_by_name[name].numbers
    rows = np.flatnonzero((columns >= 0).any(axis=1))
    if not len(rows):
        return rows, rows, []
    combinations, numbers = np.unique(columns[rows], axis=0, return_inverse=True)
    texts = [
        tuple(
            None if number < 0 else contents_by_name[name].values[number].decode("utf-8", "replace")
            for name, number in zip(names, combination, strict=True)
        )
        for combination in combinations.tolist()
    ]
    return rows, numbers.reshape(-1), texts


def _assign(frames: Frames, header_contents: _Contents, namings: Sequence[_Naming | None]) -> None:
    """Set the frames of the rows of *header_contents*, whose values are *namings*."""
    is_valid = np.array([naming is not None for naming in namings])[header_contents.numbers]
    rows, numbers = header_contents.rows[is_valid], header_contents.numbers[is_valid]
    filled = [naming or _Naming(FrameKind.NONE) for naming in namings]
    frames.kinds[rows] = np.array([one.frame_kind for one in filled], np.uint8)[numbers]
    frames.ids[rows] = np.array([one.id for one in filled], np.int64)[numbers]
    frames.body_starts[rows] = 0
    frames.tokens.clear(rows)
    frames.index_bytes.clear(rows)
    has_token = np.array([one.token is not None for one in filled])[numbers]
    frames.tokens.set(rows[has_token], numbers[has_token], [one.token or "" for one in filled])
    has_indexes = np.array([bool(one.index_bytes) for one in filled])[numbers]
    frames.index_bytes.set(
        rows[has_indexes], numbers[has_indexes], [one.index_bytes or b"" for one in filled]
    )


def _name_by_artifact(
    frames: Frames, rows: Int64Array, numbers: Int64Array, texts: Sequence[tuple[str | None, ...]]
) -> None:
    """Set the frames of *rows*, whose headers have a content hash, or group, artifact and version."""
    is_valid = np.array([bool(one[0] or one[2]) for one in texts], np.bool_)[numbers]
    rows, numbers = rows[is_valid], numbers[is_valid]
    frames.kinds[rows], frames.body_starts[rows] = FrameKind.APICURIO_ARTIFACT, 0
    frames.ids[rows] = NO_ID
    frames.tokens.set(rows, numbers, [json.dumps(one) for one in texts])


def _name_by_schema(
    frames: Frames, rows: Int64Array, numbers: Int64Array, texts: Sequence[tuple[str | None, ...]]
) -> None:
    """Set the frames of *rows*, one of whose headers is the schema itself; an id of another header stays."""
    is_valid = np.array([bool(one[0]) for one in texts], np.bool_)[numbers]
    rows, numbers = rows[is_valid], numbers[is_valid]
    has_prefix = ~np.isin(frames.kinds[rows], IN_HEADERS)
    frames.ids[rows[has_prefix]] = NO_ID
    frames.kinds[rows], frames.body_starts[rows] = FrameKind.SCHEMA_HEADER, 0
    frames.tokens.set(rows, numbers, [json.dumps(one) for one in texts])


def _confluent_naming(content: bytes) -> _Naming | None:
    if len(content) >= 17 and content[0] == 1:
        token = uuid_text(content[1:17])
        return _Naming(FrameKind.CONFLUENT_HEADER_GUID, NO_ID, token, content[17:])
    if len(content) >= 5 and content[0] == 0:
        id_ = int.from_bytes(content[1:5])
        return _Naming(FrameKind.CONFLUENT_HEADER, id_, None, content[5:])
    return None


def _apicurio_id(content: bytes) -> int | None:
    return int.from_bytes(content, signed=True) if len(content) in (4, 8) else None


def _global_id_naming(content: bytes) -> _Naming | None:
    id_ = _apicurio_id(content)
    return None if id_ is None else _Naming(FrameKind.APICURIO_GLOBAL_ID, id_)


def _content_id_naming(content: bytes) -> _Naming | None:
    id_ = _apicurio_id(content)
    return None if id_ is None else _Naming(FrameKind.APICURIO_CONTENT_ID, id_)


def _azure_naming(content: bytes) -> _Naming | None:
    match = AZURE_TYPE.search(content.decode("utf-8", "replace"))
    return match and _Naming(FrameKind.AZURE_HEADER, NO_ID, match[1].lower())
