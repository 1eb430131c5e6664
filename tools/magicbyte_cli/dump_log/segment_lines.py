"""Lines of segments: batches, and with them records."""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

import magicbyte
from magicbyte.engines.entry import Entry
from magicbyte.engines.entry_columns import Entries
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Engine
from magicbyte.engines.reference import rows_before_damage
from magicbyte.logdir.frames import Frame
from magicbyte_cli.dump_log.batch_lines import batch_line
from magicbyte_cli.dump_log.closing_findings import Findings, Pair
from magicbyte_cli.dump_log.end_error import EndError
from magicbyte_cli.dump_log.frames import LIMITS, end_error, entry_of, frames
from magicbyte_cli.dump_log.record_lines import Records, Wanted, record_lines

BYTES_AT_ONCE = 4 << 20
"""Of a segment; of its records, decompressed, too."""


class Offsets:
    """The offsets of a segment's records, as the tool compares each with that before it."""

    def __init__(self, gaps: list[Pair], *, starts_at_zero: bool) -> None:
        self._gaps = gaps
        self._last: int | None = -1 if starts_at_zero else None

    def go_on(self, offsets: Sequence[int]) -> None:
        if self._last is not None and offsets == list(
            range(self._last + 1, self._last + 1 + len(offsets))
        ):
            self._last += len(offsets)  # as nearly always
            return
        for offset in offsets:
            if self._last is not None and offset != self._last + 1:
                self._gaps.append((self._last, offset))
            self._last = offset


def segment_lines(path: Path, wanted: Wanted, found: Findings) -> Iterator[str]:
    """Yield the lines of a segment; EndError where the tool has an exception.

    Where *wanted* says to go on, they go on with the next sound entry.
    """
    size = path.stat().st_size
    end = size if wanted.max_bytes is None else min(size, wanted.max_bytes)
    begin: int | None = 0
    valid = 0
    offsets = Offsets(found.of_segment(path), starts_at_zero=wanted.release.first_gap)
    while begin is not None:
        try:
            valid = yield from _lines(path, begin, end, wanted, offsets)
            break
        except EndError as error:
            if wanted.go_on is None or error.position is None:
                raise
            wanted.go_on(error)
            if error.begun:
                yield error.begun
            begin, valid = _sound_behind(path, error.position), size
    if valid < size and wanted.max_bytes is None:
        yield f"Found {size - valid} invalid bytes at the end of {path.name}"


def _lines(
    path: Path, begin: int, end: int, wanted: Wanted, offsets: Offsets
) -> Generator[str, None, int]:
    """Yield the lines of what is whole between two bytes; return where that ends."""
    valid = begin
    if wanted.deep:
        chosen = engine("auto")
        for some, cause in _together(frames(path, begin=begin, end=end)):
            yield from _deep_lines(some, chosen, wanted, offsets)
            if cause is not None:
                raise cause
            valid = some[-1].end
    else:
        for frame in frames(path, begin=begin, end=end):
            yield batch_line(frame, entry_of(frame), wanted.release)
            valid = frame.end
    return valid


def _sound_behind(path: Path, position: int) -> int | None:
    """Return where the first sound entry behind *position* begins, None if there is none."""
    for batch in magicbyte.open(path, on_damage="skip").batches(["position"]):
        for begin in batch["position"].to_pylist():
            if begin > position:
                return int(begin)
    return None


def _together(some: Iterator[Frame]) -> Iterator[tuple[list[Frame], EndError | None]]:
    """Yield frames, as many at a time as are decoded at once, and what ended them, if anything."""
    chunk: list[Frame] = []
    size_bytes = 0
    while True:
        try:
            frame = next(some, None)
        except EndError as error:
            yield chunk, error
            return
        if frame is None or size_bytes >= BYTES_AT_ONCE:
            if chunk:
                yield chunk, None
            chunk, size_bytes = [], 0
        if frame is None:
            return
        chunk.append(frame)
        size_bytes += len(frame.data)


def _deep_lines(
    some: list[Frame], chosen: Engine, wanted: Wanted, offsets: Offsets
) -> Iterator[str]:
    known: list[tuple[Frame, Entry, str]] = []
    ended: EndError | None = None
    for frame in some:
        try:
            entry = entry_of(frame)
            line = batch_line(frame, entry, wanted.release)
        except EndError as error:
            ended = error
            break
        known.append((frame, entry._replace(position=frame.position), line))
    while known:
        number = 0
        for number, lines in enumerate(_decoded(known, chosen, wanted, offsets), 1):
            yield known[number - 1][2]
            yield from lines
        known = known[number:]
    if ended is not None:
        raise ended


def _decoded(
    known: list[tuple[Frame, Entry, str]], chosen: Engine, wanted: Wanted, offsets: Offsets
) -> Iterator[Iterator[str]]:
    """Yield the lines of the records of each of *known*, up to as many as are decoded at once."""
    decoded = chosen.decode(
        memoryview(b"".join(frame.data for frame, _, _ in known)),
        Entries([entry for _, entry, _ in known]),
        Records.COLUMNS,
        origin=known[0][0].position,
        limits=LIMITS,
        most_bytes=BYTES_AT_ONCE,
    )
    contents = wanted.contents or any(entry.is_control for _, entry, _ in known)
    records = Records.of(decoded.rows, contents=contents)
    begin = 0
    for (frame, entry, _), told in zip(known, decoded.entries, strict=False):
        if not told.is_sound:
            yield _damaged(frame, entry, told.findings[0].message, wanted)
        else:
            part = records.part(begin, begin + told.num_rows)
            offsets.go_on(part.offsets)
            yield record_lines(frame, entry, part, wanted)
        begin += told.num_rows


def _damaged(frame: Frame, entry: Entry, message: str, wanted: Wanted) -> Iterator[str]:
    """Yield the lines of the records in front of damage, then raise EndError."""
    if entry.magic == 2:
        rows = rows_before_damage(frame.data, entry, LIMITS)
        yield from record_lines(frame, entry, Records.of_rows(rows), wanted)
    raise end_error(frame, message)
