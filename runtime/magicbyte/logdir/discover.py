"""Find the partitions and log.dirs that paths name."""

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from magicbyte.engines.entry import LEAST_SIZE
from magicbyte.errors import InputError, MissingError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.logdir._manifest import embedded_log
from magicbyte.logdir._tiered_files import uploads_in
from magicbyte.logdir.checkpoints import (
    EPOCH_CHECKPOINT,
    LogDir,
    read_first_epoch_start,
    read_log_dir,
    read_topic_id,
)
from magicbyte.logdir.file_names import LOG_DIR_MARKS, ParsedFolderName, parse_file, parse_folder
from magicbyte.logdir.log_file import LogFile, PartitionLog, classify
from magicbyte.logdir.remote_names import (
    MANIFEST,
    RemoteFolder,
    parse_remote_file,
    parse_remote_folder,
)
from magicbyte.storage import NO_OPTIONS, FolderItem, Storage, absolute_path
from magicbyte_formats.wire import EntryHeader

AT_A_TIME = 16
"""Requests to a store that run at the same time."""

MAX_DEPTH = 4
"""Levels of folders below a named one that are searched for logs."""

EXPECTED = (
    "a Kafka log: a segment (<20 digits>.log), a partition's folder (<topic>-<number>), "
    "a log.dir, remote storage of LocalTieredStorage or Aiven's plugin, or a folder that holds some"
)


@dataclass(slots=True)
class _Discovery:
    storage: Storage
    partitions: list[PartitionLog] = field(default_factory=list)
    remotes: dict[tuple[str, int, str], PartitionLog] = field(default_factory=dict)
    """Partitions in remote storage, by topic, number and topic id."""
    log_dirs: dict[str, LogDir] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def log_dir(self, path: str) -> LogDir:
        if path not in self.log_dirs:
            self.log_dirs[path] = read_log_dir(path, self.storage)
        return self.log_dirs[path]


def discover(
    paths: Iterable[str | os.PathLike[str]], storage: Storage | None = None
) -> tuple[list[PartitionLog], list[LogDir]]:
    """Return the partitions and log.dirs that *paths* name, by topic and partition.

    *storage* has the options for stores. Raises InputError if a path is not a log, MissingError
    if it cannot be read, StoreError if a store cannot be reached or refuses.
    """
    storage, given = storage or Storage(), list(map(str, paths))
    discovery = _Discovery(storage)
    named: dict[str, list[str]] = {}
    locations = list(map(absolute_path, given))
    if storage.options is not NO_OPTIONS:
        storage.check(given)
    for name, path in zip(given, locations, strict=True):
        match storage.kind_of(path):
            case "folder":
                if not _folder(path, discovery, MAX_DEPTH, is_named=True):
                    raise InputError(_folder_contents(path, storage), EXPECTED, path=name)
            case "file":
                _check_segment(path, name, storage)
                folder, _, file_name = path.rpartition("/")
                named.setdefault(folder, []).append(file_name)
            case _:
                raise InputError("neither a file nor a folder", EXPECTED, path=name)
    for folder, names in named.items():
        if folder not in discovery.seen:  # else its folder was named too
            _named_files(folder, names, discovery)
    partitions = discovery.partitions
    if discovery.remotes:
        partitions = list(_joined(partitions, discovery.remotes, storage))
    return sorted(partitions, key=_log_order), list(discovery.log_dirs.values())


def _log_order(log: PartitionLog) -> tuple[str, int, str]:
    return log.topic or "", -1 if log.partition is None else log.partition, log.folder


def _folder(path: str, discovery: _Discovery, depth: int, *, is_named: bool = False) -> bool:
    """Add the logs in the folder *path*; return whether there are any."""
    try:
        items = discovery.storage.list_folder(path)
    except MissingError:
        if is_named:
            raise
        return False
    names = {item.name for item in items}
    if names.intersection(LOG_DIR_MARKS):
        log_dir = discovery.log_dir(path)
        for item in items:
            name = parse_folder(item.name) if item.is_folder else None
            if name is not None:
                _partition(f"{path}/{item.name}", name, log_dir, discovery)
        return True
    remote = parse_remote_folder(path)
    if remote is not None and any(parse_remote_file(item.name) for item in items):
        _remote(path, remote, items, discovery, is_named=is_named)
        return True
    parent, _, own_name = path.rpartition("/")
    name = parse_folder(own_name)
    if any(not item.is_folder and parse_file(item.name).kind == "log" for item in items):
        log_dir_of = discovery.log_dir(parent) if _is_log_dir(parent, discovery.storage) else None
        # A folder that was named is read, even if its name has a suffix such as -delete.
        if name is not None and is_named:
            name = ParsedFolderName(name.topic, name.partition, None)
        _partition(path, name, log_dir_of, discovery, is_named=is_named)
        return True
    if is_named and name is not None and _is_log_dir(parent, discovery.storage):
        _partition(path, name, discovery.log_dir(parent), discovery, is_named=True)
        return True
    if depth == 0:
        return False
    below = [
        _folder(f"{path}/{item.name}", discovery, depth - 1) for item in items if item.is_folder
    ]
    return any(below)


