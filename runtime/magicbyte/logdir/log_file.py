"""Partitions and their files, and the choice of the files that a broker uses (LogLoader)."""

import errno
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from magicbyte import storage
from magicbyte.engines.entry import HEADER_BYTES, read_entry
from magicbyte.errors import FormatError, GoneError, MissingError, StoreError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.logdir._tiered_files import UploadedSegment
from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.embedded_file import EmbeddedFile, EmbeddedRange
from magicbyte.logdir.file_names import parse_file
from magicbyte.logdir.replica import FileRange, Replica
from magicbyte.storage import File, FolderItem, ObjectVersion, Store

MAX_ACKNOWLEDGED_OFFSET = 10**18
"""A million records per second take 30,000 years to get here: a larger number in a checkpoint is garbage."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file in a partition folder, or a file that the user named instead of a folder."""

    path: str
    name: str
    kind: str
    base_offset: int | None
    size_bytes: int
    why_not: str | None = None
    """The reason why a broker would not use it; None if the file is live."""
    store: Store | None = field(default=None, compare=False)
    """The object store that holds it; None: this machine."""
    embedded: EmbeddedRange | None = None
    """The range of the object *path* that holds it; None: the whole object or file."""
    is_remote: bool = False
    """True if it is in remote storage (KIP-405), which a broker's startup does not read."""
    end_offset: int | None = None
    """The offset from which another segment is read instead; None: this one is read to its end."""
    start: int = 0
    """The byte from which it is read; above 0 where a filled log has only a part of a segment, which
    ends at *size_bytes*."""
    replica: str | None = None
    """The log.dir of its replica, where several replicas of the partition were opened."""
    closed_bytes: int | None = None
    """Size of the file if it is closed, which means that a later segment follows: a broker appends
    nothing to it, and a file of another size is another file. None: it may grow."""
    listed_version: ObjectVersion | None = field(default=None, compare=False)
    """The object *path* in a store as it was listed: another version is another file."""

    @property
    def live(self) -> bool:
        return self.why_not is None

    def open(self) -> File:
        """Open the segment with the size that it had when it was listed.

        Bytes that cannot be read are listed in its `unreadable`, and the others are read.
        """
        size_bytes = self.size_bytes
        try:
            if self.embedded is not None:
                stored_bytes = self.embedded.object_bytes
                path = self.embedded.object_path or self.path
                listed_version = self.listed_version if path == self.path else None
                stored = storage.open_segment(
                    path, size_bytes=stored_bytes, store=self.store, listed_version=listed_version
                )
                return EmbeddedFile(stored, self.path, self.embedded, size_bytes=size_bytes)
            if self.store is not None:
                return self.store.open_segment(
                    self.path,
                    size_bytes=size_bytes,
                    listed_version=self.listed_version,
                    is_closed=self.closed_bytes is not None,
                )
            return storage.SegmentFile(self.path, size_bytes, closed_bytes=self.closed_bytes)
        except UnreadableError as error:
            return storage.UnreadableFile(self.path, size_bytes, error.finding.found or "")

    def open_strictly(self) -> File:
        """Open the file like `open`; but UnreadableError is raised where bytes cannot be read."""
        return self._open(self.size_bytes)

    def read_small(self, max_bytes: int) -> bytes:
        """Return the current contents of the file, up to *max_bytes*; in a store, up to its listed size.

        Raises MissingError where it is gone, UnreadableError where it cannot be read.
        """
        try:
            with self._open(None if self.store is None else self.size_bytes) as file:
                return file.read_at(0, min(file.size_bytes, max_bytes))
        except GoneError:
            raise MissingError(OSError(errno.ENOENT, ""), self.path) from None
        except StoreError as error:
            raise storage.unreadable_error(self.path, error) from None

    def _open(self, size_bytes: int | None) -> File:
        if self.embedded is None and self.store is None:
            is_planned = size_bytes is not None
            closed_bytes = self.closed_bytes if is_planned else None
            return storage.LocalFile(self.path, size_bytes, closed_bytes=closed_bytes)
        if self.embedded is None:
            return storage.open_file(self.path, size_bytes=size_bytes, store=self.store)
        stored_bytes = self.embedded.object_bytes
        path = self.embedded.object_path or self.path
        stored = storage.open_file(path, size_bytes=stored_bytes, store=self.store)
        return EmbeddedFile(stored, self.path, self.embedded, size_bytes=size_bytes)


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """The files of a partition in one folder of one log.dir."""

    topic: str | None
    partition: int | None
    folder: str
    log_dir: LogDir | None
    files: Sequence[LogFile]
    """Sorted by base offset. In a store they are packed: `unpacked` has them as a tuple."""
    topic_id: str | None = None
    first_epoch_start: int | None = None
    """Start offset of the first epoch in leader-epoch-checkpoint."""
    is_named: bool = False
    """True if its folder, or a file in it, was named: it is read even if its topic is internal."""
    is_named_files: bool = False
    """True if segments were named one by one: checkpoints do not limit the read."""
    state: str | None = None
    """`delete-folder`, `future-folder` or `stray-folder` of a partition that no broker serves."""
    uploads: tuple[UploadedSegment, ...] = ()
    """Segments in remote storage that `with_remote` has not read yet."""
    findings: tuple[Finding, ...] = ()
    """Findings about the choice of its files."""
    replica: str | None = None
    """The log.dir of the replica that was chosen, where several of the partition were opened."""
    measured_replicas: tuple[Replica, ...] = ()
    """All replicas that were opened, the chosen one first; none if there is only one."""
    is_filled: bool = False
    """True if parts of it are from other replicas: `files` has the parts of segments to read."""
    left_out: tuple[FileRange, ...] = ()
    """Bytes of the segments of a filled log that are in no part."""
    whole_files: tuple[LogFile, ...] = ()
    """The whole files of a filled log: the chosen replica's, and segments of others."""
    next_base: int | None = None
    """Base offset of the segment after the last one, if *files* are only a part of the log."""

    def finding(self, code: str, message: str, **fields: Any) -> Finding:
        """Return a finding about the partition; *fields* are further fields of Finding."""
        fields.setdefault("replica", self.replica)
        topic, partition = self.topic, self.partition
        return Finding(code=code, message=message, topic=topic, partition=partition, **fields)

    @property
    def logs(self) -> tuple[LogFile, ...]:
        """The live segments, by base offset."""
        logs = []
        for file in self.files:
            if file.why_not is None and file.kind == "log":
                logs.append(file)
        return tuple(logs)

    def unpacked(self) -> "PartitionLog":
        """Return the same log with its files as a tuple, which takes more memory and less time."""
        return self if isinstance(self.files, tuple) else replace(self, files=tuple(self.files))

    @property
    def log_bytes(self) -> int:
        """Bytes of the live segments."""
        return sum(file.size_bytes for file in self.logs)

    @property
    def listed_files(self) -> Sequence[LogFile]:
        """The whole files, even if only parts of them are read."""
        return self.whole_files or self.files

    @property
    def on_disk(self) -> "PartitionLog":
        """The partition's log without its remote segments."""
        if not any(file.is_remote for file in self.files):
            return self
        return replace(self, files=tuple(file for file in self.files if not file.is_remote))

    @property
    def is_remote(self) -> bool:
        """True if all files are in remote storage."""
        return bool(self.files) and all(file.is_remote for file in self.files)

    @property
    def name(self) -> str:
        if self.topic is None:
            return self.folder
        return f"{self.topic}-{self.partition}"

    @property
    def key(self) -> str:
        """Unique name of the log: its folder, or the path of the first file that the user named."""
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
        """The highest offset that the checkpoints state for this log on this disk."""
        if self.is_named_files:
            return None
        offsets = [self._checkpoint("high_watermark"), self._checkpoint("recovery_point")]
        plausible = (
            each for each in offsets if each is not None and each < MAX_ACKNOWLEDGED_OFFSET
        )
        return max(plausible, default=None)

    @property
    def cleaner_offset(self) -> int | None:
        """The offset up to which the log was compacted; 0 if the checkpoint has none, None without a checkpoint."""
        if self.log_dir is None or self.log_dir.cleaner is None:
            return None
        return self._checkpoint("cleaner") or 0


