"""One pass over a partition that settles what no part of it can tell alone.

Which bytes are damaged, where the log starts and ends, how each transaction ended, and where a
reader may begin. Headers alone are enough where nothing is wrong and no transaction is there;
else every checksum is checked, since a damaged marker must not pass for a sound one. So headers
are read up to the first transaction, and behind it only if what is missing may be cleaning.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from operator import itemgetter

import numpy as np

from magicbyte.engines.control_records import ControlReader, Said
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import BatchHeaders, Engine, Entries, Entry
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.crosscheck import CrossCheck, read_companions
from magicbyte.reading.damage import UnsoundRange
from magicbyte.reading.header_walk import HeaderWalk
from magicbyte.reading.index_outcomes import (
    Aborted,
    DoubtError,
    Followed,
    Listed,
    Spanned,
    ends_of,
    indexes_of,
    settle,
)
from magicbyte.reading.offset_order import Bounds
from magicbyte.reading.producer_batches import Producers
from magicbyte.reading.segment_range import log_start_offset
from magicbyte.reading.walk import SoundEntries, VerifiedWalk
from magicbyte.storage import File
from magicbyte.tables.arrays import Indices, Mask
from magicbyte.transactions import (
    Place,
    Tracker,
    Transaction,
    last_stable_offset,
    outcomes_at,
)

Opener = Callable[[LogFile], File]
"""Opens the file of a segment."""

END_OF_OFFSETS = 1 << 63

MOST_KEPT = 1 << 17
"""Headers of a partition that are kept, some 25 MB: with more of them all are read twice."""

FEW = 48
"""Entries that are followed one by one: less work than columns of them by producer."""

MOST_ASKED = 4 * FEW
"""Entries of which it is asked at once how many go on, where the last ones did not all."""


@dataclass(slots=True)
class Boundary:
    """A place in a segment at which a split may begin."""

    position: int
    floor: int | None
    """The last sound offset before it."""
    first: int | None = None
    """The first offset of the entry that begins here; None at the segment's beginning."""
    open_here: tuple[Transaction, ...] = ()


@dataclass(slots=True)
class SegmentSurvey:
    """What a pass over one segment found."""

    file: LogFile
    bounds: Bounds
    is_last: bool
    boundaries: list[Boundary] = field(default_factory=list)
    heads: list[BatchHeaders] = field(default_factory=list)
    """What a pass over headers alone has read, where that was all that was wanted: some of them."""
    unsound_ranges: list[UnsoundRange] = field(default_factory=list)
    end: str = "clean"
    """`clean`, `incomplete`, `zeros` or `garbage`."""
    sound_bytes: int = 0
    is_cleaned: bool = False
    """Whether a gap inside an entry, an empty batch or bit 6 shows that the cleaner was here."""
    has_transactions: bool = False
    leader_epoch: int = -1
    stop_at: int | None = None
    """Where the damage begins at which the read is to end, by `on_damage="stop"`."""
    stop_end: int | None = None
    """Where that damage ends."""

    @property
    def tail_bytes(self) -> int:
        return sum(unsound.length for unsound in self.unsound_ranges if unsound.kind == "tail")


@dataclass(slots=True)
class Survey:
    """What a pass over a partition settled."""

    log: PartitionLog
    is_verified: bool
    segments: list[SegmentSurvey] = field(default_factory=list)
    transactions: list[Transaction] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    log_start_offset: int | None = None
    log_end_offset: int | None = None
    last_stable_offset: int | None = None
    high_watermark: int | None = None
    aborted: Aborted | None = None
    """What transaction indexes list, where they decide and not the markers."""

    @property
    def settles_transactions(self) -> bool:
        """Whether it is known how transactions ended."""
        return self.is_verified or self.aborted is not None

    def listed_at(self, segment: SegmentSurvey, boundary: Boundary | None) -> Listed | None:
        """Return what a split of *segment* needs that ends at *boundary*, where indexes decide."""
        if self.aborted is None or segment.file.base_offset is None:
            return None
        open_there = (
            [found for found in self.transactions if found.outcome == "open"]
            if boundary is None
            else boundary.open_here
        )
        index = indexes_of(self.log).get(segment.file.base_offset)
        return Listed(index, tuple(ends_of(open_there, self.aborted)))

    def outcomes_at(self, boundary: Boundary | None) -> tuple[tuple[int, str], ...]:
        """Return producer id and outcome of what is open at *boundary*, None for the log's end."""
        if boundary is None:
            return outcomes_at(found for found in self.transactions if found.outcome == "open")
        return outcomes_at(boundary.open_here)

    @property
    def is_in_order(self) -> bool:
        """Whether offsets go up from entry to entry, so that a boundary divides them."""
        return not any(finding.code.startswith("offset-out") for finding in self.findings)

    @property
    def leader_epoch(self) -> int | None:
        epoch = max((segment.leader_epoch for segment in self.segments), default=-1)
        return None if epoch < 0 else epoch


