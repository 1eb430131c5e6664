"""Control records of KRaft, printed as the JSON of Kafka's own messages."""

from typing import Any, NamedTuple

from magicbyte import messages
from magicbyte_cli.dump_log.decoders.json_text import json_text
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.messages import control_records
from magicbyte_formats.wire import ControlType
from magicbyte_kernels.message_schema import MessageSchema


class ControlRecordFormat(NamedTuple):
    """Format of a kind of control record whose content kafka-dump-log prints."""

    schema: MessageSchema
    label: str
    since: tuple[int, int]


FORMATS: dict[int, ControlRecordFormat] = {
    ControlType.LEADER_CHANGE: ControlRecordFormat(
        control_records.LEADER_CHANGE_MESSAGE, "LeaderChange:", (4, 1)
    ),
    ControlType.SNAPSHOT_HEADER: ControlRecordFormat(
        control_records.SNAPSHOT_HEADER_RECORD, "SnapshotHeader", (3, 3)
    ),
    ControlType.SNAPSHOT_FOOTER: ControlRecordFormat(
        control_records.SNAPSHOT_FOOTER_RECORD, "SnapshotFooter", (3, 3)
    ),
    ControlType.KRAFT_VERSION: ControlRecordFormat(
        control_records.KRAFT_VERSION_RECORD, "KRaftVersion", (3, 8)
    ),
    ControlType.KRAFT_VOTERS: ControlRecordFormat(
        control_records.VOTERS_RECORD, "KRaftVoters", (3, 8)
    ),
}

NAMES = {2: "LEADER_CHANGE", 3: "SNAPSHOT_HEADER", 4: "SNAPSHOT_FOOTER"}
"""Names of the kinds of control records whose content is not printed."""

EARLY_NAMES = {2: "QUORUM_REASSIGNMENT", 3: "LEADER_CHANGE"}
"""Names of these kinds in Kafka 2.8."""

READ_AS = 0
"""Version as which kafka-dump-log reads all values; it ignores the version that they state."""

DIRECTORIES_SINCE = 1
"""First version of a leader change with the directories of voters."""

NO_DIRECTORY = "A" * 22


def control_record_text(kind: int, value: bytes | None, release: Release) -> str:
    """Return the text of a control record that is not a transaction marker.

    Raises ValueError or FormatError if kafka-dump-log would fail to read *value*.
    """
    format_ = FORMATS.get(kind)
    if format_ is None or not release.since(*format_.since):
        names = NAMES if release.since(3, 0) else EARLY_NAMES
        return f" controlType: {names.get(kind, 'UNKNOWN')}({kind})"
    if value is None:
        raise ValueError("its value is null")
    fields = messages.read(format_.schema, value, READ_AS, release.version).fields
    if format_.schema is control_records.LEADER_CHANGE_MESSAGE:
        fields = _with_directories(fields)
    return f" {format_.label} {json_text(fields)}"


def _with_directories(fields: dict[str, Any]) -> dict[str, Any]:
    """Add an unset directory id to each voter, if the leader change states version 1 or later."""
    if fields["version"] < DIRECTORIES_SINCE:
        return fields
    return fields | {
        name: [voter | {"voterDirectoryId": NO_DIRECTORY} for voter in fields[name]]
        for name in ("voters", "grantingVoters")
    }
