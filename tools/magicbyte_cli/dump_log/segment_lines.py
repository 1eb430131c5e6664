"""Lines that kafka-dump-log prints for segments: for batches and their records."""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

import magicbyte
from magicbyte.engines.entry import Entry
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk, DecodedEntry, Engine
from magicbyte.engines.record_decoder import batch_before_damage
from magicbyte.logdir.frames import Frame
from magicbyte_cli.dump_log import ToolError
from magicbyte_cli.dump_log.batch_lines import batch_line
from magicbyte_cli.dump_log.closing_findings import ClosingFindings, Pair
from magicbyte_cli.dump_log.frames import LIMITS, entry_of, frames, tool_error
from magicbyte_cli.dump_log.record_lines import RecordColumns, SegmentOptions, record_lines
from magicbyte_cli.row_chunks import has_long_list, row_chunks

CHUNK_BYTES = 4 << 20
"""Bytes of a segment, or of decompressed records, that are decoded together."""

MAX_CHUNK_ROWS = 1 << 16
"""Records that are converted to Python objects together, at most."""

MAX_ROWS = 4096
"""Records of a larger or a damaged batch that are converted before their lines are printed."""


class OffsetSequence:
    """Compares each offset of a segment with the previous offset, as kafka-dump-log does."""

    def __init__(self, gaps: list[Pair], *, starts_at_zero: bool) -> None:
        self._gaps = gaps
        self._last: int | None = -1 if starts_at_zero else None

    def extend(self, offsets: Sequence[int]) -> None:
        if self._last is not None and offsets == list(
            range(self._last + 1, self._last + 1 + len(offsets))
        ):
            self._last += len(offsets)  # fast path: consecutive offsets
            return
        for offset in offsets:
            if self._last is not None and offset != self._last + 1:
                self._gaps.append((self._last, offset))
            self._last = offset


def segment_lines(path: Path, options: SegmentOptions, findings: ClosingFindings) -> Iterator[str]:
    """Yield the lines that kafka-dump-log prints for a segment.

    Raises ToolError where kafka-dump-log ends with an exception. With `options.on_error` lines
    continue with the next sound entry instead.
    """
    size = path.stat().st_size
    end = size if options.max_bytes is None else min(size, options.max_bytes)
    begin: int | None = 0
    valid = 0
    offsets = OffsetSequence(findings.gaps[path], starts_at_zero=options.release.since(4, 3))
    while begin is not None:
        try:
            valid = yield from _lines(path, begin, end, options, offsets)
            break
        except ToolError as error:
            on_error = options.on_unreadable if error.is_unreadable else options.on_error
            if on_error is None or error.position is None:
                raise
            on_error(error)
            if error.line_start:
                yield error.line_start
            begin, valid = _sound_entry_after(path, error.position), size
    if valid < size and options.max_bytes is None:
        yield f"Found {size - valid} invalid bytes at the end of {path.name}"


def _lines(
    path: Path, begin: int, end: int, options: SegmentOptions, offset_sequence: OffsetSequence
) -> Generator[str, None, int]:
    """Yield the lines of the complete entries between two bytes; return the last entry's end."""
    valid = begin
    if options.deep:
        decoder = engine("auto")
        for chunk, cause in _chunks(frames(path, begin=begin, end=end)):
            yield from _deep_lines(chunk, decoder, options, offset_sequence)
            if cause is not None:
                raise cause
            valid = chunk[-1].end
    else:
        for frame in frames(path, begin=begin, end=end):
            yield batch_line(frame, entry_of(frame), options.release)
            valid = frame.end
    return valid


def _sound_entry_after(path: Path, position: int) -> int | None:
    """Return the position of the first sound entry after *position*; None if there is none."""
    for batch in magicbyte.open(path, on_damage="skip").batches(["position"]):
        for begin in batch["position"].to_pylist():
            if begin > position:
                return int(begin)
    return None


def _chunks(segment_frames: Iterator[Frame]) -> Iterator[tuple[list[Frame], ToolError | None]]:
    """Yield chunks of frames, and with the last chunk the error that ended the frames, if any."""
    chunk: list[Frame] = []
    size_bytes = 0
    while True:
        try:
            frame = next(segment_frames, None)
        except ToolError as error:
            yield chunk, error
            return
        if frame is None or size_bytes >= CHUNK_BYTES:
            if chunk:
                yield chunk, None
            chunk, size_bytes = [], 0
        if frame is None:
            return
        chunk.append(frame)
        size_bytes += len(frame.data)


