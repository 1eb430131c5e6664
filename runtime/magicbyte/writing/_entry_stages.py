"""Changes of log entries that leave their records unchanged: headers are patched, entries left out.

Each function takes the parts of a partition and yields changed parts, so that changes can follow each other.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from magicbyte import checksum
from magicbyte.logdir.file_names import parse_file
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.entry_runs import Part, SegmentStart, SourceRun
from magicbyte.writing._entry_cuts import entry_from, entry_up_to
from magicbyte.writing._output_parts import (
    EntryBytes,
    NewSegment,
    OutputPart,
    headers_of,
    starts_of,
)
from magicbyte_formats.wire import RecordBatchHeader

LEADER_EPOCH = RecordBatchHeader.POSITIONS["partition_leader_epoch"]
PRODUCER_ID = RecordBatchHeader.POSITIONS["producer_id"]
CRC = RecordBatchHeader.POSITIONS["crc"]


def segment_runs(source_parts: Iterable[Part]) -> Iterator[NewSegment | SourceRun]:
    """Yield the segments of a partition, and their sound entries without those that a later segment repeats."""
    next_offset, is_open = 0, False
    for part in source_parts:
        if isinstance(part, SegmentStart):
            base_offset = base_offset_of(part.file)
            # A log that is filled from other replicas has parts of segments: those after the first go on.
            is_rest = part.file.start > 0 and is_open
            if base_offset is not None and base_offset >= next_offset and not is_rest:
                yield NewSegment(base_offset)
                next_offset, is_open = base_offset, True
        elif isinstance(part, SourceRun):
            end_offset = part.file.end_offset
            if end_offset is not None:
                count = int(np.searchsorted(part.entries.column("first_offset"), end_offset))
                if not count:
                    continue
                part = part.part(0, count)
            next_offset = int(part.entries.column("last_offset")[-1]) + 1
            yield part


def copied_parts(source_parts: Iterable[Part]) -> Iterator[OutputPart]:
    """Yield the segments and sound entries of a partition."""
    for part in segment_runs(source_parts):
        yield part if isinstance(part, NewSegment) else EntryBytes(part.data, part.entries)


def base_offset_of(file: LogFile) -> int | None:
    """Return the base offset of a segment, also of one that the user named."""
    return parse_file(file.name).base_offset if file.base_offset is None else file.base_offset


def cut_before(
    output_parts: Iterable[OutputPart], first_offset: int, changes: Counter[str]
) -> Iterator[OutputPart]:
    """Leave out all records below *first_offset*, after which the first segment is named.

    An entry that has the offset inside is encoded again without the records below, which were deleted. So no entry
    begins below the name of its file.
    """
    is_open = False
    for part in output_parts:
        if isinstance(part, NewSegment):
            if is_open:
                yield part
            elif part.base_offset >= first_offset:
                yield NewSegment(first_offset)
                is_open = True
            continue
        headers = headers_of(part)
        # The last offset is the lower one where it wrapped around after the highest.
        highest = np.maximum(headers.column("first_offset"), headers.column("last_offset"))
        is_above = highest >= first_offset
        count = int(np.argmax(is_above)) if is_above.any() else len(headers)
        changes["left-out"] += count
        if count == len(headers):
            continue
        if not is_open:
            yield NewSegment(first_offset)
            is_open = True
        begin = int(starts_of(headers)[count])
        data = part.data[begin:]
        size = headers[count].size_bytes
        rest = entry_from(data[:size], first_offset, changes)
        if rest is None:
            yield EntryBytes(data, headers[count:])
            continue
        yield EntryBytes(memoryview(rest))
        if count + 1 < len(headers):
            yield EntryBytes(data[size:], headers[count + 1 :])
    if not is_open:
        yield NewSegment(first_offset)


def cut_after(
    output_parts: Iterable[OutputPart], end_offset: int, changes: Counter[str]
) -> Iterator[OutputPart]:
    """Leave out all records from *end_offset* on. An entry that has it inside is encoded again without these."""
    is_open = False
    for part in output_parts:
        if isinstance(part, NewSegment):
            if part.base_offset >= end_offset and is_open:
                return
            is_open = True
            yield NewSegment(min(part.base_offset, end_offset))
            continue
        headers = headers_of(part)
        count = int(np.count_nonzero(headers.column("last_offset") < end_offset))
        if count == len(headers):
            yield part
            continue
        begin = int(starts_of(headers)[count])
        if count:
            yield EntryBytes(part.data[:begin], headers[:count])
        entry = part.data[begin : begin + headers[count].size_bytes]
        if headers[count].first_offset < end_offset or headers[count].is_wrapper:
            shorter = entry_up_to(entry, end_offset, changes)
            if shorter:
                yield EntryBytes(memoryview(shorter))
        return


def with_leader_epoch(
    output_parts: Iterable[OutputPart], leader_epoch: int, changes: Counter[str]
) -> Iterator[OutputPart]:
    """Set the leader epoch of all v2 batches: four bytes that no checksum covers."""
    field = np.frombuffer(leader_epoch.to_bytes(4, "big", signed=True), np.uint8)
    for part in output_parts:
        if not isinstance(part, EntryBytes):
            yield part
            continue
        headers = headers_of(part)
        is_other = (headers.column("magic") == 2) & (headers.column("leader_epoch") != leader_epoch)
        if not is_other.any():
            yield part
            continue
        data = bytearray(part.data)
        positions = starts_of(headers)[is_other] + LEADER_EPOCH
        np.frombuffer(data, np.uint8)[positions[:, None] + np.arange(len(field))] = field
        changes["leader-epoch-set"] += len(positions)
        yield EntryBytes(memoryview(data))


def with_producer_ids_above(
    output_parts: Iterable[OutputPart], shift: int, changes: Counter[str]
) -> Iterator[OutputPart]:
    """Add *shift* to the producer ids that are below it, and compute the checksums of these batches again."""
    for part in output_parts:
        if not isinstance(part, EntryBytes):
            yield part
            continue
        headers = headers_of(part)
        producer_ids = headers.column("producer_id")
        is_low = (headers.column("magic") == 2) & (producer_ids >= 0) & (producer_ids < shift)
        if not is_low.any():
            yield part
            continue
        data = bytearray(part.data)
        view, starts = memoryview(data), starts_of(headers)
        sizes = headers.column("size_bytes")
        numbers = np.flatnonzero(is_low).tolist()
        for number in numbers:
            entry = view[int(starts[number]) :][: int(sizes[number])]
            shifted = int(producer_ids[number]) + shift
            entry[PRODUCER_ID : PRODUCER_ID + 8] = shifted.to_bytes(8, "big")
            computed = checksum.crc32c(entry[RecordBatchHeader.CHECKSUM.start :])
            entry[CRC : CRC + 4] = computed.to_bytes(4, "big")
        changes["producer-id-shifted"] += len(numbers)
        yield EntryBytes(memoryview(data))
