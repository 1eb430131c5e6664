"""Lines that kafka-dump-log prints for indexes and producer snapshots."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from magicbyte import ChecksumError, FormatError
from magicbyte.engines.entry import SEQUENCES
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.logdir.companions import (
    MAX_COMPANION_BYTES,
    read_producer_snapshot,
    unchecked_transactions,
)
from magicbyte.logdir.frames import Frame
from magicbyte.logdir.indexes import position_of, whole_rows, without_zeros
from magicbyte.storage import read_small_file
from magicbyte_cli.dump_log import ToolError
from magicbyte_cli.dump_log.closing_findings import ClosingFindings
from magicbyte_cli.dump_log.frames import LIMITS, entry_of, frames, last_offset_of, tool_error
from magicbyte_cli.dump_log.record_lines import SegmentOptions
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.wire import (
    OffsetIndexEntry,
    ProducerSnapshotEntry,
    ProducerSnapshotHeader,
    TimeIndexEntry,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpOptions:
    """Options of kafka-dump-log, for segments and for companion files."""

    segments: SegmentOptions
    verify_only: bool
    sanity: bool
    max_message_size: int
    warn: Callable[[str], None]
    """Prints a line on stderr."""


def index_lines(path: Path, findings: ClosingFindings, dump_options: DumpOptions) -> Iterator[str]:
    """Yield the lines that kafka-dump-log prints for an offset index."""
    log, base = _log_of(path), base_offset(path)
    data = _read(path)
    count = len(data) // OffsetIndexEntry.SIZE
    if count == 0:
        yield f"{path.name} is empty."
        return
    entries = [OffsetIndexEntry.unpack_from(data, OffsetIndexEntry.SIZE * n) for n in range(count)]
    if dump_options.sanity:
        _check(path, data, OffsetIndexEntry.SIZE, base, base + entries[-1].relative_offset)
        yield f"{path.name} passed sanity check."
        return
    for number, entry in enumerate(entries):
        offset = base + entry.relative_offset
        if offset == base and number > 0:
            return  # the zeros of a preallocated file
        log_offset = last_offset_of(
            _first_frame(log, entry.ofs_batch, dump_options.max_message_size)
        )
        if log_offset != offset:
            findings.indexes[path].append((offset, log_offset))
        if not dump_options.verify_only:
            yield f"offset: {offset} position: {entry.ofs_batch}"


def _first_frame(log_path: Path, position: int, max_bytes: int) -> Frame:
    size = log_path.stat().st_size
    if position < 0 or position > size:
        raise ToolError(
            f"Slice from position {position} exceeds end position of {log_path.name}, {size}"
        )
    for frame in frames(log_path, begin=position, end=min(size, position + max_bytes)):
        return frame
    raise ToolError(f"no batch at byte {position} of {log_path.name}")


def time_index_lines(
    path: Path, findings: ClosingFindings, dump_options: DumpOptions
) -> Iterator[str]:
    """Yield the lines that kafka-dump-log prints for a time index."""
    log, base = _log_of(path), base_offset(path)
    index = path.with_suffix(".index")
    if not index.exists():
        raise ToolError("Invalid max index size: -1")
    data = _read(path)
    count = len(data) // TimeIndexEntry.SIZE
    entries = [TimeIndexEntry.unpack_from(data, TimeIndexEntry.SIZE * n) for n in range(count)]
    if dump_options.sanity:
        last = base + entries[-1].relative_offset if entries else base
        _check(path, data, TimeIndexEntry.SIZE, base, last)
        if entries and entries[-1].timestamp < entries[0].timestamp:
            raise ToolError(f"{path.name}: the last timestamp is below the first")
        yield f"{path.name} passed sanity check."
        return
    # In the zeros of a preallocated file the tool finds position 0, and the same batch from there.
    index_entries = without_zeros(whole_rows(_read(index), OffsetIndexEntry))
    previous = -1
    for number, entry in enumerate(entries):
        offset = base + entry.relative_offset
        if offset == base and number > 0:
            return
        frame = _frame_with(log, position_of(index_entries, entry.relative_offset), offset)
        if frame is None or last_offset_of(frame) != offset:
            log_offset = -1 if frame is None else last_offset_of(frame)
            findings.time_indexes[path].not_found.append((offset, log_offset))
        else:
            if (log_timestamp := _max_timestamp(frame)) != entry.timestamp:
                findings.time_indexes[path].mismatches.append((entry.timestamp, log_timestamp))
            if previous >= entry.timestamp:
                findings.time_indexes[path].out_of_order.append((entry.timestamp, previous))
        if not dump_options.verify_only:
            yield f"timestamp: {entry.timestamp} offset: {offset}"
        previous = entry.timestamp


def _frame_with(log_path: Path, position: int, offset: int) -> Frame | None:
    """Return the first batch from *position* on with a last offset of at least *offset*."""
    size = log_path.stat().st_size
    if position > size:
        raise ToolError(
            f"Slice from position {position} exceeds end position of {log_path.name}, {size}"
        )
    return next((f for f in frames(log_path, begin=position) if last_offset_of(f) >= offset), None)


def _max_timestamp(frame: Frame) -> int:
    """Return the largest timestamp of the records of a batch in milliseconds; -1 if there is none.

    Raises ToolError if a record cannot be read.
    """
    entry = entry_of(frame)
    rows, result = ReferenceEngine().decode_entry(frame.data, entry, ("timestamp",), LIMITS)
    if not result.is_sound:
        raise tool_error(frame, result.findings[0].message)
    highest = pc.max(rows["timestamp"].cast("int64")).as_py()
    return -1 if highest is None else int(highest)


def _check(path: Path, data: bytes, size: int, base: int, last: int) -> None:
    if last < base:
        raise ToolError(f"Corrupt index found, {path.name}: the last offset {last} is below {base}")
    if len(data) % size:
        raise ToolError(
            f"Corrupt index file: {path.name} has {len(data)} bytes, no multiple of {size}"
        )


def _log_of(path: Path) -> Path:
    log = path.with_suffix(".log")
    if not log.exists():
        raise ToolError(f"{log.name}: no such file")
    return log


def transaction_index_lines(path: Path, release: Release) -> Iterator[str]:
    for _, version, entry in unchecked_transactions(_read(path)):
        if release.since(4, 4) and entry.version != 0:
            raise ToolError(
                f"Unexpected aborted transaction version {entry.version} in transaction index "
                f"{path.name}, supported version range is 0 to 0"
            )
        if version > 0:
            raise ToolError(
                f"Unexpected aborted transaction version {version}, current version is 0"
            )
        yield (
            f"version: {version} producerId: {entry.producer_id} firstOffset: {entry.first_offset} "
            f"lastOffset: {entry.last_offset} lastStableOffset: {entry.last_stable_offset}"
        )


def snapshot_lines(path: Path, dump_options: DumpOptions) -> Iterator[str]:
    data, warn = _read(path), dump_options.warn
    try:
        entries = read_producer_snapshot(data)
    except ChecksumError as error:
        # The tool parses the fields before it compares the checksum.
        num_producers = ProducerSnapshotHeader.unpack_from(data).num_producers
        if ProducerSnapshotHeader.SIZE + num_producers * ProducerSnapshotEntry.SIZE > len(data):
            warn(
                f"Snapshot failed schema validation: {num_producers} producers in {len(data)} bytes"
            )
        else:
            warn(
                "Snapshot is corrupt (CRC is no longer valid). "
                f"Stored crc: {error.stored}. Computed crc: {error.computed}"
            )
        return
    except FormatError as error:
        warn(f"Snapshot failed schema validation: {error.message}")
        return
    for entry in entries:
        yield _producer(entry, dump_options.segments.release)


def _producer(producer: ProducerSnapshotEntry, release: Release) -> str:
    first = producer.current_transaction_first_offset
    line = (
        f"producerId: {producer.producer_id} producerEpoch: {producer.epoch} "
        f"coordinatorEpoch: {producer.coordinator_epoch} "
        f"currentTxnFirstOffset: {release.optional(None if first < 0 else first)} "
    )
    if release.since(3, 1):
        line += f"lastTimestamp: {producer.timestamp} "
    if producer.last_offset >= 0:
        first_sequence = producer.last_sequence - producer.offset_delta
        if first_sequence < 0 <= producer.last_sequence:
            first_sequence += SEQUENCES
        line += (
            f"firstSequence: {first_sequence} lastSequence: {producer.last_sequence} "
            f"lastOffset: {producer.last_offset} offsetDelta: {producer.offset_delta} "
            f"timestamp: {producer.timestamp}"
        )
    return line.rstrip() if release.since(4, 3) else line


def base_offset(path: Path) -> int:
    """Return the offset in the name of *path*; ToolError if there is none."""
    name = path.name.split(".")[0]
    try:
        return int(name)
    except ValueError:
        raise ToolError(f"{path.name}: the name begins with {name!r}, not an offset") from None


def _read(path: Path) -> bytes:
    return read_small_file(str(path), max_bytes=MAX_COMPANION_BYTES)
