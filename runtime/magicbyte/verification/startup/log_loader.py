"""The start of a broker over one partition's folder, step by step (LogLoader.load)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from magicbyte.engines.factory import engine as engine_named
from magicbyte.engines.protocol import Engine
from magicbyte.errors import FormatError, MissingError
from magicbyte.limits import Limits
from magicbyte.logdir.companions import MAX_COMPANION_BYTES, unjudged_transactions
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.frames import frames
from magicbyte.logdir.indexes import SEGMENT_SPAN
from magicbyte.logdir.log_file import LogFile
from magicbyte.storage import File
from magicbyte.verification.startup.next_offset import end_of
from magicbyte.verification.startup.prediction import Forecast, RefusedError
from magicbyte.verification.startup.producer_state import Producers, newest_state, snapshots
from magicbyte.verification.startup.segment_recovery import (
    OffsetOrderError,
    OffsetOverflowError,
    Recovered,
    recover,
)
from magicbyte.verification.startup.startup_errors import check_log_dir, check_partition

INDEX_INTERVAL_BYTES = 4096
"""The default of `index.interval.bytes`."""


class _Again(Exception):
    """A segment was split, and what was being done with all of them is done again."""


@dataclass(slots=True)
class _Segment:
    """A segment while the start goes on."""

    base_offset: int
    file: LogFile | None
    """None for one that the start has made, empty."""
    size_bytes: int
    begin: int = 0
    """The byte of its file at which it begins: one that was split off another begins there."""
    index: LogFile | None = None
    txnindex: LogFile | None = None
    recovered: Recovered | None = None
    """What recovery left of it; of one that was split off, what it is."""
    is_recovered: bool = False
    """Whether recovery has gone through it: it would find the same again."""

    @property
    def name(self) -> str:
        return f"{self.base_offset:020}.log"

    @property
    def end(self) -> int:
        """The byte of its file behind it."""
        return self.begin + self.size_bytes


@dataclass(slots=True)
class _Start:
    log: PartitionLog
    is_clean: bool
    interval_bytes: int
    has_transactions: bool
    engine: Engine
    limits: Limits
    out: Forecast = field(default_factory=Forecast)
    segments: list[_Segment] = field(default_factory=list)

    def run(self) -> None:
        self._check_files()
        self._list_segments()
        _until_done(self._load)
        if not self.is_clean:
            _until_done(self._recover_from_point)
        self._end()

    # What is there

    def _check_files(self) -> None:
        store = self.log.files[0].store if self.log.files else None
        if self.log.log_dir is not None:
            check_log_dir(self.log.log_dir, store)
        check_partition(self.log)

    def _list_segments(self) -> None:
        """List the segments behind leftovers of cleaning and splitting, which are swapped in."""
        live = [file for file in self.log.files if file.live]
        by_kind = {
            kind: {file.base_offset: file for file in live if file.kind == kind}
            for kind in ("index", "txnindex")
        }
        for file in sorted(self.log.logs, key=lambda file: file.base_offset or 0):
            base = file.base_offset
            if base is None:
                continue
            if file.name.endswith(".swap"):
                self.out.events.append(f"{file.name} takes its place")
            index, txnindex = (by_kind[kind].get(base) for kind in ("index", "txnindex"))
            self.segments.append(
                _Segment(base, file, file.size_bytes, index=index, txnindex=txnindex)
            )
        for file in self.log.files:
            if file.kind == "log" and file.why_not == "superseded":
                self.out.events.append(f"{file.name} is replaced by what was swapped in")

    # Loading: two of the indexes decide whether a segment is recovered at once

    def _load(self) -> None:
        for number, segment in enumerate(self.segments):
            why = None if segment.recovered else self._why_recover(segment)
            if why is None:
                continue
            before = segment.size_bytes
            try:
                self._recover(number)
            except OffsetOrderError as error:
                raise RefusedError(f"{segment.name} {error} (InvalidOffsetException)") from error
            if segment.size_bytes < before:
                self._cut(segment, before)
                self.out.events.append(f"what follows {segment.name} stays, because {why}")

    def _why_recover(self, segment: _Segment) -> str | None:
        if segment.index is None:
            return "it has no offset index"
        if segment.txnindex is None:
            return None
        try:
            data = segment.txnindex.read_small(MAX_COMPANION_BYTES)
        except MissingError:
            return None
        for at, version, entry in unjudged_transactions(data):
            if version > 0:
                raise RefusedError(
                    f"{segment.txnindex.name} byte {at}: version {version}, at most 0"
                )
            if entry.last_offset < segment.base_offset:
                return (
                    f"{segment.txnindex.name} byte {at}: last offset {entry.last_offset} "
                    "below the segment"
                )
        return None

    # Recovery

    def _recover_from_point(self) -> None:
        """Recover the segment that holds the recovery point, and all behind it."""
        point = self._point()
        first = sum(segment.base_offset <= point for segment in self.segments) or 1
        for number in range(first - 1, len(self.segments)):
            segment = self.segments[number]
            if segment.is_recovered:
                continue
            before = segment.size_bytes
            try:
                self._recover(number)
            except OffsetOrderError as error:
                segment.recovered = Recovered(0, segment.base_offset, str(error))
                segment.size_bytes = 0
            if segment.size_bytes < before:
                self._cut(segment, before)
                self._remove(self.segments[number + 1 :], "a segment before it was cut")
                del self.segments[number + 1 :]
                return

    def _cut(self, segment: _Segment, before: int) -> None:
        why = segment.recovered.why if segment.recovered is not None else None
        # Its bytes are counted in the file that is there.
        name = segment.name
        if segment.file is not None and segment.begin > 0:
            name += f", split off {segment.file.name},"
        self.out.events.append(f"{name} is cut to {segment.size_bytes} of {before} bytes: {why}")

    def _point(self) -> int:
        log = self.log
        points = None if log.log_dir is None else log.log_dir.recovery_point
        if points is None or log.topic is None or log.partition is None:
            return 0
        return points.get((log.topic, log.partition), 0)

    def _recover(self, number: int) -> None:
        segment = self.segments[number]
        if segment.file is None:
            return
        producers = self._state_at(number)
        with self._open(segment) as file:
            try:
                found = recover(
                    file,
                    segment.base_offset,
                    producers,
                    begin=segment.begin,
                    end=segment.end,
                    interval_bytes=self.interval_bytes,
                    engine=self.engine,
                    limits=self.limits,
                )
            except OffsetOverflowError as error:
                self._split(number, file, error)
                raise _Again from error
        segment.recovered, segment.size_bytes = found, found.size_bytes
        segment.is_recovered = True

    def _state_at(self, number: int) -> Producers:
        """Return what is known of producers in front of a segment, by snapshot and replay."""
        base_offset = self.segments[number].base_offset
        known, producers = newest_state(self.log, end=base_offset)
        if self.has_transactions:
            self._replay(self.segments[:number], base_offset, known, producers)
        return producers

    def _replay(
        self, segments: Sequence[_Segment], end: int, known: int, producers: Producers
    ) -> None:
        """Let *producers* take in what *segments* hold from offset *known* to *end*, unchecked."""
        bounds = [*(segment.base_offset for segment in segments[1:]), end]
        for segment, bound in zip(segments, bounds, strict=False):
            if segment.file is None or bound <= known:
                continue
            with self._open(segment) as file:
                try:
                    for frame in frames(
                        file, begin=segment.begin, end=segment.end, limits=self.limits
                    ):
                        if frame.magic >= 2 and frame.last_offset >= known:
                            producers.replay(frame, frame.entry(), self.limits)
                except FormatError as error:
                    message = f"{segment.name} byte {error.position}: {error.message}"
                    raise RefusedError(message) from error

    def _split(self, number: int, file: File, error: OffsetOverflowError) -> None:
        """Split a segment into some that can hold their offsets (splitOverflowedSegment)."""
        segment = self.segments[number]
        place = f"{segment.name} byte {error.position}: last offset {error.last_offset}"
        is_part = segment.recovered is not None
        last = None if is_part else self._last_offset(segment)
        if last is None or last - segment.base_offset < SEGMENT_SPAN:
            raise RefusedError(f"{place}, which the segment cannot hold (IllegalArgumentException)")
        try:
            parts = self._parts(segment, file)
        except FormatError as wrong:
            raise RefusedError(f"{place}, and behind it {wrong.message}") from wrong
        if sum(part.size_bytes for part in parts) < segment.size_bytes:
            raise RefusedError(f"{place}, and bytes at the end that are no whole entry")
        self.segments[number : number + 1] = parts
        self.out.events.append(f"{place}: it is split into {len(parts)}")

    def _parts(self, segment: _Segment, file: File) -> list[_Segment]:
        parts: list[_Segment] = []
        for frame in frames(file, begin=segment.begin, end=segment.end, limits=self.limits):
            first = frame.entry().first_offset
            if not parts or not 0 <= frame.last_offset - parts[-1].base_offset < SEGMENT_SPAN:
                parts.append(_Segment(first, segment.file, 0, begin=frame.position))
            part = parts[-1]
            part.size_bytes = frame.end - part.begin
            part.recovered = Recovered(part.size_bytes, frame.last_offset + 1)
        return parts

    def _last_offset(self, segment: _Segment) -> int | None:
        """Return the last offset that a start finds in *segment* by its index, None if none."""
        assert segment.file is not None
        with self._open(segment) as file:
            found = end_of(file, segment.base_offset, segment.index, self.limits)
        return found.offset - 1 if found.position is not None else None

    # The end

    def _end(self) -> None:
        start = self._log_start()
        end = start
        if self.segments:
            last = self.segments[-1]
            end = self._next_offset(last)
            if end < start:
                self._remove(self.segments, f"the log start, {start}, is above their end, {end}")
                self.segments = []
        if not self.segments:
            self.segments = [_Segment(start, None, 0)]
            self.out.events.append(f"{self.segments[0].name} is made, empty")
            end = start
        elif self.is_clean:
            self.out.opened = self._opened_at(end)
        self.out.log_end_offset = end
        self.out.sizes = {segment.name: segment.size_bytes for segment in self.segments}

    def _opened_at(self, end: int) -> dict[int, int]:
        """Return the open transactions of a clean start: those of the snapshots, and what follows."""
        if next(snapshots(self.log), None) is None:
            return {}  # and nothing is replayed: all are forgotten
        known, producers = newest_state(self.log, end=end)
        if self.has_transactions:
            self._replay(self.segments, end, known, producers)
        return producers.opened

    def _next_offset(self, segment: _Segment) -> int:
        if segment.recovered is not None:
            return segment.recovered.next_offset
        if segment.file is None:
            return segment.base_offset
        with self._open(segment) as file:
            found = end_of(file, segment.base_offset, segment.index, self.limits)
        if found.position is not None and found.position < segment.size_bytes:
            self.out.left_over = segment.name, segment.size_bytes - found.position
        return found.offset

    def _log_start(self) -> int:
        """Return the checkpoint of the log start; what is below 0 stands for none."""
        return max(self.log.log_start_checkpoint or 0, 0)

    def _remove(self, segments: Sequence[_Segment], why: str) -> None:
        for segment in segments:
            self.out.events.append(f"{segment.name} is removed: {why}")

    def _open(self, segment: _Segment) -> File:
        assert segment.file is not None
        return segment.file.open()


def _until_done(step: Callable[[], None]) -> None:
    while True:
        try:
            return step()
        except _Again:
            continue


def foresee(
    log: PartitionLog,
    *,
    is_clean: bool | None = None,
    has_transactions: bool = True,
    interval_bytes: int = INDEX_INTERVAL_BYTES,
    engine: str = "auto",
    limits: Limits | None = None,
) -> Forecast:
    """Return what a broker's start would leave of *log*.

    *is_clean* is whether the broker was shut down cleanly: then next to nothing is verified; by
    default, what `.kafka_cleanshutdown` in the log.dir says. *interval_bytes* is the topic's
    `index.interval.bytes`: where offsets go back, whether that is found out hangs on it. Without
    *has_transactions* no producer has any, and nothing is read for their sake. Raises
    LimitError where an entry is larger than *limits* allow.
    """
    if is_clean is None:
        is_clean = log.log_dir is not None and log.log_dir.clean_shutdown
    start = _Start(
        log,
        is_clean,
        interval_bytes,
        has_transactions,
        engine_named(engine),
        limits or Limits(),
    )
    try:
        start.run()
    except RefusedError as error:
        start.out.refusal = str(error)
    return start.out