def _is_log_dir(path: str, storage: Storage) -> bool:
    return any(map(storage.exists, map(partial(posixpath.join, path), LOG_DIR_MARKS)))


def _partition(
    path: str,
    name: ParsedFolderName | None,
    log_dir: LogDir | None,
    discovery: _Discovery,
    *,
    is_named: bool = False,
) -> None:
    if path in discovery.seen:
        return
    discovery.seen.add(path)
    storage = discovery.storage
    try:
        items = storage.list_folder(path)
    except MissingError as error:
        if error.errno == 2:  # a live broker has renamed or removed it
            return
        raise
    discovery.partitions.append(
        PartitionLog(
            topic=name.topic if name else None,
            partition=name.partition if name else None,
            folder=path,
            log_dir=log_dir,
            files=classify(path, items, name.state if name else None, storage.store_of(path)),
            state=name.state if name else None,
            is_named=is_named,
        )
    )


def _remote(
    path: str, of: RemoteFolder, items: list[FolderItem], discovery: _Discovery, *, is_named: bool
) -> None:
    """Add the segments in the folder *path* of remote storage to their partition."""
    if path in discovery.seen:
        return
    discovery.seen.add(path)
    uploads = uploads_in(path, of, items, discovery.storage.store_of(path))
    key = of.topic, of.partition, of.topic_id
    known = discovery.remotes.get(key) or PartitionLog(
        of.topic, of.partition, path, None, (), topic_id=of.topic_id
    )
    discovery.remotes[key] = replace(
        known, uploads=(*known.uploads, *uploads), is_named=known.is_named or is_named
    )


def _joined(
    logs: Iterable[PartitionLog],
    remotes: dict[tuple[str, int, str], PartitionLog],
    storage: Storage,
) -> Iterator[PartitionLog]:
    """Yield local *logs* joined with their remote segments in *remotes*, then the other *remotes*.

    They match by topic id; a local log without one by name, if only one remote topic has that name.
    """
    left = dict(remotes)
    by_number: defaultdict[int | None, list[PartitionLog]] = defaultdict(list)
    for remote in remotes.values():
        by_number[remote.partition].append(remote)
    for log in logs:
        if log.topic is None or log.state is not None or log.is_named_files:
            yield log
            continue
        # A prefix of Aiven's plugin may be in front of the topic's name.
        near = [
            remote
            for remote in by_number[log.partition]
            if (remote.topic or "").endswith(log.topic)
        ]
        topic_id = None
        with suppress(UnreadableError):  # `described` says so
            topic_id = read_topic_id(log.folder, storage) if near else None
        same_name = [remote for remote in near if remote.topic == log.topic]
        if topic_id is not None:
            own = [remote for remote in near if remote.topic_id == topic_id]
        else:
            own = same_name if len(same_name) == 1 else []
        others = [remote for remote in same_name if remote not in own]
        for remote in (*own, *others):
            left.pop((remote.topic or "", remote.partition or 0, remote.topic_id or ""), None)
        yield replace(
            log,
            uploads=tuple(upload for remote in own for upload in remote.uploads),
            findings=tuple(_of_another(log, topic_id, remote) for remote in others),
        )
    yield from left.values()


def _of_another(log: PartitionLog, topic_id: str | None, remote: PartitionLog) -> Finding:
    return log.finding(
        "remote-other-topic",
        f"{len(remote.uploads)} remote segments in {remote.folder} are ignored: their topic "
        f"id is {remote.topic_id}, the local one {topic_id or 'is not known'}",
        field="topic_id",
        found=remote.topic_id,
        expected=topic_id,
    )