def classify(
    folder: str, items: list[FolderItem], folder_state: str | None, store: Store | None = None
) -> tuple[LogFile, ...]:
    """Return the files of *folder* in *store*, with the reason why a broker's startup would remove each.

    It removes `.deleted` and `.cleaned` files, and `.swap` files at or above the lowest `.cleaned`
    base offset: their compaction or split did not finish. The other `.swap` logs replace every regular
    segment from the lowest of their base offsets up to the next offset of the highest.
    """
    files, suffixes = [], []
    for item in items:
        if item.is_folder or item.obstacle is not None:
            continue
        name = parse_file(item.name)
        why_not = folder_state or (name.suffix if name.suffix in ("deleted", "cleaned") else None)
        files.append(
            LogFile(
                f"{folder}/{item.name}",
                item.name,
                name.kind,
                name.base_offset,
                item.size_bytes,
                why_not,
                store,
                listed_version=item.listed_version,
            )
        )
        suffixes.append(name.suffix)
    if folder_state is None and "swap" in suffixes:
        files = _swap(files, suffixes)
    files.sort(key=file_order)
    is_closed = False
    for number in reversed(range(len(files))):
        file = files[number]
        if file.live and file.kind == "log":
            if is_closed:
                files[number] = replace(file, closed_bytes=file.size_bytes)
            is_closed = True
    return tuple(files)


