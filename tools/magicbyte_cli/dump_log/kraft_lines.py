"""Control records of KRaft, as the tool writes them: the JSON of Kafka's own messages."""

from typing import Any, NamedTuple

from magicbyte import messages
from magicbyte_cli.dump_log.decoders.json_text import json_text
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.messages import control_records
from magicbyte_formats.wire import ControlType
from magicbyte_kernels.message_schema import MessageSchema


class Shown(NamedTuple):
    """A kind of record whose content the tool shows."""

    schema: MessageSchema
    word: str
    since: tuple[int, int]


SHOWN: dict[int, Shown] = {
    ControlType.LEADER_CHANGE: Shown(
        control_records.LEADER_CHANGE_MESSAGE, "LeaderChange:", (4, 1)
    ),
    ControlType.SNAPSHOT_HEADER: Shown(
        control_records.SNAPSHOT_HEADER_RECORD, "SnapshotHeader", (3, 3)
    ),
    ControlType.SNAPSHOT_FOOTER: Shown(
        control_records.SNAPSHOT_FOOTER_RECORD, "SnapshotFooter", (3, 3)
    ),
    ControlType.KRAFT_VERSION: Shown(control_records.KRAFT_VERSION_RECORD, "KRaftVersion", (3, 8)),
    ControlType.KRAFT_VOTERS: Shown(control_records.VOTERS_RECORD, "KRaftVoters", (3, 8)),
}

NAMES = {2: "LEADER_CHANGE", 3: "SNAPSHOT_HEADER", 4: "SNAPSHOT_FOOTER"}
"""Of kinds whose content is not shown."""

EARLY_NAMES = {2: "QUORUM_REASSIGNMENT", 3: "LEADER_CHANGE"}
"""The same in 2.8."""

READ_AS = 0
"""The version that the tool takes all values for, whatever they say themselves."""

DIRECTORIES_SINCE = 1
"""The version of a change of leader that tells the voters' directories."""

NO_DIRECTORY = "A" * 22


def said(kind: int, value: bytes | None, release: Release) -> str:
    """Return what the tool says of a control record that is no transaction marker.

    ValueError or FormatError where it would read *value* and cannot.
    """
    shown = SHOWN.get(kind)
    if shown is None or not release.since(*shown.since):
        names = NAMES if release.since(3, 0) else EARLY_NAMES
        return f" controlType: {names.get(kind, 'UNKNOWN')}({kind})"
    if value is None:
        raise ValueError("its value is null")
    fields = messages.read(shown.schema, value, READ_AS, release.version).fields
    if shown.schema is control_records.LEADER_CHANGE_MESSAGE:
        fields = _with_directories(fields)
    return f" {shown.word} {json_text(fields)}"


def _with_directories(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a change of leader as the version that it says it is, with what that one was not read for."""
    if fields["version"] < DIRECTORIES_SINCE:
        return fields
    return fields | {
        name: [voter | {"voterDirectoryId": NO_DIRECTORY} for voter in fields[name]]
        for name in ("voters", "grantingVoters")
    }
