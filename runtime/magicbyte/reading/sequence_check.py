"""Sequences of producers: each batch goes on where the producer's last one ended.

A broker checks that when it appends (ProducerAppendInfo), and its recovery does not look again.
"""

from dataclasses import dataclass

import numpy as np

from magicbyte.engines.entry import SEQUENCES
from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.survey import SegmentSurvey


@dataclass(frozen=True, slots=True)
class _Last:
    """A producer's last batch."""

    epoch: int
    sequence: int
    """Of its last record."""
    num_gaps: int
    """Of offsets, up to there."""


class SequenceCheck:
    """The sequences in a partition, while its entries are read in order.

    Where offsets are missing between two batches of a producer, nothing is expected of the second:
    cleaning took what lay between, or damage did.
    """

    def __init__(self, log: PartitionLog) -> None:
        self._log = log
        # Coordinators write batches of their clients' producers here, and number none of them.
        self._is_checked = log.topic not in INTERNAL_TOPICS
        self._last: dict[int, _Last] = {}
        self._wrong: dict[int, Finding] = {}
        """By producer, its first batch that does not follow."""
        self._next_offset = 0
        self._num_gaps = 0

    def take(self, segment: LogFile, entries: Entries) -> None:
        """Compare sound *entries* of *segment*, which follow on the last ones."""
        if not self._is_checked or not len(entries):
            return
        firsts, lasts = entries.column("first_offset"), entries.column("last_offset")
        is_gap = firsts != np.concatenate([[self._next_offset], lasts[:-1] + 1])
        gaps = np.cumsum(is_gap) + self._num_gaps
        self._next_offset, self._num_gaps = int(lasts[-1]) + 1, int(gaps[-1])

        producers, sequences = entries.column("producer_id"), entries.column("base_sequence")
        numbered = (producers >= 0) & (sequences >= 0) & (entries.column("is_control") == 0)
        at = np.flatnonzero(numbered)
        if not len(at):
            return
        at = at[np.argsort(producers[at], kind="stable")]
        producers, sequences, gaps = producers[at], sequences[at], gaps[at]
        epochs = entries.column("producer_epoch")[at]
        ends = (sequences + lasts[at] - firsts[at]) % SEQUENCES

        begins = np.flatnonzero(np.concatenate([[True], producers[1:] != producers[:-1]]))
        # Of the batch before each: its epoch, its last sequence, and the gaps up to it.
        before = [np.concatenate([[0], column[:-1]]) for column in (epochs, ends, gaps)]
        for number, producer in zip(begins.tolist(), producers[begins].tolist(), strict=True):
            last = self._last.get(producer, _Last(0, 0, -1))
            for column, value in zip(
                before, (last.epoch, last.sequence, last.num_gaps), strict=True
            ):
                column[number] = value
        expected = np.where(epochs == before[0], (before[1] + 1) % SEQUENCES, 0)
        is_wrong = (before[2] == gaps) & ((sequences != expected) | (epochs < before[0]))
        for number in np.flatnonzero(is_wrong).tolist():
            self._note(
                segment,
                producer=int(producers[number]),
                epochs=(int(before[0][number]), int(epochs[number])),
                sequence=int(sequences[number]),
                expected=int(expected[number]),
                position=int(entries.column("position")[at[number]]),
                offset=int(firsts[at[number]]),
            )
        tails = np.concatenate([begins[1:], [len(at)]]) - 1
        rows = zip(producers[tails], epochs[tails], ends[tails], gaps[tails], strict=True)
        for producer, epoch, end, num_gaps in rows:
            self._last[int(producer)] = _Last(int(epoch), int(end), int(num_gaps))

    def finish(self, segments: list[SegmentSurvey]) -> list[Finding]:
        """Return what does not follow: for each producer the first, in order of the log."""
        return list(self._wrong.values())

    def _note(
        self,
        segment: LogFile,
        *,
        producer: int,
        epochs: tuple[int, int],
        sequence: int,
        expected: int,
        position: int,
        offset: int,
    ) -> None:
        if producer in self._wrong:
            return
        before, epoch = epochs
        if epoch < before:
            field, found, wanted = "producer_epoch", epoch, f"{before} or more"
        else:
            field, found, wanted = "base_sequence", sequence, str(expected)
        what = "epoch" if field == "producer_epoch" else "sequence"
        self._wrong[producer] = Finding(
            code="sequence-out-of-order",
            message=f"producer {producer}: {what} {found}, expected {wanted}",
            topic=self._log.topic,
            partition=self._log.partition,
            file=segment.name,
            position=position,
            base_offset=offset,
            field=field,
            found=str(found),
            expected=wanted,
        )
