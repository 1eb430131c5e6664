"""Leader epochs of batches, and the partition's checkpoint of where each of them begins.

No checksum covers the epoch of a batch, and a broker's recovery does not look at it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from magicbyte import storage
from magicbyte.engines.protocol import Entries
from magicbyte.errors import FormatError, MissingError
from magicbyte.findings import Finding
from magicbyte.logdir.checkpoints import MAX_CHECKPOINT_BYTES, lineage, parse_epochs
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.survey import SegmentSurvey

CHECKPOINT = "leader-epoch-checkpoint"


@dataclass(slots=True)
class _Run:
    """Batches of one epoch, one behind the other."""

    epoch: int
    first_offset: int
    last_offset: int
    """Of the last record of them."""
    file: LogFile
    position: int


class EpochCheck:
    """The leader epochs of a partition, while its entries are read in order."""

    def __init__(self, log: PartitionLog) -> None:
        self._log = log
        self._runs: list[_Run] = []

    def take(self, segment: LogFile, entries: Entries) -> None:
        """Take note of sound *entries* of *segment*, which follow on the last ones."""
        epochs = entries.column("leader_epoch")
        told = np.flatnonzero(epochs >= 0)  # none in v0 and v1, and -1 in logs of old leaders
        if not len(told):
            return
        epochs = epochs[told]
        firsts = entries.column("first_offset")[told]
        begins = np.concatenate([[0], np.flatnonzero(epochs[1:] != epochs[:-1]) + 1])
        ends = np.concatenate([begins[1:], [len(told)]]) - 1
        lasts = entries.column("last_offset")[told[ends]]
        positions = entries.column("position")[told[begins]]
        runs = zip(epochs[begins], firsts[begins], lasts, positions, strict=True)
        for epoch, first, last, position in runs:
            if self._runs and self._runs[-1].epoch == epoch:
                self._runs[-1].last_offset = int(last)
            else:
                self._runs.append(_Run(int(epoch), int(first), int(last), segment, int(position)))

    def finish(self, segments: list[SegmentSurvey]) -> list[Finding]:
        """Return where epochs go back, and where log and checkpoint disagree."""
        return [*self._back(), *self._disagreements()]

    def _back(self) -> Iterator[Finding]:
        highest = -1
        for run in self._runs:
            if run.epoch < highest:
                yield self._finding(
                    "leader-epoch-back",
                    run,
                    f"leader epoch {run.epoch} behind {highest}",
                    expected=f"{highest} or more",
                )
            highest = max(highest, run.epoch)

    def _disagreements(self) -> Iterator[Finding]:
        checkpoint = self._checkpoint()
        if checkpoint is None or self._log.topic is None:
            return
        starts = [start for _, start in checkpoint]
        for run in self._runs:
            for offset in dict.fromkeys((run.first_offset, run.last_offset)):
                number = int(np.searchsorted(starts, offset, "right")) - 1
                if number < 0 and starts:
                    continue  # the log start has risen, and what lies below was forgotten
                said = checkpoint[number][0] if starts else None
                if said != run.epoch:
                    yield self._finding(
                        "leader-epoch-mismatch",
                        run,
                        f"leader epoch {run.epoch} at offset {offset}, {CHECKPOINT} says "
                        f"{'none' if said is None else said}",
                        expected=str(said),
                    )
                    break

    def _checkpoint(self) -> list[tuple[int, int]] | None:
        """Return epochs and their first offsets, as a broker keeps them; None where it cannot.

        It is read behind the log: a leader notes its epoch here before it appends.
        """
        files = self._log.on_disk.files
        if not files:
            return None
        path, store = f"{self._log.folder}/{CHECKPOINT}", files[0].store
        try:
            data = storage.read_small_file(path, max_bytes=MAX_CHECKPOINT_BYTES, store=store)
            return lineage(parse_epochs(data))
        except (FormatError, MissingError):
            return None

    def _finding(self, code: str, run: _Run, message: str, *, expected: str) -> Finding:
        return Finding(
            code=code,
            message=message,
            topic=self._log.topic,
            partition=self._log.partition,
            file=run.file.name,
            position=run.position,
            base_offset=run.first_offset,
            field="partition_leader_epoch",
            found=str(run.epoch),
            expected=expected,
        )
