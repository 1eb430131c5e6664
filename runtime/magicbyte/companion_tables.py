"""Contents of companion and checkpoint files, one file at a time, valid or not.

Reading a log needs none of them. They are shown because a broker relies on them.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines.companion_rows import read_rows
from magicbyte.errors import FormatError, InputError
from magicbyte.findings import Finding
from magicbyte.logdir.checkpoints import (
    MAX_CHECKPOINT_BYTES,
    parse_epochs,
    parse_offset_lines,
    parse_properties,
)
from magicbyte.logdir.companions import (
    MAX_COMPANION_BYTES,
    read_producer_snapshot,
    transaction_index,
)
from magicbyte.logdir.file_names import parse_file
from magicbyte.logdir.indexes import check_index
from magicbyte.logdir.remote_names import parse_remote_file
from magicbyte.storage import Storage, StorageOptions, absolute_path
from magicbyte.tables.arrays import array_of, number_array, to_numpy
from magicbyte_formats.wire import OffsetIndexEntry, TimeIndexEntry


@dataclass(frozen=True, slots=True)
class Companion:
    """The entries of a companion or checkpoint file.

    Attributes:
        kind: Kind of the file, such as `index`, `snapshot` or `leader epochs`.
        name: Name of the file.
        rows: Arrow batch with a row for each complete entry.
        findings: Findings about the file.
    Example:
        >>> mb.companion("log-0/fenced-0/00000000000000000005.timeindex").kind
        'timeindex'
    """

    kind: str
    name: str
    rows: pa.RecordBatch
    findings: tuple[Finding, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class _ParsedFile:
    """The columns of a file, and a finding if its bytes are invalid."""

    columns: Mapping[str, pa.Array]
    finding: Finding | None = None


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of file that the name of *path* states; None if it is not a companion's name."""
    name = os.fspath(path).rpartition("/")[2]
    if name in KINDS_BY_NAME:
        return KINDS_BY_NAME[name]
    remote = parse_remote_file(name)
    if remote is not None and remote.kind == "epochs":
        return "leader epochs"
    kind = parse_file(name).kind
    return kind if kind in KINDS else None


def companion(
    path: str | os.PathLike[str],
    *,
    storage_options: Mapping[str, Any] | StorageOptions | None = None,
) -> Companion:
    """Read a companion or checkpoint file. Its name tells its kind.

    Supported are indexes, producer snapshots, the checkpoint files of partitions and log.dirs,
    ``partition.metadata``, ``meta.properties`` and ``quorum-state``, with any suffix of a broker.

    Args:
        path: The file; local or in an object store.
        storage_options: As for `open`.
    Returns:
        Its entries as an Arrow batch, and findings.
    Raises:
        InputError: The name is of no such kind, or the file is too large for its kind.
        MissingError: The file does not exist or may not be read.
    Example:
        >>> file = mb.companion("log-0/fenced-0/00000000000000000005.txnindex")
        >>> file.rows.select(["producer_id", "first_offset", "last_offset"]).to_pylist()
        [{'producer_id': 13, 'first_offset': 0, 'last_offset': 5}]
    """
    kind = kind_of(path)
    if kind is None:
        raise InputError(
            "a name that no file beside a log has", f"one of {', '.join(EXPECTED)}", path=str(path)
        )
    storage = Storage(StorageOptions.of(storage_options))
    location = absolute_path(os.fspath(path))
    name = location.rpartition("/")[2]
    read, max_bytes = KINDS[kind]
    with storage.open_file(location) as file:
        if file.size_bytes > max_bytes:
            raise InputError(
                f"{file.size_bytes} bytes", f"a {kind} of at most {max_bytes}", path=str(path)
            )
        parsed = read(file.read_at(0, file.size_bytes), parse_file(name).base_offset)
    findings = () if parsed.finding is None else (replace(parsed.finding, file=name),)
    return Companion(kind, name, pa.RecordBatch.from_pydict(dict(parsed.columns)), findings)


# Rows of numbers


COLUMN_NAMES = {"ofs_batch": "position", "epoch": "producer_epoch"}
"""Names of columns that differ from the names of their fields."""


def _columns(kind: str, data: bytes) -> dict[str, pa.Array]:
    rows, _ = read_rows(kind, data)
    names = (COLUMN_NAMES.get(name, name) for name in rows.schema.names)
    return dict(zip(names, rows.columns, strict=True))


def _with_offsets(columns: dict[str, pa.Array], base: int | None) -> dict[str, pa.Array]:
    """Return *columns* of an index with absolute offsets; they are null if *base* is None."""
    relative = columns["relative_offset"]
    offsets = pa.nulls(len(relative), pa.int64())
    if base is not None:
        offsets = number_array(pa.int64(), base + to_numpy(relative).astype(np.int64))
    others = {name: column for name, column in columns.items() if name != "relative_offset"}
    return {"relative_offset": relative, "offset": offsets, **others}


