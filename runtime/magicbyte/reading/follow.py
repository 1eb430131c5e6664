"""The last records of logs, and those that come next: what `tail` is to files of lines."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from magicbyte.errors import ChangedError, MissingError
from magicbyte.findings import TAILS
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import Ends, Range
from magicbyte.reading.results import Report, Rows
from magicbyte.reading.retry import unchanging

Choose = Callable[[Dataset, Sequence[str]], Rows]
"""Returns records of a dataset, those that are wanted, with some columns."""

GROWTH = 4
"""How many times more offsets are looked at, where too few records were found in the last ones."""


class Follower:
    """The records of logs that grow, each once, in order within each log.

    It is asked again and again. What a broker does to the files meanwhile is seen at the next
    look: a new segment, a new partition, one whose end was cut off, one whose beginning is gone.
    """

    def __init__(
        self,
        open_now: Callable[[], Dataset],
        choose: Choose,
        columns: Sequence[str],
        *,
        tail: int | None = None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """*open_now* opens the logs as they are by then. *tail* is how many of the records of each
        that are there at first are given, the last ones; None: all. *warn* is told what is lost.
        """
        self._open_now = open_now
        self._choose = choose
        self._columns = tuple(columns)
        self._tail = tail
        self._warn = warn
        self._ends = Ends()
        self._next: dict[str, int] = {}
        """By place of a log, the offset that is wanted next."""
        self._at_first: set[str] | None = None
        """The places of the logs of the first look."""

    def new_rows(self, report: Report) -> Iterator[pa.RecordBatch]:
        """Yield the records that came since the last look, and tell *report* what was found.

        Raises as opening and reading do, but not for what has changed meanwhile.
        """
        dataset = unchanging(self._open_now)
        if self._at_first is None:
            self._at_first = {log.place for log in dataset.logs}
        for log in dataset.logs:
            found = Report()
            try:
                yield from self._of_log(dataset.of([log]), log, found)
            except (ChangedError, MissingError):
                continue  # the next look finds it as it is by then
            finally:
                # Where a log grows, half an entry at its end is on its way.
                found.findings = [one for one in found.findings if one.code not in TAILS]
                report.add(found)

    def _of_log(
        self, dataset: Dataset, log: PartitionLog, report: Report
    ) -> Iterator[pa.RecordBatch]:
        there = self._ends.of(dataset, log)
        if log.place not in self._next:
            self._next[log.place] = self._begin(dataset, log, there)
        first, end = self._next[log.place], there[1]
        if first > end:
            self._warn(f"{log.name} ends at {end} now, and was read up to {first}: it was cut off")
            first = end
        elif first < there[0]:
            self._warn(
                f"{log.name} begins at {there[0]} now: offsets from {first} on were not read"
            )
            first = there[0]
        self._next[log.place] = first
        first = max(first, dataset.options.offsets[0] or 0)
        if first < end:
            columns = [*self._columns, *({"offset"} - set(self._columns))]
            rows = self._choose(dataset.between(first, end), columns)
            for batch in rows.read_into(report):
                self._next[log.place] = batch.column("offset")[-1].as_py() + 1
                yield batch.select(self._columns)
            self._next[log.place] = end

    def _begin(self, dataset: Dataset, log: PartitionLog, there: Range) -> int:
        low, _ = dataset.offsets_of(log)
        first = max(there[0], there[0] if low is None else low)
        first = min(first, there[1])
        if self._tail is None or log.place not in (self._at_first or ()):
            return first
        rows = _last_of(dataset, self._choose, ["offset"], self._tail, (first, there[1]), Report())
        offsets = [batch.column("offset")[0].as_py() for batch in rows if batch.num_rows]
        return min(offsets, default=there[1])


def last_rows(
    dataset: Dataset, choose: Choose, columns: Sequence[str], count: int, report: Report
) -> Iterator[pa.RecordBatch]:
    """Yield the last *count* of the records that *choose* chooses of each log of *dataset*.

    Logs are read from their ends, as far back as it takes; *report* is told of that.
    """
    for log in dataset.logs:
        one = dataset.of([log])
        there = Ends().of(one, log)
        low, high = one.offsets_of(log)
        first = max(there[0], there[0] if low is None else low)
        end = min(there[1], there[1] if high is None else high)
        yield from _last_of(one, choose, columns, count, (first, end), report)


def _last_of(
    dataset: Dataset,
    choose: Choose,
    columns: Sequence[str],
    count: int,
    there: Range,
    report: Report,
) -> Iterator[pa.RecordBatch]:
    """Yield the last *count* records of one log, from the offsets *there*."""
    first, end = there
    num_offsets = count
    while True:
        begin = max(first, end - num_offsets)
        found = Report()
        last, surplus = deque[pa.RecordBatch](), -count
        if begin < end:
            for batch in choose(dataset.between(begin, end), columns).read_into(found):
                last.append(batch)
                surplus += len(batch)
                while surplus >= len(last[0]):
                    surplus -= len(last.popleft())
        if surplus >= 0 or begin <= first:
            break
        num_offsets *= GROWTH
    report.add(found)
    for batch in last:
        yield batch.slice(max(surplus, 0))
        surplus = 0
