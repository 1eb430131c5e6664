# Generated from spec/messages/control_records.yaml. Do not edit: change it and `make generate`.
# spec sha256 5f711b65449cb09d0d7a8ce112ac1c59496aad63529e5343e72a258a5181397a
"""Control records of KRaft."""

from magicbyte_kernels.message_schema import (
    MessageField,
    MessageSchema,
    ReleaseRange,
    VersionRange,
)

LEADER_CHANGE_MESSAGE_VOTER = (
    MessageField(name="voterId", kind="int32"),
    MessageField(name="voterDirectoryId", kind="uuid", versions=VersionRange(1, None)),
)

LEADER_CHANGE_MESSAGE = MessageSchema(
    name="LeaderChangeMessage",
    type=2,
    former_types=(),
    versions=(((3, 0), VersionRange(0, 0)), ((3, 9), VersionRange(0, 1))),
    flexible=(((3, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="version", kind="int16"),
        MessageField(name="leaderId", kind="int32"),
        MessageField(name="voters", kind="struct", is_array=True, fields=LEADER_CHANGE_MESSAGE_VOTER),
        MessageField(name="grantingVoters", kind="struct", is_array=True, fields=LEADER_CHANGE_MESSAGE_VOTER),
    ),
)
"""A new leader of the metadata quorum writes this first in its epoch."""

SNAPSHOT_HEADER_RECORD = MessageSchema(
    name="SnapshotHeaderRecord",
    type=3,
    former_types=(),
    versions=(((3, 0), VersionRange(0, 0)),),
    flexible=(((3, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="version", kind="int16"),
        MessageField(name="lastContainedLogTimestamp", kind="int64"),
    ),
)
"""The first record of a snapshot."""

SNAPSHOT_FOOTER_RECORD = MessageSchema(
    name="SnapshotFooterRecord",
    type=4,
    former_types=(),
    versions=(((3, 0), VersionRange(0, 0)),),
    flexible=(((3, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="version", kind="int16"),
    ),
)
"""The last record of a snapshot, without which it is incomplete."""

KRAFT_VERSION_RECORD = MessageSchema(
    name="KRaftVersionRecord",
    type=5,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), VersionRange(0, None)),),
    fields=(
        MessageField(name="version", kind="int16"),
        MessageField(name="kRaftVersion", kind="int16"),
    ),
)
"""Which version of the KRaft protocol the cluster uses from here on (KIP-853)."""

VOTERS_RECORD = MessageSchema(
    name="VotersRecord",
    type=6,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), VersionRange(0, None)),),
    fields=(
        MessageField(name="version", kind="int16"),
        MessageField(name="voters", kind="struct", is_array=True, struct="Voter", fields=(
            MessageField(name="voterId", kind="int32"),
            MessageField(name="voterDirectoryId", kind="uuid"),
            MessageField(name="endpoints", kind="struct", is_array=True, struct="Endpoint", fields=(
                MessageField(name="name", kind="string"),
                MessageField(name="host", kind="string"),
                MessageField(name="port", kind="uint16"),
            )),
            MessageField(name="kRaftVersionFeature", kind="struct", struct="KRaftVersionFeature", fields=(
                MessageField(name="minSupportedVersion", kind="int16"),
                MessageField(name="maxSupportedVersion", kind="int16"),
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
