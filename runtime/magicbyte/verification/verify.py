"""Every check over a directory: findings, and a verdict for each partition."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from magicbyte.errors import InputError, LimitError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.dataset import Dataset, Options, every_log
from magicbyte.reading.process_pool import in_processes
from magicbyte.reading.results import Report
from magicbyte.reading.survey import Survey
from magicbyte.reading.table_rows import partition_row, problem_rows, segment_row
from magicbyte.storage import StorageOptions
from magicbyte.verification.companion_checks import wrong_beside, wrong_between
from magicbyte.verification.replicas import differences
from magicbyte.verification.startup import INDEX_INTERVAL_BYTES, StartupPrediction, predict_startup

Progress = Callable[[int, int], None]
"""Told how many bytes of how many are done."""


@dataclass(slots=True)
class Verification:
    """What `verify` found. Rows are dicts with the columns of the tables, in their order."""

    quick: bool
    """Whether headers alone were read: checksums and payloads are then unknown."""
    segments: list[dict[str, Any]] = field(default_factory=list)
    """As in the table, with `bytes_after_recovery`: what a broker's start would leave of a `.log`
    file. Null where that is not foretold: of other files, where it would not start, with *quick*,
    and where segments were named one by one."""
    partitions: list[dict[str, Any]] = field(default_factory=list)
    """As in the table, with `log_end_offset_after_recovery`, null where that is not foretold, and
    `recovery`: what a broker's start would do, a sentence each."""
    findings: list[Finding] = field(default_factory=list)
    bytes: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Verification") -> None:
        """Add what was found in *other* partitions, behind what was found in these."""
        self.segments += other.segments
        self.partitions += other.partitions
        self.findings += other.findings
        self.bytes.update(other.bytes)
        self.records.update(other.records)

    @property
    def problems(self) -> list[dict[str, Any]]:
        """The findings as rows of the table `problems`."""
        return list(problem_rows(self.findings))

    @property
    def is_sound(self) -> bool:
        """Whether there is no finding of severity `error`."""
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def summary(self) -> dict[str, Any]:
        """Counts over everything; `records` and `damaged_bytes` are null where unread."""
        severities = Counter(finding.severity for finding in self.findings)
        return {
            "partitions": len(self.partitions),
            "segments": sum(row["live"] and row["file_kind"] == "log" for row in self.segments),
            "size_bytes": sum(row["size_bytes"] for row in self.partitions),
            "records": None if self.quick else sum(self.records.values()),
            "damaged_bytes": None if self.quick else self.bytes["damaged"],
            "errors": severities["error"],
            "warnings": severities["warning"],
            "notes": severities["note"],
            "crc_checked": not self.quick,
        }


def verify(
    *paths: str | os.PathLike[str],
    topics: Iterable[str] | None = None,
    partitions: Iterable[int] | None = None,
    quick: bool = False,
    clean_shutdown: bool | None = None,
    index_interval_bytes: int = INDEX_INTERVAL_BYTES,
    engine: str = "auto",
    processes: int = 1,
    limits: Limits | None = None,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | StorageOptions | None = None,
) -> Verification:
    """Return what is wrong with the logs that *paths* name: all of them, every replica, and where
    the replicas of a partition differ.

    Frames, checksums, records, offsets, sequences, leader epochs, transactions and tails are
    checked, and what lies beside them: indexes, snapshots, checkpoints, left-over and missing files;
    *quick* reads headers alone. What a broker's start would do is foretold: of one behind a clean
    shutdown or not, by *clean_shutdown* (by default, what the log.dir says), and for topics with
    *index_interval_bytes* (a topic's `index.interval.bytes`), on which some of it hangs.
    *processes* is how many verify, each a partition at a time; 1, the default, is the caller's own.
    Their number changes nothing of what is returned. More are started anew, so a script calls this
    under `if __name__ == "__main__":`. *progress* is told when a partition is done.
    *storage_options* are as for `open`. Raises InputError where a path is no log or an argument is
    not what it must be, StoreError where a store cannot be reached or refuses.
    """
    storage_options = StorageOptions.of(storage_options)  # out of every trace that shows arguments
    if processes < 1:
        raise InputError(f"processes {processes}", "at least 1")
    dataset = every_log(
        paths,
        topics=topics,
        partitions=partitions,
        engine=engine,
        limits=limits,
        storage_options=storage_options,
    )
    logs = dataset.logs
    out = Verification(quick)
    for log_dir in dataset.log_dirs:
        out.findings.extend(log_dir.findings)
    out.findings.extend(wrong_between(logs))
    total = sum(file.size_bytes for log in logs for file in log.logs)
    done = 0
    start = partial(
        predict_startup, is_clean=clean_shutdown, interval_bytes=index_interval_bytes, engine=engine
    )
    parts = in_processes(
        partial(_verified, options=dataset.options, start=start, quick=quick),
        map(_alone, logs),
        processes=max(min(processes, len(logs)), 1),
    )
    with closing(parts):
        for log, part in zip(logs, parts, strict=True):
            out.add(part)
            done += sum(file.size_bytes for file in log.logs)
            if progress is not None:
                progress(done, total)
    out.findings.extend(differences(dataset))
    return out


