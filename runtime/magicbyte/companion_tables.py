"""Contents of companion and checkpoint files, one file at a time, valid or not.

Reading a log needs none of them. They are shown because a broker relies on them.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
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


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of file that the name of *path* states; None if it is not a companion's name."""
    name = os.fspath(path).rpartition("/")[2]
    if name in KINDS_BY_NAME:
        return KINDS_BY_NAME[name]
    remote = parse_remote_file(name)
    if remote is not None and remote.kind == "epochs":
        return "leader epochs"
    kind = parse_file(name).kind
    return kind if kind in (*INDEX_KINDS, *BINARY_KINDS) else None


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
    max_bytes = MAX_CHECKPOINT_BYTES if kind in TEXT_KINDS else MAX_COMPANION_BYTES
    with storage.open_file(location) as file:
        if file.size_bytes > max_bytes:
            raise InputError(
                f"{file.size_bytes} bytes", f"a {kind} of at most {max_bytes}", path=str(path)
            )
        data = file.read_at(0, file.size_bytes)
    columns, finding = _parse(kind, data, parse_file(name).base_offset)
    findings = () if finding is None else (replace(finding, file=name),)
    return Companion(kind, name, pa.RecordBatch.from_pydict(dict(columns)), findings)


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


def _parse(
    kind: str, data: bytes, base: int | None
) -> tuple[Mapping[str, pa.Array], Finding | None]:
    """Return the columns of a file of *kind*, and a finding if its bytes are invalid."""
    if kind in TEXT_KINDS:
        return _parse_text(data, *TEXT_KINDS[kind])
    columns = _columns(kind, data)
    if kind in INDEX_KINDS:
        finding = check_index(data, INDEX_KINDS[kind], f"{kind}-invalid")[1]
        return _with_offsets(columns, base), finding
    try:
        BINARY_KINDS[kind](data)
    except FormatError as error:
        return columns, error.finding
    return columns, None


# Text


def _parse_text(
    data: bytes, parse: Callable[[bytes], list[tuple[Any, ...]]], kinds: Mapping[str, pa.DataType]
) -> tuple[Mapping[str, pa.Array], Finding | None]:
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
    return columns, finding


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


INDEX_KINDS: dict[str, type[OffsetIndexEntry | TimeIndexEntry]] = {
    "index": OffsetIndexEntry,
    "timeindex": TimeIndexEntry,
}
"""Classes of the entries in offset indexes and time indexes, by kind of the file."""

BINARY_KINDS: dict[str, Callable[[bytes], object]] = {
    "txnindex": transaction_index,
    "snapshot": read_producer_snapshot,
}
"""Functions that check the other kinds of binary files."""

PROPERTIES = {"property": pa.string(), "value": pa.string()}

TEXT_KINDS: dict[str, tuple[Callable[[bytes], list[Any]], dict[str, pa.DataType]]] = {
    "leader epochs": (parse_epochs, {"leader_epoch": pa.int32(), "start_offset": pa.int64()}),
    "offsets": (
        parse_offset_lines,
        {"topic": pa.string(), "partition": pa.int32(), "offset": pa.int64()},
    ),
    "partition metadata": (partial(parse_properties, separator=":"), PROPERTIES),
    "properties": (partial(parse_properties, separator="="), PROPERTIES),
    "quorum state": (_json_properties, PROPERTIES),
}
"""The parser of each kind of text file, and the columns of its rows."""

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
