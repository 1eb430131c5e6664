"""Find the partitions and log.dirs that paths name."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from magicbyte.engines.entry import LEAST_SIZE
from magicbyte.errors import InputError, MissingError
from magicbyte.findings import Finding
from magicbyte.logdir.checkpoints import (
    LogDir,
    read_first_epoch_start,
    read_log_dir,
    read_topic_id,
)
from magicbyte.logdir.file_names import LOG_DIR_MARKS, ParsedFolderName, parse_file, parse_folder
from magicbyte.logdir.log_file import LogFile, classify
from magicbyte.logdir.manifest import embedded_log
from magicbyte.logdir.remote_names import (
    MANIFEST,
    RemoteFolder,
    parse_remote_file,
    parse_remote_folder,
)
from magicbyte.logdir.tiered_files import UploadedSegment, uploads_in
from magicbyte.storage import NO_OPTIONS, FolderItem, Storage, absolute_path
from magicbyte_formats.wire import EntryHeader

AT_A_TIME = 16
"""Partitions in a store that are asked about at a time."""

MAX_DEPTH = 4
"""Folders below a named one in which logs are looked for."""

EXPECTED = (
    "a Kafka log: a segment (<20 digits>.log), a partition's folder (<topic>-<number>), "
    "a log.dir, remote storage of LocalTieredStorage or Aiven's plugin, or a folder that holds some"
)


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """A partition's files, in one folder of one log.dir."""

    topic: str | None
    partition: int | None
    folder: str
    log_dir: LogDir | None
    files: tuple[LogFile, ...]
    """Sorted by base offset."""
    topic_id: str | None = None
    first_epoch_start: int | None = None
    """Where the first epoch of leader-epoch-checkpoint begins."""
    is_named: bool = False
    """Whether its folder, or a file in it, was named: then it is read, whatever its topic."""
    is_named_files: bool = False
    """Whether segments were named one by one: then no checkpoint bounds what is read."""
    state: str | None = None
    """`delete-folder`, `future-folder`, `stray-folder`: no partition that a broker serves."""
    uploads: tuple[UploadedSegment, ...] = ()
    """Segments in remote storage that `with_remote` has not looked into yet."""
    findings: tuple[Finding, ...] = ()
    """What came to light while its files were chosen."""

    @property
    def logs(self) -> tuple[LogFile, ...]:
        """The live segments, by base offset."""
        return tuple(file for file in self.files if file.is_live_log)

    @property
    def on_disk(self) -> "PartitionLog":
        """What of it lies on a broker's disk: all but remote segments."""
        if not any(file.is_remote for file in self.files):
            return self
        return replace(self, files=tuple(file for file in self.files if not file.is_remote))

    @property
    def is_remote(self) -> bool:
        """Whether all of it lies in remote storage."""
        return bool(self.files) and all(file.is_remote for file in self.files)

    @property
    def name(self) -> str:
        if self.topic is None:
            return self.folder
        return f"{self.topic}-{self.partition}"

    @property
    def place(self) -> str:
        """What tells it from all other logs: its folder, or the first of the files that were named."""
        return self.files[0].path if self.is_named_files and self.files else self.folder

    def _checkpoint(self, which: str) -> int | None:
        if self.log_dir is None or self.topic is None or self.partition is None:
            return None
        offsets = getattr(self.log_dir, which)
        return None if offsets is None else offsets.get((self.topic, self.partition))

    @property
    def log_start_checkpoint(self) -> int | None:
        return None if self.is_named_files else self._checkpoint("log_start")

    @property
    def log_start_offset(self) -> int | None:
        """The larger of the first base offset and the log start checkpoint; None if unknown."""
        start, logs = self.log_start_checkpoint, self.logs
        base = logs[0].base_offset if logs else None
        if start is None or (base is not None and base > start):
            start = base
        return 0 if start is None and self.topic is not None else start

    @property
    def high_watermark_checkpoint(self) -> int | None:
        return self._checkpoint("high_watermark")

    @property
    def acknowledged_offset(self) -> int | None:
        """The highest offset up to which the checkpoints say that the log was on this disk."""
        if self.is_named_files:
            return None
        known = [self._checkpoint("high_watermark"), self._checkpoint("recovery_point")]
        return max((offset for offset in known if offset is not None), default=None)

    @property
    def cleaner_offset(self) -> int | None:
        """What lies below was cleaned; 0 if the log.dir says nothing of it, None if none is there."""
        if self.log_dir is None or self.log_dir.cleaner is None:
            return None
        return self._checkpoint("cleaner") or 0


