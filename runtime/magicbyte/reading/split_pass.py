"""Read the splits of some partitions, in one or more threads."""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from magicbyte.engines.protocol import Engine
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.ordered_threads import in_order
from magicbyte.reading.partial_plan import survey_of_wanted
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE
from magicbyte.reading.results import Report
from magicbyte.reading.split import ChunkResult, Split, examine
from magicbyte.reading.survey import Survey

DICT_BYTES = 1024
"""Estimated memory of a row of `batches` while it waits as a dict."""

Row = dict[str, Any]
Output = TypeVar("Output", pa.RecordBatch, list[Row])


@dataclass(slots=True)
class Tally(Report):
    """Bytes and records by disposition, and findings, of a split or of a live segment."""

    sound_bytes: int = 0

    def count(self, piece: ChunkResult) -> None:
        self.findings.extend(piece.findings)
        self.bytes.update(piece.bytes)
        self.records.update(piece.records)
        for disposition, num_bytes in piece.bytes.items():
            if disposition not in ("damaged", "over_limit"):
                self.sound_bytes += num_bytes


def bytes_outside_splits(survey: Survey) -> dict[str, Counter[str]]:
    """Return the bytes of each live segment, by path, that are in no split.

    They are its tail, and everything from the damage at which the read stops.
    """
    outside = {file.path: Counter(outside_range=file.size_bytes) for file in survey.log.logs}
    for segment in survey.segments:
        outside[segment.file.path] = counts = Counter(tail=segment.tail_bytes)
        if segment.stop_at is not None and segment.stop_end is not None:
            counts["damaged"] = segment.stop_end - segment.stop_at
            counts["outside_range"] = segment.file.size_bytes - segment.stop_end
    return outside


def read_splits(
    planner: Planner,
    logs: Sequence[PartitionLog],
    read_split: Callable[[Split, Engine, Tally], Iterator[Output]],
    report: Report,
    *,
    quick: bool = False,
    views: bool = False,
    only_wanted: bool = False,
) -> Iterator[Output]:
    """Yield the outputs of *read_split* for each split of *logs*, in order, on any thread.

    Args:
        read_split: Gets a split, an engine of the thread's own, and a tally, which is added to
            *report* when the split is done.
        quick: Survey headers only, in the caller's thread.
        views: Have the engines return binary views.
        only_wanted: Survey and read only the segments that the wanted offsets need.
    """
    work = _splits_and_tallies(planner, logs, quick=quick, only_wanted=only_wanted)
    if quick or planner.options.threads == 1:
        engine = planner.new_engine(views=views)
        for unit in work:
            tally = unit if isinstance(unit, Tally) else Tally()
            if isinstance(unit, Split):
                yield from read_split(unit, engine, tally)
            report.add(tally)
        return

    def items_of(unit: Split | Tally, engine: Engine) -> Generator[Output | Tally, None, None]:
        tally = unit if isinstance(unit, Tally) else Tally()
        if isinstance(unit, Split):
            yield from read_split(unit, engine, tally)
        yield tally

    items: Generator[Output | Tally, None, None] = in_order(
        (partial(items_of, unit) for unit in work),
        threads=planner.options.threads,
        make_tool=partial(planner.new_engine, views=views),
        size_of=_num_bytes,
    )
    with closing(items):
        for item in items:
            if isinstance(item, Tally):
                report.add(item)
            else:
                yield item
            del item  # frees the memory before the next item is made


def _splits_and_tallies(
    planner: Planner, logs: Sequence[PartitionLog], *, quick: bool, only_wanted: bool
) -> Iterator[Split | Tally]:
    """Yield the splits of *logs*, and tallies of survey findings and of bytes outside all splits."""
    has_range = (planner.options.offsets, planner.options.times) != (NO_RANGE, NO_RANGE)
    for log in logs:
        if only_wanted and has_range:
            survey, offsets = survey_of_wanted(planner, log)
        else:
            survey = planner.survey(log, quick=quick)
            offsets = planner.wanted_offsets(survey)
        yield Tally(findings=survey.findings)
        num_unread = 0
        for file in log.logs:
            num_unread += file.size_bytes
        for split in planner.splits(survey, offsets, only_wanted=only_wanted):
            num_unread -= split.end - split.start
            yield split
        outside = sum(bytes_outside_splits(survey).values(), Counter[str]())
        outside["outside_range"] += num_unread - outside.total()
        yield Tally(bytes=outside)


def _num_bytes(item: pa.RecordBatch | list[Row] | Tally) -> int:
    """Return the bytes that *item* holds; a tally counts as nothing."""
    if isinstance(item, list):
        return len(item) * DICT_BYTES
    return 0 if isinstance(item, Tally) else int(item.nbytes)


def examine_counted(
    planner: Planner,
    split: Split,
    columns: tuple[str, ...] | None,
    engine: Engine,
    tally: Tally,
) -> Iterator[ChunkResult]:
    """Yield the pieces of *split*, and count them in *tally*."""
    for piece in examine(split, columns, chosen=engine, open_log=planner.open_log):
        tally.count(piece)
        yield piece
        del piece  # frees the memory before the next piece is made
