"""The file that `kafka-consumer-groups --reset-offsets --from-file` reads."""

import csv
import io
from collections.abc import Mapping

Offsets = Mapping[tuple[str, int], int]
"""Offsets by topic and partition."""


def reset_plan(offsets_by_group: Mapping[str, Offsets]) -> bytes:
    """Return lines of topic, partition and offset for one group, or with the group first for several ones.

    The tool takes the lines of one group without the group if one `--group` is given. It splits the file at line
    feeds, so that a group id with a line feed cannot be in it; Kafka's topics have none.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for group, offsets in sorted(offsets_by_group.items()):
        for (topic, partition), offset in sorted(offsets.items()):
            before = () if len(offsets_by_group) == 1 else (group,)
            writer.writerow((*before, topic, partition, offset))
    return text.getvalue().encode()
