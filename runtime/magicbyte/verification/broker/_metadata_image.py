"""The state of a cluster that the records of `__cluster_metadata` add up to (MetadataImage)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from magicbyte import messages
from magicbyte.errors import FormatError
from magicbyte.kafka_release import NEWEST
from magicbyte_formats.messages import cluster_metadata as schemas
from magicbyte_kernels.message_schema import MessageSchema

FRAME_VERSION = 1

TOPIC_RESOURCE = 2
"""Type of the resource of a topic's configuration (ConfigResource.Type)."""

Fields = dict[str, Any]


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


RESERVED_DIRECTORIES = tuple(f"AAAAAAAAAAAAAAAAAAAAA{last}" for last in "AgQw")
"""Ids that stand for no log.dir: unassigned, lost and migrating (DirectoryId)."""


@dataclass(slots=True)
class MetadataImage:
    """Topics, partitions and nodes of a cluster, as far as records have been applied."""

    topic_names: dict[str, str] = field(default_factory=dict)
    """Names of topics by topic id."""
    replicas: dict[tuple[str, int], Replicas] = field(default_factory=dict)
    """Replicas by topic id and number."""
    log_dir_ids: dict[int, frozenset[str]] = field(default_factory=dict)
    """Directory ids by node id, from the registrations of brokers."""
    controllers: set[int] = field(default_factory=set)
    """Node ids of registered controllers."""
    topic_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Configurations that topics override, by name of the topic."""
    has_metadata_version: bool = False
    fault: str | None = None
    """The first record that does not fit those before it, with its offset; None if there is none."""
    _transaction: list[tuple[MessageSchema, Fields]] | None = None
    """Records of a metadata transaction that has not ended (KIP-868)."""

    @property
    def partition_keys(self) -> set[tuple[str, int]]:
        """Topic name and number of each partition."""
        return {
            (self.topic_names[id_], number)
            for id_, number in self.replicas
            if id_ in self.topic_names
        }

    def id_of(self, topic: str) -> str | None:
        """Return the id of the topic that is named *topic*."""
        return next((id_ for id_, name in self.topic_names.items() if name == topic), None)

    def on_node(self, node_id: int) -> dict[tuple[str, int], tuple[str, Replicas]]:
        """Return topic id and replicas of each partition with a replica on *node_id*, by name and number."""
        return {
            (self.topic_names[id_], number): (id_, replicas)
            for (id_, number), replicas in self.replicas.items()
            if node_id in replicas.nodes and id_ in self.topic_names
        }

    def apply(self, value: bytes) -> None:
        """Apply the value of one record; FormatError where its frame cannot be read."""
        message = read_metadata_message(value)
        if message is None:
            return
        schema, fields = message
        if schema is schemas.BEGIN_TRANSACTION_RECORD:
            self._transaction = []
        elif schema is schemas.ABORT_TRANSACTION_RECORD:
            self._transaction = None
        elif schema is schemas.END_TRANSACTION_RECORD:
            transaction, self._transaction = self._transaction or [], None
            for each, each_fields in transaction:
                self._apply(each, each_fields)
        elif self._transaction is not None:
            self._transaction.append(message)
        else:
            self._apply(schema, fields)

    def _apply(self, schema: MessageSchema, fields: Fields) -> None:
        _APPLY[schema.name](self, fields)

    def _add_topic(self, fields: Fields) -> None:
        self.topic_names[fields["topicId"]] = fields["name"]

    def _remove_topic(self, fields: Fields) -> None:
        topic_id = fields["topicId"]
        self._check_topic(topic_id)
        name = self.topic_names.pop(topic_id, None)
        self.topic_configs.pop(name or "", None)
        for each in [each for each in self.replicas if each[0] == topic_id]:
            del self.replicas[each]

    def _change_partition(self, fields: Fields) -> None:
        partition_id = fields["topicId"], fields["partitionId"]
        self._check_topic(partition_id[0])
        before = self.replicas.get(partition_id, Replicas((), ()))
        nodes, directories = fields.get("replicas"), fields.get("directories")
        self.replicas[partition_id] = Replicas(
            before.nodes if nodes is None else tuple(nodes),
            before.directories if directories is None else tuple(directories),
        )

    def _check_topic(self, topic_id: str) -> None:
        """Note a fault if no topic has *topic_id*, which ends a node (TopicsDelta)."""
        if topic_id not in self.topic_names and self.fault is None:
            self.fault = f"no record before it created the topic with id {topic_id}"

    def _set_config(self, fields: Fields) -> None:
        if fields["resourceType"] != TOPIC_RESOURCE:
            return
        configs = self.topic_configs.setdefault(fields["resourceName"], {})
        if fields["value"] is None:
            configs.pop(fields["name"], None)
        else:
            configs[fields["name"]] = fields["value"]

    def _register_broker(self, fields: Fields) -> None:
        log_dirs = fields.get("logDirs")
        if log_dirs:
            self.log_dir_ids[fields["brokerId"]] = frozenset(log_dirs)
        else:
            self.log_dir_ids.setdefault(fields["brokerId"], frozenset())

    def _unregister_broker(self, fields: Fields) -> None:
        self.log_dir_ids.pop(fields["brokerId"], None)

    def _register_controller(self, fields: Fields) -> None:
        self.controllers.add(fields["controllerId"])

    def _set_feature(self, fields: Fields) -> None:
        self.has_metadata_version |= fields["name"] == "metadata.version"


_APPLY: dict[str, Callable[[MetadataImage, Fields], None]] = {
    "TopicRecord": MetadataImage._add_topic,
    "RemoveTopicRecord": MetadataImage._remove_topic,
    "PartitionRecord": MetadataImage._change_partition,
    "PartitionChangeRecord": MetadataImage._change_partition,
    "ConfigRecord": MetadataImage._set_config,
    "RegisterBrokerRecord": MetadataImage._register_broker,
    "BrokerRegistrationChangeRecord": MetadataImage._register_broker,
    "UnregisterBrokerRecord": MetadataImage._unregister_broker,
    "RegisterControllerRecord": MetadataImage._register_controller,
    "FeatureLevelRecord": MetadataImage._set_feature,
}
"""Methods that apply a message, by its name."""

_SCHEMAS: Sequence[MessageSchema] = [
    *(schema for schema in schemas.MESSAGES if schema.name in _APPLY),
    schemas.BEGIN_TRANSACTION_RECORD,
    schemas.END_TRANSACTION_RECORD,
    schemas.ABORT_TRANSACTION_RECORD,
]


def read_metadata_message(value: bytes) -> tuple[MessageSchema, Fields] | None:
    """Return the message in the *value* of a metadata record, with its schema; None for other messages.

    Raises FormatError if it cannot be read.
    """
    frame_version, position = messages.read_uvarint(value, 0, "frame version")
    if frame_version != FRAME_VERSION:
        return None
    type_, position = messages.read_uvarint(value, position, "type")
    version, position = messages.read_uvarint(value, position, "version")
    known = messages.known_messages(_SCHEMAS, type_, NEWEST)
    if len(known) != 1:
        return None
    return known[0], messages.read(known[0], value, version, NEWEST, position).fields


def apply_records(
    image: MetadataImage, record_values: Iterable[tuple[int, bytes]], *, begin: int = 0
) -> None:
    """Apply *record_values*, pairs of offset and value, from offset *begin* on; unreadable ones are left out."""
    for offset, value in record_values:
        if offset < begin:
            continue
        has_fault = image.fault is not None
        try:
            image.apply(value)
        except FormatError:
            continue
        if image.fault is not None and not has_fault:
            image.fault = f"record at offset {offset}: {image.fault}"
