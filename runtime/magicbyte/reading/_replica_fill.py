"""Entries of other replicas for the holes in a replica's log, where the replicas agree.

A leader appends with its own epoch, and its followers copy its log. So two entries of one offset and
one leader epoch are the same entry, and where two logs have the same entry, they are the same up to there
(KIP-101, KIP-279). An entry of another replica fills a hole only if this proves that it was there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.errors import MissingError
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._log_pass import SurveyOptions
from magicbyte.reading._replica_holes import ENTRY_ROW, EntryRows, Hole, entry_rows
from magicbyte.reading._walk import SoundEntries, VerifiedWalk
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.storage import File
from magicbyte.tables.arrays import Mask

LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1

MAX_SEARCHES = 10
"""Rounds in which replicas confirm each other's entries between damaged bytes."""

NO_ROWS: EntryRows = np.empty(0, ENTRY_ROW)


@dataclass(slots=True)
class Gap:
    """Offsets between two entries, which one replica or two hold, for which no entry is known yet."""

    hole: int
    """Number of the hole that it is in."""
    before: np.void | None
    after: np.void | None

    @property
    def low(self) -> int:
        return LOWEST if self.before is None else int(self.before["first_offset"])

    @property
    def high(self) -> int:
        return HIGHEST if self.after is None else int(self.after["last_offset"])


@dataclass(frozen=True, slots=True)
class Chain:
    """Consecutive entries of one replica that fill a part of a hole."""

    hole: int
    replica: PartitionLog
    rows: EntryRows
    """An ENTRY_ROW for each; `file` is a number of `replica.logs`."""

    @property
    def first_offset(self) -> int:
        return int(self.rows[0]["first_offset"])

    @property
    def last_offset(self) -> int:
        return int(self.rows[-1]["last_offset"])

    @property
    def num_bytes(self) -> int:
        return int(self.rows["size_bytes"].sum())


@dataclass(frozen=True, slots=True)
class IgnoredEntries:
    """Entries of a replica in a hole that do not fit, so that they are not read."""

    hole: int
    replica: PartitionLog
    first_offset: int
    last_offset: int
    leader_epoch: int
    reason: str


class UnsoundBytes(NamedTuple):
    """Bytes of a segment in which no sound entry was found."""

    file: int
    start: int
    end: int
    floor: int | None
    """The last sound offset before them."""
    ceiling: int | None
    """The first sound offset after them; None if there is none."""
    finding: Finding
    """The finding about the first of them, or about the damage that goes on in them."""


def first_finding(file: LogFile, unsound: UnsoundRange, before: Sequence[UnsoundBytes]) -> Finding:
    """Return the first finding about *unsound* bytes of *file*, or about the damage *before* them that goes on there."""
    if unsound.findings:
        return unsound.findings[0].at(None, None, file.name, file.replica)
    if before:
        return before[-1].finding
    length = unsound.end - unsound.start
    return Finding(
        code="unreadable",
        message=f"{length} bytes cannot be read",
        file=file.name,
        position=unsound.start,
        length=length,
        replica=file.replica,
    )


