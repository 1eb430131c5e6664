"""Passes over a partition that also settle its transactions: by indexes, or by verified markers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from magicbyte._transactions import last_stable_offset
from magicbyte.engines.protocol import DecodedEntry, Entries
from magicbyte.findings import Finding
from magicbyte.logdir.companions import (
    TransactionCompanions,
)
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._index_outcomes import (
    HeaderTransactions,
    IndexedSegment,
    UntrustedIndexError,
    aborted_by_indexes,
)
from magicbyte.reading._log_pass import EntryBlock, LogPass, SurveyOptions
from magicbyte.reading._part_markers import PartMarkers
from magicbyte.reading._record_ends import RecordEnds
from magicbyte.reading._snapshot_check import unstated_open
from magicbyte.reading._transaction_pass import TransactionPass
from magicbyte.reading._transaction_table import EVIDENCE_CODES
from magicbyte.reading._verified_records import decode_verified
from magicbyte.reading._walk import HeaderWalk, SoundEntries, VerifiedWalk, Walk
from magicbyte.reading.outcomes import OUTCOME_CODES
from magicbyte.reading.survey import SegmentSurvey, Survey
from magicbyte.tables.arrays import Indices


class IndexPass(LogPass):
    """A pass over headers, with transaction indexes instead of markers."""

    def __init__(
        self, companions: TransactionCompanions, options: SurveyOptions, *, is_part: bool
    ) -> None:
        """*is_part*: the log of *companions* is a part of a log, whose markers are read as well."""
        super().__init__(companions, options)
        self.companions = companions
        self.transactions = HeaderTransactions(companions.start_snapshot or ())
        self.part_markers = PartMarkers(options) if is_part else None

    def begin_segment(self, segment: SegmentSurvey) -> Indices:
        return self.transactions.open_numbers()

    def add_block(self, block: EntryBlock) -> None:
        if self.part_markers is not None:
            self.part_markers.add(block)
        entries, begin = block.piece.entries, 0
        for index, boundary in block.boundaries:
            self.transactions.add(entries[begin:index], block.segment.number)
            boundary.open_here = self.transactions.open_numbers()
            begin = index
        self.transactions.add(entries[begin:], block.segment.number)

    def finish(self) -> Survey:
        """Finish the survey with the outcomes in the indexes.

        Raises UntrustedIndexError where the log contradicts them.
        """
        survey, log = super().finish(), self.log
        for finding in survey.findings:
            if finding.code.startswith("snapshot-") or finding.code == "offset-gap":
                raise UntrustedIndexError(f"{finding.code}: {finding.message}")
        for segment in survey.segments:
            if segment.file.base_offset is None:
                raise UntrustedIndexError(f"{segment.file.name} has no base offset")
            if any(unsound.kind != "tail" for unsound in segment.unsound_ranges):
                raise UntrustedIndexError(f"{segment.file.name} is damaged")
        if not survey.is_in_order:
            raise UntrustedIndexError("offsets do not increase")
        bases = [segment.file.base_offset or 0 for segment in survey.segments]
        table, opened = self.transactions.transaction_table, self.transactions.open_numbers()
        next_offset = self.offsets.next_offset
        for base, txn in unstated_open(self.companions, table.at(opened), bases, next_offset):
            name = self.companions.file_names["snapshot", base]
            raise UntrustedIndexError(
                f"{name} states no open transaction of producer {txn.producer_id}, where the log "
                f"has one from offset {txn.first_offset}"
            )
        survey.aborted = aborted_by_indexes(
            log,
            self.transactions,
            [
                IndexedSegment(base, end, segment.is_cleaned)
                for segment, base, end in zip(
                    survey.segments, bases, [*bases[1:], None], strict=True
                )
            ],
        )
        if self.part_markers is not None:
            self.part_markers.check(self.transactions, survey.aborted)
        table.list_transactions(opened)
        survey.transactions = table
        if any(segment.has_transactions for segment in survey.segments):
            survey.findings.append(
                log.finding(
                    "txnindex-trusted",
                    f"transaction indexes list {len(survey.aborted)} aborted transactions; "
                    "all others that have ended are taken for committed",
                )
            )
        return finish_transactions(survey)


class VerifiedPass(LogPass):
    """A pass that verifies every checksum, with transactions by their markers."""

    walk: type[Walk] = VerifiedWalk
    are_runs_joined = True

    def __init__(
        self,
        companions: TransactionCompanions,
        options: SurveyOptions,
        cleaned_segments: Sequence[bool] | None = None,
    ) -> None:
        super().__init__(companions, options, cleaned_segments)
        self.transactions = TransactionPass(
            companions, self.is_any_cleaned, engine=options.engine, limits=options.limits
        )
        self.record_ends = RecordEnds(options.engine, options.limits, options.open_log)
        self.is_plain = not (companions.begins_in_transaction or options.is_part)
        """True before the first transaction, gap, damage or offset out of order of a whole log."""
        self.plain_end: int | None = None
        """The offset after the entries before that."""

    def is_any_cleaned(self) -> bool:
        """Return whether cleaning may have removed entries so far."""
        return bool(self.log.cleaner_offset) or any(
            segment.is_cleaned for segment in self.survey.segments
        )

    def begin_segment(self, segment: SegmentSurvey) -> Indices:
        self.transactions.begin_segment(segment.file.base_offset)
        return self.transactions.open_transactions()

    def add_piece(self, segment: SegmentSurvey, piece: SoundEntries) -> None:
        num_findings = len(self.survey.findings)
        super().add_piece(segment, piece)
        self.record_ends.add(segment.file, piece)
        if self.is_plain:
            self.add_plain(piece.entries, self.survey.findings[num_findings:])

    def add_plain(self, entries: Entries, findings: Sequence[Finding]) -> None:
        """Add *entries*, about which there are *findings*, up to the first that is not plain."""
        positions = entries.column("position")
        ends = [finding.position for finding in findings if finding.position is not None]
        is_marked = (entries.column("is_transactional") | entries.column("is_control")) != 0
        if is_marked.any():
            ends.append(int(positions[np.argmax(is_marked)]))
        count = int(np.searchsorted(positions, min(ends))) if ends else len(entries)
        if count:
            self.plain_end = int(entries.column("last_offset")[count - 1]) + 1
        self.is_plain = not ends

    def end_of_records(self, piece: SoundEntries | None, index: int, stated: int) -> int:
        return self.record_ends.before(piece, index, stated)

    def add_uncertainty(self) -> None:
        self.is_plain = False
        self.transactions.add_uncertainty()

    def add_missing(self, first: int, end: int | None) -> None:
        self.transactions.add_missing(first, end)

    def add_block(self, block: EntryBlock) -> None:
        self.transactions.add_block(block)

    def finish(self) -> Survey:
        survey = super().finish()
        bases = [segment.file.base_offset or 0 for segment in survey.segments]
        survey.transactions, findings = self.transactions.finish(bases, self.offsets.next_offset)
        survey.findings += findings
        markers = self.transactions.markers
        for file, finding in markers.stray_findings(self.logs):
            survey.findings.append(finding.at(self.log.topic, self.log.partition, file.name))
        survey.num_empty_transactions = markers.num_empty
        survey.first_empty_transaction = markers.first_empty
        self.doubt_aborts_in_cleaned_log()
        return finish_transactions(survey, self.plain_end)

    def doubt_aborts_in_cleaned_log(self) -> None:
        """Make aborts undecided whose records the log cleaner has kept: it removes aborted records.

        Their commit marker may be in a missing segment, whose missing offsets look like cleaning.
        """
        cleaner_offset = self.log.cleaner_offset or 0
        rows = self.survey.transactions.rows
        is_doubtful = (rows["outcome"] == OUTCOME_CODES["aborted"]) & (rows["record_count"] != 0)
        is_doubtful &= rows["last_offset"] < cleaner_offset
        rows["outcome"][is_doubtful] = OUTCOME_CODES["undecided"]
        rows["evidence"][is_doubtful] = EVIDENCE_CODES[None]
        rows["is_uncertain"][is_doubtful] = True


class HeaderCheckPass(VerifiedPass):
    """A pass over headers that compares companion files as a VerifiedPass does.

    It ends at the first transaction or damage, which headers cannot settle.
    """

    walk = HeaderWalk
    are_runs_joined = False

    def is_done(self, segment: SegmentSurvey) -> bool:
        return segment.has_transactions or bool(segment.unsound_ranges)

    def add_piece(self, segment: SegmentSurvey, piece: SoundEntries) -> None:
        LogPass.add_piece(self, segment, piece)

    def add_block(self, block: EntryBlock) -> None:
        if not self.is_done(block.segment):
            self.transactions.add_block(block)

    def end_of_records(self, piece: SoundEntries | None, index: int, stated: int) -> int:
        return stated


class UpToDamagePass(VerifiedPass):
    """A verified pass that ends at the first damage, in a frame or in a payload."""

    are_runs_joined = False

    def is_done(self, segment: SegmentSurvey) -> bool:
        return segment.stop_at is not None

    def add_damage(self, segment: SegmentSurvey, damage: UnsoundRange) -> None:
        super().add_damage(segment, damage)
        if damage.kind != "tail":
            segment.stop_at, segment.stop_end = damage.start, damage.end
            segment.stop_kind = "unreadable" if damage.kind == "unreadable" else "damaged"

    def add_piece(self, segment: SegmentSurvey, piece: SoundEntries) -> None:
        count = 0
        for decoded in decode_verified(
            self.options.engine,
            piece.chunk,
            len(piece.entries),
            (),
            limits=self.options.limits,
        ):
            unsound = [i for i, result in sorted(decoded.results.items()) if not result.is_sound]
            if unsound:
                count += unsound[0]
                self.add_unsound(segment, piece, count, decoded.result(unsound[0]))
                return
            count += len(decoded.entries)
        super().add_piece(segment, piece)

    def add_unsound(
        self, segment: SegmentSurvey, piece: SoundEntries, index: int, decoded: DecodedEntry
    ) -> None:
        """Add the entries of *piece* before *index*, and end the pass at entry *index*, which is damaged."""
        entry = piece.entries[index]
        findings = tuple(
            finding for finding in piece.findings if (finding.position or 0) <= entry.position
        )
        if index:
            sound = replace(piece, entries=piece.entries[:index], findings=findings, spans=None)
            super().add_piece(segment, sound)
        else:
            self.report(segment, findings)
        self.report(segment, decoded.counted_findings())
        segment.stop_at, segment.stop_end = entry.position, entry.end


def finish_transactions(survey: Survey, plain_end: int | None = None) -> Survey:
    """Add the last stable offset, and findings about unfinished transactions, to *survey*.

    The offsets below *plain_end* are stable: their entries come before the first transaction in the log, even
    if the header of a later one states a lower offset, which no checksum covers.
    """
    if survey.log_end_offset is not None:
        survey.last_stable_offset = last_stable_offset(
            survey.transactions.with_outcome("open"),
            log_start=max(survey.log_start_offset or 0, plain_end or 0),
            log_end=survey.log_end_offset,
        )
    survey.findings += unfinished_transactions(survey)
    return survey


def unfinished_transactions(survey: Survey) -> Iterator[Finding]:
    """Yield a finding for each transaction that is open or undecided."""
    for txn in survey.transactions.with_outcome("open", "undecided"):
        is_open = txn.outcome == "open"
        where = txn.first_position
        yield survey.log.finding(
            "transaction-open" if is_open else "transaction-undecided",
            f"the transaction of producer {txn.producer_id} from offset {txn.first_offset} "
            + (
                "has not ended"
                if is_open
                else "is undecided, since its marker may be missing: read_committed withholds its "
                "records"
            ),
            file=survey.segments[where.segment].file.name if where else None,
            position=where.position if where else None,
            base_offset=txn.first_offset,
            field="producer_id",
            found=str(txn.producer_id),
        )
