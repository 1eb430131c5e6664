"""A partition's log put together from the segments of several replicas."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.logdir.replica import FileRange
from magicbyte.reading._replica_fill import Chain, Gap
from magicbyte.reading._replica_holes import Hole

OF_PARTS = ("log", "txnindex")
"""Kinds of files that belong to a whole segment; only parts of it may be read."""


@dataclass(slots=True)
class FilledLog:
    """The parts of segments that together are the log of a partition, in order of offsets."""

    chosen: PartitionLog
    """The replica with the holes."""
    parts: list[LogFile] = field(default_factory=list)
    left_out: list[FileRange] = field(default_factory=list)
    """Bytes of the chosen replica that others replace."""
    sources: dict[str, tuple[PartitionLog, LogFile]] = field(default_factory=dict)
    """The segments of other replicas that are read, by path, with their replica."""
    _position: tuple[int, int] = (0, 0)
    """Number of the chosen replica's next segment, and the position in it."""
    _next_offset: int | None = None

    def add_hole(self, hole: Hole, chains: Sequence[Chain], *, is_closed: bool) -> None:
        """Add the chosen replica's entries up to *hole*, and the *chains* that fill it.

        If they fill it completely (*is_closed*), the damaged bytes in it are not read. Otherwise they
        are a part of their own, so that reading them again finds the same damage.
        """
        begin = self._position if hole.before is None else _end_of(hole.before)
        self._add_chosen(begin)
        self._set_floor(hole.before, "last_offset", 1)
        own_rows = [row for chain in chains if chain.replica is self.chosen for row in chain.rows]
        found = [(*_begin_of(row), _end_of(row)[1]) for row in own_rows]
        for number, unsound in hole.damage:
            file = self.chosen.logs[number]
            for start, stop in _without(unsound.start, unsound.end, number, found):
                if is_closed:
                    self.left_out.append(FileRange(file.path, start, stop, "superseded"))
                else:
                    self._add_part(file, start, stop)
        self._position = self._end if hole.after is None else _begin_of(hole.after)
        for chain in chains:
            self._add_chain(chain)
        self._set_floor(hole.after, "first_offset", 0)

    def finish(self) -> PartitionLog:
        """Return the log, after the last hole."""
        self._add_chosen(self._end)
        last = self.chosen.logs[-1:]
        if (
            last
            and not last[0].size_bytes
            and (last[0].base_offset or 0) >= (self._next_offset or 0)
        ):
            self.parts.append(last[0])
        return replace(
            self.chosen,
            files=tuple(sorted([*self._companions(), *self.parts], key=_base_order)),
            is_filled=True,
            left_out=(*self.left_out, *self._duplicates(), *self._empty_segments()),
            whole_files=(*self.chosen.files, *(file for _, file in self.sources.values())),
        )

    @property
    def _end(self) -> tuple[int, int]:
        logs = self.chosen.logs
        return (len(logs) - 1, logs[-1].size_bytes) if logs else (0, 0)

    def _add_chosen(self, limit: tuple[int, int]) -> None:
        """Add the chosen replica's bytes up to *limit*: a segment's number and a position in it."""
        (number, position), (end_number, end_position) = self._position, limit
        for file_number, file in enumerate(self.chosen.logs):
            if not number <= file_number <= end_number:
                continue
            start = position if file_number == number else file.start
            stop = end_position if file_number == end_number else file.size_bytes
            if stop > start:
                self._add_part(file, start, stop)
        self._position = limit

    def _set_floor(self, entry_row: np.void | None, name: str, distance: int) -> None:
        """Let the next part begin at an offset of *entry_row*, or *distance* above it."""
        if entry_row is not None:
            offset = int(entry_row[name]) + distance
            self._next_offset = max(self._next_offset or 0, offset)

    def _add_chain(self, chain: Chain) -> None:
        logs = chain.replica.logs
        for number, group in groupby(chain.rows, key=lambda row: int(row["file"])):
            rows, file = list(group), logs[number]
            self._set_floor(rows[0], "first_offset", 0)
            self._add_part(file, int(rows[0]["position"]), _end_of(rows[-1])[1])
            if chain.replica is not self.chosen:
                self.sources[file.path] = chain.replica, file
            self._set_floor(rows[-1], "last_offset", 1)

    def _add_part(self, file: LogFile, start: int, stop: int) -> None:
        """Add the bytes [*start*, *stop*) of *file*."""
        base = file.base_offset
        floor = self._next_offset
        if floor is not None and (start > 0 or base is None or base < floor):
            base = floor
        self.parts.append(replace(file, start=start, size_bytes=stop, base_offset=base))

    def _companions(self) -> Iterator[LogFile]:
        """Yield the companion files: of the chosen replica, and of segments of others that it lacks.

        A transaction index counts only where its segment is read as a whole.
        """
        begun = {part.path for part in self.parts if not part.start}
        whole = {
            part.path
            for part in self.parts
            if not part.start and part.size_bytes == self._size_of(part.path)
        }
        seen: set[str] = set()
        for replica in (self.chosen, *(replica for replica, _ in self.sources.values())):
            bases = {
                kind: {file.base_offset for file in replica.logs if file.path in paths}
                for kind, paths in (("snapshot", begun), ("txnindex", whole))
            }
            for file in replica.files:
                is_read = file.live and file.base_offset in bases.get(file.kind, ())
                is_own = replica is self.chosen and not (file.live and file.kind in OF_PARTS)
                if (is_read or is_own) and file.name not in seen:
                    seen.add(file.name)
                    yield file

    def _size_of(self, path: str) -> int:
        for file in (*self.chosen.logs, *(file for _, file in self.sources.values())):
            if file.path == path:
                return file.size_bytes
        return -1

    def _empty_segments(self) -> Iterator[FileRange]:
        """Yield a range of no bytes for each empty segment that is in no part."""
        for file in self.chosen.logs:
            if file.size_bytes == 0:
                yield FileRange(file.path, 0, 0, "superseded")

    def _duplicates(self) -> Iterator[FileRange]:
        """Yield the bytes of the other replicas' segments that are not read."""
        for path, (_, file) in self.sources.items():
            position = file.start
            for part in sorted(
                (part for part in self.parts if part.path == path), key=lambda part: part.start
            ):
                if part.start > position:
                    yield FileRange(path, position, part.start, "duplicate")
                position = part.size_bytes
            if position < file.size_bytes:
                yield FileRange(path, position, file.size_bytes, "duplicate")