@dataclass(slots=True)
class HoleFiller:
    """Fills gaps from one replica after the other, and keeps the remaining ones."""

    options: SurveyOptions
    lineage: Sequence[tuple[int, int]]
    """The newest leader epochs and start offsets of a replica; none if no replica has the checkpoint."""
    log_start_offset: int
    """Entries that end below it are not wanted."""
    open_gaps: list[Gap]
    chosen: PartitionLog
    """The log with the holes."""
    unsound: dict[str, set[UnsoundBytes]]
    """Bytes of the replicas in which no sound entry was found, by the replica's key."""
    agreed_offsets: dict[str, int]
    """The highest offset at which each replica has the same entry, by its key."""
    chains: list[Chain] = field(default_factory=list)
    ignored: list[IgnoredEntries] = field(default_factory=list)

    def fill_from(self, replica: PartitionLog) -> None:
        """Fill the gaps with entries of *replica* that agree with the entries around them."""
        if self.open_gaps:
            self._fill(replica, self._rows_in_gaps(replica))

    def search_again(self, searched_logs: Sequence[PartitionLog]) -> None:
        """Fill the gaps with entries that a search passed over, since nothing around them was sound.

        What another replica has filled meanwhile confirms them: they continue its offsets.
        """
        for _ in range(MAX_SEARCHES):
            num_chains = len(self.chains)
            for replica in searched_logs:
                if self.open_gaps and self.unsound.get(replica.key):
                    self._fill(
                        replica, [self._rows_in_damage(gap, replica) for gap in self.open_gaps]
                    )
            if len(self.chains) == num_chains:
                break

    def _fill(self, replica: PartitionLog, rows_of_gaps: Sequence[EntryRows]) -> None:
        for gap, rows in zip(self.open_gaps, rows_of_gaps, strict=True):
            for border in (gap.before, gap.after):
                if border is not None and _same(rows, border).any():
                    agreed = self.agreed_offsets.get(replica.key, LOWEST)
                    last = int(border["last_offset"])
                    self.agreed_offsets[replica.key] = max(agreed, last)
        remaining_gaps: list[Gap] = []
        for gap, rows in zip(self.open_gaps, rows_of_gaps, strict=True):
            chains = self._chains(gap, rows, replica) if len(rows) else []
            remaining_gaps += self._gaps_left(gap, chains)
            self.chains += [Chain(gap.hole, replica, c.rows[~c.is_border]) for c in chains]
        self.open_gaps = remaining_gaps

    def _rows_in_gaps(self, replica: PartitionLog) -> list[EntryRows]:
        """Return for each gap the sound entries of *replica* in it, and those that overlap its borders."""
        lows = np.array([gap.low for gap in self.open_gaps])
        highs = np.array([gap.high for gap in self.open_gaps])
        rows_of_gaps: list[list[EntryRows]] = [[] for _ in self.open_gaps]
        logs = replica.logs
        for number, file in enumerate(logs):
            base, following = file.base_offset or 0, logs[number + 1 : number + 2]
            ceiling = following[0].base_offset if following else None
            is_wanted = highs >= base
            if ceiling is not None:
                is_wanted &= lows < ceiling
            if not is_wanted.any():
                continue
            bounds = Bounds(floor=base - 1, ceiling=ceiling)
            for rows in self._rows_of_segment(replica, number, bounds):
                first, last = int(rows[0]["first_offset"]), int(rows[-1]["last_offset"])
                for index in np.flatnonzero((lows <= last) & (highs >= first)).tolist():
                    is_inside = rows["last_offset"] >= lows[index]
                    is_inside &= rows["first_offset"] <= highs[index]
                    if is_inside.any():
                        rows_of_gaps[index].append(rows[is_inside])
        return [np.concatenate(pieces) if pieces else NO_ROWS for pieces in rows_of_gaps]

    def _rows_of_segment(
        self, replica: PartitionLog, number: int, bounds: Bounds
    ) -> Iterator[EntryRows]:
        """Yield the sound entries of a segment of *replica*, up to a byte that cannot be read."""
        file, floor = replica.logs[number], bounds.floor
        is_last = number + 1 == len(replica.logs)
        unsound = self.unsound.setdefault(replica.key, set())
        pending: list[UnsoundBytes] = []
        try:
            with self.options.open_log(file) as opened:
                for piece in self._walk(
                    opened, bounds, file.start, opened.size_bytes, is_last=is_last
                ):
                    if isinstance(piece, SoundEntries):
                        rows = entry_rows(piece.entries, number)
                        first, floor = int(rows[0]["first_offset"]), int(rows[-1]["last_offset"])
                        unsound.update(damage._replace(ceiling=first) for damage in pending)
                        pending.clear()
                        yield rows
                    elif isinstance(piece, UnsoundRange):
                        finding = first_finding(file, piece, pending[-1:])
                        pending.append(
                            UnsoundBytes(
                                number, piece.start, piece.end, floor, bounds.ceiling, finding
                            )
                        )
        except MissingError:
            pass  # `verify` reports it; here only its other entries matter
        unsound.update(pending)

    def _rows_in_damage(self, gap: Gap, replica: PartitionLog) -> EntryRows:
        """Return entries of *replica* in its damaged bytes that continue the offsets of *gap*."""
        found = [NO_ROWS]
        floor = self.log_start_offset - 1 if gap.before is None else int(gap.before["last_offset"])
        ceiling = None if gap.after is None else int(gap.after["first_offset"])
        for damage in sorted(self.unsound[replica.key], key=itemgetter(0, 1)):
            is_below = damage.ceiling is not None and damage.ceiling <= floor + 1
            is_above = ceiling is not None and (damage.floor or 0) >= ceiling - 1
            if is_below or is_above:
                continue
            try:
                with self.options.open_log(replica.logs[damage.file]) as opened:
                    bounds = Bounds(floor=floor, ceiling=ceiling)
                    for piece in self._walk(opened, bounds, damage.start, damage.end):
                        if isinstance(piece, SoundEntries):
                            found.append(entry_rows(piece.entries, damage.file))
            except MissingError:
                continue
        rows: EntryRows = np.concatenate(found)
        # A walk also yields entries that are out of order.
        is_inside = (rows["last_offset"] >= gap.low) & (rows["first_offset"] <= gap.high)
        return rows[is_inside]

    def _walk(
        self, file: File, bounds: Bounds, start: int, end: int, *, is_last: bool = False
    ) -> VerifiedWalk:
        options = self.options
        return VerifiedWalk(
            file,
            engine=options.engine,
            limits=options.limits,
            bounds=bounds,
            start=start,
            end=end,
            is_last=is_last,
        )

    def _chains(self, gap: Gap, rows: EntryRows, replica: PartitionLog) -> "list[_RowChain]":
        """Return the entries among *rows* that fill *gap*, in runs without bytes between them."""
        is_before, is_after = _at_border(rows, gap.before), _at_border(rows, gap.after)
        is_inside = ~(is_before | is_after)
        reason = None
        for border, is_near in ((gap.before, is_before), (gap.after, is_after)):
            if border is not None and not _same(rows[is_near], border).all():
                reason = "its entry at the border is another one"
        if gap.before is None:
            is_inside &= rows["last_offset"] >= self.log_start_offset
        known_end = _known_high_watermark(replica)
        if gap.after is None and known_end is not None:
            is_inside &= rows["last_offset"] < known_end
        if not is_inside.any():
            return []
        usable = is_inside & self._is_proven(
            gap, rows, replica, agrees_before=bool(is_before.any())
        )
        offsets = rows["first_offset"], rows["last_offset"]
        if (offsets[0][1:] <= offsets[1][:-1]).any() or (offsets[1] < offsets[0]).any():
            reason = "its offsets are out of order"
        elif not usable.any():
            reason = reason or "its leader epoch does not fit"
        if reason is not None:
            inside = rows[is_inside]
            first, last = int(inside[0]["first_offset"]), int(inside[-1]["last_offset"])
            epoch = int(inside[-1]["leader_epoch"])
            self.ignored.append(IgnoredEntries(gap.hole, replica, first, last, epoch, reason))
            return []
        is_kept = usable | is_before | is_after
        kept, is_border = rows[is_kept], ~is_inside[is_kept]
        breaks = np.flatnonzero(~_are_adjacent(kept, replica.logs)) + 1
        chains = [
            _RowChain(part, border)
            for part, border in zip(
                np.split(kept, breaks), np.split(is_border, breaks), strict=True
            )
        ]
        return [chain for chain in chains if not chain.is_border.all()]

    def _is_proven(
        self, gap: Gap, rows: EntryRows, replica: PartitionLog, *, agrees_before: bool
    ) -> Mask:
        """Return a mask of the *rows* that were in the log with the *gap*, by offset and leader epoch."""
        epochs = rows["leader_epoch"]
        low = -1 if gap.before is None else int(gap.before["leader_epoch"])
        high = HIGHEST if gap.after is None else int(gap.after["leader_epoch"])
        is_possible: Mask = (epochs >= low) & (epochs <= high)
        if replica is self.chosen:
            return is_possible
        is_agreed = rows["last_offset"] <= self.agreed_offsets.get(replica.key, LOWEST)
        # The leader of an epoch does not truncate its log: entries of its epoch before a later one of its
        # entries, or after its entry at the end of the newest log, were there.
        is_proven = epochs == (low if gap.after is None else high)
        goes_on = gap.after is None and (agrees_before or gap.before is None)
        if goes_on:  # the replica's log begins where the other ends
            is_proven = is_possible
        expected = self._epochs_of_lineage(gap, rows["first_offset"])
        if expected is not None:
            # The end of the log may have epochs that the checkpoint does not know yet.
            is_later = is_proven & (expected == self.lineage[-1][0]) & (epochs > expected)
            is_known = expected >= 0
            is_proven = (is_known & ((epochs == expected) | is_later)) | (~is_known & is_proven)
        has_proof = (epochs >= 0) | goes_on
        is_possible &= is_agreed | (is_proven & has_proof)
        return is_possible

    def _epochs_of_lineage(self, gap: Gap, first_offsets: Numbers) -> Numbers | None:
        """Return the epoch of each of *first_offsets* by the checkpoint; None if it contradicts the borders."""
        if not self.lineage:
            return None
        epochs, starts = np.array(self.lineage, np.int64).T

        def epochs_at(numbers: Numbers) -> Numbers:
            indices = np.searchsorted(starts, numbers, "right") - 1
            return np.where(indices < 0, -1, epochs[indices])

        for border in (gap.before, gap.after):
            if border is not None:
                at = np.array([border["first_offset"]])
                if epochs_at(at)[0] != border["leader_epoch"]:
                    return None
        return epochs_at(first_offsets)

    def _gaps_left(self, gap: Gap, chains: "Sequence[_RowChain]") -> list[Gap]:
        """Return what *chains* leave of *gap*."""
        remaining_gaps = []
        before, is_joined = gap.before, False
        for chain in chains:
            first = chain.rows[0]
            is_joined = bool(chain.is_border[0]) or (
                before is not None and int(first["first_offset"]) == int(before["last_offset"]) + 1
            )
            if not is_joined and (
                before is not None or first["first_offset"] > self.log_start_offset
            ):
                remaining_gaps.append(Gap(gap.hole, before, first))
            before, is_joined = chain.rows[-1], bool(chain.is_border[-1])
        if gap.after is None:
            remaining_gaps.append(Gap(gap.hole, before, None))
        elif not is_joined or not chains:
            is_closed = before is not None and (
                int(gap.after["first_offset"]) == int(before["last_offset"]) + 1
            )
            if not is_closed:
                remaining_gaps.append(Gap(gap.hole, before, gap.after))
        return remaining_gaps


