"""Checks producer sequences: each batch continues from the producer's last one.

A broker checks this when it appends a batch (ProducerAppendInfo), but not again in recovery.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from magicbyte.engines.entry import SEQUENCES
from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.survey import SegmentSurvey


@dataclass(frozen=True, slots=True)
class _LastBatch:
    """The last batch of a producer."""

    epoch: int
    sequence: int
    """Sequence of its last record."""
    num_gaps: int
    """Number of gaps in the offsets before it."""


class SequenceCheck:
    """Follows the sequences of a partition's producers, in order.

    Any sequence is accepted where offsets are missing since the producer's last batch: cleaning or
    damage may have removed batches.
    """

    def __init__(self, log: PartitionLog) -> None:
        self._log = log
        # Coordinators write batches with their clients' producer ids here, all with one sequence.
        self._is_checked = log.topic not in INTERNAL_TOPICS
        self._last: dict[int, _LastBatch] = {}
        """The last batch of each producer id."""
        self._findings: dict[int, Finding] = {}
        """The first wrong batch of each producer id."""
        self._next_offset = 0
        self._num_gaps = 0

    def add(self, segment: LogFile, entries: Entries) -> None:
        """Check the sequences of *entries*, the log's next sound entries, in *segment*."""
        if not self._is_checked or not len(entries):
            return
        firsts, lasts = entries.column("first_offset"), entries.column("last_offset")
        is_gap = firsts != np.concatenate([[self._next_offset], lasts[:-1] + 1])
        gaps = np.cumsum(is_gap) + self._num_gaps
        self._next_offset, self._num_gaps = int(lasts[-1]) + 1, int(gaps[-1])

        producers, sequences = entries.column("producer_id"), entries.column("base_sequence")
        is_numbered = (producers >= 0) & (sequences >= 0) & (entries.column("is_control") == 0)
        indices = np.flatnonzero(is_numbered)
        if not len(indices):
            return
        indices = indices[np.argsort(producers[indices], kind="stable")]
        producers, sequences, gaps = producers[indices], sequences[indices], gaps[indices]
        epochs = entries.column("producer_epoch")[indices]
        ends = (sequences + lasts[indices] - firsts[indices]) % SEQUENCES

        begins = np.flatnonzero(np.concatenate([[True], producers[1:] != producers[:-1]]))
        # Epoch, last sequence and number of gaps of the producer's batch before each one.
        last_epochs, last_ends, last_gaps = (
            np.concatenate([[0], column[:-1]]) for column in (epochs, ends, gaps)
        )
        for begin, producer in zip(begins.tolist(), producers[begins].tolist(), strict=True):
            last = self._last.get(producer, _LastBatch(0, 0, -1))
            last_epochs[begin], last_ends[begin] = last.epoch, last.sequence
            last_gaps[begin] = last.num_gaps
        expected = np.where(epochs == last_epochs, (last_ends + 1) % SEQUENCES, 0)
        is_wrong = (last_gaps == gaps) & ((sequences != expected) | (epochs < last_epochs))
        wrong_batches = np.flatnonzero(is_wrong)
        wrong_batches = wrong_batches[np.argsort(indices[wrong_batches])]
        for wrong in wrong_batches.tolist():
            producer = int(producers[wrong])
            if producer in self._findings:
                continue
            if epochs[wrong] < last_epochs[wrong]:
                field, found, wanted = "epoch", epochs[wrong], f"{last_epochs[wrong]} or more"
            else:
                field, found, wanted = "sequence", sequences[wrong], str(expected[wrong])
            self._findings[producer] = self._log.finding(
                "sequence-out-of-order",
                f"producer {producer}: {field} {found}, expected {wanted}",
                file=segment.name,
                position=int(entries.column("position")[indices[wrong]]),
                base_offset=int(firsts[indices[wrong]]),
                field="producer_epoch" if field == "epoch" else "base_sequence",
                found=str(found),
                expected=wanted,
            )
        tails = np.concatenate([begins[1:], [len(indices)]]) - 1
        rows = zip(producers[tails], epochs[tails], ends[tails], gaps[tails], strict=True)
        for producer, epoch, end, num_gaps in rows:
            self._last[int(producer)] = _LastBatch(int(epoch), int(end), int(num_gaps))

    def finish(self, segments: Sequence[SegmentSurvey]) -> list[Finding]:
        """Return the first wrong batch of each producer, in order of the log."""
        return list(self._findings.values())
