"""The startup of a broker over one partition folder, step by step (LogLoader.load)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from magicbyte.engines.entry import wrap64
from magicbyte.engines.factory import engine as engine_named
from magicbyte.engines.protocol import Engine
from magicbyte.errors import FormatError, MissingError
from magicbyte.kafka_release import NEWEST, NEWEST_WITH_ZOOKEEPER, KafkaRelease
from magicbyte.limits import Limits
from magicbyte.logdir.companions import MAX_COMPANION_BYTES, unchecked_transactions
from magicbyte.logdir.frames import frames
from magicbyte.logdir.indexes import SEGMENT_SPAN
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.storage import File
from magicbyte.verification.startup._next_offset import (
    LastBatchEnd,
    read_next_offset,
    search_segment,
)
from magicbyte.verification.startup._prediction import StartupPrediction, StartupRefusedError
from magicbyte.verification.startup._producer_state import ProducerState, newest_state, snapshots
from magicbyte.verification.startup._segment_recovery import (
    OffsetOrderError,
    OffsetOverflowError,
    RecoveredSegment,
    recover_segment,
)
from magicbyte.verification.startup._startup_errors import (
    check_log_dir,
    check_partition,
    offset_in_name,
    segment_name,
)

INDEX_INTERVAL_BYTES = 4096
"""Default of the topic setting `index.interval.bytes`."""


class _SegmentSplitError(Exception):
    """A segment was split: the current step starts over with the new list of segments."""


@dataclass(slots=True)
class _LoadedSegment:
    """A segment during the startup."""

    base_offset: int
    file: LogFile | None
    """None for a segment that the startup created, empty."""
    size_bytes: int
    begin: int = 0
    """Byte of *file* at which the segment begins; above 0 for one that was split off another."""
    index: LogFile | None = None
    txnindex: LogFile | None = None
    recovered: RecoveredSegment | None = None
    """The segment after its recovery, or after the split that created it."""
    is_recovered: bool = False
    """True if recovery has read the segment: a second pass would give the same."""

    @property
    def name(self) -> str:
        return segment_name(self.base_offset)

    @property
    def end(self) -> int:
        """Byte of *file* at which the segment ends, exclusive."""
        return self.begin + self.size_bytes

    def open(self) -> File:
        assert self.file is not None
        return self.file.open_strictly()  # what a broker cannot read, it does not guess

    def last_batch_end(self, release: KafkaRelease, limits: Limits) -> LastBatchEnd:
        """Return the end of the segment's last batch, as a broker finds it with the offset index."""
        with self.open() as file:
            return read_next_offset(file, self.base_offset, self.index, release, limits)


