"""Log messages of the data source, and its errors without tracebacks."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from magicbyte.errors import MagicbyteError
from magicbyte.findings import TAILS, Finding
from magicbyte.logdir.unread_path import MAY_HOLD_RECORDS, UnreadPath
from magicbyte.reading.split import Split
from magicbyte.spark._conditions import is_spark_worker, name_in_spark
from magicbyte.tables.schemas import LOST

log = logging.getLogger("magicbyte.spark")

if is_spark_worker() and log.level == logging.NOTSET:
    # Spark's collection of logs gets our INFO lines, too. Without it, Python prints warnings and errors alone.
    log.setLevel(logging.INFO)


@contextmanager
def without_traceback() -> Iterator[None]:
    """Remove the causes from our errors, and in Spark's processes the traceback too.

    Spark would print all of them before the sentence that matters.
    """
    try:
        yield
    except MagicbyteError as error:
        name_in_spark(error)
        raise error from None


def log_findings(stage: str, findings: Sequence[Finding], *, is_growing: bool = False) -> None:
    """Log the number of errors and warnings among *findings*, and the first one.

    *is_growing*: ignore findings about the tail of the log, which is still being written.
    """
    serious = [
        finding
        for finding in findings
        if finding.severity != "note" and not (is_growing and finding.code in TAILS)
    ]
    if serious:
        first = serious[0]
        log.warning("%s: %d findings, first %s: %s", stage, len(serious), first.code, first)


@dataclass(slots=True)
class PlanTotals:
    """Numbers of tasks, partitions, segments and bytes of a plan, whose tasks come in the order of partitions."""

    num_tasks: int = 0
    num_partitions: int = 0
    num_segments: int = 0
    num_bytes: int = 0
    _partition: tuple[str | None, int | None] | None = None
    _paths: set[str] = field(default_factory=set)
    """Segments of the partition so far."""

    def add(self, splits: Iterable[Split]) -> None:
        """Add the *splits* of a task."""
        self.num_tasks += 1
        for split in splits:
            partition = split.topic, split.partition
            if partition != self._partition:
                self._partition, self._paths = partition, set()
                self.num_partitions += 1
            self.num_segments += split.file.path not in self._paths
            self._paths.add(split.file.path)
            self.num_bytes += split.end - split.start

    def log(self) -> None:
        log.info(
            "planned: %d tasks, %d partitions, %d segments, %d bytes",
            self.num_tasks, self.num_partitions, self.num_segments, self.num_bytes,
        )  # fmt: skip


def log_counts(records: Mapping[str, int], byte_counts: Mapping[str, int]) -> None:
    """Log what a task has read by disposition: a warning if there are bytes whose records are lost."""
    lost = {name: byte_counts[name] for name in LOST if byte_counts.get(name)}
    if lost:
        log.warning("read: the records of these bytes are not delivered: %s", _listed(lost))
    log.info("read: records: %s; bytes: %s", _listed(records), _listed(byte_counts))


def _listed(counts: Mapping[str, int]) -> str:
    """Return *counts* as text: `delivered 100, aborted 3`."""
    parts = (f"{name} {number}" for name, number in sorted(counts.items()) if number)
    return ", ".join(parts) or "none"


def log_unread(unread_paths: Sequence[UnreadPath]) -> None:
    """Log how many of *unread_paths* may hold records, and the first of them."""
    may_hold_records = [unread for unread in unread_paths if unread.kind in MAY_HOLD_RECORDS]
    if may_hold_records:
        first = may_hold_records[0]
        log.warning(
            "not read: %d paths, first %s: %s [%s]",
            len(may_hold_records), first.path, first.reason, first.kind,
        )  # fmt: skip
