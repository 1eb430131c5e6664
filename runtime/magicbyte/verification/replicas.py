"""The replicas of a partition beside each other: what one holds, all hold.

A follower copies its leader's batches byte by byte, so that one look at the headers compares two
replicas: with the same checksum at the same offset, all behind the checksum is the same.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.planner import Planner
from magicbyte.reading.survey import Survey

COMPARED = ("last_offset", "crc", "size_bytes", "leader_epoch")
"""What must be the same at the same first offset."""

FIELDS = ("first_offset", *COMPARED, "position")
ROW = np.dtype([(name, np.int64) for name in (*FIELDS, "file")])
HeadRows = np.ndarray[tuple[int], np.dtype[np.void]]
"""A ROW for each entry; `file` is a number of _Heads.files."""

WORDS = {"last_offset": "last offset", "crc": "checksum", "size_bytes": "size"}


def differences(planner: Planner, logs: Iterable[PartitionLog]) -> Iterator[Finding]:
    """Yield where the replicas of one partition among *logs* differ: each with the first of them.

    Only offsets are compared that each holds and no cleaner has been at, since brokers clean each
    for itself. Where checkpoints tell a high watermark, what lies above it is left out: until it
    is acknowledged, replicas may differ.
    """
    replicas: defaultdict[tuple[str, int | None], list[PartitionLog]] = defaultdict(list)
    for log in logs:
        if log.topic is not None and log.state is None and not log.is_remote:
            replicas[log.topic, log.partition].append(log)
    for first, *others in replicas.values():
        for other in others:
            found = _difference(planner, first, other)
            if found is not None:
                yield found


def _difference(planner: Planner, one: PartitionLog, other: PartitionLog) -> Finding | None:
    """Return where two replicas begin to differ, None where they do not."""
    if None not in (ids := {one.topic_id, other.topic_id}) and len(ids) > 1:
        return None  # `topic-id-differs` says that they are of different topics
    surveys = [planner.survey(log, quick=True) for log in (one, other)]
    if not all(found.is_in_order for found in surveys):
        return None  # which offset is where cannot be told
    begin = max(map(_cleaned_up_to, surveys))
    marks = [found.log.high_watermark_checkpoint for found in surveys]
    end = max((mark for mark in marks if mark is not None), default=None)
    heads = [_Heads(planner, found, begin, end) for found in surveys]
    differing = _differing(*heads)
    here, there = next(differing, (None, None))
    if here is None or there is None:
        return None
    offset, num_batches = here["last_offset"], 1
    for more, _ in differing:
        offset, num_batches = more["last_offset"], num_batches + 1
    rest = f"; {num_batches} batches differ, up to offset {offset}" if num_batches > 1 else ""
    field = next(name for name in COMPARED if here[name] != there[name])
    expected, found = (_shown(field, int(row[field])) for row in (here, there))
    return Finding(
        code="replicas-differ",
        message=f"offset {here['first_offset']}: {WORDS.get(field, field.replace('_', ' '))} "
        f"{found} in {other.folder}, {expected} in {one.folder}{rest}",
        topic=other.topic,
        partition=other.partition,
        file=heads[1].files[there["file"]].name,
        position=int(there["position"]),
        length=int(there["size_bytes"]),
        base_offset=int(there["first_offset"]),
        field=field,
        found=found,
        expected=expected,
    )


def _shown(field: str, value: int) -> str:
    return f"0x{value:08x}" if field == "crc" else str(value)


def _cleaned_up_to(found: Survey) -> int:
    """Return the offset from which on no cleaner has been at a log, as far as it can be told."""
    segments = found.segments
    ends = [following.file.base_offset for following in segments[1:]] + [found.log_end_offset]
    cleaned = [end or 0 for segment, end in zip(segments, ends, strict=True) if segment.is_cleaned]
    return max([found.log.cleaner_offset or 0, *cleaned])


class _Heads:
    """The headers of a log, in order of offsets, some at a time."""

    def __init__(self, planner: Planner, found: Survey, begin: int, end: int | None) -> None:
        self.files: list[LogFile] = []
        self.rows: HeadRows = np.empty(0, ROW)
        """What has been read and not been taken."""
        self._begin, self._end = begin, end
        self._chunks = planner.headers(found)

    def fill(self) -> bool:
        """Read on if there are no rows; return whether there are some then."""
        while not len(self.rows):
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            self.rows = self._of(*chunk)
        return True

    def _of(self, file: LogFile, entries: Entries) -> HeadRows:
        if not self.files or self.files[-1] is not file:
            self.files.append(file)
        rows: HeadRows = np.empty(len(entries), ROW)
        for name in FIELDS:
            rows[name] = entries.column(name)
        rows["file"] = len(self.files) - 1
        is_wanted = rows["first_offset"] >= self._begin
        if self._end is not None:
            is_wanted &= rows["last_offset"] < self._end
        return rows[is_wanted]

    def take_to(self, offset: int) -> HeadRows:
        """Return the rows up to the first offset *offset*, and keep the rest."""
        number = int(np.searchsorted(self.rows["first_offset"], offset, "right"))
        taken, self.rows = self.rows[:number], self.rows[number:]
        return taken


def _differing(one: _Heads, other: _Heads) -> Iterator[tuple[np.void, np.void]]:
    """Yield the rows of entries that begin at the same offset and are not the same."""
    while one.fill() and other.fill():
        offset = min(heads.rows["first_offset"][-1] for heads in (one, other))
        here, there = one.take_to(offset), other.take_to(offset)
        _, at_here, at_there = np.intersect1d(
            here["first_offset"], there["first_offset"], assume_unique=True, return_indices=True
        )
        here, there = here[at_here], there[at_there]
        is_other = np.any([here[name] != there[name] for name in COMPARED], axis=0)
        yield from zip(here[is_other], there[is_other], strict=True)