@dataclass(slots=True)
class _Found:
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

    *storage* has the options for stores. Raises InputError where a path is no log, MissingError
    where it cannot be read, StoreError where a store cannot be reached, or refuses.
    """
    storage, given = storage or Storage(), list(map(str, paths))
    found = _Found(storage)
    named: dict[str, list[str]] = {}
    locations = list(map(absolute_path, given))
    if storage.options is not NO_OPTIONS:
        storage.check(given)
    for name, path in zip(given, locations, strict=True):
        match storage.kind_of(path):
            case "folder":
                if not _folder(path, found, MAX_DEPTH, is_named=True):
                    raise InputError(_what_lies_in(path, storage), EXPECTED, path=name)
            case "file":
                _check_segment(path, name, storage)
                folder, _, file_name = path.rpartition("/")
                named.setdefault(folder, []).append(file_name)
            case _:
                raise InputError("neither a file nor a folder", EXPECTED, path=name)
    for folder, names in named.items():
        if folder not in found.seen:  # else its folder was named too
            _named_files(folder, names, found)
    partitions = found.partitions
    if found.remotes:
        partitions = list(_joined(partitions, found.remotes, storage))
    return sorted(partitions, key=_log_order), list(found.log_dirs.values())


def _log_order(log: PartitionLog) -> tuple[str, int, str]:
    return log.topic or "", -1 if log.partition is None else log.partition, log.folder


def _folder(path: str, found: _Found, depth: int, *, is_named: bool = False) -> bool:
    """Add what the folder *path* holds; return whether it is or holds a log."""
    try:
        items = found.storage.list_folder(path)
    except MissingError:
        if is_named:
            raise
        return False
    names = {item.name for item in items}
    if names.intersection(LOG_DIR_MARKS):
        log_dir = found.log_dir(path)
        for item in items:
            name = parse_folder(item.name) if item.is_folder else None
            if name is not None:
                _partition(f"{path}/{item.name}", name, log_dir, found)
        return True
    remote = parse_remote_folder(path)
    if remote is not None and any(parse_remote_file(item.name) for item in items):
        _remote(path, remote, items, found, is_named=is_named)
        return True
    if any(not item.is_folder and parse_file(item.name).kind == "log" for item in items):
        name = parse_folder(path.rpartition("/")[2])
        parent = path.rpartition("/")[0]
        log_dir_of = found.log_dir(parent) if _is_log_dir(parent, found.storage) else None
        # A folder that is named is read, whatever its name's suffix says of it.
        if name is not None and is_named:
            name = ParsedFolderName(name.topic, name.partition, None)
        _partition(path, name, log_dir_of, found, is_named=is_named)
        return True
    name = parse_folder(path.rpartition("/")[2])
    parent = path.rpartition("/")[0]
    if is_named and name is not None and _is_log_dir(parent, found.storage):
        _partition(path, name, found.log_dir(parent), found, is_named=True)
        return True
    if depth == 0:
        return False
    below = [_folder(f"{path}/{item.name}", found, depth - 1) for item in items if item.is_folder]
    return any(below)


def _is_log_dir(path: str, storage: Storage) -> bool:
    return any(storage.exists(f"{path}/{name}") for name in LOG_DIR_MARKS)


def _partition(
    path: str,
    name: ParsedFolderName | None,
    log_dir: LogDir | None,
    found: _Found,
    *,
    is_named: bool = False,
) -> None:
    if path in found.seen:
        return
    found.seen.add(path)
    storage = found.storage
    try:
        items = storage.list_folder(path)
    except MissingError as error:
        if error.errno == 2:  # a live broker renamed or removed it meanwhile
            return
        raise
    found.partitions.append(
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
    path: str, of: RemoteFolder, items: list[FolderItem], found: _Found, *, is_named: bool
) -> None:
    """Add the segments in the folder *path* of remote storage to those of their partition."""
    if path in found.seen:
        return
    found.seen.add(path)
    uploads = uploads_in(path, of, items, found.storage.store_of(path))
    key = of.topic, of.partition, of.topic_id
    known = found.remotes.get(key) or PartitionLog(
        of.topic, of.partition, path, None, (), topic_id=of.topic_id
    )
    found.remotes[key] = replace(
        known, uploads=(*known.uploads, *uploads), is_named=known.is_named or is_named
    )


def _joined(
    partitions: Iterable[PartitionLog],
    remotes: dict[tuple[str, int, str], PartitionLog],
    storage: Storage,
) -> Iterator[PartitionLog]:
    """Yield *partitions* with the segments that *remotes* have of them, and the rest of those.

    The topic id decides; where none lies beside the local log, the name, if one topic bears it.
    """
    left = dict(remotes)
    by_number: defaultdict[int | None, list[PartitionLog]] = defaultdict(list)
    for remote in remotes.values():
        by_number[remote.partition].append(remote)
    for log in partitions:
        if log.topic is None or log.state is not None or log.is_named_files:
            yield log
            continue
        # A prefix of Aiven's plugin may be in front of the topic's name.
        near = [
            remote
            for remote in by_number[log.partition]
            if (remote.topic or "").endswith(log.topic)
        ]
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
    return Finding(
        code="remote-other-topic",
        message=f"{len(remote.uploads)} remote segments in {remote.folder} are left out: their topic "
        f"id is {remote.topic_id}, the local one {topic_id or 'is not known'}",
        topic=log.topic,
        partition=log.partition,
        field="topic_id",
        found=remote.topic_id,
        expected=topic_id,
    )


def _named_files(folder: str, names: list[str], found: _Found) -> None:
    """Add the segments *names* of *folder*, with their transaction indexes and snapshots.

    A snapshot of KRaft is a log of its own, whose offsets are not those of the partition.
    """
    storage = found.storage
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
        logs.append((name, found.log_dir(parent) if is_in_log_dir else None, files))
    for name, log_dir, files in logs:
        found.partitions.append(
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
            raise InputError("an empty file whose name is no segment's", EXPECTED, path=given)
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


def _what_lies_in(path: str, storage: Storage) -> str:
    items = storage.list_folder(path)
    if not items:
        return "an empty folder"
    folders = sum(item.is_folder for item in items)
    return f"a folder of {len(items) - folders} files and {folders} folders, none of them a log"


def described(log: PartitionLog, *, storage: Storage) -> PartitionLog:
    """Return *log* with its topic id and the start of its first leader epoch.

    They are in two files of its folder, so this waits until the logs to read are selected.
    """
    if log.is_named_files:
        has_name = log.topic is not None
        return replace(log, topic_id=read_topic_id(log.folder, storage) if has_name else None)
    return replace(
        log,
        topic_id=log.topic_id or read_topic_id(log.folder, storage),
        first_epoch_start=read_first_epoch_start(log.folder, storage),
    )


def check_one_log_each(
    partitions: list[PartitionLog], log_dirs: list[LogDir], *, replica: str | None
) -> list[PartitionLog]:
    """Return *partitions* with one log for each, chosen by *replica* where there are several.

    Raises InputError where log.dirs of several clusters, several replicas, or several topics of one
    name come together.
    """
    clusters: dict[str, str] = {}
    for log_dir in log_dirs:
        if log_dir.cluster_id is not None:
            clusters.setdefault(log_dir.cluster_id, log_dir.path)
    if len(clusters) > 1:
        places = ", ".join(f"{path} ({cluster})" for cluster, path in sorted(clusters.items()))
        raise InputError(f"log.dirs of {len(clusters)} clusters: {places}", "one cluster at a time")
    by_name: dict[tuple[str, int | None], list[PartitionLog]] = {}
    kept = []
    for log in partitions:
        if log.topic is None or log.state is not None:
            kept.append(log)
        else:
            by_name.setdefault((log.topic, log.partition), []).append(log)
    chosen = absolute_path(replica) if replica is not None else None
    if chosen is not None and not any(_is_below(log.folder, chosen) for log in partitions):
        raise InputError(f"no partition lies in the replica {replica}", "a log.dir that was named")
    for logs in by_name.values():
        if len(logs) > 1 and chosen is not None:
            logs = [log for log in logs if _is_below(log.folder, chosen)] or logs
        if len(logs) > 1:
            raise _several(logs)
        kept.extend(logs)
    return sorted(kept, key=_log_order)


def _several(logs: Sequence[PartitionLog]) -> InputError:
    """Return what is said of *logs* of one name: replicas, or in remote storage several topics."""
    name, ids = logs[0].name, {log.topic_id for log in logs}
    if len(ids) == len(logs) and None not in ids:
        places = ", ".join(f"id {log.topic_id} in {log.folder}" for log in logs)
        return InputError(
            f"{len(logs)} topics of one name in {name}: {places}",
            "one of them: name its folders alone",
        )
    places = ", ".join(log.folder for log in logs)
    return InputError(f"{len(logs)} replicas of {name}: {places}", "one of them: choose a replica")


def _is_below(folder: str, parent: str) -> bool:
    return folder == parent or folder.startswith(f"{parent}/")