def _named_files(folder: str, names: list[str], discovery: _Discovery) -> None:
    """Add the segments *names* of *folder*, with their transaction indexes and snapshots.

    A KRaft snapshot is a log of its own: its offsets are unrelated to the partition's.
    """
    storage = discovery.storage
    name = parse_folder(folder.rpartition("/")[2])
    if _is_log_dir(folder, storage):
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
            segment = file if manifest is None else embedded_log(file, manifest)
            segment = replace(segment, kind="log", base_offset=base, why_not=None)
            if file.kind == "checkpoint":
                logs.append((None, None, [segment]))
            else:
                files.append(segment)
                has_segment = True
        elif file.kind in ("txnindex", "snapshot") and file.live and name is not None:
            files.append(file)
    if has_segment:
        parent = folder.rpartition("/")[0]
        is_in_log_dir = name is not None and _is_log_dir(parent, storage)
        logs.append((name, discovery.log_dir(parent) if is_in_log_dir else None, files))
    for name, log_dir, files in logs:
        discovery.partitions.append(
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
    """Raise InputError unless the file *path* is a segment, by its name or by its first entry."""
    name = path.rpartition("/")[2]
    with storage.open_file(path) as file:
        if parse_file(name).kind == "log":
            return
        if file.size_bytes == 0:
            raise InputError("an empty file without the name of a segment", EXPECTED, path=given)
        head = file.read_at(0, min(EntryHeader.SIZE, file.size_bytes))
    if len(head) == EntryHeader.SIZE:
        header = EntryHeader.unpack_from(head)
        size, magic = header.size, header.magic
        if 0 <= magic <= 2 and size >= LEAST_SIZE:
            return
        found = f"a file that begins with {head[:8].hex(' ')} and holds no entry (magic {magic}, size {size})"
    else:
        found = f"a file of {len(head)} bytes"
    raise InputError(found, EXPECTED, path=given)


def _folder_contents(path: str, storage: Storage) -> str:
    items = storage.list_folder(path)
    if not items:
        return "an empty folder"
    folders = sum(item.is_folder for item in items)
    return f"a folder of {len(items) - folders} files and {folders} folders, none of them a log"


def described(log: PartitionLog, *, storage: Storage) -> PartitionLog:
    """Return *log* with its topic id and the start offset of its first leader epoch.

    They are read from two files of its folder, so only for the logs that are selected.
    """
    topic_id, first_epoch_start, findings = log.topic_id, None, list(log.findings)
    try:
        if topic_id is None and (log.topic is not None or not log.is_named_files):
            topic_id = read_topic_id(log.folder, storage)
    except UnreadableError as error:
        findings.append(error.finding.at(log.topic, log.partition, "partition.metadata"))
    try:
        if not log.is_named_files:
            first_epoch_start = read_first_epoch_start(log.folder, storage)
    except UnreadableError as error:
        findings.append(error.finding.at(log.topic, log.partition, EPOCH_CHECKPOINT))
    return replace(
        log,
        topic_id=topic_id,
        first_epoch_start=first_epoch_start,
        findings=tuple(findings),
    )


def check_one_log_each(
    partitions: list[PartitionLog], log_dirs: list[LogDir], *, replica: str | None
) -> list[PartitionLog]:
    """Return *partitions* with one log for each, chosen by *replica* where there are several.

    Raises InputError if there are log.dirs of several clusters, several replicas of a partition, or
    several topics of one name.
    """
    clusters: dict[str, str] = {}
    for log_dir in log_dirs:
        if log_dir.cluster_id is not None:
            clusters.setdefault(log_dir.cluster_id, log_dir.path)
    if len(clusters) > 1:
        paths = ", ".join(f"{path} ({cluster})" for cluster, path in sorted(clusters.items()))
        raise InputError(f"log.dirs of {len(clusters)} clusters: {paths}", "one cluster at a time")
    by_name: dict[tuple[str, int | None], list[PartitionLog]] = {}
    unique = []
    for log in partitions:
        if log.topic is None or log.state is not None:
            unique.append(log)
        else:
            by_name.setdefault((log.topic, log.partition), []).append(log)
    preferred = absolute_path(replica) if replica is not None else None
    if preferred is not None and not any(_is_below(log.folder, preferred) for log in partitions):
        raise InputError(f"no partition is in the replica {replica}", "a log.dir that was named")
    for logs in by_name.values():
        if len(logs) > 1 and preferred is not None:
            logs = [log for log in logs if _is_below(log.folder, preferred)] or logs
        if len(logs) > 1:
            raise _several(logs)
        unique.extend(logs)
    return sorted(unique, key=_log_order)


def _several(logs: Sequence[PartitionLog]) -> InputError:
    """Return the error for *logs* of one topic name and partition: replicas, or several remote topics."""
    name, ids = logs[0].name, {log.topic_id for log in logs}
    if len(ids) == len(logs) and None not in ids:
        topics = ", ".join(f"id {log.topic_id} in {log.folder}" for log in logs)
        return InputError(
            f"{len(logs)} topics of one name in {name}: {topics}",
            "one of them: name its folders alone",
        )
    folders = ", ".join(log.folder for log in logs)
    return InputError(f"{len(logs)} replicas of {name}: {folders}", "one of them: choose a replica")


def _is_below(folder: str, parent: str) -> bool:
    return folder == parent or folder.startswith(f"{parent}/")