def file_order(file: LogFile) -> tuple[int, str]:
    """Sort key of files: base offset, name."""
    return -1 if file.base_offset is None else file.base_offset, file.name


def _swap(files: list[LogFile], suffixes: list[str | None]) -> list[LogFile]:
    cleaned = [f.base_offset or 0 for f, s in zip(files, suffixes, strict=True) if s == "cleaned"]
    barrier = min(cleaned, default=None)
    swaps = [f for f, s in zip(files, suffixes, strict=True) if s == "swap"]
    # Pass 1: swap files below every .cleaned file belong to a step that has finished.
    complete = [f for f in swaps if barrier is None or (f.base_offset or 0) < barrier]
    logs = [f for f in complete if f.kind == "log"]
    bases = {f.base_offset for f in logs}
    low = min((f.base_offset or 0 for f in logs), default=None)
    high = _next_offset(max(logs, key=lambda f: f.base_offset or 0)) if logs else None
    # Pass 2: remove the other swap files, and the segments that complete ones replace.
    out = []
    for file, suffix in zip(files, suffixes, strict=True):
        base = file.base_offset
        if suffix == "swap" and file not in complete:
            file = replace(file, why_not="swap")
        elif (
            suffix is None
            and base is not None
            and file.live
            and file.kind in ("log", "index", "timeindex", "txnindex")
            and low is not None
            and high is not None
            # A swapped log without a readable entry still replaces the log of its own name.
            and (low <= base < high or (file.kind == "log" and base in bases))
        ):
            file = replace(file, why_not="superseded")
        out.append(file)
    return out


def _next_offset(file: LogFile) -> int:
    """Return the offset after the last complete entry of *file*, by headers; its base offset if it has none."""
    next_offset, position = file.base_offset or 0, 0
    # Where a header cannot be read, the segment's own read says so.
    with (
        suppress(UnreadableError, StoreError),
        storage.open_file(file.path, store=file.store) as log,
    ):
        while position < log.size_bytes:
            header = log.read_at(position, min(HEADER_BYTES, log.size_bytes - position))
            try:
                entry = read_entry(header, 0)
            except FormatError:
                break
            if position + entry.size_bytes > log.size_bytes:
                break
            next_offset = entry.last_offset + 1
            position += entry.size_bytes
    return next_offset
