# Generated from spec/messages/share_group_state.yaml. Do not edit: change it and `make generate`.
# spec sha256 609b22226f4fbc69dae79a88dcb9e1e51426bc32289c149769d59ab50e7c27aa
"""Records of __share_group_state."""

from magicbyte_kernels.message_schema import (
    MessageField,
    MessageSchema,
    ReleaseRange,
    VersionRange,
)

SHARE_SNAPSHOT_KEY = MessageSchema(
    name="ShareSnapshotKey",
    type=0,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="topicId", kind="uuid"),
        MessageField(name="partition", kind="int32"),
    ),
)
"""Key of a snapshot: a group and a partition that it reads."""

SHARE_SNAPSHOT_VALUE = MessageSchema(
    name="ShareSnapshotValue",
    type=0,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="snapshotEpoch", kind="uint16", releases=ReleaseRange((4, 0), (4, 0))),
        MessageField(name="snapshotEpoch", kind="int32", releases=ReleaseRange((4, 1), None)),
        MessageField(name="stateEpoch", kind="int32"),
        MessageField(name="leaderEpoch", kind="int32"),
        MessageField(name="startOffset", kind="int64"),
        MessageField(name="deliveryCompleteCount", kind="int32", releases=ReleaseRange((4, 2), None), tag=0, default=-1),
        MessageField(name="createTimestamp", kind="int64", releases=ReleaseRange((4, 1), None)),
        MessageField(name="writeTimestamp", kind="int64", releases=ReleaseRange((4, 1), None)),
        MessageField(name="stateBatches", kind="struct", is_array=True, struct="StateBatch", fields=(
            MessageField(name="firstOffset", kind="int64"),
            MessageField(name="lastOffset", kind="int64"),
            MessageField(name="deliveryState", kind="int8"),
            MessageField(name="deliveryCount", kind="int16"),
        )),
    ),
)
"""All of the state of a group in a partition. Written when the state is set up, then in place of an update after a number of those, and now and then where nothing happens; it replaces all before it. Null where the state was deleted."""

SHARE_UPDATE_KEY = MessageSchema(
    name="ShareUpdateKey",
    type=1,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="topicId", kind="uuid"),
        MessageField(name="partition", kind="int32"),
    ),
)
"""Key of an update: a group and a partition that it reads."""

SHARE_UPDATE_VALUE = MessageSchema(
    name="ShareUpdateValue",
    type=1,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="snapshotEpoch", kind="uint16", releases=ReleaseRange((4, 0), (4, 0))),
        MessageField(name="snapshotEpoch", kind="int32", releases=ReleaseRange((4, 1), None)),
        MessageField(name="leaderEpoch", kind="int32"),
        MessageField(name="startOffset", kind="int64"),
        MessageField(name="deliveryCompleteCount", kind="int32", releases=ReleaseRange((4, 2), None), tag=0, default=-1),
        MessageField(name="stateBatches", kind="struct", is_array=True, struct="StateBatch", fields=(
            MessageField(name="firstOffset", kind="int64"),
            MessageField(name="lastOffset", kind="int64"),
            MessageField(name="deliveryState", kind="int8"),
            MessageField(name="deliveryCount", kind="int16"),
        )),
    ),
)
"""What has changed in the state of a group in a partition since the record before; it applies to the snapshot before it. It has no state epoch, which only a snapshot changes."""

MESSAGES = (
    SHARE_SNAPSHOT_KEY,
    SHARE_SNAPSHOT_VALUE,
    SHARE_UPDATE_KEY,
    SHARE_UPDATE_VALUE,
)