@dataclass(slots=True)
class _LogLoader:
    log: PartitionLog
    is_clean: bool
    interval_bytes: int
    has_transactions: bool
    engine: Engine
    release: KafkaRelease
    limits: Limits
    prediction: StartupPrediction = field(default_factory=StartupPrediction)
    segments: list[_LoadedSegment] = field(default_factory=list)

    def run(self) -> None:
        if self.log.log_dir is not None:
            check_log_dir(self.log.log_dir, self.log.files[0].store if self.log.files else None)
        check_partition(self.log)
        self._list_segments()
        _repeat_after_splits(self._load)
        if not self.is_clean:
            _repeat_after_splits(self._recover_from_recovery_point)
        self._finish()

    def _would(self, action: str) -> None:
        self.prediction.actions.append(f"the broker would {action}")

    def _list_segments(self) -> None:
        """List the segments; files left by an interrupted cleaning or split are swapped in."""
        live = [file for file in self.log.files if file.live]
        by_kind = {
            kind: {file.base_offset: file for file in live if file.kind == kind}
            for kind in ("index", "txnindex")
        }
        for file in sorted(self.log.logs, key=lambda file: file.base_offset or 0):
            base = file.base_offset
            if base is None:
                continue
            index, txnindex = (by_kind[kind].get(base) for kind in ("index", "txnindex"))
            segment = _LoadedSegment(base, file, file.size_bytes, index=index, txnindex=txnindex)
            self.segments.append(segment)
            if file.name.endswith(".swap"):
                self._would(f"rename {file.name} to {segment.name}")
        bases = {segment.base_offset for segment in self.segments}
        for base, file_name in _other_log_names(self.log, bases):
            self.segments.append(_LoadedSegment(base, None, 0))
            self._would(f"create an empty {segment_name(base)}, and not read {file_name}")
        self.segments.sort(key=lambda segment: segment.base_offset)
        for file in self.log.files:
            if file.kind == "log" and file.why_not == "superseded":
                self._would(f"delete {file.name}, which a .swap file replaces")

    # Loading: a segment without a valid index is recovered immediately

    def _load(self) -> None:
        for number, segment in enumerate(self.segments):
            why = None if segment.recovered else self._why_recover(segment)
            if why is None:
                continue
            size_before = segment.size_bytes
            try:
                self._recover(number)
            except OffsetOrderError as error:
                raise StartupRefusedError(
                    f"InvalidOffsetException at {segment.name} {error}{self._assumed_interval}"
                ) from error
            if segment.size_bytes < size_before:
                self._truncate(segment, size_before)
                self._would(
                    f"keep the segments after {segment.name}, "
                    f"which it would recover alone because {why}"
                )

    def _why_recover(self, loaded_segment: _LoadedSegment) -> str | None:
        if loaded_segment.index is None:
            return "it has no offset index"
        if loaded_segment.txnindex is None:
            return None
        try:
            data = loaded_segment.txnindex.read_small(MAX_COMPANION_BYTES)
        except MissingError:
            return None
        for position, version, entry in unchecked_transactions(data):
            where = f"{loaded_segment.txnindex.name} byte {position}"
            if version > 0:
                raise StartupRefusedError(f"{where}: version {version}, expected at most 0")
            if entry.last_offset < loaded_segment.base_offset:
                return f"{where} has last offset {entry.last_offset}, below the segment"
        return None

    # Recovery

    @property
    def _assumed_interval(self) -> str:
        """The setting that decides which offsets the recovery compares, in words."""
        return f" (with index.interval.bytes {self.interval_bytes})"

    def _recover_from_recovery_point(self) -> None:
        """Recover the segment that holds the recovery point, and all later ones."""
        point = self._recovery_point()
        first = sum(segment.base_offset <= point for segment in self.segments) or 1
        for number in range(first - 1, len(self.segments)):
            segment = self.segments[number]
            if segment.is_recovered:
                continue
            size_before = segment.size_bytes
            try:
                self._recover(number)
            except OffsetOrderError as error:
                why = f"{error}{self._assumed_interval}"
                segment.recovered = RecoveredSegment(0, segment.base_offset, why)
                segment.size_bytes = 0
            if segment.size_bytes < size_before:
                self._truncate(segment, size_before)
                self._delete(self.segments[number + 1 :], "an earlier segment was truncated")
                del self.segments[number + 1 :]
                return

    def _truncate(self, loaded_segment: _LoadedSegment, size_before: int) -> None:
        why = loaded_segment.recovered and loaded_segment.recovered.why_truncated
        name = loaded_segment.name
        if loaded_segment.file is not None and loaded_segment.begin > 0:
            # The reason names a byte of the file as it was before the split: name that file too.
            name += f", split off {loaded_segment.file.name},"
        self._would(
            f"truncate {name} from {size_before} to {loaded_segment.size_bytes} bytes: {why}"
        )

    def _recovery_point(self) -> int:
        log = self.log
        points = None if log.log_dir is None else log.log_dir.recovery_point
        if points is None or log.topic is None or log.partition is None:
            return 0
        return points.get((log.topic, log.partition), 0)

    def _recover(self, number: int) -> None:
        segment = self.segments[number]
        if segment.file is None:
            return
        producers = self._producers_at(segment.base_offset, self.segments[:number])
        with segment.open() as file:
            try:
                recovered = recover_segment(
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
                raise _SegmentSplitError from error
        segment.recovered, segment.size_bytes = recovered, recovered.size_bytes
        segment.is_recovered = True

    def _producers_at(self, end: int, segments: Sequence[_LoadedSegment]) -> ProducerState:
        """Return the producer state at offset *end*, by snapshot and replay of *segments*."""
        snapshot_offset, producers = newest_state(self.log, end=end)
        self._search(segments, end, snapshot_offset)
        if self.has_transactions:
            self._replay(segments, end, snapshot_offset, producers)
        return producers

    def _search(self, segments: Sequence[_LoadedSegment], end: int, snapshot_offset: int) -> None:
        """Look up the first and last offset that are replayed in *segments*, as brokers since 4.1 do."""
        if not self.release.since(4, 1) or snapshot_offset >= end:
            return
        first = max(snapshot_offset, self.log.log_start_checkpoint or 0)
        ends = [*(segment.base_offset for segment in segments[1:]), end]
        for segment, segment_end in zip(segments, ends, strict=False):
            if segment.file is None or segment.recovered or segment_end <= first:
                continue
            offsets = {max(segment.base_offset, first)} | (
                {end} if segment is self.segments[-1] else set()
            )
            with segment.open() as file:
                for offset in offsets:
                    search_segment(
                        file, segment.base_offset, segment.index, offset, self.release, self.limits
                    )

    def _replay(
        self,
        segments: Sequence[_LoadedSegment],
        end: int,
        snapshot_offset: int,
        producers: ProducerState,
    ) -> None:
        """Replay the batches of *segments* from *snapshot_offset* to *end*, without verifying them."""
        ends = [*(segment.base_offset for segment in segments[1:]), end]
        for segment, segment_end in zip(segments, ends, strict=False):
            if segment.file is None or segment_end <= snapshot_offset:
                continue
            with segment.open() as file:
                try:
                    for frame in frames(
                        file, begin=segment.begin, end=segment.end, limits=self.limits
                    ):
                        if frame.magic >= 2 and frame.last_offset >= snapshot_offset:
                            entry = frame.entry()._replace(position=frame.position)
                            producers.replay(frame.data, entry, self.limits)
                except FormatError as error:
                    message = f"{segment.name} byte {error.position}: {error.message}"
                    raise StartupRefusedError(message) from error

    def _split(self, number: int, file: File, overflow: OffsetOverflowError) -> None:
        """Split a segment into several that can hold their offsets (splitOverflowedSegment)."""
        segment = self.segments[number]
        where = f"last offset {overflow.last_offset} at {segment.name} byte {overflow.position}"
        end = (
            None
            if segment.recovered is not None
            else segment.last_batch_end(self.release, self.limits)
        )
        if (
            end is None
            or end.position is None
            or end.next_offset - 1 - segment.base_offset < SEGMENT_SPAN
        ):
            raise StartupRefusedError(
                f"{where} does not fit the segment's index (IllegalArgumentException)"
            )
        try:
            split_segments = self._split_segments(segment, file)
        except FormatError as wrong:
            raise StartupRefusedError(
                f"{where} makes the broker split the segment, which fails: {wrong.message}"
            ) from wrong
        if sum(part.size_bytes for part in split_segments) < segment.size_bytes:
            raise StartupRefusedError(
                f"{where} makes the broker split the segment, which fails at a partial entry "
                "at its end"
            )
        self.segments[number : number + 1] = split_segments
        self._would(
            f"split {segment.name} into {len(split_segments)} segments: {where} does not fit "
            "its index"
        )

    def _split_segments(self, loaded_segment: _LoadedSegment, file: File) -> list[_LoadedSegment]:
        segments: list[_LoadedSegment] = []
        for frame in frames(
            file, begin=loaded_segment.begin, end=loaded_segment.end, limits=self.limits
        ):
            first = frame.entry().first_offset
            if not segments or not 0 <= frame.last_offset - segments[-1].base_offset < SEGMENT_SPAN:
                segments.append(_LoadedSegment(first, loaded_segment.file, 0, begin=frame.position))
            last = segments[-1]
            last.size_bytes = frame.end - last.begin
            last.recovered = RecoveredSegment(last.size_bytes, frame.last_offset + 1)
        return segments

    # The end of the log

    def _finish(self) -> None:
        start = max(self.log.log_start_checkpoint or 0, 0)  # negative: no checkpoint
        end = start
        if self.segments:
            # After offset 2^63-1 the log end offset is negative: Java's long wraps around.
            end = wrap64(self._next_offset(self.segments[-1]))
            if end < start:
                why = f"the log start offset, {start}, is above the log end offset, {end}"
                self._delete(self.segments, why)
                self.prediction.cuts.append((self.segments[0].base_offset, end))
                self.segments = []
        if not self.segments:
            self.segments = [_LoadedSegment(start, None, 0)]
            self._would(f"create an empty {self.segments[0].name}")
            end = start
        elif self.is_clean:
            # Without a snapshot nothing is replayed, and all open transactions are forgotten.
            has_snapshot = next(snapshots(self.log), None) is not None
            producers = self._producers_at(end, self.segments) if has_snapshot else ProducerState()
            self.prediction.open_transactions = producers.open_transactions
        self.prediction.log_end_offset = end
        self.prediction.segment_sizes = {each.name: each.size_bytes for each in self.segments}
        self._add_cuts()

    def _add_cuts(self) -> None:
        """Add the offsets at which recovery has cut segments that are left."""
        following = [segment.base_offset for segment in self.segments[1:]]
        for segment, base in zip(self.segments, [*following, None], strict=True):
            if segment.recovered is not None and segment.recovered.why_truncated is not None:
                self.prediction.cuts.append((segment.recovered.next_offset, base))

    def _next_offset(self, loaded_segment: _LoadedSegment) -> int:
        if loaded_segment.recovered is not None:
            return loaded_segment.recovered.next_offset
        if loaded_segment.file is None:
            return loaded_segment.base_offset
        end = loaded_segment.last_batch_end(self.release, self.limits)
        if end.position is not None and end.position < loaded_segment.size_bytes:
            num_left = loaded_segment.size_bytes - end.position
            self.prediction.partial_tail = loaded_segment.name, num_left
        return end.next_offset

    def _delete(self, segments: Sequence[_LoadedSegment], why: str) -> None:
        for segment in segments:
            self._would(f"delete {segment.name}: {why}")


def _other_log_names(log: PartitionLog, bases: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield offset and name of each `.log` file whose name has not 20 digits, but for offsets in *bases*.

    A broker opens the file of 20 digits for that offset, and makes it where there is none.
    """
    other_names: dict[int, str] = {}
    for file in log.files:
        base = offset_in_name(file.name)
        if file.name.endswith(".log") and file.base_offset is None and base is not None:
            other_names.setdefault(base, file.name)
    for base in other_names.keys() - set(bases):
        yield base, other_names[base]


def _repeat_after_splits(step: Callable[[], None]) -> None:
    while True:
        try:
            return step()
        except _SegmentSplitError:
            continue


def predict_startup(
    log: PartitionLog,
    *,
    is_clean: bool | None = None,
    has_transactions: bool = True,
    interval_bytes: int = INDEX_INTERVAL_BYTES,
    engine: str = "auto",
    release: KafkaRelease | None = None,
    limits: Limits | None = None,
) -> StartupPrediction:
    """Return the state in which a broker's startup would leave *log*.

    *is_clean* says whether the broker was shut down cleanly, after which a startup verifies next to
    nothing; None: whether the log.dir has a `.kafka_cleanshutdown`. *interval_bytes* is the topic's
    `index.interval.bytes`, which decides whether recovery notices offsets that go back. Without
    *has_transactions* nothing is replayed, since no producer has any. *release* is Kafka's; None: the
    newest one that runs with such a log.dir. Raises LimitError where an
    entry is larger than *limits* allow, UnreadableError or StoreError where something that the startup
    reads cannot be read.
    """
    if is_clean is None:
        is_clean = log.log_dir is not None and log.log_dir.clean_shutdown
    if release is None:
        is_kraft = log.log_dir is None or log.log_dir.is_kraft
        release = NEWEST if is_kraft else NEWEST_WITH_ZOOKEEPER
    loader = _LogLoader(
        log,
        is_clean,
        interval_bytes,
        has_transactions,
        engine_named(engine),
        release,
        limits or Limits(),
    )
    try:
        loader.run()
    except StartupRefusedError as error:
        loader.prediction.refusal = str(error)
    return loader.prediction
