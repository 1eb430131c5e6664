"""Add details to unread paths: sizes of folders, types of files, and files that turned out to be unreadable."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.logdir.foreign_files import identify_file
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.unread_path import UnreadPath
from magicbyte.storage import Storage

MAX_LISTED = 10_000
"""Items of a foreign folder that are listed to add up its size; a larger one has no size."""


MAX_DETAILED = 1_000
"""Unread paths that are looked into; the others are listed without size and type."""


def with_details(unread_paths: Sequence[UnreadPath], storage: Storage) -> list[UnreadPath]:
    """Return *unread_paths* with the sizes of folders and the types of foreign files.

    Paths in stores are not looked into, since each look would be a request.
    """
    looked_into = [
        unread if storage.store_of(unread.path) else _with_details(unread, storage)
        for unread in unread_paths[:MAX_DETAILED]
    ]
    return [*looked_into, *unread_paths[MAX_DETAILED:]]


def _with_details(unread: UnreadPath, storage: Storage) -> UnreadPath:
    try:
        if unread.kind in ("foreign-folder", "cache-folder"):
            return replace(unread, size_bytes=_size_of_folder(unread.path, storage))
        if unread.kind == "foreign-file" and unread.size_bytes:
            with storage.open_file(unread.path) as file:
                file_type = identify_file(file)
            if file_type is not None:
                kind = "archive" if file_type.is_archive else unread.kind
                return replace(unread, kind=kind, reason=file_type.sentence)
    except InputError:  # it is gone, or may not be read
        return unread
    return unread


def unreadable_files(log: PartitionLog, findings: Iterable[Finding]) -> Iterator[UnreadPath]:
    """Yield the files of *log* that could not be read at all, by the *findings* about them."""
    by_name = {file.name: file for file in log.files}
    for finding in findings:
        file = by_name.get(finding.file or "") if finding.code == "unreadable" else None
        if file is not None and finding.length in (None, file.size_bytes):
            yield UnreadPath(
                file.path,
                "unreadable",
                finding.found or finding.message,
                file.size_bytes,
                log.topic,
                log.partition,
            )


def _size_of_folder(path: str, storage: Storage) -> int | None:
    """Return the bytes of the files below the folder *path*; None if there are too many."""
    folders, num_listed, size = [path], 0, 0
    while folders:
        folder = folders.pop()
        items = storage.list_folder(folder)
        num_listed += len(items)
        if num_listed > MAX_LISTED:
            return None
        size += sum(item.size_bytes for item in items)
        folders += [
            f"{folder}/{item.name}" for item in items if item.is_folder and not item.is_link
        ]
    return size
