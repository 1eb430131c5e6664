"""Topics and partitions of a cluster, by the rules of Kafka's TopicsDelta and PartitionRegistration."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from magicbyte.internal_topics._metadata_messages import ConflictError, Fields

NO_LEADER_CHANGE = -2
"""Leader in a PartitionChangeRecord that leaves the leader as it was."""

NO_RECOVERY_CHANGE = -1
RECOVERY_STATES = {0: "RECOVERED", 1: "RECOVERING"}
"""States of a leader after an election, by number (LeaderRecoveryState)."""

MIGRATING_DIRECTORY = "AAAAAAAAAAAAAAAAAAAAAA"
RESERVED_DIRECTORIES = tuple(f"AAAAAAAAAAAAAAAAAAAAA{last}" for last in "AgQw")
"""Ids that stand for no log.dir: migrating, lost, unassigned and a reserved one (DirectoryId)."""


class Replicas(NamedTuple):
    """The replicas of a partition: node ids, and for each the id of its log.dir where it is known."""

    nodes: tuple[int, ...]
    directories: tuple[str, ...]

    def directory_of(self, node_id: int) -> str | None:
        """Return the id of the log.dir that *node_id* holds the partition in; None if none is assigned."""
        if node_id not in self.nodes or len(self.directories) != len(self.nodes):
            return None
        directory = self.directories[self.nodes.index(node_id)]
        return None if directory in RESERVED_DIRECTORIES else directory


@dataclass(frozen=True, slots=True)
class PartitionRegistration:
    """A partition as the controller has it. The fields are named as Kafka's are; node ids are numbers."""

    replicas: Replicas
    isr: tuple[int, ...]
    removing_replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    leader: int
    """Node id of the leader; -1 where there is none."""
    leader_recovery_state: int
    leader_epoch: int
    partition_epoch: int
    elr: tuple[int, ...]
    """Eligible leader replicas: out of sync, with all committed records (KIP-966)."""
    last_known_elr: tuple[int, ...]

    @classmethod
    def of_record(cls, fields: Fields) -> "PartitionRegistration":
        """Return the partition that a PartitionRecord describes."""
        nodes = tuple(fields["replicas"])
        return cls(
            replicas=Replicas(nodes, _directories(fields.get("directories"), len(nodes))),
            isr=tuple(fields["isr"]),
            removing_replicas=tuple(fields["removingReplicas"]),
            adding_replicas=tuple(fields["addingReplicas"]),
            leader=fields["leader"],
            leader_recovery_state=_recovery_state(fields.get("leaderRecoveryState", 0)),
            leader_epoch=fields["leaderEpoch"],
            partition_epoch=fields["partitionEpoch"],
            elr=tuple(fields.get("eligibleLeaderReplicas") or ()),
            last_known_elr=tuple(fields.get("lastKnownElr") or ()),
        )

    def changed(self, fields: Fields) -> "PartitionRegistration":
        """Return the partition after a PartitionChangeRecord (PartitionRegistration.merge)."""
        leader = fields.get("leader", NO_LEADER_CHANGE)
        is_new_leader = leader != NO_LEADER_CHANGE
        recovery = fields.get("leaderRecoveryState", NO_RECOVERY_CHANGE)
        nodes = _changed(self.replicas.nodes, fields.get("replicas"))
        directories = fields.get("directories")
        if directories is None:
            directories = self.replicas.directories
        return PartitionRegistration(
            replicas=Replicas(nodes, _directories(directories, len(nodes))),
            isr=_changed(self.isr, fields.get("isr")),
            removing_replicas=_changed(self.removing_replicas, fields.get("removingReplicas")),
            adding_replicas=_changed(self.adding_replicas, fields.get("addingReplicas")),
            leader=leader if is_new_leader else self.leader,
            leader_recovery_state=self.leader_recovery_state
            if recovery == NO_RECOVERY_CHANGE
            else _recovery_state(recovery),
            leader_epoch=self.leader_epoch + is_new_leader,
            partition_epoch=self.partition_epoch + 1,
            elr=_changed(self.elr, fields.get("eligibleLeaderReplicas")),
            last_known_elr=_changed(self.last_known_elr, fields.get("lastKnownElr")),
        )