def _begin_of(entry_row: np.void) -> tuple[int, int]:
    return int(entry_row["file"]), int(entry_row["position"])


def _end_of(entry_row: np.void) -> tuple[int, int]:
    return int(entry_row["file"]), int(entry_row["position"] + entry_row["size_bytes"])


def _without(
    start: int, stop: int, number: int, found: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the bytes [*start*, *stop*) of segment *number* without the ranges *found*."""
    for file_number, begin, end in sorted(found):
        if file_number == number and begin < stop and start < end:
            if start < begin:
                yield start, begin
            start = end
    if start < stop:
        yield start, stop


def _base_order(file: LogFile) -> int:
    return -1 if file.base_offset is None else file.base_offset


def is_closed(hole: Hole, chains: Sequence[Chain], open_gaps: Sequence[Gap]) -> bool:
    """Return whether *chains* hold all entries that are known to be in *hole*.

    At the beginning and at the end of a log only the number of damaged bytes tells.
    """
    if any(gap.before is not None and gap.after is not None for gap in open_gaps):
        return False
    is_open = hole.before is None or hole.after is None
    return not is_open or sum(chain.num_bytes for chain in chains) >= hole.damaged_bytes


def filled_log(
    chosen: PartitionLog, holes: Sequence[Hole], chains: Sequence[Chain], open_gaps: Sequence[Gap]
) -> PartitionLog:
    """Return the log of *chosen* with its *holes* filled by *chains*; *open_gaps* remain."""
    out = FilledLog(chosen)
    by_hole: dict[int, list[Chain]] = {}
    for chain in sorted(chains, key=lambda chain: chain.first_offset):
        by_hole.setdefault(chain.hole, []).append(chain)
    for number, hole in enumerate(holes):
        own = by_hole.get(number, [])
        rest = [gap for gap in open_gaps if gap.hole == number]
        out.add_hole(hole, own, is_closed=bool(own) and is_closed(hole, own, rest))
    return out.finish()
