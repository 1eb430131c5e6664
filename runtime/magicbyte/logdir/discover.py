"""Find the partitions and log.dirs that paths name.

Modules for remote storage, and for files that are no segments, are imported where a path names one.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from magicbyte.errors import InputError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir._folder_search import FolderSearch, path_of_link
from magicbyte.logdir.checkpoints import (
    DESCRIBING_FILES,
    EPOCH_CHECKPOINT,
    TOPIC_ID_FILE,
    LogDir,
    is_log_dir,
    log_dir_at,
    read_first_epoch_start,
    read_topic_id,
)
from magicbyte.logdir.file_names import (
    ParsedFolderName,
    parse_file,
    parse_folder,
    parse_numbered_folder,
)
from magicbyte.logdir.log_file import LogFile, PartitionLog, classify
from magicbyte.logdir.remote_names import MANIFEST
from magicbyte.logdir.unread_path import UnreadPath
from magicbyte.storage import NO_OPTIONS, Storage, absolute_path

EXPECTED = "a log.dir, a partition folder, a segment (<20 digits>.log), or a folder that contains one of these"


class Discovery(NamedTuple):
    """The logs that paths name, and the paths below them that are not read."""

    partitions: list[PartitionLog]
    """Partitions by topic and number."""
    log_dirs: list[LogDir]
    unread_paths: list[UnreadPath]


def discover(
    paths: Iterable[str | os.PathLike[str]],
    storage: Storage | None = None,
    *,
    strict: bool = False,
    search: Limits | None = None,
) -> Discovery:
    """Return the partitions and log.dirs that *paths* name, and the paths there that are not read.

    *storage* has the options for stores. With *search*, named files are searched for batches within
    these limits. Raises InputError if a path is not a log, MissingError if it cannot be read,
    StoreError if a store cannot be reached or refuses. Unless *strict*, such a path among others, or
    a folder below a path that cannot be read, is an unread path.
    """
    storage, given = storage or Storage(), list(map(str, paths))
    folders = FolderSearch(storage, strict)
    named: dict[str, list[str]] = {}
    errors: list[InputError] = []
    if "" in given:
        raise InputError("an empty path", EXPECTED)
    locations = list(map(absolute_path, given))
    if storage.options is not NO_OPTIONS:
        storage.check(given)
    for name, path in zip(given, locations, strict=True):
        if os.path.islink(name.rstrip("/")):
            folder, _, link_name = name.rstrip("/").rpartition("/")
            parent = absolute_path(folder or ("/" if name.startswith("/") else "."))
            path = path_of_link(f"{parent.rstrip('/')}/{link_name}", storage)
        try:
            match storage.kind_of(path):
                case "folder":
                    if not folders.add_named(path):
                        raise InputError(_folder_contents(path, storage), EXPECTED, path=name)
                case "file" if search is not None:
                    from magicbyte.logdir._batch_search import searched_logs

                    folders.add_found(*searched_logs(path, storage, search.max_entry_bytes))
                case "file":
                    _check_segment(path, name, storage)
                    folder, _, file_name = path.rpartition("/")
                    named.setdefault(folder, []).append(file_name)
                case _:
                    raise InputError(
                        "neither a file nor a folder; copy a device or a pipe to a file first",
                        EXPECTED,
                        path=name,
                    )
        except InputError as error:
            if strict:
                raise
            errors.append(error)
            folders.unread_paths.append(_unread_named(path, error))
    for folder, names in named.items():
        if folder not in folders.seen:  # else its folder was named too
            _named_files(folder, names, folders)
    partitions = folders.partitions
    if errors and not partitions and not folders.remotes and not folders.log_dirs:
        raise errors[0]
    if folders.remotes:
        from magicbyte.logdir._remote_topics import joined_with_remote

        partitions = list(joined_with_remote(partitions, folders.remotes, storage))
    return Discovery(
        sorted(partitions, key=log_order), list(folders.log_dirs.values()), folders.unread_paths
    )


def _unread_named(path: str, error: InputError) -> UnreadPath:
    """Return the unread path for *path*, which was named, and which *error* is about."""
    is_missing = isinstance(error, OSError)  # or it may not be read
    return UnreadPath(path, "unreadable" if is_missing else "no-log", error.found)


def log_order(log: PartitionLog) -> tuple[str, int, str]:
    """Sort key of logs: topic, partition, folder."""
    return log.topic or "", -1 if log.partition is None else log.partition, log.folder


def _named_files(folder: str, names: list[str], folders: FolderSearch) -> None:
    """Add the segments *names* of *folder*, with their transaction indexes and snapshots.

    A KRaft snapshot is a log of its own: its offsets are unrelated to the partition's.
    """
    storage = folders.storage
    parent, _, folder_name = folder.rpartition("/")
    name = parse_folder(folder_name) or parse_numbered_folder(folder)
    if is_log_dir(folder, storage):
        name = None
    listed = classify(folder, storage.list_folder(folder), None, storage.store_of(folder))
    manifests: dict[str, LogFile] = {}
    for file in listed:
        if file.name.endswith(MANIFEST):
            manifests[file.name] = file
    logs: list[tuple[ParsedFolderName | None, LogDir | None, list[LogFile]]] = []
    files: list[LogFile] = []
    has_segment = False
    for file in listed:
        if file.name in names:
            is_alone = name is None or file.kind == "checkpoint"
            base = None if is_alone else file.base_offset
            manifest = manifests.get(file.name.removesuffix(".log") + MANIFEST)
            segment = file
            if manifest is not None:
                from magicbyte.logdir._manifest import embedded_log

                segment = embedded_log(file, manifest)
            segment = replace(segment, kind="log", base_offset=base, why_not=None)
            if file.kind == "checkpoint":
                logs.append((None, None, [segment]))
            else:
                files.append(segment)
                has_segment = True
        elif file.kind in ("txnindex", "snapshot") and file.live and name is not None:
            files.append(file)
    if has_segment:
        is_in_log_dir = name is not None and is_log_dir(parent, storage)
        log_dir_of = log_dir_at(parent, folders.log_dirs, storage) if is_in_log_dir else None
        logs.append((name, log_dir_of, files))
    for name, log_dir, files in logs:
        folders.partitions.append(
            PartitionLog(
                topic=name.topic if name else None,
                partition=name.partition if name else None,
                folder=folder,
                log_dir=log_dir,
                files=tuple(files),
                is_named=True,
                is_named_files=True,
            )
        )


def _check_segment(path: str, given: str, storage: Storage) -> None:
    """Raise InputError unless the file *path* is a log, by its name or by a sound entry in it."""
    name = path.rpartition("/")[2]
    with storage.open_file(path) as file:
        if parse_file(name).kind in ("log", "checkpoint"):
            return
        if file.size_bytes == 0:
            raise InputError("an empty file without the name of a segment", EXPECTED, path=given)
        from magicbyte.logdir._batch_search import has_sound_entry, sound_entry_at
        from magicbyte.logdir.foreign_files import identify_file

        if sound_entry_at(file, 0, file.size_bytes) is not None:
            return
        foreign_type = identify_file(file)
        if foreign_type is not None:
            raise InputError(foreign_type.sentence, EXPECTED, path=given)
        if has_sound_entry(file):
            return
        head = file.read_at(0, min(8, file.size_bytes)).hex(" ")
        raise InputError(
            f"a file that begins with {head}, without a sound batch near its beginning; "
            "--search looks for batches in all of it",
            EXPECTED,
            path=given,
        )


def _folder_contents(path: str, storage: Storage) -> str:
    items = storage.list_folder(path)
    if not items:
        return "an empty folder"
    from magicbyte.logdir.foreign_files import identify_below

    sentence = identify_below(path, storage)
    if sentence is not None:
        return sentence
    num_folders = sum(item.is_folder for item in items)
    files = _counted(len(items) - num_folders, "file")
    return f"a folder of {files} and {_counted(num_folders, 'folder')}, with no log in it"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def described(log: PartitionLog, *, storage: Storage) -> PartitionLog:
    """Return *log* with its topic id and the start offset of its first leader epoch.

    They are read from two files of its folder, so only for the logs that are selected.
    """
    topic_id, first_epoch_start = log.topic_id, None
    findings: list[Finding] = []
    try:
        if topic_id is None and (log.topic is not None or not log.is_named_files):
            topic_id = read_topic_id(log.folder, storage)
    except UnreadableError as error:
        findings.append(error.finding.at(log.topic, log.partition, TOPIC_ID_FILE))
    try:
        if not log.is_named_files:
            first_epoch_start = read_first_epoch_start(log.folder, storage)
    except UnreadableError as error:
        findings.append(error.finding.at(log.topic, log.partition, EPOCH_CHECKPOINT))
    if findings:  # the folder's listing may have found the same
        known = {finding.file for finding in log.findings}
        new = [finding for finding in findings if finding.file not in known]
        log = replace(log, findings=(*log.findings, *new))
    return replace(log, topic_id=topic_id, first_epoch_start=first_epoch_start)


def described_in_store(log: PartitionLog, *, storage: Storage) -> PartitionLog:
    """Return the same as `described` for a *log* in a store, whose folder may have been forgotten."""
    from magicbyte.logdir._packed_files import items_named

    with storage.listed(log.folder, items_named(log.files, DESCRIBING_FILES)):
        return described(log, storage=storage)
