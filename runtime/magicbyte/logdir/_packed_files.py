"""The files of a partition in a store, in few bytes: the logs of a cluster are all in memory.

A `LogFile` takes half a kilobyte, most of it for its path, which follows from its kind and base
offset. A packed file takes 26 bytes.
"""

import struct
from collections.abc import Collection, Iterator, Sequence
from typing import Any, overload

from magicbyte.logdir.log_file import LogFile
from magicbyte.storage import FolderItem, ObjectVersion, Store

_ROW = struct.Struct("<bbqqq")
"""Kind, flags, base offset, size and time of a file."""

_KINDS = ("log", "index", "timeindex", "txnindex", "snapshot")
_OTHER = -1
"""Stands for the kind of a file that is not packed."""

_CLOSED, _LISTED, _TIMED = 1, 2, 4
"""Flags: `closed_bytes` is set, `listed_version` is set, and it has a time."""


class PackedFiles(Sequence[LogFile]):
    """Files of one folder of a store. Each is made when it is asked for."""

    __slots__ = ("_folder", "_others", "_rows", "_store")

    def __init__(
        self, folder: str, store: Store, row_bytes: bytes, unpacked_files: tuple[LogFile, ...]
    ) -> None:
        self._folder, self._store = folder, store
        self._rows, self._others = row_bytes, unpacked_files

    @property
    def others(self) -> tuple[LogFile, ...]:
        """The files that are not packed: those that belong to no segment, or have something special."""
        return self._others

    def __len__(self) -> int:
        return len(self._rows) // _ROW.size

    def __iter__(self) -> Iterator[LogFile]:
        others = iter(self._others)
        folder, store = self._folder, self._store
        for code, flags, base, size, modified in _ROW.iter_unpack(self._rows):
            if code == _OTHER:
                yield next(others)
                continue
            kind = _KINDS[code]
            name = f"{base:020}.{kind}"
            version = None
            if flags & _LISTED:
                version = ObjectVersion(size, modified if flags & _TIMED else None)
            yield LogFile(
                f"{folder}/{name}",
                name,
                kind,
                base,
                size,
                None,
                store,
                closed_bytes=size if flags & _CLOSED else None,
                listed_version=version,
            )

    @overload
    def __getitem__(self, at: int) -> LogFile: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[LogFile, ...]: ...
    def __getitem__(self, at: Any) -> Any:
        if at == 0 and self._rows:
            return next(iter(self))
        return tuple(self)[at]

    def __eq__(self, compared: object) -> bool:
        if isinstance(compared, tuple | PackedFiles):
            return tuple(self) == tuple(compared)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedFiles, (self._folder, self._store, self._rows, self._others)


def packed_files(folder: str, store: Store, files: Sequence[LogFile]) -> Sequence[LogFile]:
    """Return *files* of *folder* in *store* in few bytes; the same if there are none."""
    rows, others = bytearray(), []
    for file in files:
        row = _row(folder, file)
        if row is None:
            others.append(file)
            row = _ROW.pack(_OTHER, 0, 0, 0, 0)
        rows += row
    return PackedFiles(folder, store, bytes(rows), tuple(others)) if files else files


def _row(folder: str, file: LogFile) -> bytes | None:
    """Return *file* of *folder*, packed; None if that does not hold all of it."""
    base, size, version = file.base_offset, file.size_bytes, file.listed_version
    if base is None or file.kind not in _KINDS or not 0 <= size < 1 << 63:
        return None
    name = f"{base:020}.{file.kind}"
    is_plain = (
        file.name == name
        and file.path == f"{folder}/{name}"
        and file.why_not is None
        and file.closed_bytes in (None, size)
        and (version is None or version.size_bytes == size)
        and file.embedded is None
        and file.end_offset is None
        and file.replica is None
        and not (file.is_remote or file.start)
    )
    if not is_plain:
        return None
    modified = None if version is None else version.modified
    flags = 0 if file.closed_bytes is None else _CLOSED
    flags |= 0 if version is None else _LISTED
    flags |= 0 if modified is None else _TIMED
    return _ROW.pack(_KINDS.index(file.kind), flags, base, size, modified or 0)


def items_named(files: Sequence[LogFile], file_names: Collection[str]) -> list[FolderItem]:
    """Return the *files* that have one of *file_names*, which are of no segment, as their folder was listed."""
    found = files.others if isinstance(files, PackedFiles) else files
    return [
        FolderItem(file.name, False, file.size_bytes, listed_version=file.listed_version)
        for file in found
        if file.name in file_names
    ]