def _deep_lines(
    chunk: list[Frame], decoder: Engine, options: SegmentOptions, offset_sequence: OffsetSequence
) -> Iterator[str]:
    entries: list[tuple[Frame, Entry, str]] = []
    cause: ToolError | None = None
    for frame in chunk:
        try:
            entry = entry_of(frame)
            line = batch_line(frame, entry, options.release)
        except ToolError as error:
            cause = error
            break
        entries.append((frame, entry._replace(position=frame.position), line))
    while entries:
        number = 0
        for number, lines in enumerate(_records_of(entries, decoder, options, offset_sequence), 1):
            yield entries[number - 1][2]
            yield from lines
        entries = entries[number:]
    if cause is not None:
        raise cause


def _records_of(
    entries: list[tuple[Frame, Entry, str]],
    decoder: Engine,
    options: SegmentOptions,
    offset_sequence: OffsetSequence,
) -> Iterator[Iterator[str]]:
    """Yield, for each of the first *entries* that fit in a chunk, the lines of its records."""
    decoded = decoder.decode(
        Chunk(memoryview(b"".join(frame.data for frame, _, _ in entries)), entries[0][0].position),
        RecordColumns.COLUMNS,
        limits=LIMITS,
        max_bytes=CHUNK_BYTES,
        verify=False,
    )
    contents = options.contents or any(entry.is_control for _, entry, _ in entries)
    is_large = decoded.rows.num_rows > MAX_CHUNK_ROWS or has_long_list(decoded.rows)
    records = None if is_large else RecordColumns.of(decoded.rows, contents=contents)
    begin = 0
    for (frame, entry, _), result in zip(entries, decoded.all_results(), strict=False):
        if not result.is_sound:
            yield _damaged(frame, entry, result, decoder, options)
        elif records is not None:
            of_entry = records.slice(begin, begin + result.num_rows)
            offset_sequence.extend(of_entry.offsets)
            yield record_lines(frame, entry, of_entry, options)
        else:
            rows = decoded.rows.slice(begin, result.num_rows)
            parts = row_chunks(rows, MAX_ROWS if entry.magic == 2 else max(rows.num_rows, 1))
            of_parts = (RecordColumns.of(part, contents=contents) for part in parts)
            yield _lines_of_parts(frame, entry, of_parts, options, offset_sequence)
        begin += result.num_rows


def _lines_of_parts(
    frame: Frame,
    entry: Entry,
    record_parts: Iterator[RecordColumns],
    options: SegmentOptions,
    offset_sequence: OffsetSequence,
) -> Iterator[str]:
    """Yield the lines of the records of an entry with very many, some of them at a time."""
    for records in record_parts:
        offset_sequence.extend(records.offsets)
        yield from record_lines(frame, entry, records, options)


def _damaged(
    frame: Frame, entry: Entry, result: DecodedEntry, decoder: Engine, options: SegmentOptions
) -> Iterator[str]:
    """Yield the lines of the records that Kafka's iterator returns before the damage; raise ToolError.

    No checksum confirms these records. The iterator of Kafka's class DefaultRecordBatch checks that no
    bytes are left over before it returns the last counted record. Of a compressed batch it reads
    all records before it returns the first.
    """
    if entry.magic == 2 and not entry.codec and result.valid_records:
        data = memoryview(batch_before_damage(frame.data, entry, result))
        chunk = Chunk(data, entry.position)
        rows = decoder.decode(chunk, RecordColumns.COLUMNS, limits=LIMITS, verify=False).rows
        if any(finding.code == "bytes-left-over" for finding in result.findings):
            rows = rows.slice(0, rows.num_rows - 1)
        contents = options.contents or entry.is_control
        for part in row_chunks(rows, MAX_ROWS):
            records = RecordColumns.of(part, contents=contents)
            yield from record_lines(frame, entry, records, options)
    raise tool_error(frame, result.findings[0].message)
