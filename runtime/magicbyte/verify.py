"""Every check over a directory: findings, and a verdict for each partition."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.discover import PartitionLog, described, discover
from magicbyte.reading.builders import partition_row, problem_rows, segment_row
from magicbyte.reading.dataset import Dataset, Options, chosen_logs
from magicbyte.reading.rows import Report
from magicbyte.storage import Storage, StorageOptions

Progress = Callable[[int, int], None]
"""Told how many bytes of how many are done."""


@dataclass(slots=True)
class Verification:
    """What `verify` found. Rows are dicts with the columns of the tables, in their order."""

    quick: bool
    """Whether headers alone were read: checksums and payloads are then unknown."""
    segments: list[dict[str, Any]] = field(default_factory=list)
    """As in the table, with `bytes_after_recovery` (null until it is worked out)."""
    partitions: list[dict[str, Any]] = field(default_factory=list)
    """As in the table, with `log_end_offset_after_recovery` (null until it is worked out)."""
    findings: list[Finding] = field(default_factory=list)
    bytes: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)

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
    engine: str = "auto",
    limits: Limits | None = None,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | StorageOptions | None = None,
) -> Verification:
    """Return what is wrong with the logs that *paths* name: all of them, every replica.

    Frames, checksums, records, offsets, transactions and tails are checked; *quick* reads headers
    alone. *storage_options* are as for `open`. Raises InputError where a path is no log, StoreError
    where a store cannot be reached or refuses.
    """
    storage_options = StorageOptions.of(storage_options)  # out of every trace that shows arguments
    storage = Storage(storage_options)
    logs, log_dirs = discover((str(path) for path in paths), storage)
    logs = described(chosen_logs(logs, topics, partitions), storage)
    options = Options(
        isolation_level="read_uncommitted",
        on_damage="skip",
        engine=engine,
        limits=limits or Limits(),
    )
    out = Verification(quick)
    for log_dir in log_dirs:
        out.findings.extend(log_dir.findings)
    total = sum(file.size_bytes for log in logs for file in log.logs)
    done = 0
    for log in logs:
        _verify_log(log, Dataset([log], log_dirs, options), out)
        done += sum(file.size_bytes for file in log.logs)
        if progress is not None:
            progress(done, total)
    return out


def _verify_log(log: PartitionLog, dataset: Dataset, out: Verification) -> None:
    report = Report()
    found, tallies = dataset.tallied(log, report, verify=True, quick=out.quick)
    out.findings.extend(report.findings)
    out.bytes.update(report.bytes)
    out.records.update(report.records)
    for file in log.files:
        row = segment_row(log, file, found, None if out.quick else tallies.get(file.path))
        out.segments.append({**row, "bytes_after_recovery": None})
    if log.state is not None:
        return
    # What a broker's start would do to anything less than a sound log is not worked out here.
    is_plain = not report.findings or all(f.severity == "note" for f in report.findings)
    verdict = "ok" if is_plain and not out.quick else "unknown"
    records = None if out.quick else sum((t.records for t in tallies.values()), Counter[str]())
    row = partition_row(found, records, verdict)
    out.partitions.append({**row, "log_end_offset_after_recovery": None})
