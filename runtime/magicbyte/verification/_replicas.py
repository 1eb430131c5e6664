"""Compares the replicas of a partition, which should all hold the same batches.

A follower copies its leader's batches byte by byte, so headers are enough: two batches with the same
checksum at the same offset are equal in all bytes that the checksum covers.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from magicbyte.engines.protocol import Entries
from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.logdir.clusters import replica_groups
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.replica_choice import choose_replica
from magicbyte.reading.survey import Survey

COMPARED = ("last_offset", "crc", "size_bytes", "leader_epoch")
"""Fields that must be equal in entries of one first offset."""

FIELDS = ("first_offset", *COMPARED, "position")
ROW = np.dtype([(name, np.int64) for name in (*FIELDS, "file")])
HeaderRows = np.ndarray[tuple[int], np.dtype[np.void]]
"""A ROW for each entry; `file` is an index of _ReplicaHeaders.files."""

FIELD_NAMES = {"last_offset": "last offset", "crc": "checksum", "size_bytes": "size"}


def replica_choices(
    logs: Sequence[PartitionLog],
    options: ReadOptions,
    damaged: Collection[tuple[str | None, int | None]],
) -> Iterator[PartitionLog]:
    """Yield the log that a read would give for each partition with several replicas among *logs*.

    *damaged* are the topics and partitions that have findings of severity error.
    """
    by_name: defaultdict[tuple[str, int | None], list[PartitionLog]] = defaultdict(list)
    for log in logs:
        if log.topic is not None and log.state is None:
            by_name[log.topic, log.partition].append(log)
    for name, same_name in by_name.items():
        if len(same_name) < 2:
            continue
        try:
            (replicas,) = replica_groups(same_name, ())
        except InputError:
            continue  # two topics of one name: reported as `topic-id-differs`
        if len(replicas) > 1:
            plain = [replace(log, findings=()) for log in replicas]
            is_damaged = name in damaged
            chosen = choose_replica(plain, folders=(), options=options, fill=is_damaged)
            if not is_damaged and len({row.log_end_offset for row in chosen.measured_replicas}) > 1:
                chosen = choose_replica(plain, folders=(), options=options, fill=True)
            yield chosen


def replica_differences(planner: Planner, logs: Iterable[PartitionLog]) -> Iterator[Finding]:
    """Yield the first difference of each replica among *logs* from the partition's first replica.

    Only offsets are compared that both replicas hold and that are not cleaned, since every broker
    cleans by itself. Offsets above the high watermark are left out where a checkpoint has one:
    replicas may differ until records are acknowledged.
    """
    replica_logs: defaultdict[tuple[str, int | None], list[PartitionLog]] = defaultdict(list)
    for log in logs:
        if log.topic is not None and log.state is None and not log.is_remote:
            replica_logs[log.topic, log.partition].append(log)
    for first, *others in replica_logs.values():
        for other in others:
            finding = _first_difference(planner, first, other)
            if finding is not None:
                yield finding


def _first_difference(
    planner: Planner, reference: PartitionLog, replica: PartitionLog
) -> Finding | None:
    """Return a finding about the first entry that differs; None where the replicas agree."""
    if None not in (ids := {reference.topic_id, replica.topic_id}) and len(ids) > 1:
        return None  # two topics of one name: reported as `topic-id-differs`
    surveys = [planner.survey(log, quick=True) for log in (reference, replica)]
    if not all(survey.is_in_order for survey in surveys):
        return None
    begin = max(map(_end_of_cleaning, surveys))
    watermarks = [log.high_watermark_checkpoint for log in (reference, replica)]
    end = max((mark for mark in watermarks if mark is not None), default=None)
    headers = [_ReplicaHeaders(planner, survey, begin, end) for survey in surveys]
    pairs = _differing_rows(*headers)
    row, other = next(pairs, (None, None))
    if row is None or other is None:
        return None
    last_offset, num_batches = row["last_offset"], 1
    for later, _ in pairs:
        last_offset, num_batches = later["last_offset"], num_batches + 1
    rest = f"; {num_batches} batches differ, up to offset {last_offset}" if num_batches > 1 else ""
    field = next(name for name in COMPARED if row[name] != other[name])
    expected, found = (_field_text(field, int(values[field])) for values in (row, other))
    return Finding(
        code="replicas-differ",
        message=f"offset {row['first_offset']}: "
        f"{FIELD_NAMES.get(field, field.replace('_', ' '))} {found} in {replica.folder}, "
        f"{expected} in {reference.folder}{rest}",
        topic=replica.topic,
        partition=replica.partition,
        file=headers[1].files[other["file"]].name,
        position=int(other["position"]),
        length=int(other["size_bytes"]),
        base_offset=int(other["first_offset"]),
        field=field,
        found=found,
        expected=expected,
        replica=replica.folder.rpartition("/")[0] or None,
    )


def _field_text(field: str, value: int) -> str:
    return f"0x{value:08x}" if field == "crc" else str(value)


def _end_of_cleaning(survey: Survey) -> int:
    """Return the offset after all cleaned segments, or the cleaner's checkpoint if it is higher."""
    segments = survey.segments
    ends = [following.file.base_offset for following in segments[1:]] + [survey.log_end_offset]
    cleaned = [end or 0 for segment, end in zip(segments, ends, strict=True) if segment.is_cleaned]
    return max([survey.log.cleaner_offset or 0, *cleaned])


class _ReplicaHeaders:
    """The headers of a replica in order of offsets, a chunk at a time."""

    def __init__(self, planner: Planner, survey: Survey, begin: int, end: int | None) -> None:
        self.files: list[LogFile] = []
        self.rows: HeaderRows = np.empty(0, ROW)
        """Rows that have been read, but not compared."""
        self._begin, self._end = begin, end
        self._chunks = planner.headers(survey)

    def fill(self) -> bool:
        """Read the next rows if none are buffered; return whether any rows are left."""
        while not len(self.rows):
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            self.rows = self._wanted_rows(*chunk)
        return True

    def _wanted_rows(self, file: LogFile, entries: Entries) -> HeaderRows:
        if not self.files or self.files[-1] is not file:
            self.files.append(file)
        rows: HeaderRows = np.empty(len(entries), ROW)
        for name in FIELDS:
            rows[name] = entries.column(name)
        rows["file"] = len(self.files) - 1
        is_wanted = rows["first_offset"] >= self._begin
        if self._end is not None:
            is_wanted &= rows["last_offset"] < self._end
        return rows[is_wanted]

    def remove_up_to(self, offset: int) -> HeaderRows:
        """Remove and return the rows up to first offset *offset*."""
        number = int(np.searchsorted(self.rows["first_offset"], offset, "right"))
        removed, self.rows = self.rows[:number], self.rows[number:]
        return removed


def _differing_rows(
    headers: _ReplicaHeaders, other_headers: _ReplicaHeaders
) -> Iterator[tuple[np.void, np.void]]:
    """Yield pairs of rows, one per replica, of entries with equal first offsets that differ."""
    while headers.fill() and other_headers.fill():
        offset = min(each.rows["first_offset"][-1] for each in (headers, other_headers))
        rows, others = headers.remove_up_to(offset), other_headers.remove_up_to(offset)
        _, indices, other_indices = np.intersect1d(
            rows["first_offset"], others["first_offset"], assume_unique=True, return_indices=True
        )
        rows, others = rows[indices], others[other_indices]
        are_different = np.any([rows[name] != others[name] for name in COMPARED], axis=0)
        yield from zip(rows[are_different], others[are_different], strict=True)
