"""Messages on stderr: findings, and records and bytes that a command did not deliver."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import click

from magicbyte import Dataset, Finding, Report, UnreadPath
from magicbyte.findings import SEVERITIES
from magicbyte.logdir.unread_path import FAILURES
from magicbyte.storage import store_requests
from magicbyte.tables.schemas import DISPOSITIONS, INTERNAL_TABLES, LOST
from magicbyte_cli.display import counted, printable

MAX_FINDINGS = 10
"""Findings that are printed one by one; the table `problems` has all of them."""

COUNTED_IN_BYTES = (*LOST, "tail")
"""Dispositions that are reported in bytes, since the number of records is unknown."""

WITH_INTERNAL = ("segments", "partitions")
"""Tables that always include Kafka's internal topics."""


def warn(message: str) -> None:
    """Print *message* on stderr as one line, with unprintable characters escaped."""
    click.echo(printable(message), err=True)


def exit_status(findings: Iterable[Finding], unread_paths: Iterable[UnreadPath] = ()) -> int:
    """Return the exit status of a command that has finished with *findings* and *unread_paths*.

    2 if something could not be read, else 1 if there is an error, else 0.
    """
    if any(unread.kind in FAILURES for unread in unread_paths):
        return 2
    status = 0
    for finding in findings:
        if finding.code == "unreadable":
            return 2
        if finding.severity == "error":
            status = 1
    return status


def counted_severities(summary: Mapping[str, Any]) -> str:
    """Return the number of findings of each severity in *summary*: `1 error, 2 notes`."""
    counts = [
        counted(summary[f"{severity}s"], severity)
        for severity in SEVERITIES
        if summary[f"{severity}s"]
    ]
    return ", ".join(counts) or "no findings"


def warn_of_findings(
    findings: Sequence[Finding], *, one_by_one: bool = True, see: str = "--table problems"
) -> None:
    """Print the number of *findings* of each severity, and the first ten, the most severe first.

    *see* names the command or option that shows all findings.
    """
    remaining = MAX_FINDINGS if one_by_one else 0
    for severity in SEVERITIES:
        of_severity = [finding for finding in findings if finding.severity == severity]
        if not of_severity:
            continue
        printed = of_severity[:remaining]
        remaining = max(remaining - len(of_severity), 0)
        warn(counted(len(of_severity), severity) + (":" if printed else ""))
        for finding in printed:
            warn(f"  {finding} [{finding.code}]")
    num_more = len(findings) - MAX_FINDINGS
    if one_by_one and num_more > 0:
        warn(f"and {num_more:,} more: see {see}")


def warn_of_undelivered(report: Report, shown: Collection[str], *, verb: str = "shown") -> None:
    """Print how many records, and bytes without known records, a read did not deliver.

    Records outside of a requested range are not counted: most of them have not been read.
    """
    expected = {*shown, "outside_range"}
    records = Counter({name: report.records[name] for name in DISPOSITIONS if name not in expected})
    lost_bytes = Counter({name: report.bytes[name] for name in COUNTED_IN_BYTES})
    if text := by_disposition(records, lost_bytes):
        warn(f"not {verb}: {text}")


def warn_of_aborted(num_aborted: int) -> None:
    """Print that *num_aborted* of the delivered records are of aborted transactions."""
    if num_aborted:
        number = counted(num_aborted, "record")
        warn(
            f"{number} of aborted transactions included; --isolation-level read_committed leaves "
            "them out"
        )


def by_disposition(records: Counter[str], byte_counts: Counter[str]) -> str:
    """Return the numbers of *records* and bytes in words, such as "8 aborted records, 139 damaged bytes"."""
    return ", ".join(
        counted(number, f"{name.replace('_', ' ')} {noun}")
        for numbers, noun in ((records, "record"), (byte_counts, "byte"))
        for name, number in numbers.items()
        if number
    )


def warn_of_internal_topics(dataset: Dataset, table: str = "records") -> None:
    """Print how many partitions of Kafka's internal topics *table* left out."""
    is_asked_for = table in WITH_INTERNAL or table in INTERNAL_TABLES
    if dataset.num_internal and not is_asked_for:
        partitions = counted(dataset.num_internal, "partition")
        warn(f"{partitions} of internal topics left out; --include-internal includes them")


def warn_of_requests() -> None:
    """Print the requests of this process to each object store."""
    for name, requests in store_requests().items():
        warn(
            f"{name}: {counted(requests.total, 'request')} ({requests.lists:,} LIST, "
            f"{requests.heads:,} HEAD, {requests.gets:,} GET), "
            f"{counted(requests.requested_bytes, 'byte')} requested"
        )
    if not store_requests():
        warn("no request to an object store")