def _changed(node_ids: tuple[int, ...], new_ids: list[int] | None) -> tuple[int, ...]:
    """Return the *new_ids* that replace *node_ids*; None leaves them as they were."""
    return node_ids if new_ids is None else tuple(new_ids)


def _directories(directories: Sequence[str] | None, num_replicas: int) -> tuple[str, ...]:
    """Return the log.dirs of the replicas; all are migrating where a record names none (KIP-858)."""
    return tuple(directories or [MIGRATING_DIRECTORY] * num_replicas)


def _recovery_state(number: int) -> int:
    if number not in RECOVERY_STATES:
        raise ConflictError(f"its leader recovery state {number} does not exist")
    return number


@dataclass(slots=True)
class TopicRegistration:
    """A topic, with its partitions by number."""

    name: str
    topic_id: str
    partition_by_number: dict[int, PartitionRegistration] = field(default_factory=dict)


@dataclass(slots=True)
class TopicRegistry:
    """Topics of a cluster. Its methods apply the fields of a record, and raise ConflictError where Kafka would fail."""

    by_id: dict[str, TopicRegistration] = field(default_factory=dict)
    id_by_name: dict[str, str] = field(default_factory=dict)
    deleted_names: dict[str, str] = field(default_factory=dict)
    """Names of topics that records have deleted, by topic id; a snapshot does not have them."""

    def __iter__(self) -> Iterator[TopicRegistration]:
        return iter(self.by_id.values())

    def add(self, fields: Fields) -> None:
        topic_id, name = fields["topicId"], fields["name"]
        before = self.by_id.get(topic_id)
        if before is not None and self.id_by_name.get(before.name) == topic_id:
            del self.id_by_name[before.name]
        self.by_id[topic_id] = TopicRegistration(name, topic_id)
        self.id_by_name[name] = topic_id

    def remove(self, fields: Fields) -> str:
        """Remove a topic with its partitions, and return its name."""
        topic = self._topic(fields["topicId"])
        del self.by_id[topic.topic_id]
        self.deleted_names[topic.topic_id] = topic.name
        if self.id_by_name.get(topic.name) == topic.topic_id:
            del self.id_by_name[topic.name]
        return topic.name

    def add_partition(self, fields: Fields) -> None:
        topic = self._topic(fields["topicId"])
        topic.partition_by_number[fields["partitionId"]] = PartitionRegistration.of_record(fields)

    def change_partition(self, fields: Fields) -> None:
        topic, number = self._topic(fields["topicId"]), fields["partitionId"]
        before = topic.partition_by_number.get(number)
        if before is None:
            raise ConflictError(f"no record before it created partition {number} of {topic.name}")
        topic.partition_by_number[number] = before.changed(fields)

    def clear_elr(self, fields: Fields) -> None:
        """Remove the eligible leader replicas of a topic, or of all topics if no name is given."""
        name = fields["topicName"]
        if not name:
            for topic in self.by_id.values():
                _clear_elr(topic)
            return
        topic_id = self.id_by_name.get(name)
        if topic_id is None:
            raise ConflictError(f"no record before it created the topic {name}")
        _clear_elr(self.by_id[topic_id])

    def _topic(self, topic_id: str) -> TopicRegistration:
        topic = self.by_id.get(topic_id)
        if topic is None:
            raise ConflictError(f"no record before it created the topic with id {topic_id}")
        return topic


def _clear_elr(registration: TopicRegistration) -> None:
    for number, partition in registration.partition_by_number.items():
        cleared_fields: Fields = {}
        if partition.elr:
            cleared_fields["eligibleLeaderReplicas"] = []
        if partition.last_known_elr:
            cleared_fields["lastKnownElr"] = []
        if cleared_fields:
            registration.partition_by_number[number] = partition.changed(cleared_fields)
