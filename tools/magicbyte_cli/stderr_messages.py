"""What is said on stderr: what was found, what was not shown, and why."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import click

from magicbyte import Dataset, Finding, Report
from magicbyte_cli.printable import printable

SEVERITIES = ("error", "warning", "note")
MAX_FINDINGS = 10
"""Findings that are told one by one; the table `problems` has them all."""

NO_RECORDS = ("damaged", "over_limit", "tail")
"""What is told of bytes, since nobody knows their records."""

WITH_INTERNAL = ("segments", "partitions")
"""Tables that always show Kafka's own topics."""


def complain(message: str) -> None:
    """Say *message* on stderr, in one line whatever it holds."""
    click.echo(printable(message), err=True)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return *number* of *noun* in words: `1 batch`, `2 batches`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def counted_severities(summary: Mapping[str, Any]) -> str:
    """Return in words how many findings of each severity *summary* counts."""
    counts = [
        counted(summary[f"{severity}s"], severity)
        for severity in SEVERITIES
        if summary[f"{severity}s"]
    ]
    return ", ".join(counts) or "nothing found"


def complain_of(
    findings: Sequence[Finding], *, one_by_one: bool = True, others: str = "--table problems"
) -> None:
    """Say how many *findings* of each severity there are, and the first of them, gravest first.

    *others* says what shows the rest of them.
    """
    room = MAX_FINDINGS if one_by_one else 0
    for severity in SEVERITIES:
        of_severity = [finding for finding in findings if finding.severity == severity]
        if not of_severity:
            continue
        told, room = of_severity[:room], max(room - len(of_severity), 0)
        complain(counted(len(of_severity), severity) + (":" if told else ""))
        for finding in told:
            complain(f"  {finding} [{finding.code}]")
    more = len(findings) - MAX_FINDINGS
    if one_by_one and more > 0:
        complain(f"and {more} more: {others}")


def complain_of_hidden(report: Report, shown: Collection[str], *, verb: str = "shown") -> None:
    """Say which records a read did not show, and which bytes no record came from.

    Who names a range knows of what lies outside, and most of that has not been read.
    """
    known = {*shown, "outside_range"}
    records = {name: number for name, number in report.records.items() if name not in known}
    lost = {name: report.bytes[name] for name in NO_RECORDS}
    parts = [
        f"{counted(sum(counts.values()), noun)} ({_by_name(counts)})"
        for counts, noun in ((records, "record"), (lost, "byte"))
        if any(counts.values())
    ]
    if parts:
        complain(f"not {verb}: {', '.join(parts)}")


def _by_name(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number)


def complain_of_internal(dataset: Dataset, table: str = "records") -> None:
    """Say how many partitions *table* left out because their topics are Kafka's own."""
    if dataset.num_internal and table not in WITH_INTERNAL:
        partitions = counted(dataset.num_internal, "partition")
        complain(f"{partitions} of internal topics left out; --include-internal shows them")
