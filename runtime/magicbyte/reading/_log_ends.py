"""Log end offsets of partitions, from the last segment of each."""

from collections.abc import Iterable
from dataclasses import replace

from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.partial_plan import ReadableRanges, offset_at
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE


class LogEnds:
    """Log end offsets of the partitions of some topics below the paths of a topic source.

    Where the range of the read ends at a time, they are as of that time: the offset of the first record at that
    time or later. An end that is an offset is of the internal topic, and does not concern other topics.
    """

    def __init__(self, topic_source: TopicSource, topics: Iterable[str]) -> None:
        self._logs = {
            (log.topic, log.partition): log for log in topic_source.of_topics(topics).logs
        }
        options = topic_source.options
        self._end_time = options.times[1]
        self._planner = Planner(
            replace(options, isolation_level="read_uncommitted", offsets=NO_RANGE, times=NO_RANGE)
        )
        self._ranges = ReadableRanges()

    def of(self, topic: str, partition: int) -> int | None:
        """Return the log end offset of a partition; None if its log is not there."""
        log = self._logs.get((topic, partition))
        if log is None:
            return None
        if self._end_time is not None:
            offset = offset_at(self._planner, log, self._end_time)
            if offset is not None:
                return offset
        return self._ranges.of(self._planner, log)[1]
