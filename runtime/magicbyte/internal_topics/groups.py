"""Groups of `__consumer_offsets` with their members, as a coordinator replays them (GroupMetadataManager)."""

from collections import Counter
from dataclasses import dataclass, field

from magicbyte.internal_topics.coordinator_records import Fields

CLASSIC, CONSUMER, SHARE, STREAMS = "Classic", "Consumer", "Share", "Streams"
"""Types of groups, as Kafka's tools print them."""

STABLE_MEMBER = 0
"""State of a member that has its target assignment and gives nothing up (MemberState)."""


@dataclass(slots=True)
class ClassicGroup:
    """A group whose members divide the partitions among themselves."""

    fields: Fields | None = None
    """Fields of GroupMetadataValue; None for a group that has only committed offsets."""

    has_tombstone: bool = False
    """True if the coordinator writes a tombstone of the group when it deletes a group without members. Coordinators
    before 4.0 delete such a group with its last offset, and write tombstones of offsets alone."""

    type = CLASSIC

    @property
    def members(self) -> list[Fields]:
        return [] if self.fields is None else list(self.fields["members"])

    @property
    def member_count(self) -> int:
        return len(self.members)

    @property
    def state(self) -> str:
        """State that a coordinator gives the group when it has loaded it."""
        return "Stable" if self.members else "Empty"


@dataclass(slots=True)
class ModernGroup:
    """A group whose coordinator assigns the partitions: a consumer, share or streams group."""

    type: str
    epoch: int | None = None
    assignment_epoch: int | None = None
    subscriptions: dict[str, Fields] = field(default_factory=dict)
    """Subscription and client of each member, by member id."""
    current: dict[str, Fields] = field(default_factory=dict)
    """Epoch and assignment of each member."""
    targets: dict[str, Fields] = field(default_factory=dict)
    """Assignment that each member is to reach."""
    regexes: dict[str, Fields] = field(default_factory=dict)
    """Topics that match each regular expression of a member."""
    topology: Fields | None = None
    """Topology of a streams group."""
    name_by_topic_id: dict[str, str] = field(default_factory=dict)
    """Names of topics by topic id, as far as records of the group have them."""
    validated_topology_epoch: int | None = None

    @property
    def member_ids(self) -> list[str]:
        return list(dict.fromkeys((*self.subscriptions, *self.current)))

    @property
    def member_count(self) -> int:
        return len(self.member_ids)

    @property
    def state(self) -> str:
        """State of the group by its epochs and the epochs of its members."""
        ids = self.member_ids
        if not ids:
            return "Empty"
        if self.type == SHARE:
            return "Stable"
        if self.type == STREAMS and not self._has_valid_topology:
            return "NotReady"
        target_epoch = -1 if self.assignment_epoch is None else self.assignment_epoch
        if (self.epoch or 0) > target_epoch:
            return "Assigning"
        for member_id in ids:
            current = self.current.get(member_id)
            if (
                current is None
                or current["state"] != STABLE_MEMBER
                or current["memberEpoch"] != target_epoch
            ):
                return "Reconciling"
        return "Stable"

    @property
    def assignor(self) -> str | None:
        """Assignor that most members ask for; None if the broker's default applies, or all assignors do not matter."""
        named = Counter(
            member["serverAssignor"]
            for member in self.subscriptions.values()
            if member.get("serverAssignor")
        )
        return named.most_common(1)[0][0] if named else None

    @property
    def _has_valid_topology(self) -> bool:
        if self.topology is None:
            return False
        return self.validated_topology_epoch in (None, self.topology["epoch"])


Group = ClassicGroup | ModernGroup

SINCE_GROUP_TOMBSTONES = 4
"""Version of OffsetCommitValue that coordinators since 4.1 write, which delete groups without members by tombstones."""

MODERN_PREFIXES = {"ConsumerGroup": CONSUMER, "ShareGroup": SHARE, "StreamsGroup": STREAMS}
"""Type of group by the beginning of the record's name."""

MEMBER_RECORDS = {
    "MemberMetadata": "subscriptions",
    "CurrentMemberAssignment": "current",
    "TargetAssignmentMember": "targets",
}
"""Attribute of ModernGroup by the rest of the name of a record about a member."""

NAMED_TOPICS = ("topics", "initializingTopics", "initializedTopics", "deletingTopics")
"""Fields of records with ids and names of topics."""


class Groups:
    """The groups in one partition of `__consumer_offsets`."""

    def __init__(self) -> None:
        self.by_id: dict[str, Group] = {}

    def commit_offset(self, group_id: str, version: int) -> None:
        """Create the group of a committed offset if it does not exist: it never had a member.

        *version* of the record's value tells releases apart.
        """
        group = self.by_id.setdefault(group_id, ClassicGroup())
        if isinstance(group, ClassicGroup):
            group.has_tombstone |= version >= SINCE_GROUP_TOMBSTONES

    def remove_last_offset(self, group_id: str) -> None:
        """Remove the group if it never had a member, and its coordinator writes no tombstone of it."""
        group = self.by_id.get(group_id)
        if isinstance(group, ClassicGroup) and group.fields is None and not group.has_tombstone:
            del self.by_id[group_id]

    def apply(self, name: str, key_fields: Fields, value: Fields | None) -> None:
        """Apply the record *name*, Kafka's name without the suffix Value."""
        if name == "GroupMetadata":
            if value is None:
                self.by_id.pop(key_fields["group"], None)
            else:
                self.by_id[key_fields["group"]] = ClassicGroup(value)
            return
        for prefix, group_type in MODERN_PREFIXES.items():
            if name.startswith(prefix):
                self._apply_modern(group_type, name.removeprefix(prefix), key_fields, value)

    def _apply_modern(
        self, group_type: str, record_kind: str, key_fields: Fields, value: Fields | None
    ) -> None:
        group = self._modern_group(group_type, key_fields["groupId"], create=value is not None)
        if group is None:
            return
        if record_kind in MEMBER_RECORDS:
            _put(getattr(group, MEMBER_RECORDS[record_kind]), key_fields["memberId"], value)
        elif record_kind == "RegularExpression":
            _put(group.regexes, key_fields["regularExpression"], value)
        elif record_kind == "Topology":
            group.topology = value
        elif record_kind == "TargetAssignmentMetadata":
            group.assignment_epoch = None if value is None else value["assignmentEpoch"]
        elif record_kind != "Metadata":
            for named_topics in NAMED_TOPICS:
                for topic in (value or {}).get(named_topics, ()):
                    group.name_by_topic_id[topic["topicId"]] = topic["topicName"]
        elif value is None:
            del self.by_id[key_fields["groupId"]]
        else:
            group.epoch = value["epoch"]
            group.validated_topology_epoch = value.get("validatedTopologyEpoch")

    def _modern_group(self, group_type: str, group_id: str, *, create: bool) -> ModernGroup | None:
        """Return the group; None if it does not exist and is not to be created.

        It replaces a classic group, which exists because of a committed offset, or is left over from an upgrade of
        the group.
        """
        group = self.by_id.get(group_id)
        if isinstance(group, ModernGroup) and group.type == group_type:
            return group
        if not create:
            return None
        group = self.by_id[group_id] = ModernGroup(group_type)
        return group


def _put(by_name: dict[str, Fields], name: str, value: Fields | None) -> None:
    """Set the value of *name*; a tombstone removes it."""
    if value is None:
        by_name.pop(name, None)
    else:
        by_name[name] = value
