"""Search folders for partitions, and account for everything in a log.dir that is not read."""

import errno
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from sys import intern

from magicbyte.errors import MissingError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.logdir._tiered_files import uploads_in
from magicbyte.logdir.checkpoints import LogDir, is_log_dir, log_dir_at
from magicbyte.logdir.file_names import (
    INDEX_CACHE,
    LOG_DIR_MARKS,
    ParsedFolderName,
    is_log_dir_file,
    is_partition_file,
    parse_file,
    parse_folder,
    parse_numbered_folder,
)
from magicbyte.logdir.log_file import LogFile, PartitionLog, classify
from magicbyte.logdir.remote_names import RemoteFolder, parse_remote_file, parse_remote_folder
from magicbyte.logdir.unread_path import MOVED_FOLDERS, UNREAD_KINDS, UnreadPath
from magicbyte.storage import FolderItem, Storage, Store, absolute_path

MAX_DEPTH = 4
"""Levels of folders below a named one that are searched for logs."""

NAME_IT = "to read it, name its path"

OBSTACLES = {
    "special-file": "a FIFO, a socket or a device, not a regular file",
    "link-loop": "a symbolic link that leads to itself or to a folder around it",
    "dangling-link": "a symbolic link to nothing",
    "unreadable": "the operating system does not let us read it",
}
"""Reasons why an item of a folder cannot be read."""

UNREADABLE_FOLDERS = ("link-loop", "unreadable")
"""Obstacles that may be folders."""

NOT_LIVE = {
    "deleted": "due for deletion after file.delete.delay.ms, or on startup",
    "cleaned": "left by an interrupted cleaning or split, a broker deletes it on startup",
    "swap": "left by an interrupted cleaning or split, a broker deletes it on startup",
    "superseded": "replaced by a .swap file, a broker deletes it on startup",
}
"""Reasons why a broker would not use a file of a partition, by the reason that `classify` gives."""