def survey(
    log: PartitionLog,
    *,
    engine: Engine,
    limits: Limits,
    split_bytes: int | None = None,
    verify: bool = False,
    stop_at_damage: bool = False,
    quick: bool = False,
    by_index: bool = False,
    open_log: Opener | None = None,
) -> Survey:
    """Return what a pass over *log* settles.

    *split_bytes* is how far apart boundaries are, at least; None: one per segment. *verify*
    checks all checksums whatever the headers say, *quick* none whatever they say. *by_index*
    takes from transaction indexes how transactions ended, where nothing speaks against that.
    """
    opening = open_log or open_segment
    doubted: Finding | None = None
    if by_index and not (verify or stop_at_damage or quick or log.state is not None):
        try:
            return _Pass(log, engine, limits, split_bytes, opening, by_index=True).run(verify=False)
        except DoubtError as doubt:
            doubted = _doubted(log, doubt)
    found = _by_markers(
        _Pass(log, engine, limits, split_bytes, opening),
        verify=verify,
        stop_at_damage=stop_at_damage,
        quick=quick,
    )
    if doubted is not None:
        found.findings.append(doubted)
    return found


def _doubted(log: PartitionLog, doubt: DoubtError) -> Finding:
    return Finding(
        code="txnindex-doubted",
        message=f"{doubt}; the markers decide how transactions ended",
        topic=log.topic,
        partition=log.partition,
    )


def _by_markers(passed: "_Pass", *, verify: bool, stop_at_damage: bool, quick: bool) -> Survey:
    log = passed.log
    passed.num_to_keep = MOST_KEPT if quick else 0
    if quick or (log.state is not None and not log.is_named):
        return passed.run(verify=False)
    if not verify and not stop_at_damage and not passed.begins_open:
        first = passed.run(verify=False, only_plain=True)
        is_plain = (
            not any(segment.has_transactions for segment in first.segments)
            # Sizes that no checksum has confirmed lead to what looks like damage, or like a tail.
            and not any(segment.unsound_ranges for segment in first.segments)
            and not any(finding.code.startswith("offset-") for finding in first.findings)
        )
        if is_plain:
            return first
    return passed.run(verify=True, stop_at_damage=stop_at_damage)


def open_segment(file: LogFile) -> File:
    """Open *file* as long as it was when it was listed."""
    return file.open()


