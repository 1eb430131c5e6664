"""Rows of the table of producers: the newest producer snapshot of a partition, and the log after it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.companions import TransactionCompanions, read_transaction_companions
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._log_pass import EntryBlock, LogPass, SurveyOptions
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading._walk import VerifiedWalk
from magicbyte.reading.partial_plan import ReadableRanges
from magicbyte.reading.planner import Planner
from magicbyte.reading.producer_states import ProducerStates
from magicbyte.reading.read_options import NO_RANGE
from magicbyte.reading.results import Report, Row
from magicbyte.reading.segment_range import from_offset
from magicbyte.reading.table_rows import null_if_absent
from magicbyte.reading.transactional_ids import producers_of_ids


class _ReportingStates(ProducerStates):
    """Producers of a log, in which entries that a broker's recovery stops at are findings."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.faults: list[Finding] = []

    def report_fault(self, finding: Finding) -> None:
        self.faults.append(finding)


class _ProducerPass(LogPass):
    """A pass that replays the entries from an offset on."""

    walk = VerifiedWalk

    def __init__(
        self, log: PartitionLog, options: SurveyOptions, states: _ReportingStates, begin: int
    ) -> None:
        super().__init__(TransactionCompanions(log, 0), options)
        self._states, self._begin = states, begin

    def add_block(self, block: EntryBlock) -> None:
        """Replay the entries of *block*; those before the snapshot are in it."""
        entries, chunk = block.piece.entries, block.piece.chunk
        if entries.are_messages:
            return
        is_later = entries.column("last_offset") >= self._begin
        first = int(np.argmax(is_later))
        if not is_later[first]:
            return
        position = int(entries.column("position")[first])
        self._states.add(entries[first : len(entries)], chunk.data[position - chunk.position :])
        self.report(block.segment, self._states.faults)
        self._states.faults.clear()


def producer_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `producers`, by partition and producer id, of the selected partitions."""
    known_producers = producers_of_ids(topic_source, report) or {}
    planner = Planner(
        replace(
            topic_source.options,
            isolation_level="read_uncommitted",
            times=NO_RANGE,
            offsets=NO_RANGE,
        )
    )
    for log in topic_source.logs:
        states = _replay(planner, log, report)
        for producer_id, state in sorted(states):
            known = known_producers.get(producer_id)
            yield {
                "topic": log.topic,
                "partition": log.partition,
                "producer_id": producer_id,
                "transactional_id": None if known is None else known.transactional_id,
                "producer_epoch": null_if_absent(state.epoch),
                "last_sequence": null_if_absent(state.last_sequence),
                "last_offset": null_if_absent(state.last_offset),
                "last_timestamp": null_if_absent(state.timestamp),
                "coordinator_epoch": null_if_absent(state.coordinator_epoch),
                "current_transaction_start_offset": null_if_absent(state.transaction_first_offset),
            }


def _replay(planner: Planner, log: PartitionLog, report: Report) -> _ReportingStates:
    """Return the producers of *log*, as a broker has them that loads the log."""
    states = _ReportingStates(planner.options.limits)
    end = ReadableRanges().of(planner, log)[1]
    companions = read_transaction_companions(log, ("snapshot",))
    begin = max((base for base in companions.snapshots if base <= end), default=0)
    states.load(companions.snapshots.get(begin, ()))
    options = SurveyOptions(
        engine=planner.new_engine(), limits=planner.options.limits, open_log=planner.open_log
    )
    report.findings += companions.findings
    if begin < end or begin == 0:
        survey = _ProducerPass(from_offset(log, begin), options, states, begin).run()
        report.findings += survey.findings
    return states
