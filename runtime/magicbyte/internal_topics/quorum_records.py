"""Control records of `__cluster_metadata`: the voters of the quorum, and the bounds of a snapshot."""

from dataclasses import dataclass, field
from typing import NamedTuple

from magicbyte import messages
from magicbyte.errors import FormatError
from magicbyte.internal_topics._metadata_messages import Fields, invalid_record
from magicbyte.kafka_release import NEWEST
from magicbyte_formats.messages import control_records
from magicbyte_formats.wire import ControlKey, ControlType
from magicbyte_kernels.message_schema import MessageSchema

NO_DIRECTORY = "A" * 22

SCHEMAS: dict[int, MessageSchema] = {
    ControlType.LEADER_CHANGE: control_records.LEADER_CHANGE_MESSAGE,
    ControlType.SNAPSHOT_HEADER: control_records.SNAPSHOT_HEADER_RECORD,
    ControlType.KRAFT_VERSION: control_records.KRAFT_VERSION_RECORD,
    ControlType.KRAFT_VOTERS: control_records.VOTERS_RECORD,
}
"""Messages of control records, by type."""


class ControlRecord(NamedTuple):
    """A control record of KRaft."""

    type: int
    fields: Fields | None
    """Fields of its value; None for a type whose value is not decoded."""


def control_type(key: bytes | None) -> int | None:
    """Return the type in the *key* of a control record; None if the key is too short."""
    if key is None or len(key) < ControlKey.SIZE:
        return None
    type_: int = ControlKey.unpack_from(key)[1]
    return type_


def read_control_record(key: bytes | None, value: bytes | None) -> ControlRecord | None:
    """Return the control record with *key* and *value*; None if the key is too short.

    Raises FormatError if the value cannot be decoded.
    """
    type_ = control_type(key)
    if type_ is None:
        return None
    schema = SCHEMAS.get(type_)
    if schema is None or value is None:
        return ControlRecord(type_, None)
    version, _ = messages.read_int16(value, "version")
    return ControlRecord(type_, messages.read(schema, value, version, NEWEST).fields)


@dataclass(slots=True)
class Quorum:
    """Voters of the metadata quorum, as far as control records have been applied."""

    voter_directories: dict[int, str | None] = field(default_factory=dict)
    """Id of the metadata directory of each voter, by node id; None where it is not known."""
    kraft_version: int = 0

    def apply(self, key: bytes | None, value: bytes | None) -> ControlRecord | None:
        """Apply a control record and return it. Raises FormatError if it cannot be decoded."""
        try:
            control = read_control_record(key, value)
        except FormatError as error:
            raise invalid_record(str(error)) from error
        if control is None or control.fields is None:
            return control
        if control.type in (ControlType.LEADER_CHANGE, ControlType.KRAFT_VOTERS):
            self._set_voters(control.fields)
        elif control.type == ControlType.KRAFT_VERSION:
            self.kraft_version = control.fields["kRaftVersion"]
        return control

    def _set_voters(self, fields: Fields) -> None:
        voters = {each["voterId"]: each.get("voterDirectoryId") for each in fields["voters"]}
        if voters:
            self.voter_directories = {
                node_id: None if directory == NO_DIRECTORY else directory
                for node_id, directory in voters.items()
            }