class _Pass:
    """Passes over the segments of one partition, in order."""

    def __init__(
        self,
        log: PartitionLog,
        engine: Engine,
        limits: Limits,
        split_bytes: int | None,
        open_log: Opener,
        *,
        by_index: bool = False,
    ) -> None:
        self.log = log
        self.followed = Followed() if by_index else None
        """What headers say of transactions, where indexes are to say the rest."""
        self.engine = engine
        self.limits = limits
        self.split_bytes = split_bytes
        self.open_log = open_log
        self.num_to_keep = 0
        """Headers that may still be kept."""
        self.controls = ControlReader(engine)
        kinds = ("snapshot",) if by_index else ("snapshot", "txnindex")
        self.companions = read_companions(log, kinds)
        self.cleaned: list[bool] | None = None
        """By segment, whether a pass over headers alone saw that it was cleaned."""
        bases = [file.base_offset for file in log.logs]
        first = bases[0] if bases else None
        self.first_base = first
        self.begins_open = any(
            producer.current_transaction_first_offset >= 0
            for producer in self.companions.snapshots.get(first or 0, ())
        ) and bool(first)

    def run(
        self,
        *,
        verify: bool,
        stop_at_damage: bool = False,
        only_plain: bool = False,
        only_cleaning: bool = False,
    ) -> Survey:
        """Return what a pass settles: the whole, or what is enough for a question.

        *only_plain* asks whether headers are enough, *only_cleaning* which segments were cleaned.
        """
        self.only_plain, self.only_cleaning = only_plain, only_cleaning
        self.out = out = Survey(self.log, is_verified=verify)
        self.tracker = tracker = Tracker()
        self.check = CrossCheck(
            self.log,
            self.companions,
            tracker,
            first_base=self.first_base,
            is_cleaned=lambda: self.is_any_cleaned,
        )
        self.next_offset: int | None = None
        """What the next entry should begin with; None before the first."""
        self.highest = 0
        """What it would be if no entry had gone back."""
        self.is_behind_damage = False
        self.end: int | None = None
        """The offset behind the last entry that has not gone back."""
        out.findings.extend(self.log.findings)
        out.findings.extend(self.companions.findings)
        if self.first_base:
            snapshot = self.companions.snapshots.get(self.first_base)
            tracker.knows_beginning = snapshot is not None
            tracker.begin(snapshot or ())
            if self.followed is not None:
                self.followed.begin(snapshot or ())
        logs = self.log.logs
        for number, file in enumerate(logs):
            if self._segment(number, file, logs, verify, stop_at_damage):
                break
        else:
            if not verify:
                self.cleaned = [segment.is_cleaned for segment in out.segments]
        if logs:
            last_base = logs[-1].base_offset
            if (
                last_base is not None
                and self.segment.file is logs[-1]
                and not self.segment.sound_bytes
            ):
                self._gap(0, last_base, True)
        if verify and self.next_offset is not None:
            self.check.compare_snapshots(self.next_offset)
        if self.is_behind_damage:
            self.check.missing.append((self.next_offset or 0, END_OF_OFFSETS))
        self._settle_offsets(logs)
        if verify:
            self._settle_transactions()
        elif self.followed is not None:
            self._settle_by_index(self.followed)
        self._settle_end()
        return out

    # A segment

    def _segment(
        self, number: int, file: LogFile, logs: Sequence[LogFile], verify: bool, stop: bool
    ) -> bool:
        """Pass over one segment; return whether the read is to stop in it."""
        ceiling = logs[number + 1].base_offset if number + 1 < len(logs) else None
        base = file.base_offset
        bounds = Bounds(floor=None if base is None else base - 1, ceiling=ceiling)
        is_last = number + 1 == len(logs)
        self.segment = segment = SegmentSurvey(file, bounds, is_last)
        self.number = number
        self.out.segments.append(segment)
        if verify:
            self.check.miss_snapshot(base)
        with self.open_log(file) as log:
            walk = (VerifiedWalk if verify else HeaderWalk)(
                log,
                engine=self.engine,
                limits=self.limits,
                bounds=bounds,
                is_last=is_last,
            )
            segment.boundaries.append(Boundary(0, bounds.floor, open_here=self._open_now()))
            for piece in walk:
                if isinstance(piece, UnsoundRange):
                    if stop and piece.kind != "tail":
                        segment.stop_at, segment.stop_end = piece.start, piece.end
                    self._unsound_range(piece)
                else:
                    self._sound(piece, verify, stop)
                    self._keep(piece)
                if segment.stop_at is not None:
                    return True
                if self.only_plain and (segment.has_transactions or segment.unsound_ranges):
                    return True  # all of it is passed over again, verified
                if self.only_cleaning and segment.is_cleaned:
                    return False
        return False

    def _keep(self, piece: SoundEntries) -> None:
        """Keep headers for who reads the same ones next."""
        if isinstance(piece.entries, BatchHeaders) and len(piece.entries) <= self.num_to_keep:
            self.num_to_keep -= len(piece.entries)
            self.segment.heads.append(piece.entries)

    def _unsound_range(self, unsound: UnsoundRange) -> None:
        segment = self.segment
        segment.unsound_ranges.append(unsound)
        self._report(unsound.findings)
        if unsound.kind == "tail":
            is_zeros = unsound.findings[0].code == "zero-tail"
            segment.end = "zeros" if is_zeros else "incomplete"
            return
        if unsound.end == segment.file.size_bytes and unsound.entry is None:
            segment.end = "garbage"
        # Whatever lay here is unknown: a marker, perhaps.
        self.tracker.hole()
        self.is_behind_damage = True

    def _sound(self, piece: SoundEntries, verify: bool, stop: bool) -> None:
        """Take the entries of *piece*: runs that go on at once, those between one by one."""
        findings = deque(piece.findings)
        at, step, most = 0, 1, len(piece.entries)
        while at < len(piece.entries):
            rest = piece.entries[at : at + most]
            if stop or (verify and len(rest) < FEW):
                count, step = 0, len(rest)
            else:
                count = self._num_going_on(rest, findings)
                # Where few go on each time, it is no use to ask of many.
                most = 4 * most if count == len(rest) else MOST_ASKED
            if count >= (FEW if verify else 1):
                self._all_of(piece, rest[:count], verify)
                at, step = at + count, 1
                continue
            for entry in rest[:step]:
                # Each at its entry: where the run begins and ends, engines are free to choose.
                while findings and _position(findings[0]) <= entry.position:
                    self._report([findings.popleft()])
                if stop and self._stops_at(piece, entry):
                    return
                self._one_of(piece, entry, verify)
            # Where few go on each time, it is no use to ask again and again.
            at, step = at + step, min(2 * step, FEW)

    def _all_of(self, piece: SoundEntries, entries: Entries, verify: bool) -> None:
        if verify:
            for run, is_cleaned in self._runs(entries):
                self._track_run(piece, run, self._run(run, is_cleaned))
        else:
            boundaries = self._run(entries, self._is_cleaned_in(entries))
            if self.followed is not None:
                self._follow(self.followed, entries, boundaries)

    def _follow(
        self, followed: Followed, entries: Entries, boundaries: Iterable[tuple[int, Boundary]]
    ) -> None:
        """Follow transactions through *entries*, and say at each boundary what is open there."""
        begin = 0
        for number, boundary in boundaries:
            followed.take(entries[begin:number], self.number)
            self._open_at(boundary)
            begin = number
        followed.take(entries[begin:], self.number)

    def _one_of(self, piece: SoundEntries, entry: Entry, verify: bool) -> None:
        segment = self.segment
        self._boundary(entry)
        self._gap(entry.position, entry.first_offset, entry.base_offset is not None)
        if self.next_offset is None or entry.first_offset >= self.next_offset:
            self.end = entry.last_offset + 1
        self.next_offset = entry.last_offset + 1
        self.highest = max(self.highest, self.next_offset)
        segment.sound_bytes += entry.size_bytes
        segment.leader_epoch = max(segment.leader_epoch, entry.leader_epoch)
        if entry.is_transactional or entry.is_control:
            segment.has_transactions = True
        self._cleaning(entry)
        if verify:
            self._track(piece, entry)
        elif self.followed is not None:
            self.followed.one(entry, self.number)

    def _report(self, findings: Iterable[Finding]) -> None:
        """Add *findings* about the segment to those of the survey."""
        names = self.log.topic, self.log.partition, self.segment.file.name
        self.out.findings += [finding.at(*names) for finding in findings]

    def _num_going_on(self, entries: Entries, findings: Sequence[Finding]) -> int:
        """Return how many of *entries* there are in front of which no offset is missing.

        What a finding is about does not go on, as what went back. What is missing behind damage lay in
        that.
        """
        first, last = entries.column("first_offset"), entries.column("last_offset")
        if self.next_offset not in (None, int(first[0])) and not self.is_behind_damage:
            return 0
        goes_on = last >= first
        if self.next_offset is not None and self.next_offset < self.highest:
            goes_on &= last < self.highest  # an entry had jumped there
        # Behind the highest offset comes none.
        goes_on[1:] &= (first[1:] == last[:-1] + 1) & (first[1:] > first[0])
        if findings:
            goes_on &= entries.column("position") < _position(findings[0])
        return len(last) if goes_on.all() else int(np.argmin(goes_on))

    def _runs(self, entries: Entries) -> Iterator[tuple[Entries, bool]]:
        """Yield *entries* in runs within which nothing comes up that needs all before it tracked.

        That is a snapshot, or the first sign of cleaning. Each comes with whether it has that sign, or
        lies behind it.
        """
        first = entries.column("first_offset")
        cuts = {0, len(entries)}
        for base in self.check.snapshots_to_come:
            if first[0] < base <= first[-1]:
                cuts.add(int(np.searchsorted(first, base)))
        cleaned_from = len(entries)
        if not self.segment.is_cleaned:
            look_cleaned = np.flatnonzero(_look_cleaned(entries))
            cleaned_from = int(look_cleaned[0]) if len(look_cleaned) else len(entries)
            cuts.add(cleaned_from)
        for begin, end in pairwise(sorted(cuts)):
            yield entries[begin:end], begin >= cleaned_from

    def _is_cleaned_in(self, entries: Entries) -> bool:
        """Return whether *entries* are the first to show that the segment was cleaned."""
        return not self.segment.is_cleaned and bool(_look_cleaned(entries).any())

    def _run(self, entries: Entries, is_cleaned: bool) -> list[tuple[int, Boundary]]:
        """Take *entries* that go on without a gap, all at once; *is_cleaned* says whether they show that.

        Return the boundaries among them, with the numbers of the entries that they lie before.
        """
        segment = self.segment
        last, sizes = entries.column("last_offset"), entries.column("size_bytes")
        begin = int(entries.column("position")[0])
        if self.is_behind_damage:
            self._gap_of_damage(int(entries.column("first_offset")[0]))
        ends = begin + np.cumsum(sizes)
        boundaries = list(self._boundaries(begin, ends, entries))
        self.end = self.next_offset = int(last[-1]) + 1
        self.highest = max(self.highest, self.next_offset)
        segment.sound_bytes += int(ends[-1]) - begin
        segment.leader_epoch = max(segment.leader_epoch, int(entries.column("leader_epoch").max()))
        is_control, is_data = entries.column("is_control"), entries.column("is_transactional")
        segment.has_transactions |= bool((is_control | is_data).any())
        segment.is_cleaned |= is_cleaned
        return boundaries

    def _stops_at(self, piece: SoundEntries, entry: Entry) -> bool:
        """Return whether the payload of *entry* is damaged, and the log is to end here."""
        decoded = self.engine.decode(
            piece.buffer, [entry], (), origin=piece.origin, limits=self.limits
        ).entry(0)
        if decoded.is_sound:
            return False
        self._report(decoded.counted_findings())
        self.segment.stop_at = entry.position
        self.segment.stop_end = entry.end
        return True

    def _boundaries(
        self, begin: int, ends: Numbers, entries: Entries
    ) -> Iterator[tuple[int, Boundary]]:
        """Set boundaries as `_boundary` does, among entries back to back; yield each's number.

        *ends* are the places behind them.
        """
        first, last = entries.column("first_offset"), entries.column("last_offset")
        boundaries = self.segment.boundaries
        while self.split_bytes is not None:
            before = boundaries[-1]
            number = int(np.searchsorted(ends, before.position + self.split_bytes, "right"))
            if (int(ends[number - 1]) if number else begin) <= before.position:
                number += 1  # one that is too large by itself
            if number >= len(ends):
                return
            floor = before.floor if self.next_offset is None else self.next_offset - 1
            position = begin
            if number:
                position, floor = int(ends[number - 1]), int(last[number - 1])
            made = Boundary(position, floor, int(first[number]), self._open_now())
            boundaries.append(made)
            yield number, made

    def _boundary(self, entry: Entry) -> None:
        """Let a split begin at *entry*, if one that holds it too would be too large."""
        last = self.segment.boundaries[-1]
        if (
            self.split_bytes is not None
            and entry.position > last.position
            and entry.end - last.position > self.split_bytes
        ):
            floor = self.next_offset - 1 if self.next_offset is not None else last.floor
            self.segment.boundaries.append(
                Boundary(entry.position, floor, entry.first_offset, self._open_now())
            )

    def _open_now(self) -> tuple[Transaction, ...]:
        follows = self.tracker if self.followed is None else self.followed
        return tuple(follows.open.values())

    def _cleaning(self, entry: Entry) -> None:
        if entry.magic == 2 and entry.base_offset is not None and entry.record_count is not None:
            spans = entry.last_offset - entry.base_offset + 1
            if entry.has_delete_horizon or 0 <= entry.record_count < spans:
                self.segment.is_cleaned = True

    def _gap(self, position: int, first: int, is_base: bool) -> None:
        """See whether offsets are missing below *first*, and what that means."""
        if self.is_behind_damage:
            self._gap_of_damage(first)
            return
        expected = self._expected(first)
        if expected is None or first <= expected or not is_base:
            return
        cleaner = self.log.cleaner_offset
        if cleaner is None:
            is_cleaned = self._looks_cleaned(expected, first)
        elif first <= cleaner:
            return
        else:
            is_cleaned = False
        finding = Finding(
            code="offset-gap-cleaned" if is_cleaned else "offset-gap",
            message=f"offsets {expected} to {first - 1} are missing"
            + (": inferred to be cleaning" if is_cleaned else ""),
            position=position,
            base_offset=first,
            field="base_offset",
            found=str(first),
            expected=str(expected),
        )
        self._report([finding])
        if not is_cleaned:
            self.check.missing.append((expected, first))
            self.tracker.hole()

    def _gap_of_damage(self, first: int) -> None:
        """Take what is missing below *first* for damaged, which is reported and taken for a hole."""
        self.is_behind_damage = False
        self.check.missing.append((self._expected(first) or 0, first))

    def _expected(self, first: int) -> int | None:
        """Return what the next entry should begin with, whose first offset is *first*."""
        expected = self.next_offset
        if expected is not None and expected < self.highest <= first:
            return self.highest  # an entry went back, and the log goes on where it was
        return expected

    def _looks_cleaned(self, start: int, end: int) -> bool:
        """Return whether the segments in which the offsets [start, end) are missing look cleaned."""
        if not self.out.is_verified and self.followed is None:
            return True  # the pass over headers: its findings of gaps are made again
        if self.cleaned is None:
            headers = copy(self)
            headers.followed = None
            headers.run(verify=False, only_cleaning=True)
            self.cleaned = headers.cleaned or []
        base = self.segment.file.base_offset
        here = self.cleaned[self.number]
        if base is None or self.number == 0 or start >= base:
            return here
        before = self.cleaned[self.number - 1]
        return before if end <= base else before and here

    def _track(self, piece: SoundEntries, entry: Entry) -> None:
        self.check.entry(entry)
        if entry.is_control:
            for said in self._said(piece, Entries([entry]), np.zeros(1, np.intp)):
                self._control(entry, said)
        else:
            self.tracker.data(entry, Place(self.number, entry.position))

    def _track_run(
        self, piece: SoundEntries, run: Entries, boundaries: Iterable[tuple[int, Boundary]]
    ) -> None:
        """Do as `_track` does for each of *run*, and say at each boundary what is open there."""
        producers = Producers(run)
        self.check.run(run, producers)
        numbers = np.flatnonzero(run.column("is_control"))
        if not producers and not len(numbers):
            for _, boundary in boundaries:
                self._open_at(boundary)
            return
        for told in producers.last_data():
            self.tracker.wrote(*told)
        # Data counts where the first of it lies: only its producer's next marker asks for more.
        steps: list[tuple[int, Callable[[], None]]] = []
        steps += ((number, partial(self._open_at, boundary)) for number, boundary in boundaries)
        steps += (
            (number, partial(self.check.begins, run[number]))
            for producer_id, number in producers.first_data()
            if self.check.beginning.awaits(producer_id)
        )
        steps += (
            (number, partial(self.tracker.batches, batches))
            for number, batches in producers.batches(self.number)
        )
        said = self._said(piece, run, numbers)
        for number, entry, one in zip(numbers.tolist(), run.picked(numbers), said, strict=True):
            if self.check.beginning.awaits(entry.producer_id):
                steps.append((number, partial(self.check.begins, entry)))
            steps.append((number, partial(self._control, entry, one)))
        for _, step in sorted(steps, key=itemgetter(0)):
            step()

    def _open_at(self, boundary: Boundary) -> None:
        boundary.open_here = self._open_now()

    def _said(self, piece: SoundEntries, entries: Entries, numbers: Indices) -> Iterator[Said]:
        return self.controls.read(
            piece.buffer, entries, numbers, origin=piece.origin, limits=self.limits
        )

    def _control(self, entry: Entry, said: Said) -> None:
        if not entry.record_count:
            return  # emptied by cleaning, long after its transaction
        if said.control is None or not said.is_sound:
            self.tracker.hole(entry.producer_id)
            return
        before = self.tracker.open.get(entry.producer_id)
        self.tracker.marker(entry, said.control, Place(self.number, entry.position))
        self.check.marker(self.number, entry, said.control, before)

    # The whole

    def _settle_offsets(self, logs: Sequence[LogFile]) -> None:
        out = self.out
        bases = [file.base_offset for file in logs if file.base_offset is not None]
        out.log_start_offset = start = log_start_offset(self.log)
        stopped = any(segment.stop_at is not None for segment in out.segments)
        ends = [] if stopped else [*bases[-1:]]
        if self.end is not None:
            ends.append(self.end)
        if start is not None:
            ends.append(start)
        out.log_end_offset = max(ends, default=None)
        if not stopped:
            self._find_missing_ends(bases)
        stored = self.log.high_watermark_checkpoint
        if stored is not None and self.log.log_dir is not None:
            if self.log.log_dir.clean_shutdown:
                out.high_watermark = stored
            else:
                out.findings.append(
                    Finding(
                        code="high-watermark-stale",
                        message=f"the high watermark was {stored} when last checkpointed",
                        topic=self.log.topic,
                        partition=self.log.partition,
                        found=str(stored),
                    )
                )

    @property
    def is_any_cleaned(self) -> bool:
        """Whether cleaning may have taken entries out of this log."""
        return bool(self.log.cleaner_offset) or any(s.is_cleaned for s in self.out.segments)

    def _find_missing_ends(self, bases: list[int]) -> None:
        """Report what says that the log once began lower, ended higher or held more segments."""
        log, out = self.log, self.out
        if log.is_named_files or log.state is not None:
            return
        orphans = {
            file.base_offset: file.name
            for file in log.files
            if file.live
            and file.kind in ("index", "timeindex", "txnindex")
            and file.base_offset not in bases
        }
        for base, name in orphans.items():
            self._directory_finding(
                "segment-missing", f"{name} lies here without its segment", str(base), file=name
            )
        starts = [
            start
            for start in (log.log_start_checkpoint, log.first_epoch_start)
            if start is not None
        ]
        if bases and starts and min(starts) < bases[0]:
            self._directory_finding(
                "log-begins-above",
                f"the log begins at {bases[0]}, its checkpoints say {min(starts)}: what lies between "
                "is in remote storage, or lost",
                str(bases[0]),
                expected=str(min(starts)),
            )
        start = log.log_start_checkpoint
        ends = [offset for offset in (*bases[-1:], self.end) if offset is not None]
        if start is not None and ends and start > max(ends):
            self._directory_finding(
                "log-start-beyond",
                f"the log ends at {max(ends)}, and its start is {start} by the checkpoint: no record "
                "is left, and a broker's start removes every segment",
                str(start),
                expected=f"{max(ends)} or less",
            )
        acknowledged, end = log.acknowledged_offset, out.log_end_offset
        if acknowledged is not None and end is not None and end < acknowledged:
            self._directory_finding(
                "log-ends-below",
                f"the log ends at {end}, its checkpoints say {acknowledged}: "
                f"offsets {end} to {acknowledged - 1} are lost",
                str(end),
                expected=str(acknowledged),
            )

    def _directory_finding(
        self,
        code: str,
        message: str,
        found: str,
        *,
        file: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.out.findings.append(
            Finding(
                code=code,
                message=message,
                topic=self.log.topic,
                partition=self.log.partition,
                file=file,
                found=found,
                expected=expected,
            )
        )

    def _settle_transactions(self) -> None:
        tracker, out = self.tracker, self.out
        self.check.judge_beginning()
        bases = [segment.file.base_offset or 0 for segment in out.segments]
        out.transactions = tracker.finish(self.check.trusted_index_entries(bases))
        out.findings.extend(self.check.findings)
        self._doubt_cleaned()
        self._tell_of_unended()

    def _settle_by_index(self, followed: Followed) -> None:
        """Take how transactions ended from indexes; DoubtError where something speaks against it."""
        out, log = self.out, self.log
        for finding in out.findings:
            if finding.code.startswith("snapshot-") or finding.code == "offset-gap":
                raise DoubtError(f"{finding.code}: {finding.message}")
        for segment in out.segments:
            if segment.file.base_offset is None:
                raise DoubtError(f"{segment.file.name} has no base offset")
            if any(unsound.kind != "tail" for unsound in segment.unsound_ranges):
                raise DoubtError(f"{segment.file.name} is damaged")
        if not out.is_in_order:
            raise DoubtError("offsets do not go up")
        ends = [segment.file.base_offset for segment in out.segments[1:]]
        spanned = [
            Spanned(segment.file.base_offset or 0, end, segment.is_cleaned)
            for segment, end in zip(out.segments, [*ends, None], strict=True)
        ]
        out.aborted, num_listed = settle(log, followed, spanned)
        out.transactions = sorted(
            followed.open.values(), key=lambda found: (found.first_offset, found.producer_id)
        )
        if any(segment.has_transactions for segment in out.segments):
            out.findings.append(
                Finding(
                    code="txnindex-trusted",
                    message=f"transaction indexes list {num_listed} aborted transactions; "
                    "the others that have ended are taken for committed",
                    topic=log.topic,
                    partition=log.partition,
                )
            )
        self._tell_of_unended()

    def _tell_of_unended(self) -> None:
        out = self.out
        for found in out.transactions:
            if found.outcome not in ("open", "undecided"):
                continue
            place = found.first_place
            file = out.segments[place.segment].file.name if place else None
            is_open = found.outcome == "open"
            message = (
                f"the transaction of producer {found.producer_id} from offset {found.first_offset} "
                + (
                    "has not ended"
                    if is_open
                    else "is undecided: its end may lie in a hole; read_committed withholds it"
                )
            )
            out.findings.append(
                Finding(
                    code="transaction-open" if is_open else "transaction-undecided",
                    message=message,
                    topic=self.log.topic,
                    partition=self.log.partition,
                    file=file,
                    position=place.position if place else None,
                    base_offset=found.first_offset,
                    field="producer_id",
                    found=str(found.producer_id),
                )
            )

    def _doubt_cleaned(self) -> None:
        """Doubt an abort of records that cleaning has kept: it removes those of aborted ones.

        Their COMMIT lay in a segment that is gone; in a cleaned log that looks like cleaning.
        """
        cleaner = self.log.cleaner_offset or 0
        for found in self.out.transactions:
            if found.outcome == "aborted" and found.record_count and found.last_offset < cleaner:
                found.outcome, found.evidence = "undecided", None
                found.is_behind_hole = True

    def _settle_end(self) -> None:
        out = self.out
        if out.log_end_offset is not None:
            out.last_stable_offset = last_stable_offset(
                out.transactions,
                log_start=out.log_start_offset or 0,
                log_end=out.log_end_offset,
            )


def _look_cleaned(entries: Entries) -> Mask:
    """Return which of *entries* show that the cleaner was here, as `_cleaning` has it."""
    first, last = entries.column("first_offset"), entries.column("last_offset")
    counts = entries.column("record_count")
    has_gap = (counts >= 0) & (counts <= last - first) & (entries.column("magic") == 2)
    look_cleaned: Mask = has_gap | (entries.column("has_delete_horizon") != 0)
    return look_cleaned


def _position(finding: Finding) -> int:
    assert finding.position is not None
    return finding.position
