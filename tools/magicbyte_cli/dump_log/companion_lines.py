"""Lines of indexes and producer snapshots."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.compute as pc

from magicbyte import ChecksumError, FormatError
from magicbyte.engines.entry import SEQUENCES
from magicbyte.engines.factory import engine
from magicbyte.logdir.companions import (
    MAX_COMPANION_BYTES,
    read_producer_snapshot,
    unjudged_transactions,
)
from magicbyte.logdir.frames import Frame
from magicbyte.logdir.indexes import position_of, whole_rows, without_zeros
from magicbyte.storage import read_small_file
from magicbyte_cli.dump_log.closing_findings import Findings
from magicbyte_cli.dump_log.end_error import EndError
from magicbyte_cli.dump_log.frames import LIMITS, entry_of, frames, last_offset_of
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.wire import (
    OffsetIndexEntry,
    ProducerSnapshotEntry,
    ProducerSnapshotHeader,
    TimeIndexEntry,
)

Complain = Callable[[str], None]
"""Says a line on stderr."""


def index_lines(
    path: Path, found: Findings, *, verify_only: bool, sanity: bool, max_message_size: int
) -> Iterator[str]:
    """Yield the lines of an offset index; EndError where the tool has an exception."""
    log, base = _log_beside(path), base_offset(path)
    data = _read(path)
    count = len(data) // OffsetIndexEntry.SIZE
    if count == 0:
        yield f"{path.name} is empty."
        return
    entries = [OffsetIndexEntry.unpack_from(data, OffsetIndexEntry.SIZE * n) for n in range(count)]
    if sanity:
        _check(path, data, OffsetIndexEntry.SIZE, base, base + entries[-1].relative_offset)
        yield f"{path.name} passed sanity check."
        return
    for number, entry in enumerate(entries):
        offset = base + entry.relative_offset
        if offset == base and number > 0:
            return  # the zeros of a preallocated file
        there = last_offset_of(_first(log, entry.ofs_batch, max_message_size))
        if there != offset:
            found.of_index(path).append((offset, there))
        if not verify_only:
            yield f"offset: {offset} position: {entry.ofs_batch}"


def _first(log: Path, position: int, max_bytes: int) -> Frame:
    size = log.stat().st_size
    if position < 0 or position > size:
        raise EndError(f"Slice from position {position} exceeds end position of {log.name}, {size}")
    for frame in frames(log, begin=position, end=min(size, position + max_bytes)):
        return frame
    raise EndError(f"no batch at byte {position} of {log.name}")


def time_index_lines(
    path: Path, found: Findings, *, verify_only: bool, sanity: bool
) -> Iterator[str]:
    """Yield the lines of a time index; EndError where the tool has an exception."""
    log, base = _log_beside(path), base_offset(path)
    index = path.with_suffix(".index")
    if not index.exists():
        raise EndError("Invalid max index size: -1")
    data = _read(path)
    count = len(data) // TimeIndexEntry.SIZE
    entries = [TimeIndexEntry.unpack_from(data, TimeIndexEntry.SIZE * n) for n in range(count)]
    if sanity:
        last = base + entries[-1].relative_offset if entries else base
        _check(path, data, TimeIndexEntry.SIZE, base, last)
        if entries and entries[-1].timestamp < entries[0].timestamp:
            raise EndError(f"{path.name}: the last time is below the first")
        yield f"{path.name} passed sanity check."
        return
    # In the zeros of a preallocated file the tool finds 0, from where it comes to the same batch.
    places = without_zeros(whole_rows(_read(index), OffsetIndexEntry))
    before = -1
    for number, entry in enumerate(entries):
        offset = base + entry.relative_offset
        if offset == base and number > 0:
            return
        frame = _first_with(log, position_of(places, entry.relative_offset), offset)
        if frame is None or last_offset_of(frame) != offset:
            told = (offset, -1 if frame is None else last_offset_of(frame))
            found.of_time_index(path).not_found.append(told)
        else:
            if (there := _max_timestamp(frame)) != entry.timestamp:
                found.of_time_index(path).mismatches.append((entry.timestamp, there))
            if before >= entry.timestamp:
                found.of_time_index(path).out_of_order.append((entry.timestamp, before))
        if not verify_only:
            yield f"timestamp: {entry.timestamp} offset: {offset}"
        before = entry.timestamp


def _first_with(log: Path, position: int, offset: int) -> Frame | None:
    """Return the first batch from *position* on that ends at *offset* or behind it."""
    size = log.stat().st_size
    if position > size:
        raise EndError(f"Slice from position {position} exceeds end position of {log.name}, {size}")
    return next((b for b in frames(log, begin=position) if last_offset_of(b) >= offset), None)


def _max_timestamp(frame: Frame) -> int:
    """Return the highest time of the records of a batch, -1 where none has one."""
    rows = engine("reference").decode(
        frame.data, [entry_of(frame)], ("timestamp",), origin=0, limits=LIMITS
    )
    highest = pc.max(rows.rows["timestamp"].cast("int64")).as_py()
    return -1 if highest is None else int(highest)


def _check(path: Path, data: bytes, size: int, base: int, last: int) -> None:
    if last < base:
        raise EndError(f"Corrupt index found, {path.name}: the last offset {last} is below {base}")
    if len(data) % size:
        raise EndError(
            f"Corrupt index file: {path.name} has {len(data)} bytes, no multiple of {size}"
        )


def _log_beside(path: Path) -> Path:
    log = path.with_suffix(".log")
    if not log.exists():
        raise EndError(f"{log.name}: no such file")
    return log


def transaction_index_lines(path: Path) -> Iterator[str]:
    for _, version, entry in unjudged_transactions(_read(path)):
        if version > 0:
            raise EndError(
                f"Unexpected aborted transaction version {version}, current version is 0"
            )
        yield (
            f"version: {version} producerId: {entry.producer_id} firstOffset: {entry.first_offset} "
            f"lastOffset: {entry.last_offset} lastStableOffset: {entry.last_stable_offset}"
        )


def snapshot_lines(path: Path, release: Release, complain: Complain) -> Iterator[str]:
    data = _read(path)
    try:
        entries = read_producer_snapshot(data)
    except ChecksumError as error:
        # The tool takes the fields apart before it looks at the checksum.
        told = ProducerSnapshotHeader.unpack_from(data).num_producers
        if ProducerSnapshotHeader.SIZE + told * ProducerSnapshotEntry.SIZE > len(data):
            complain(f"Snapshot failed schema validation: {told} producers in {len(data)} bytes")
        else:
            complain(
                "Snapshot is corrupt (CRC is no longer valid). "
                f"Stored crc: {error.stored}. Computed crc: {error.computed}"
            )
        return
    except FormatError as error:
        complain(f"Snapshot failed schema validation: {error.message}")
        return
    for entry in entries:
        yield _producer(entry, release)


def _producer(entry: ProducerSnapshotEntry, release: Release) -> str:
    first = entry.current_transaction_first_offset
    line = (
        f"producerId: {entry.producer_id} producerEpoch: {entry.epoch} "
        f"coordinatorEpoch: {entry.coordinator_epoch} "
        f"currentTxnFirstOffset: {release.optional(None if first < 0 else first)} "
    )
    if release.since(3, 1):
        line += f"lastTimestamp: {entry.timestamp} "
    if entry.last_offset >= 0:
        first_sequence = entry.last_sequence - entry.offset_delta
        if first_sequence < 0 <= entry.last_sequence:
            first_sequence += SEQUENCES
        line += (
            f"firstSequence: {first_sequence} lastSequence: {entry.last_sequence} "
            f"lastOffset: {entry.last_offset} offsetDelta: {entry.offset_delta} "
            f"timestamp: {entry.timestamp}"
        )
    return line.rstrip() if release.since(4, 3) else line


def base_offset(path: Path) -> int:
    """Return the offset that the name of *path* says; EndError where it says none."""
    name = path.name.split(".")[0]
    try:
        return int(name)
    except ValueError:
        raise EndError(f"{path.name}: the name begins with {name!r}, not an offset") from None


def _read(path: Path) -> bytes:
    return read_small_file(str(path), max_bytes=MAX_COMPANION_BYTES)
