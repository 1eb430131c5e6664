"""Checks the leader epochs of batches against the partition's leader-epoch-checkpoint.

No checksum covers the epoch of a batch, and a broker's recovery does not check it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.checkpoints import EPOCH_CHECKPOINT, read_lineage
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.survey import SegmentSurvey


@dataclass(slots=True)
class _EpochRun:
    """Consecutive batches of one leader epoch."""

    epoch: int
    first_offset: int
    last_offset: int
    file: LogFile
    """The segment of the first batch."""
    position: int


class EpochCheck:
    """Collects the leader epochs of a partition's batches, in order."""

    def __init__(self, log: PartitionLog) -> None:
        self._log = log
        self._runs: list[_EpochRun] = []

    def add(self, segment: LogFile, entries: Entries) -> None:
        """Collect the leader epochs of *entries*, the log's next sound entries, in *segment*."""
        epochs = entries.column("leader_epoch")
        # v0 and v1 messages have no epoch, and batches of old leaders have -1.
        indices = np.flatnonzero(epochs >= 0)
        if not len(indices):
            return
        epochs = epochs[indices]
        firsts = entries.column("first_offset")[indices]
        begins = np.concatenate([[0], np.flatnonzero(epochs[1:] != epochs[:-1]) + 1])
        ends = np.concatenate([begins[1:], [len(indices)]]) - 1
        lasts = entries.column("last_offset")[indices[ends]]
        positions = entries.column("position")[indices[begins]]
        runs = zip(epochs[begins], firsts[begins], lasts, positions, strict=True)
        for epoch, first, last, position in runs:
            if self._runs and self._runs[-1].epoch == epoch:
                self._runs[-1].last_offset = int(last)
            else:
                run = _EpochRun(int(epoch), int(first), int(last), segment, int(position))
                self._runs.append(run)

    def finish(self, segments: Sequence[SegmentSurvey]) -> list[Finding]:
        """Return findings where leader epochs decrease, or where the log and its checkpoint disagree."""
        return [*self._decreases(), *self._mismatches()]

    def _decreases(self) -> Iterator[Finding]:
        highest = -1
        for run in self._runs:
            if run.epoch < highest:
                yield self._finding(
                    "leader-epoch-back",
                    run,
                    f"leader epoch {run.epoch} after epoch {highest}",
                    expected=f"{highest} or more",
                )
            highest = max(highest, run.epoch)

    def _mismatches(self) -> Iterator[Finding]:
        files = self._log.on_disk.files
        if not files or self._log.topic is None:
            return
        # Read after the log: a leader writes a new epoch to it before it appends.
        checkpoint = read_lineage(self._log.folder, files[0].store)
        if checkpoint is None:
            return
        starts = [start for _, start in checkpoint]
        for run in self._runs:
            for offset in dict.fromkeys((run.first_offset, run.last_offset)):
                index = int(np.searchsorted(starts, offset, "right")) - 1
                if index < 0 and starts:
                    continue  # below the log start: the checkpoint has forgotten those epochs
                expected = checkpoint[index][0] if starts else None
                if expected != run.epoch:
                    yield self._finding(
                        "leader-epoch-mismatch",
                        run,
                        f"leader epoch {run.epoch} at offset {offset}, {EPOCH_CHECKPOINT} says "
                        f"{'none' if expected is None else expected}",
                        expected=str(expected),
                    )
                    break

    def _finding(self, code: str, run: _EpochRun, message: str, *, expected: str) -> Finding:
        return self._log.finding(
            code,
            message,
            file=run.file.name,
            position=run.position,
            base_offset=run.first_offset,
            field="partition_leader_epoch",
            found=str(run.epoch),
            expected=expected,
        )