@dataclass(slots=True)
class FolderSearch:
    """The partitions and log.dirs below folders, and the paths there that are not read.

    With *is_strict*, a folder that cannot be read is raised; else it is an unread path.
    """

    storage: Storage
    is_strict: bool = False
    partitions: list[PartitionLog] = field(default_factory=list)
    remotes: dict[tuple[str, int, str], PartitionLog] = field(default_factory=dict)
    """Partitions in remote storage, by topic, number and topic id."""
    log_dirs: dict[str, LogDir] = field(default_factory=dict)
    unread_paths: list[UnreadPath] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    """Paths of the partition folders."""
    _identities: set[object] = field(default_factory=set)
    """Identities of partition folders with their names, and of all other folders."""
    _too_deep: list[str] = field(default_factory=list)

    def add_named(self, path: str) -> bool:
        """Add the logs in the folder *path*, which was named; return whether there are any."""
        has_logs = self._add(path, MAX_DEPTH, is_named=True)
        self.storage.remember_size(path)
        if self._too_deep:
            count = len(self._too_deep)
            reason = f"{count} folders are more than {MAX_DEPTH} levels below {path}; {NAME_IT}"
            self.unread_paths.append(UnreadPath(self._too_deep[0], "too-deep", reason))
            self._too_deep = []
        return has_logs

    def add_found(self, logs: list[PartitionLog], unread_paths: list[UnreadPath]) -> None:
        """Add the *logs* that were found in a file, and the rest of the file."""
        self.partitions += logs
        self.unread_paths += unread_paths

    def _add(
        self, path: str, depth: int, *, is_named: bool = False, around: tuple[object, ...] = ()
    ) -> bool:
        """Add the logs in the folder *path*; return whether there are any.

        *depth* is the number of levels below it that are searched; -1 if it is a link, whose folders
        are not searched. *around* are the identities of the folders on the way to it.
        """
        try:
            items = self.storage.list_folder(path)
        except (MissingError, UnreadableError) as error:
            if is_named:
                raise
            self._cannot_read(path, error)
            return False
        own = self.storage.identity(path)
        names = {item.name for item in items}
        if names.intersection(LOG_DIR_MARKS):
            if own not in self._identities:
                self._identities.add(own)
                self._add_log_dir(path, items, own)
            elif is_named:
                self._log_dir(path)
            return True
        remote = parse_remote_folder(path)
        if remote is not None and any(parse_remote_file(item.name) for item in items):
            self._add_remote(path, remote, items, is_named=is_named)
            return True
        parent, _, own_name = path.rpartition("/")
        name = parse_folder(own_name)
        if any(map(_is_segment, items)):
            log_dir_of = self._log_dir(parent) if is_log_dir(parent, self.storage) else None
            if name is None and log_dir_of is None:
                name = parse_numbered_folder(path)
            # A folder that was named is read, even if its name has a suffix such as -delete.
            if name is not None and is_named:
                name = ParsedFolderName(name.topic, name.partition, None)
            self.add_partition(path, name, log_dir_of, is_named=is_named)
            return True
        if is_named and name is not None and is_log_dir(parent, self.storage):
            name = ParsedFolderName(name.topic, name.partition, None)
            self.add_partition(path, name, self._log_dir(parent), is_named=True)
            return True
        return self._add_below(path, items, depth, (*around, own))

    def _add_below(
        self, path: str, items: list[FolderItem], depth: int, around: tuple[object, ...]
    ) -> bool:
        """Add the logs in the folders among *items* of *path*, which hold no segments.

        A link is followed if it leads to a log.dir or to a partition's folder, and after the folders
        beside it, since its target may be among them.
        """
        has_logs = False
        folders = self.storage.each_listed(
            f"{path}/{item.name}" for item in items if depth > 0 and _is_to_search(item)
        )
        for item in sorted(items, key=lambda item: item.is_link):
            below = f"{path}/{item.name}"
            if item.obstacle in UNREADABLE_FOLDERS:
                self._obstacle(below, item.obstacle)
            elif item.is_link and item.is_folder and self.storage.identity(below) in around:
                self._obstacle(below, "link-loop")
            elif item.is_link and item.is_folder and depth > 0:
                has_logs |= self._add(path_of_link(below, self.storage), -1, around=around)
            elif _is_to_search(item) and depth > 0:
                has_logs |= self._add(next(folders), depth - 1, around=around)
            elif _is_to_search(item) and depth == 0:
                self._too_deep.append(below)
        return has_logs

    def _add_log_dir(self, path: str, items: list[FolderItem], identity: object) -> None:
        """Add the partitions of the log.dir *path*, and the paths in it that are not read."""
        log_dir = self._log_dir(path)
        names = {item.name: parse_folder(item.name) for item in items if item.is_folder}
        reported = {finding.file for finding in log_dir.findings}
        obstacles: Iterable[Finding] = _obstacle_findings(path, items, is_log_dir_file)
        others = [name for name in names if names[name] is None and is_log_dir_file(name)]
        obstacles = chain(obstacles, map(partial(_folder_finding, path), others))
        more = tuple(finding for finding in obstacles if finding.file not in reported)
        if more:
            log_dir = replace(log_dir, findings=(*log_dir.findings, *more))
            self.log_dirs[path] = log_dir
        folders = self.storage.each_listed(f"{path}/{name}" for name in names if names[name])
        for item in items:
            name = names.get(item.name)
            if name is None:
                unread = _unread_in_log_dir(f"{path}/{item.name}", item)
                if unread is not None:
                    self.unread_paths.append(unread)
                continue
            item_path = next(folders)
            if item.is_link and item.identity == identity:
                self._obstacle(item_path, "link-loop")
            else:
                self.add_partition(item_path, name, log_dir, identity=item.identity)

    def add_partition(
        self,
        path: str,
        name: ParsedFolderName | None,
        log_dir: LogDir | None,
        *,
        identity: object = None,
        is_named: bool = False,
    ) -> None:
        """Add the partition in the folder *path*, unless it has been added by this or another path.

        *identity* is the identity of the folder, if a listing has returned it.
        """
        if path in self.seen:
            return
        self.seen.add(path)
        storage = self.storage
        folder_key = identity or storage.identity(path), name
        if folder_key in self._identities:
            return
        try:
            items = storage.list_folder(path)
        except (MissingError, UnreadableError) as error:
            if is_named:
                raise
            self._cannot_read(path, error)
            return
        self._identities.add(folder_key)
        state = name.state if name else None
        store = storage.store_of(path)
        files: Sequence[LogFile] = classify(path, items, state, store)
        findings: tuple[Finding, ...] = ()
        unread_paths: Iterable[UnreadPath]
        if state is not None:
            kind = state.removesuffix("-folder")
            size = sum(file.size_bytes for file in files)
            unread_paths = [UnreadPath(path, kind, f"{MOVED_FOLDERS[kind]}; {NAME_IT}", size)]
        else:
            others = [item for item in items if item.is_folder or item.obstacle is not None]
            unread_paths = _unread_in_partition(path, others, files)
            if others:
                findings = tuple(_obstacle_findings(path, others, _is_partition_item, name))
        topic, partition = (intern(name.topic), name.partition) if name else (None, None)
        for unread in unread_paths:
            self.unread_paths.append(replace(unread, topic=topic, partition=partition))
        self.partitions.append(
            PartitionLog(
                topic=topic,
                partition=partition,
                findings=findings,
                folder=path,
                log_dir=log_dir,
                files=files if store is None else _packed(path, store, files),
                state=state,
                is_named=is_named,
            )
        )

    def _add_remote(
        self, path: str, of: RemoteFolder, items: list[FolderItem], *, is_named: bool
    ) -> None:
        """Add the segments in the folder *path* of remote storage to their partition."""
        if path in self.seen:
            return
        self.seen.add(path)
        uploads = uploads_in(path, of, items, self.storage.store_of(path))
        key = of.topic, of.partition, of.topic_id
        known = self.remotes.get(key) or PartitionLog(
            of.topic, of.partition, path, None, (), topic_id=of.topic_id
        )
        self.remotes[key] = replace(
            known, uploads=(*known.uploads, *uploads), is_named=known.is_named or is_named
        )

    def _log_dir(self, path: str) -> LogDir:
        return log_dir_at(path, self.log_dirs, self.storage)

    def _cannot_read(self, path: str, cause: MissingError | UnreadableError) -> None:
        """Note that the folder *path* was left out because of *cause*; raise it if strict."""
        if cause.errno == errno.ENOENT:  # a live broker has renamed or removed it
            return
        if self.is_strict:
            raise cause
        kind = "link-loop" if cause.errno == errno.ELOOP else "unreadable"
        self.unread_paths.append(UnreadPath(path, kind, cause.found))

    def _obstacle(self, path: str, kind: str) -> None:
        self.unread_paths.append(UnreadPath(path, kind, OBSTACLES[kind]))


