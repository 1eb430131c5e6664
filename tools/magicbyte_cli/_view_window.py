"""The part of a file that a page of `magicbyte view` contains."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from magicbyte.storage import File

ROW_BYTES = {"kafka_offset_index": 8, "kafka_time_index": 12, "kafka_transaction_index": 34}
"""Bytes of an entry in the files whose entries all have one width."""


@dataclass(frozen=True, slots=True)
class Window:
    """The bytes from *start* up to *end* of a file, and the offsets of their entries."""

    start: int
    end: int
    offset_range: tuple[int | None, int | None] = (None, None)
    """First offset in the window, and the one after the last; None: not known."""


class LogEntry(NamedTuple):
    """Bytes and offsets of a batch or message; its base offset is None where only the payload has it."""

    start: int
    end: int
    base_offset: int | None
    last_offset: int


def choose_log_window(
    header_batches: Iterable[pa.RecordBatch], position: int, max_bytes: int, size_bytes: int
) -> Window:
    """Return the window around *position* of a log whose headers are *header_batches*, in their order.

    It begins where an entry begins, about a quarter of *max_bytes* before *position*, and ends where
    one ends. An entry at *position* that does not fit is cut after *position*.
    """
    wanted = max(0, position - max_bytes // 4)
    entries: deque[LogEntry] = deque()
    is_stopped = False
    for entry in _entries(header_batches):
        if entries and entry.start > position and entry.end > entries[0].start + max_bytes:
            is_stopped = True
            break
        entries.append(entry)
        while len(entries) > 1 and (
            entries[1].start <= wanted
            or entries[1].start <= position >= entries[0].start + max_bytes
        ):
            entries.popleft()
    start = entries[0].start if entries and entries[0].start <= position else 0
    inside = [entry for entry in entries if entry.end <= start + max_bytes]
    end = inside[-1].end if inside else start
    has_rest = not is_stopped and len(inside) == len(entries) and end < size_bytes
    if position >= end or has_rest:
        end = min(max(start + max_bytes, position + 1), size_bytes)
    touched = [entry for entry in entries if entry.start < end]
    if not touched:
        return Window(start, end)
    is_past_entries = end > touched[-1].end
    next_offset = None if is_past_entries else touched[-1].last_offset + 1
    return Window(start, end, (touched[0].base_offset, next_offset))


def _entries(header_batches: Iterable[pa.RecordBatch]) -> Iterator[LogEntry]:
    names = ("position", "size_bytes", "base_offset", "last_offset")
    for rows in header_batches:
        columns = (rows.column(name).to_pylist() for name in names)
        for start, size, base_offset, last_offset in zip(*columns, strict=True):
            yield LogEntry(start, start + size, base_offset, last_offset)


def choose_window(file_format: str, position: int, max_bytes: int, size_bytes: int) -> Window:
    """Return the window around *position* of a file that is no log.

    A file whose entries all have one width is cut where entries begin; another one at its end.
    """
    width = ROW_BYTES.get(file_format)
    if width is None:
        return Window(0, min(size_bytes, max_bytes))
    start = max(0, position - max_bytes // 4)
    start -= start % width
    end = min(size_bytes, start + max(max_bytes - max_bytes % width, width))
    return Window(start, end)


def read_window(file: File, window: Window) -> bytes:
    """Return the bytes of *window*; those that cannot be read are zeros."""
    data = bytearray(file.read_at(window.start, window.end - window.start))
    if file.unreadable is not None:
        for part in file.unreadable.between(window.start, window.end):
            data[part.start - window.start : part.end - window.start] = bytes(part.end - part.start)
    return bytes(data)