def _offset_index(data: bytes, base: int | None) -> _ParsedFile:
    columns = _with_offsets(_columns("index", data), base)
    return _ParsedFile(columns, check_index(data, OffsetIndexEntry, "index-invalid")[1])


def _time_index(data: bytes, base: int | None) -> _ParsedFile:
    columns = _with_offsets(_columns("timeindex", data), base)
    return _ParsedFile(columns, check_index(data, TimeIndexEntry, "timeindex-invalid")[1])


def _transaction_index(data: bytes, base: int | None) -> _ParsedFile:
    return _parse_binary("txnindex", data, transaction_index)


def _snapshot(data: bytes, base: int | None) -> _ParsedFile:
    return _parse_binary("snapshot", data, read_producer_snapshot)


def _parse_binary(kind: str, data: bytes, parse: Callable[[bytes], object]) -> _ParsedFile:
    finding = None
    try:
        parse(data)
    except FormatError as error:
        finding = error.finding
    return _ParsedFile(_columns(kind, data), finding)


# Text


def _parse_text(
    data: bytes, parse: Callable[[bytes], list[tuple[Any, ...]]], kinds: Mapping[str, pa.DataType]
) -> _ParsedFile:
    """Return the rows that *parse* reads in the text *data*, as columns of *kinds*; none if it fails."""
    rows: list[tuple[Any, ...]] = []
    finding = None
    try:
        rows = parse(data)
    except FormatError as error:
        finding = error.finding
    columns = {
        name: array_of([row[number] for row in rows], kind)
        for number, (name, kind) in enumerate(kinds.items())
    }
    return _ParsedFile(columns, finding)


def _epochs(data: bytes, base: int | None) -> _ParsedFile:
    return _parse_text(data, parse_epochs, {"leader_epoch": pa.int32(), "start_offset": pa.int64()})


def _offset_checkpoint(data: bytes, base: int | None) -> _ParsedFile:
    kinds = {"topic": pa.string(), "partition": pa.int32(), "offset": pa.int64()}
    return _parse_text(data, parse_offset_lines, kinds)


PROPERTIES = {"property": pa.string(), "value": pa.string()}


def _partition_metadata(data: bytes, base: int | None) -> _ParsedFile:
    return _parse_text(data, lambda text: parse_properties(text, ":"), PROPERTIES)


def _meta_properties(data: bytes, base: int | None) -> _ParsedFile:
    return _parse_text(data, lambda text: parse_properties(text, "="), PROPERTIES)


def _quorum_state(data: bytes, base: int | None) -> _ParsedFile:
    return _parse_text(data, _json_properties, PROPERTIES)


def _json_properties(data: bytes) -> list[tuple[str, str]]:
    def invalid(found: str) -> FormatError:
        finding = Finding(
            code="checkpoint-invalid", message=found, found=found, expected="an object in JSON"
        )
        return FormatError(finding)

    try:
        properties = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise invalid(f"no JSON: {error}") from error
    if not isinstance(properties, dict):
        raise invalid(f"JSON of {type(properties).__name__}")
    return [
        (name, value if isinstance(value, str) else json.dumps(value, separators=(",", ":")))
        for name, value in properties.items()
    ]


KINDS: dict[str, tuple[Callable[[bytes, int | None], _ParsedFile], int]] = {
    "index": (_offset_index, MAX_COMPANION_BYTES),
    "timeindex": (_time_index, MAX_COMPANION_BYTES),
    "txnindex": (_transaction_index, MAX_COMPANION_BYTES),
    "snapshot": (_snapshot, MAX_COMPANION_BYTES),
    "leader epochs": (_epochs, MAX_CHECKPOINT_BYTES),
    "offsets": (_offset_checkpoint, MAX_CHECKPOINT_BYTES),
    "partition metadata": (_partition_metadata, MAX_CHECKPOINT_BYTES),
    "properties": (_meta_properties, MAX_CHECKPOINT_BYTES),
    "quorum state": (_quorum_state, MAX_CHECKPOINT_BYTES),
}
"""The parser of each kind of file, and the most bytes that such a file may have."""

KINDS_BY_NAME = {
    "leader-epoch-checkpoint": "leader epochs",
    "replication-offset-checkpoint": "offsets",
    "recovery-point-offset-checkpoint": "offsets",
    "log-start-offset-checkpoint": "offsets",
    "cleaner-offset-checkpoint": "offsets",
    "partition.metadata": "partition metadata",
    "meta.properties": "properties",
    "quorum-state": "quorum state",
}
"""Kinds of the files that always have the same name."""

EXPECTED = (
    "<20 digits>.index",
    "<20 digits>.timeindex",
    "<20 digits>.txnindex",
    "<20 digits>.snapshot",
    *KINDS_BY_NAME,
)
