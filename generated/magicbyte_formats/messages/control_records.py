# Generated from spec/messages/control_records.yaml. Do not edit: change it and `make generate`.
# spec sha256 5f711b65449cb09d0d7a8ce112ac1c59496aad63529e5343e72a258a5181397a
"""Control records of KRaft."""

from magicbyte_formats.messages.schema import Field, Message, Range, Releases

LEADER_CHANGE_MESSAGE_VOTER = (
    Field(name="voterId", kind="int32"),
    Field(name="voterDirectoryId", kind="uuid", versions=Range(1, None)),
)

LEADER_CHANGE_MESSAGE = Message(
    name="LeaderChangeMessage",
    type=2,
    former_types=(),
    versions=(((3, 0), Range(0, 0)), ((3, 9), Range(0, 1))),
    flexible=(((3, 0), Range(0, None)),),
    fields=(
        Field(name="version", kind="int16"),
        Field(name="leaderId", kind="int32"),
        Field(name="voters", kind="struct", is_array=True, fields=LEADER_CHANGE_MESSAGE_VOTER),
        Field(name="grantingVoters", kind="struct", is_array=True, fields=LEADER_CHANGE_MESSAGE_VOTER),
    ),
)
"""A new leader of the metadata quorum writes this first in its epoch."""

SNAPSHOT_HEADER_RECORD = Message(
    name="SnapshotHeaderRecord",
    type=3,
    former_types=(),
    versions=(((3, 0), Range(0, 0)),),
    flexible=(((3, 0), Range(0, None)),),
    fields=(
        Field(name="version", kind="int16"),
        Field(name="lastContainedLogTimestamp", kind="int64"),
    ),
)
"""The first record of a snapshot."""

SNAPSHOT_FOOTER_RECORD = Message(
    name="SnapshotFooterRecord",
    type=4,
    former_types=(),
    versions=(((3, 0), Range(0, 0)),),
    flexible=(((3, 0), Range(0, None)),),
    fields=(
        Field(name="version", kind="int16"),
    ),
)
"""The last record of a snapshot, without which it is incomplete."""

KRAFT_VERSION_RECORD = Message(
    name="KRaftVersionRecord",
    type=5,
    former_types=(),
    versions=(((3, 8), Range(0, 0)),),
    flexible=(((3, 8), Range(0, None)),),
    fields=(
        Field(name="version", kind="int16"),
        Field(name="kRaftVersion", kind="int16"),
    ),
)
"""Which version of the KRaft protocol the cluster uses from here on (KIP-853)."""

VOTERS_RECORD = Message(
    name="VotersRecord",
    type=6,
    former_types=(),
    versions=(((3, 8), Range(0, 0)),),
    flexible=(((3, 8), Range(0, None)),),
    fields=(
        Field(name="version", kind="int16"),
        Field(name="voters", kind="struct", is_array=True, struct="Voter", fields=(
            Field(name="voterId", kind="int32"),
            Field(name="voterDirectoryId", kind="uuid"),
            Field(name="endpoints", kind="struct", is_array=True, struct="Endpoint", fields=(
                Field(name="name", kind="string"),
                Field(name="host", kind="string"),
                Field(name="port", kind="uint16"),
            )),
            Field(name="kRaftVersionFeature", kind="struct", struct="KRaftVersionFeature", fields=(
                Field(name="minSupportedVersion", kind="int16"),
                Field(name="maxSupportedVersion", kind="int16"),
            )),
        )),
    ),
)
"""The voters of the metadata quorum from here on (KIP-853)."""

MESSAGES = (
    LEADER_CHANGE_MESSAGE,
    SNAPSHOT_HEADER_RECORD,
    SNAPSHOT_FOOTER_RECORD,
    KRAFT_VERSION_RECORD,
    VOTERS_RECORD,
)