@dataclass(frozen=True, slots=True)
class _RowChain:
    """Entries of a replica without bytes between them, and which of them are at a border of the gap."""

    rows: EntryRows
    is_border: Mask

    def __len__(self) -> int:
        return int((~self.is_border).sum())


def _known_high_watermark(replica: PartitionLog) -> int | None:
    """Return the high watermark of *replica*; None if its broker did not stop cleanly."""
    log_dir = replica.log_dir
    is_known = log_dir is not None and log_dir.clean_shutdown and not replica.is_named_files
    return replica.high_watermark_checkpoint if is_known else None


def _at_border(rows: EntryRows, border: np.void | None) -> Mask:
    """Return a mask of the *rows* whose offsets overlap the offsets of *border*."""
    if border is None:
        return np.zeros(len(rows), np.bool_)
    overlaps: Mask = rows["last_offset"] >= border["first_offset"]
    overlaps &= rows["first_offset"] <= border["last_offset"]
    return overlaps


def _same(rows: EntryRows, border: np.void) -> Mask:
    """Return a mask of the *rows* that are the same entry as *border*.

    An entry that the log cleaner has rewritten keeps its offsets and its epoch, but no checksum.
    """
    same: Mask = rows["leader_epoch"] == border["leader_epoch"]
    same &= (rows["last_offset"] == border["last_offset"]) & (
        rows["first_offset"] == border["first_offset"]
    )
    is_rewritten = (rows["leader_epoch"] >= 0) & (
        (rows["is_whole"] == 0) | bool(border["is_whole"] == 0)
    )
    same &= (rows["crc"] == border["crc"]) | is_rewritten
    return same