def path_of_link(path: str, storage: Storage) -> str:
    """Return the path of the folder or file to which the link *path* leads.

    It is *path* itself if a broker would know the folder by it: as a log.dir, or as a partition by
    the name of the link.
    """
    is_known = parse_folder(path.rpartition("/")[2]) is not None or is_log_dir(path, storage)
    return path if is_known else absolute_path(path)


def _packed(path: str, store: Store, files: Sequence[LogFile]) -> Sequence[LogFile]:
    from magicbyte.logdir._packed_files import packed_files

    return packed_files(path, store, files)


def _is_to_search(item: FolderItem) -> bool:
    """Return whether *item* is a folder that can be listed, and no link."""
    return item.is_folder and not item.is_link and item.obstacle not in UNREADABLE_FOLDERS


def _is_segment(item: FolderItem) -> bool:
    is_file = not item.is_folder and item.obstacle is None
    return is_file and parse_file(item.name).kind == "log"


def _is_partition_item(name: str) -> bool:
    return is_partition_file(name) or parse_file(name).base_offset is not None


def _obstacle_findings(
    path: str,
    items: list[FolderItem],
    is_expected: Callable[[str], bool],
    folder_name: ParsedFolderName | None = None,
) -> Iterator[Finding]:
    """Yield a finding for each of *items* of *path* that cannot be read.

    *is_expected* tells the names of files that Kafka has there. *folder_name* is the partition's.
    """
    for item in items:
        if item.obstacle is not None:
            is_kafkas = is_expected(item.name)
            yield Finding(
                code="unreadable" if is_kafkas else "special-file",
                message=f"{path}/{item.name}: {OBSTACLES[item.obstacle]}",
                topic=folder_name.topic if folder_name else None,
                partition=folder_name.partition if folder_name else None,
                file=item.name,
                found=item.obstacle,
                expected="a regular file" if is_kafkas else None,
            )


def _folder_finding(path: str, name: str) -> Finding:
    """Return the finding about *name* in *path*, a folder where Kafka has a file."""
    return Finding(
        code="unreadable",
        message=f"{path}/{name}: a folder where a broker has a file",
        file=name,
        found="a folder",
        expected="a regular file",
    )


def _unread_in_log_dir(path: str, item: FolderItem) -> UnreadPath | None:
    """Return why *item* of a log.dir, which is no partition's folder, is not read; None if it is."""
    if item.obstacle is not None:
        return UnreadPath(path, item.obstacle, OBSTACLES[item.obstacle])
    if item.is_folder:
        if item.name == INDEX_CACHE:
            return UnreadPath(path, "cache-folder", UNREAD_KINDS["cache-folder"])
        if is_log_dir_file(item.name):
            return UnreadPath(path, "foreign-folder", "a folder where a broker has a file")
        reason = f"its name is not <topic>-<number>, so it is no partition's folder; {NAME_IT}"
        return UnreadPath(path, "foreign-folder", reason)
    if is_log_dir_file(item.name):
        return None
    return UnreadPath(path, "foreign-file", "not a file of Kafka", item.size_bytes)


def _unread_in_partition(
    path: str, items: list[FolderItem], files: Sequence[LogFile]
) -> Iterator[UnreadPath]:
    """Yield the paths that are not read in the partition folder *path*, of *items* and *files*."""
    for item in items:
        item_path = f"{path}/{item.name}"
        if item.obstacle is not None:
            yield UnreadPath(item_path, item.obstacle, OBSTACLES[item.obstacle])
        elif item.is_folder:
            reason = f"a folder in a partition's folder; {NAME_IT}"
            yield UnreadPath(item_path, "foreign-folder", reason)
    for file in files:
        if file.why_not is not None:
            reason = f"{NOT_LIVE[file.why_not]}; {NAME_IT}"
            yield UnreadPath(file.path, "deleted-file", reason, file.size_bytes)
        elif file.base_offset is None and not is_partition_file(file.name):
            yield UnreadPath(file.path, "foreign-file", "not a file of Kafka", file.size_bytes)
