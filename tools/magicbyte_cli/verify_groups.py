"""Partitions with their findings, for the text of `magicbyte verify`."""

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import magicbyte as mb
from magicbyte import Finding
from magicbyte.findings import SEVERITIES, worst
from magicbyte.verification.broker import BrokerPrediction
from magicbyte.verification.verdicts import BAD_VERDICTS, VERDICTS

MAX_NAMES = 3
"""Partitions that a sentence names."""

Row = dict[str, Any]


@dataclass(slots=True)
class PartitionGroup:
    """A partition with its findings; a replica is a partition of its own."""

    name: str
    row: Row
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_bad(self) -> bool:
        return self.row["verdict"] in BAD_VERDICTS

    @property
    def gravity(self) -> tuple[int, int]:
        """Sort key: verdicts that lose something, the worst first; then severities."""
        severity = worst(self.findings)
        return (
            list(VERDICTS).index(self.row["verdict"]) if self.is_bad else len(VERDICTS),
            len(SEVERITIES) if severity is None else SEVERITIES.index(severity),
        )


def grouped(verification: mb.Verification) -> tuple[list[PartitionGroup], list[Finding]]:
    """Return the partitions with their findings, and the findings that are about none of them."""
    names = Counter(partition_name(row) for row in verification.partitions)
    groups = []
    by_partition: defaultdict[tuple[str | None, int | None], list[PartitionGroup]] = defaultdict(
        list
    )
    for row in verification.partitions:
        name = partition_name(row)
        if names[name] > 1:
            name = f"{row['log_dir']}/{name}"
        group = PartitionGroup(name, row)
        groups.append(group)
        by_partition[row["topic"], row["partition"]].append(group)
    others = []
    for finding in verification.findings:
        replicas = by_partition.get((finding.topic, finding.partition), [])
        own = [group for group in replicas if group.row["log_dir"] == finding.replica]
        if replicas:
            (own or replicas)[0].findings.append(finding)
        else:
            others.append(finding)
    return groups, others


def partition_name(row: Row) -> str:
    return "these segments" if row["topic"] is None else f"{row['topic']}-{row['partition']}"


def broker_name(broker: BrokerPrediction) -> str:
    return "the broker" if broker.node_id is None else f"broker {broker.node_id}"


def names_of(
    groups: Sequence[PartitionGroup], details: Sequence[str] = (), *, max_names: int = MAX_NAMES
) -> str:
    """Return the names of the first partitions, each with its detail, and how many more there are."""
    names = [group.name for group in groups]
    if details:
        names = [f"{name} {detail}" for name, detail in zip(names, details, strict=True)]
    separator = "; " if details else ", "
    return first_names(names, separator=separator, max_names=max_names)


def first_names(names: Sequence[str], *, separator: str = ", ", max_names: int = MAX_NAMES) -> str:
    """Return the first *max_names* of *names*, and how many more there are."""
    num_more = len(names) - max_names
    more = f"; {num_more:,} more" if num_more > 0 else ""
    return f"{separator.join(names[:max_names])}{more}"


def shown_path(path: str) -> str:
    """Return *path* relative to the working directory if it is below that."""
    return path.removeprefix(f"{os.getcwd()}/")
