"""Read the sound log entries of a partition with their bytes, to write them again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from magicbyte.engines.protocol import Decoded, Engine, Entries
from magicbyte.errors import error_of
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._walk import SoundEntries
from magicbyte.reading.dataset import Dataset, planner_of
from magicbyte.reading.outcomes import Outcomes
from magicbyte.reading.partial_plan import wanted_offsets
from magicbyte.reading.read_options import NO_RANGE
from magicbyte.reading.split import Split, SplitReader
from magicbyte.reading.survey import Survey
from magicbyte.tables.arrays import Codes


@dataclass(frozen=True, slots=True)
class SegmentStart:
    """The beginning of a segment. Its entries follow, if it has any."""

    file: LogFile


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRun:
    """Sound log entries of a segment, back to back."""

    file: LogFile
    entries: Entries
    data: memoryview
    """The bytes of the entries."""
    decoded: Decoded | None = None
    """Their records, if columns were requested. An entry whose payload is damaged has no rows."""
    outcomes: Codes | None = None
    """Codes of the outcomes of their transactions, if outcomes were requested; None: none is in a transaction."""

    def with_records(self, decoded: Decoded) -> "SourceRun":
        """Return the run with *decoded* records of its entries."""
        return replace(self, decoded=decoded)

    def part(self, first: int, end: int) -> "SourceRun":
        """Return the entries with the numbers [first, end) of the run, which are at least one."""
        # Making an Entry takes as long as reading a column of all of them.
        positions, sizes = self.entries.column("position"), self.entries.column("size_bytes")
        begin = int(positions[first] - positions[0])
        stop = int(positions[end - 1] + sizes[end - 1] - positions[0])
        entries = self.entries[first:end]
        decoded = None
        if self.decoded is not None:
            num_before = int(self.decoded.num_rows[:first].sum())
            num_rows = self.decoded.num_rows[first:end]
            decoded = replace(
                self.decoded,
                entries=entries,
                end=stop - begin,
                rows=self.decoded.rows.slice(num_before, int(num_rows.sum())),
                num_rows=num_rows,
                decompressed=self.decoded.decompressed[first:end],
                bases=None if self.decoded.bases is None else self.decoded.bases[first:end],
                results={
                    number - first: result
                    for number, result in self.decoded.results.items()
                    if first <= number < end
                },
            )
        return replace(
            self,
            entries=entries,
            data=self.data[begin:stop],
            decoded=decoded,
            outcomes=None if self.outcomes is None else self.outcomes[first:end],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LostBytes:
    """Bytes of a segment that are no sound log entry."""

    file: LogFile
    start: int
    end: int
    disposition: str
    """`damaged`, `unreadable` or `over_limit`."""
    findings: tuple[Finding, ...]


Part = SegmentStart | SourceRun | LostBytes


class PartitionReader:
    """Reads the log entries of one partition of a dataset, in the order of the log.

    With `on_damage="fail"` damage raises its error; with `"skip"` it is a LostBytes.
    """

    def __init__(self, dataset: Dataset, log: PartitionLog) -> None:
        self._planner = planner_of(dataset)
        self._is_strict = dataset.options.on_damage == "fail"
        self.log = log
        self.limits = dataset.options.limits

    def survey(self) -> Survey:
        """Return the survey of the partition: its bounds, transactions and findings."""
        return self._planner.survey(self.log)

    def end_offset(self) -> int | None:
        """Return the offset before which the dataset ends, by its offsets or times; None: the log end."""
        return wanted_offsets(self._planner, self.log)[1]

    def parts(
        self, columns: Sequence[str] | None = None, *, with_outcomes: bool = False
    ) -> Iterator[Part]:
        """Yield each segment and its entries, with wire *columns* of their records.

        All checksums are verified. Without *columns*, payloads are not decompressed. Outcomes of transactions
        come from the markers.
        """
        survey = self.survey()
        engine = self._planner.new_engine()
        splits = iter(self._planner.splits(survey, NO_RANGE, by_segment=True))
        split = next(splits, None)
        for segment in survey.segments:
            yield SegmentStart(segment.file)
            while split is not None and split.segment == segment.number:
                yield from self._parts_of_split(split, engine, columns, with_outcomes=with_outcomes)
                split = next(splits, None)

    def sampled_parts(
        self, num_samples: int, chance: Random
    ) -> tuple[int, Iterator[list[SourceRun]]]:
        """Return the number of pieces of the partition, and the entries of some that *chance* draws, each as a list.

        A piece is a split of a few MiB; without more than *num_samples* all are returned. Damage is left out.
        """
        splits = list(self._planner.splits(self.survey(), NO_RANGE))
        drawn = splits
        if len(splits) > num_samples:
            drawn = [
                splits[number] for number in sorted(chance.sample(range(len(splits)), num_samples))
            ]
        return len(splits), map(self._runs_of_split, drawn)

    def _runs_of_split(self, split: Split) -> list[SourceRun]:
        engine = self._planner.new_engine()
        parts = self._parts_of_split(split, engine, None, with_outcomes=True)
        return [part for part in parts if isinstance(part, SourceRun)]

    def _parts_of_split(
        self, split: Split, engine: Engine, columns: Sequence[str] | None, *, with_outcomes: bool
    ) -> Iterator[SourceRun | LostBytes]:
        names = None if columns is None else tuple(columns)
        with self._planner.open_log(split.file) as file:
            if file.descriptor is None:
                file.will_read(split.start, split.end)
            partition_reader = SplitReader(split, engine, file, names)
            outcomes = None
            if with_outcomes and split.has_transactions:
                outcomes = partition_reader.read_outcomes()
            for piece in partition_reader.walk.pieces(
                None if names is None else partition_reader.wire_columns
            ):
                if isinstance(piece, SoundEntries):
                    codes = None
                    if isinstance(outcomes, Outcomes):
                        codes = outcomes.of(piece.entries)
                    yield from self._runs(partition_reader, piece, codes)
                else:
                    assert isinstance(piece, UnsoundRange)  # runs are not joined
                    findings = partition_reader.entry_results.with_names(piece.findings)
                    yield self._lost(split, piece.start, piece.end, piece.kind, findings)

    def _runs(
        self, partition_reader: SplitReader, piece: SoundEntries, outcome_codes: Codes | None
    ) -> Iterator[SourceRun | LostBytes]:
        """Yield the entries of *piece*; an entry whose payload is damaged is a LostBytes."""
        split, decoded = partition_reader.split, piece.decoded
        run = SourceRun(
            file=split.file,
            entries=piece.entries,
            data=piece.chunk.data[: _num_bytes(piece.entries)],
            decoded=decoded,
            outcomes=outcome_codes,
        )
        first = 0
        for number, result in sorted(decoded.results.items()) if decoded else ():
            if result.is_sound:
                continue
            assert decoded is not None
            entry = piece.entries[number]
            findings = partition_reader.entry_results.with_names(result.counted_findings())
            if first < number:
                yield run.part(first, number)
            yield self._lost(split, entry.position, entry.end, "damaged", findings)
            first = number + 1
        if first < len(run.entries):
            yield run.part(first, len(run.entries)) if first else run

    def _lost(
        self, split: Split, start: int, end: int, disposition: str, findings: Sequence[Finding]
    ) -> LostBytes:
        errors = [finding for finding in findings if finding.severity == "error"]
        if self._is_strict and errors:
            raise error_of(errors[0])
        return LostBytes(
            file=split.file,
            start=start,
            end=end,
            disposition=disposition,
            findings=tuple(findings),
        )


def _num_bytes(entries: Entries) -> int:
    """Return the bytes of *entries*, which are back to back."""
    return int(entries.column("size_bytes").sum())