def _are_adjacent(rows: EntryRows, logs: Sequence[LogFile]) -> Mask:
    """Return for each but the first of *rows* whether it follows the one before it without bytes between."""
    ends = rows["position"] + rows["size_bytes"]
    files, begins = rows["file"], rows["position"]
    sizes = np.array([file.size_bytes for file in logs], np.int64)
    is_next: Mask = (files[1:] == files[:-1]) & (begins[1:] == ends[:-1])
    is_next |= (files[1:] == files[:-1] + 1) & (begins[1:] == 0) & (ends[:-1] == sizes[files[:-1]])
    return is_next


def fill_holes(
    chosen: PartitionLog,
    holes: Sequence[Hole],
    other_logs: Sequence[PartitionLog],
    newest_first: Sequence[PartitionLog],
    lineage: Sequence[tuple[int, int]],
    log_start_offset: int,
    options: SurveyOptions,
) -> HoleFiller:
    """Return the filler of the *holes* of *chosen*, after it has used *other_logs* in this order.

    The hole at the end is filled from *newest_first*, the same replicas by leader epoch: there the
    batches of a higher epoch are right.
    """
    gaps = [Gap(number, hole.before, hole.after) for number, hole in enumerate(holes)]
    damage: list[UnsoundBytes] = []
    for hole in holes:
        floor = _offset_of(hole.before, "last_offset")
        ceiling = _offset_of(hole.after, "first_offset")
        for number, each in hole.damage:
            finding = first_finding(chosen.logs[number], each, damage[-1:])
            damage.append(UnsoundBytes(number, each.start, each.end, floor, ceiling, finding))
    unsound, agreed_offsets = {chosen.key: set(damage)}, dict[str, int]()
    fillers = []
    for is_end, ordered in ((False, other_logs), (True, newest_first)):
        own_gaps = [gap for gap in gaps if (gap.after is None) == is_end]
        filler = HoleFiller(
            options, lineage, log_start_offset, own_gaps, chosen, unsound, agreed_offsets
        )
        for replica in ordered:
            filler.fill_from(replica)
        filler.search_again([*ordered, chosen])
        fillers.append(filler)
    inner, end = fillers
    inner.open_gaps += end.open_gaps
    inner.chains += end.chains
    inner.ignored += end.ignored
    return inner


def _offset_of(entry_row: np.void | None, name: str) -> int | None:
    return None if entry_row is None else int(entry_row[name])