def _alone(log: PartitionLog) -> PartitionLog:
    """Return *log* with what its log.dir's files say of it alone: it may be sent elsewhere."""
    if log.log_dir is None or log.topic is None or log.partition is None:
        return log
    return replace(log, log_dir=log.log_dir.of(log.topic, log.partition))


def _verified(
    log: PartitionLog, *, options: Options, start: Callable[..., StartupPrediction], quick: bool
) -> Verification:
    """Return what is wrong with *log*."""
    out, dataset, report = Verification(quick), Dataset([log], (), options), Report()
    found, tallies = dataset.tallied(log, report, verify=True, quick=out.quick)
    if not log.is_named_files and log.state is None:
        report.findings.extend(wrong_beside(log, found))
    out.findings.extend(report.findings)
    out.bytes.update(report.bytes)
    out.records.update(report.records)
    is_foretold = (
        not out.quick and log.state is None and not log.is_named_files and not log.is_remote
    )
    foretold = _foretold(log.on_disk, found, dataset, start) if is_foretold else None
    sizes = None if foretold is None or foretold.refusal is not None else foretold.segment_sizes
    for file in log.files:
        row = segment_row(log, file, found, None if out.quick else tallies.get(file.path))
        after = None
        if sizes is not None and file.kind == "log" and not file.is_remote:
            stays = file.live or file.why_not == "superseded"
            after = sizes.get(_place_of(file), 0) if stays else 0
        out.segments.append({**row, "bytes_after_recovery": after})
    if log.state is not None:
        return out
    errors = [finding for finding in report.findings if finding.severity == "error"]
    if foretold is not None:
        files = log.on_disk.files
        before = {file.name: file.size_bytes for file in files if file.name.endswith(".log")}
        is_damaged = any(_is_left(finding, foretold.segment_sizes) for finding in errors)
        verdict: str = foretold.verdict(before, is_damaged=is_damaged)
    else:
        # No start reads remote storage, so none fails by what is sound there.
        is_plain = (log.is_named_files and not report.findings) or (log.is_remote and not errors)
        is_plain = is_plain and not out.quick
        verdict = "ok" if is_plain else "unknown"
    records = None if out.quick else sum((t.records for t in tallies.values()), Counter[str]())
    row = partition_row(found, records, verdict)
    out.partitions.append(
        {
            **row,
            "log_end_offset_after_recovery": None if foretold is None else foretold.log_end_offset,
            "recovery": [] if foretold is None else _sentences(foretold, found),
        }
    )
    return out


def _foretold(
    log: PartitionLog, found: Survey, dataset: Dataset, start: Callable[..., StartupPrediction]
) -> StartupPrediction | None:
    """Return what a broker's start would do; None where an entry is too large to be looked at."""
    has_transactions = bool(found.transactions)
    try:
        return start(log, has_transactions=has_transactions, limits=dataset.options.limits)
    except LimitError:
        return None


def _sentences(foretold: StartupPrediction, found: Survey) -> list[str]:
    opened = {
        one.producer_id: one.first_offset for one in found.transactions if one.outcome == "open"
    }
    return foretold.sentences(log_end_offset=found.log_end_offset, open_transactions=opened)


def _place_of(file: LogFile) -> str:
    """Return the name that a segment has once it has been swapped in."""
    return file.name.removesuffix(".swap")


def _is_left(finding: Finding, sizes: Mapping[str, int]) -> bool:
    """Return whether consumers would still meet what *finding* says, in segments of these sizes."""
    if finding.file is None or finding.position is None:
        return False
    return finding.position < sizes.get(finding.file.rpartition("/")[2], 0)
