"""Tests of the finding about high watermarks that were checkpointed before a crash."""

from typing import Any

import log_builder as build
import magicbyte as mb
from magicbyte.findings import Finding


def stale(folder: Any, watermarks: dict[tuple[str, int], int], name: str = "") -> list[Finding]:
    place = folder.log_dir(name)
    for topic, partition in watermarks:
        place.segment(f"{topic}-{partition}", build.batch(build.records(3)))
    place.checkpoint("replication-offset-checkpoint", watermarks)
    findings = mb.verify(str(folder)).findings
    return [finding for finding in findings if finding.code == "high-watermark-stale"]


def test_a_high_watermark_at_the_log_end_is_no_finding(folder: Any) -> None:
    assert not stale(folder, {("t", 0): 3, ("t", 1): 3})


def test_one_stale_high_watermark_names_its_partition(folder: Any) -> None:
    (finding,) = stale(folder, {("t", 0): 2, ("t", 1): 3})
    assert (finding.topic, finding.partition) == ("t", 0)
    assert (finding.found, finding.expected) == ("2", "3")


def test_several_are_one_finding_of_their_log_dir(folder: Any) -> None:
    (finding,) = stale(folder, {("t", 0): 2, ("t", 1): 1, ("t", 2): 3})
    assert finding.message.startswith("the high watermarks of 2 partitions in ")
    assert "that of t-0 is 2, its log ends at 3" in finding.message
    assert finding.file == "replication-offset-checkpoint"
