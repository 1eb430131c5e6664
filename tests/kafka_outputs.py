"""Parses what Kafka's tools print about the metadata of a cluster."""

import re
from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]


def described_topics(text: str) -> tuple[dict[str, Row], dict[tuple[str, int], Row]]:
    """Return the topics and the partitions of `kafka-topics --describe`."""
    topics, partitions = {}, {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("\t") if cell.strip()]
        row = dict(cell.split(":", 1) for cell in cells if ":" in cell)
        row = {name.strip(): value.strip() for name, value in row.items()}
        if "TopicId" in row:
            topics[row["Topic"]] = row
        elif "Replicas" in row:
            partitions[row["Topic"], int(row["Partition"])] = row
    return topics, partitions


def node_ids(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number.strip().lstrip("-").isdigit()]


def dynamic_configs(text: str) -> dict[str, dict[str, str]]:
    """Return the configurations of `kafka-configs --describe` by the heading that says whose they are."""
    by_heading: dict[str, dict[str, str]] = {}
    configs: dict[str, str] = {}
    for line in text.splitlines():
        if match := re.fullmatch(r"(?:Dynamic|Default) configs for (.*) are:", line):
            configs = by_heading.setdefault(match[1], {})
        elif match := re.match(r"  (\S+?)=(.*) sensitive=(?:true|false) ", line):
            configs[match[1]] = match[2]
    return by_heading


def acl_entries(text: str) -> set[tuple[str, ...]]:
    """Return the entries of `kafka-acls --list`: resource, principal, host, operation, permission."""
    entries = set()
    resource: tuple[str, ...] = ()
    for line in text.splitlines():
        if match := re.search(r"resourceType=(\w+), name=(.*), patternType=(\w+)\)", line):
            resource = match.groups()
        elif match := re.search(
            r"principal=(.*), host=(.*), operation=(\w+), permissionType=(\w+)\)", line
        ):
            entries.add((*resource, *match.groups()))
    return entries


def features(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and finalized level of `kafka-features describe`."""
    for line in text.splitlines():
        if match := re.match(r"Feature: (\S+)\s.*FinalizedVersionLevel: (\S+)", line):
            yield match[1], match[2]


def shell_partitions(text: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each `PartitionRegistration(...)` of kafka-metadata-shell."""
    for line in re.findall(r"PartitionRegistration\((.*)\)", text):
        yield dict(re.findall(r"(\w+)=(\[[^\]]*\]|[^,]+)", line))
