"""The choice between the replicas of a partition, and the filling of holes in the chosen one."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from magicbyte.engines.factory import engine
from magicbyte.errors import MissingError
from magicbyte.findings import Finding, offsets_are
from magicbyte.logdir.checkpoints import read_lineage
from magicbyte.logdir.clusters import preference, replica_name, with_replica_name
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.replica import Replica
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._filled_log import filled_log
from magicbyte.reading._log_pass import LogPass, SurveyOptions
from magicbyte.reading._replica_fill import (
    Chain,
    HoleFiller,
    UnsoundBytes,
    fill_holes,
    first_finding,
)
from magicbyte.reading._replica_holes import Hole, HolePass
from magicbyte.reading._replica_losses import ReplicaEvidence, lost_offset_findings
from magicbyte.reading._walk import SoundEntries
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.survey import SegmentSurvey


class _ReplicaPass(LogPass):
    """A pass over the headers of a replica, which measures how much of the log it has."""

    def __init__(self, log: PartitionLog, options: SurveyOptions) -> None:
        super().__init__(TransactionCompanions(log, 0), options)
        self.first_offset: int | None = None
        self.leader_epoch = -1
        self.num_missing = 0
        self.num_errors = 0
        self.unsound: list[UnsoundBytes] = []
        self._pending: list[UnsoundBytes] = []

    def add_damage(self, segment: SegmentSurvey, damage: UnsoundRange) -> None:
        super().add_damage(segment, damage)
        bounds, number = segment.bounds, segment.number
        finding = first_finding(segment.file, damage, self._pending[-1:])
        last = None if self.offsets.next_offset is None else self.offsets.next_offset - 1
        floor = max((each for each in (last, bounds.floor) if each is not None), default=None)
        self._pending.append(
            UnsoundBytes(number, damage.start, damage.end, floor, bounds.ceiling, finding)
        )

    def add_piece(self, segment: SegmentSurvey, piece: SoundEntries) -> None:
        first = int(piece.entries.column("first_offset")[0])
        self._add_pending(first)
        super().add_piece(segment, piece)
        if self.first_offset is None:
            self.first_offset = int(piece.entries.column("first_offset")[0])
        self.leader_epoch = int(piece.entries.column("leader_epoch")[-1])

    def add_missing(self, first: int, end: int | None) -> None:
        if end is not None and self.first_offset is not None:
            self.num_missing += end - first

    def read_segment(self, segment: SegmentSurvey) -> None:
        try:
            super().read_segment(segment)
        except MissingError:
            self.num_errors += 1
            file = segment.file
            position = segment.sound_bytes + sum(each.length for each in segment.unsound_ranges)
            self.add_damage(
                segment, UnsoundRange(file.start + position, file.size_bytes, "unreadable", ())
            )
        self._add_pending(None)

    def _add_pending(self, ceiling: int | None) -> None:
        """Keep the damage before an entry with the first offset *ceiling*; None at the end of a segment."""
        for damage in self._pending:
            is_above = ceiling is not None and (damage.floor is None or ceiling > damage.floor)
            self.unsound.append(damage._replace(ceiling=ceiling) if is_above else damage)
        self._pending.clear()


@dataclass(frozen=True, slots=True)
class _MeasuredReplica:
    """A replica with its measures, by headers alone."""

    log: PartitionLog
    lineage: Sequence[tuple[int, int]]
    leader_epoch: int
    first_offset: int | None
    end_offset: int | None
    num_missing: int
    num_errors: int
    unsound: Sequence[UnsoundBytes]
    """Bytes in which headers show no sound entry."""

    @property
    def num_offsets(self) -> int:
        """Offsets between its first and its last entry that it has."""
        if self.first_offset is None or self.end_offset is None:
            return 0
        first = max(self.first_offset, self.log.log_start_checkpoint or 0)
        return self.end_offset - first - self.num_missing

    @property
    def order(self) -> tuple[int, int, int, str]:
        """Sort key, the best replica first: leader epoch, length, errors."""
        return -self.leader_epoch, -self.num_offsets, self.num_errors, self.log.folder

    @property
    def can_fill(self) -> bool:
        """True if its segments can be put in order with the segments of another replica."""
        bases = [file.base_offset for file in self.log.logs]
        is_remote = any(file.is_remote for file in self.log.files)
        return None not in bases and not is_remote

    def text(self) -> str:
        """Return its leader epoch and its offsets in words."""
        if self.first_offset is None or self.end_offset is None:
            return "no sound batch"
        epoch = f"leader epoch {self.leader_epoch}, " if self.leader_epoch >= 0 else ""
        missing = f", {self.num_missing} of them missing" if self.num_missing else ""
        return f"{epoch}offsets {self.first_offset} to {self.end_offset - 1}{missing}"


def choose_replica(
    logs: Sequence[PartitionLog], *, folders: Sequence[str], options: ReadOptions, fill: bool
) -> PartitionLog:
    """Return one log for the replicas *logs* of a partition.

    It is the first by the preferred *folders*, else the best. If *fill*, its holes are filled from the
    others, where they agree.
    """
    survey_options = SurveyOptions(engine=engine(options.engine), limits=options.limits)
    measured = _with_known_epochs(
        [_measure(with_replica_name(log), survey_options) for log in logs]
    )
    newest_first = sorted(measured, key=lambda one: one.order)
    ranked = sorted(newest_first, key=lambda one: preference(one.log, folders))
    chosen = ranked[0]
    log, fill_findings, chains = chosen.log, list[Finding](), list[Chain]()
    log_start_offset = _log_start_offset(ranked)
    verified: Mapping[str, Collection[UnsoundBytes]] = {}
    if fill and chosen.can_fill:
        others = [one for one in ranked[1:] if one.can_fill]
        newest = [one for one in newest_first if one is not chosen and one.can_fill]
        holes, filler = _fill(chosen, others, newest, log_start_offset, survey_options)
        chains, verified = filler.chains, filler.unsound
        if chains:
            log = filled_log(chosen.log, holes, chains, filler.open_gaps)
        log = _with_log_start(log, log_start_offset)
        fill_findings = list(_fill_findings(chosen.log, holes, filler))
    own_paths = {file.path for file in chosen.log.logs}
    is_superseded = chosen.end_offset is None and any(
        each.disposition == "superseded" and each.path in own_paths for each in log.left_out
    )
    evidence = [
        _evidence(one, verified)
        for one in ranked
        if (one is not chosen or is_superseded) and (fill or one.end_offset is None)
    ]
    return replace(
        log,
        findings=(
            *log.findings,
            _choice_finding(ranked),
            *fill_findings,
            *lost_offset_findings(log, evidence, log_start_offset, options.offsets, survey_options),
        ),
        measured_replicas=tuple(
            _replica_row(one, rank, chains) for rank, one in enumerate(ranked, 1)
        ),
    )


def _measure(log: PartitionLog, options: SurveyOptions) -> _MeasuredReplica:
    headers = _ReplicaPass(log, options)
    headers.read_segments()
    survey = headers.survey
    store = log.files[0].store if log.files else None
    lineage = read_lineage(log.folder, store) or ()
    return _MeasuredReplica(
        log,
        lineage,
        headers.leader_epoch,
        headers.first_offset,
        headers.offsets.log_end_offset,
        headers.num_missing,
        headers.num_errors + sum(finding.severity == "error" for finding in survey.findings),
        headers.unsound,
    )


def _with_known_epochs(measured: Sequence[_MeasuredReplica]) -> list[_MeasuredReplica]:
    """Return *measured* with the highest leader epoch that each of them knows.

    A broker that appends in a new epoch writes it to the checkpoint first; the batches may be lost. No
    checksum covers the epoch of a batch, so where a replica has a checkpoint, it counts only up to the
    highest one in any checkpoint.
    """
    highest = max(map(_last_epoch, measured))
    return [
        replace(one, leader_epoch=max(_last_epoch(one), min(one.leader_epoch, highest)))
        if one.lineage
        else one
        for one in measured
    ]


def _fill(
    chosen: _MeasuredReplica,
    others: Sequence[_MeasuredReplica],
    newest: Sequence[_MeasuredReplica],
    log_start_offset: int,
    options: SurveyOptions,
) -> tuple[list[Hole], HoleFiller]:
    """Return the holes in the log of *chosen*, and the filler that has used the other replicas."""
    hole_pass = HolePass(chosen.log, options)
    holes = hole_pass.find_holes()
    if not hole_pass.survey.is_in_order:
        holes = []
    firsts = [one.first_offset for one in others if one.first_offset is not None]
    ends = [one.end_offset for one in others if one.end_offset is not None]
    wanted = []
    for hole in holes:
        is_wanted = bool(hole.damage) or (hole.before is not None and hole.after is not None)
        if not is_wanted and hole.after is not None:
            first = int(hole.after["first_offset"])
            is_wanted = log_start_offset < first and min(firsts, default=first) < first
        elif not is_wanted:
            end = 0 if hole.before is None else int(hole.before["last_offset"]) + 1
            is_wanted = max(ends, default=end) > end
        if is_wanted:
            wanted.append(hole)
    return wanted, fill_holes(
        chosen.log,
        wanted,
        [one.log for one in others],
        [one.log for one in newest],
        max((chosen, *others), key=_last_epoch).lineage,
        log_start_offset,
        options,
    )


def _log_start_offset(measured: Sequence[_MeasuredReplica]) -> int:
    """Return the highest log start offset in a checkpoint: followers take it over from their leader."""
    ends = [one.end_offset for one in measured if one.end_offset is not None]
    starts = [one.log.log_start_checkpoint or 0 for one in measured]
    return max((start for start in starts if start <= max(ends, default=0)), default=0)


def _with_log_start(log: PartitionLog, offset: int) -> PartitionLog:
    """Return *log*, whose records below *offset* were deleted."""
    log_dir = log.log_dir
    if log_dir is None or log.topic is None or log.partition is None:
        return log
    if offset <= (log.log_start_checkpoint or 0) or log.is_named_files:
        return log
    own_start = (log_dir.log_start or {}) | {(log.topic, log.partition): offset}
    return replace(log, log_dir=replace(log_dir, log_start=own_start))


def _last_epoch(one: _MeasuredReplica) -> int:
    """Return the last leader epoch in the checkpoint of a replica."""
    return one.lineage[-1][0] if one.lineage else -1


def _choice_finding(ranked: Sequence[_MeasuredReplica]) -> Finding:
    chosen, *others = ranked
    rest = "; ".join(f"{replica_name(one.log)}: {one.text()}" for one in others)
    return chosen.log.finding(
        "replica-chosen",
        f"{len(ranked)} replicas: this one is read ({chosen.text()}), not {rest}",
        found=str(len(ranked)),
    )


def _evidence(
    one: _MeasuredReplica, verified: Mapping[str, Collection[UnsoundBytes]]
) -> ReplicaEvidence:
    """Return what *one* tells about its lost offsets; *verified* are unsound bytes by checksums, too."""
    own = verified.get(one.log.key, ())
    files = {each.file for each in own}
    unsound = [each for each in one.unsound if each.file not in files]
    return ReplicaEvidence(one.log, one.end_offset, one.lineage, (*unsound, *own))


def _fill_findings(
    log: PartitionLog, holes: Sequence[Hole], filler: HoleFiller
) -> Iterator[Finding]:
    """Yield a finding for each range that is filled, and for entries that do not fit."""
    for chain in sorted(filler.chains, key=lambda chain: chain.first_offset):
        if chain.replica is log:
            continue
        hole = holes[chain.hole]
        file, unsound = None, None
        if hole.damage:
            number, unsound = hole.damage[0]
            file = log.logs[number].name
        is_unreadable = any(one.has_unreadable_bytes for _, one in hole.damage)
        kind = (
            "missing" if unsound is None else "incomplete" if unsound.kind == "tail" else "damaged"
        )
        if is_unreadable:
            kind = "unreadable"
        source = chain.replica.logs[int(chain.rows[0]["file"])].name
        yield log.finding(
            "range-filled",
            f"{offsets_are(chain.first_offset, chain.last_offset, f'{kind} here')}; "
            f"{'it is' if chain.first_offset == chain.last_offset else 'they are'} read from "
            f"{source} in {replica_name(chain.replica)}",
            file=file,
            position=None if unsound is None else unsound.start,
            length=None if unsound is None else sum(one.length for _, one in hole.damage),
            base_offset=chain.first_offset,
        )
    open_holes = {gap.hole for gap in filler.open_gaps}
    for ignored in filler.ignored:
        if ignored.hole in open_holes:
            yield log.finding(
                "replica-ignored",
                f"offsets {ignored.first_offset} to {ignored.last_offset} of "
                f"{replica_name(ignored.replica)} are not read (leader epoch "
                f"{ignored.leader_epoch}): {ignored.reason}",
                base_offset=ignored.first_offset,
            )


def _replica_row(one: _MeasuredReplica, rank: int, chains: Sequence[Chain]) -> Replica:
    own = [chain for chain in chains if chain.replica is one.log]
    return Replica(
        log_dir=replica_name(one.log),
        rank=rank,
        leader_epoch=None if one.leader_epoch < 0 else one.leader_epoch,
        first_offset=one.first_offset,
        log_end_offset=one.end_offset,
        missing_offsets=one.num_missing,
        error_count=one.num_errors,
        size_bytes=one.log.log_bytes,
        filled_ranges=len(own),
        filled_offsets=sum(chain.last_offset - chain.first_offset + 1 for chain in own),
        filled_bytes=sum(chain.num_bytes for chain in own),
    )
