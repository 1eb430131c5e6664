"""Search a file of any kind for log entries: a disk image, an archive, a file without its name.

An entry counts if its frame fits into the file and its checksum is right. Entries that follow each
other without a byte between them, with increasing offsets, are a run, which is read as a log of its
own: nothing says that two runs belong to one partition. Time is linear in the bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from magicbyte.engines.entry import HEADER_BYTES, Entry, read_entry
from magicbyte.errors import FormatError, InputError
from magicbyte.findings import Finding
from magicbyte.limits import MIB
from magicbyte.logdir.embedded_file import EmbeddedRange
from magicbyte.logdir.entry_candidates import (
    CHECKS_PER_BYTE,
    FREE_CHECKS,
    RunningChecksum,
    candidate_positions,
)
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.logdir.unread_path import UnreadPath
from magicbyte.storage import File, Storage

NEAR = MIB
"""Bytes at the beginning of a file in which `has_sound_entry` looks for one."""

MAX_CHECKED = 64 * MIB
"""Bytes whose checksums `has_sound_entry` computes at most."""


@dataclass(frozen=True, slots=True)
class SoundRun:
    """Sound entries without a byte between them, whose offsets increase."""

    start: int
    end: int
    num_entries: int
    first_offset: int
    last_offset: int


def sound_entry_at(file: File, position: int, max_entry_bytes: int) -> Entry | None:
    """Return the header at *position* if the checksum of the whole entry is right; else None."""
    entry = _header_at(file, position)
    if entry is None or entry.end > file.size_bytes or entry.size_bytes > max_entry_bytes:
        return None
    return entry if RunningChecksum(file, entry).is_right(entry.end) else None


def has_sound_entry(file: File) -> bool:
    """Return whether a sound entry begins near the beginning of *file*, or follows the frames there."""
    size, left, position = file.size_bytes, MAX_CHECKED, 0
    # Pass 1: where the size fields lead, since the first entries may be large and damaged.
    while left > 0 and (entry := _header_at(file, position)) is not None and entry.end <= size:
        if entry.size_bytes <= left and RunningChecksum(file, entry).is_right(entry.end):
            return True
        left, position = left - max(entry.size_bytes, NEAR), entry.end
    # Pass 2: anywhere in the first bytes, since the file may begin inside an entry.
    left = MAX_CHECKED
    for candidate in candidate_positions(
        file, 0, min(NEAR, size), end=size, max_entry_bytes=MAX_CHECKED
    ):
        entry = _header_at(file, candidate)
        if entry is not None and entry.size_bytes <= left:
            if RunningChecksum(file, entry).is_right(entry.end):
                return True
            left -= entry.size_bytes
    return False


def entry_runs(file: File, max_entry_bytes: int) -> Iterator[SoundRun]:
    """Yield the runs of sound entries in *file*, by position."""
    position, num_checked, size = 0, 0, file.size_bytes
    while True:
        first = None
        for candidate in candidate_positions(
            file, position, size, end=size, max_entry_bytes=max_entry_bytes
        ):
            entry = _header_at(file, candidate)
            if entry is None:
                continue
            if num_checked + entry.size_bytes > CHECKS_PER_BYTE * candidate + FREE_CHECKS:
                continue
            if RunningChecksum(file, entry).is_right(entry.end):
                first = entry
                break
            num_checked += entry.size_bytes
        if first is None:
            return
        last, num_entries = first, 1
        while (following := sound_entry_at(file, last.end, max_entry_bytes)) is not None:
            if following.first_offset <= last.last_offset:
                break
            last, num_entries = following, num_entries + 1
        yield SoundRun(first.position, last.end, num_entries, first.first_offset, last.last_offset)
        position = last.end


def searched_logs(
    path: str, storage: Storage, max_entry_bytes: int
) -> tuple[list[PartitionLog], list[UnreadPath]]:
    """Return a log for each run of entries in the file *path*, and an unread path for the other bytes.

    Raises InputError if there is no sound entry.
    """
    folder, _, name = path.rpartition("/")
    with storage.open_file(path) as file:
        size = file.size_bytes
        runs = list(entry_runs(file, max_entry_bytes))
    if not runs:
        raise InputError(f"{size} bytes without a sound batch", "a file that holds some", path=path)
    logs = []
    for run in runs:
        length = run.end - run.start
        segment = LogFile(
            f"{path}@{run.start}",
            f"{name}@{run.start}",
            "log",
            None,
            length,
            store=storage.store_of(path),
            embedded=EmbeddedRange(size, length, run.start, object_path=path),
        )
        finding = Finding(
            code="found-by-search",
            message=f"{run.num_entries} batches in {length} bytes, offsets {run.first_offset} to "
            f"{run.last_offset}, were found at byte {run.start} of {name}, and are read as a log",
            file=segment.name,
            length=length,
            base_offset=run.first_offset,
            found=str(run.start),
        )
        logs.append(
            PartitionLog(
                None,
                None,
                folder,
                None,
                (segment,),
                is_named=True,
                is_named_files=True,
                findings=(finding,),
            )
        )
    rest = size - sum(run.end - run.start for run in runs)
    if not rest:
        return logs, []
    reason = f"{rest} of {size} bytes hold no sound batch; {len(runs)} ranges that do are read"
    return logs, [UnreadPath(path, "searched", reason, rest)]


def _header_at(file: File, position: int) -> Entry | None:
    data = file.read_at(position, min(HEADER_BYTES, file.size_bytes - position))
    try:
        return read_entry(data, 0, origin=position)
    except FormatError:
        return None
