"""One pass over the splits of some partitions, by one or more threads."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from magicbyte.engines.protocol import Engine
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.disposition_tally import Tally, bytes_of_no_split
from magicbyte.reading.ordered_threads import Task, in_order
from magicbyte.reading.partial_plan import survey_of_wanted
from magicbyte.reading.planner import Planner
from magicbyte.reading.results import Report
from magicbyte.reading.split import Piece, Split, examine

DICT_BYTES = 1024
"""Estimated memory of a row of `batches` while it waits as a dict."""

Row = dict[str, Any]
Output = TypeVar("Output", pa.RecordBatch, list[Row])


def read_splits(
    planner: Planner,
    logs: Iterable[PartitionLog],
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
        quick: Survey headers only.
        views: Have the engines return binary views.
        only_wanted: Survey and read only the segments that the wanted offsets need.
    """

    def items_of(split: Split, engine: Engine) -> Generator[Output | Tally, None, None]:
        tally = Tally()
        yield from read_split(split, engine, tally)
        yield tally

    def tasks_of(log: PartitionLog) -> Iterator[Task[Engine, Output | Tally]]:
        if only_wanted:
            survey, offsets = survey_of_wanted(planner, log)
        else:
            survey = planner.survey(log, quick=quick)
            offsets = planner.wanted_offsets(survey)
        yield partial(_only, Tally(findings=survey.findings))
        num_unread = sum(file.size_bytes for file in log.logs)
        for split in planner.splits(survey, offsets, only_wanted=only_wanted):
            num_unread -= split.end - split.start
            yield partial(items_of, split)
        outside = sum(bytes_of_no_split(survey).values(), Counter[str]())
        outside["outside_range"] += num_unread - outside.total()
        yield partial(_only, Tally(bytes=outside))

    items: Generator[Output | Tally, None, None] = in_order(
        (task for log in logs for task in tasks_of(log)),
        threads=1 if quick else planner.options.threads,  # headers alone are little work
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


def _only(tally: Tally, _: Engine) -> Generator[Tally, None, None]:
    yield tally


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
) -> Iterator[Piece]:
    """Yield the pieces of *split*, and count them in *tally*."""
    for piece in examine(split, columns, chosen=engine, open_log=planner.open_log):
        tally.count(piece)
        yield piece
        del piece  # frees the memory before the next piece is made
