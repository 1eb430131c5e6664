"""The state of a cluster that the records of `__cluster_metadata` add up to (MetadataImage, MetadataDelta)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.internal_topics._metadata_messages import (
    ConflictError,
    Fields,
    MetadataMessage,
    read_metadata_message,
)
from magicbyte.internal_topics.metadata_topics import Replicas, TopicRegistry
from magicbyte.internal_topics.quorum_records import Quorum

TOPIC_RESOURCE = 2
"""Type of the resource of a topic's configuration (ConfigResource.Type)."""

METADATA_VERSION = "metadata.version"

BLOCK_SIZE = 1000
"""Producer ids in a block (ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE)."""

Entity = tuple[tuple[str, str | None], ...]
"""Entity of a quota: pairs of entity type and name, sorted by type; a name is None for the default."""


class ScramUser(NamedTuple):
    """A user's credential: no salt and no keys, which are secrets."""

    user: str
    mechanism: int


class ProducerIdBlock(NamedTuple):
    """Producer ids that a broker was given to hand on to producers."""

    first: int
    end: int
    """First producer id after the block."""
    broker_id: int
    """Node id of the broker; -1 in a snapshot, which has the next free id only."""
    broker_epoch: int
    offset: int


@dataclass(slots=True)
class ClusterMetadata:
    """Everything that a cluster without ZooKeeper knows, as far as records have been applied."""

    registry: TopicRegistry = field(default_factory=TopicRegistry)
    configs: dict[tuple[int, str], dict[str, str]] = field(default_factory=dict)
    """Dynamic configurations, by type and name of the resource. An empty name is the default of all brokers."""
    acls: dict[str, Fields] = field(default_factory=dict)
    """AccessControlEntryRecord by id."""
    quotas: dict[Entity, dict[str, float]] = field(default_factory=dict)
    scram_iterations: dict[ScramUser, int] = field(default_factory=dict)
    delegation_tokens: dict[str, Fields] = field(default_factory=dict)
    """DelegationTokenRecord by token id."""
    features: dict[str, int] = field(default_factory=dict)
    """Finalized levels of features."""
    brokers: dict[int, Fields] = field(default_factory=dict)
    """RegisterBrokerRecord by node id, with all later changes."""
    controllers: dict[int, Fields] = field(default_factory=dict)
    """RegisterControllerRecord by node id."""
    producer_id_blocks: list[ProducerIdBlock] = field(default_factory=list)
    zk_migration_state: int | None = None
    quorum: Quorum = field(default_factory=Quorum)
    """Voters, from control records, which are not applied like the others."""
    fault: str | None = None
    """The first record that does not fit those before it, with its offset; None if there is none."""
    _transaction: list[tuple[int, MetadataMessage]] | None = None
    """Records of a metadata transaction that has not ended (KIP-868)."""

    @property
    def next_producer_id(self) -> int | None:
        """First producer id that no broker was given; None before the first block."""
        return self.producer_id_blocks[-1].end if self.producer_id_blocks else None

    @property
    def topic_configs(self) -> dict[str, dict[str, str]]:
        """Configurations that topics override, by name of the topic."""
        return {
            name: configs
            for (type_, name), configs in self.configs.items()
            if type_ == TOPIC_RESOURCE
        }

    @property
    def log_dir_ids(self) -> dict[int, frozenset[str]]:
        """Directory ids by node id, from the registrations of brokers."""
        return {
            node_id: frozenset(broker.get("logDirs") or ())
            for node_id, broker in self.brokers.items()
        }

    @property
    def has_metadata_version(self) -> bool:
        return METADATA_VERSION in self.features

    def has_partition(self, topic: str, number: int) -> bool:
        """Return whether the cluster has partition *number* of the topic that is named *topic*."""
        topic_id = self.id_of(topic)
        return topic_id is not None and number in self.registry.by_id[topic_id].partition_by_number

    def id_of(self, topic: str) -> str | None:
        """Return the id of the topic that is named *topic*."""
        return self.registry.id_by_name.get(topic)

    def name_of(self, topic_id: str) -> str | None:
        """Return the name of the topic with the id *topic_id*."""
        topic = self.registry.by_id.get(topic_id)
        return None if topic is None else topic.name

    def deleted_name_of(self, topic_id: str) -> str | None:
        """Return the name of the deleted topic with the id *topic_id*; None if no record has deleted one."""
        return self.registry.deleted_names.get(topic_id)

    def replicas_of(self, topic_id: str, number: int) -> Replicas | None:
        """Return the replicas of a partition; None if there is no such partition."""
        topic = self.registry.by_id.get(topic_id)
        partition = None if topic is None else topic.partition_by_number.get(number)
        return None if partition is None else partition.replicas

    def on_node(self, node_id: int) -> dict[tuple[str, int], tuple[str, Replicas]]:
        """Return topic id and replicas of each partition with a replica on *node_id*, by name and number."""
        return {
            (topic.name, number): (topic.topic_id, partition.replicas)
            for topic in self.registry
            for number, partition in topic.partition_by_number.items()
            if node_id in partition.replicas.nodes
        }

    def apply(self, value: bytes, offset: int = 0) -> None:
        """Apply the value of one record.

        Raises FormatError where it cannot be decoded, ConflictError where it does not fit the records before it.
        Nothing is applied then.
        """
        message = read_metadata_message(value)
        match message.name:
            case "BeginTransactionRecord":
                if self._transaction is not None:
                    raise ConflictError("a metadata transaction begins before the last one ended")
                self._transaction = []
            case "AbortTransactionRecord" | "EndTransactionRecord":
                if self._transaction is None:
                    raise ConflictError(
                        "a metadata transaction ends that no record before it began"
                    )
                transaction, self._transaction = self._transaction, None
                if message.name == "EndTransactionRecord":
                    self._apply_transaction(transaction)
            case _ if self._transaction is not None:
                self._transaction.append((offset, message))
            case _:
                self._apply(message, offset)

    def _apply_transaction(self, transaction: list[tuple[int, MetadataMessage]]) -> None:
        """Apply the records of a transaction; raise the first conflict after all that can be applied are."""
        conflict: ConflictError | None = None
        for offset, message in transaction:
            try:
                self._apply(message, offset)
            except ConflictError as error:
                conflict = conflict or ConflictError(f"its record at offset {offset}: {error}")
        if conflict is not None:
            raise conflict

    def _apply(self, message: MetadataMessage, offset: int) -> None:
        fields = message.fields
        if message.name == "ProducerIdsRecord":
            self._add_producer_ids(fields, offset)
            return
        apply = _APPLY.get(message.name)
        if apply is not None:
            apply(self, fields)

    def _remove_topic(self, fields: Fields) -> None:
        name = self.registry.remove(fields)
        self.configs.pop((TOPIC_RESOURCE, name), None)

    def _set_config(self, fields: Fields) -> None:
        resource = fields["resourceType"], fields["resourceName"]
        _set_or_remove(self.configs, resource, fields["name"], fields["value"])

    def _add_acl(self, fields: Fields) -> None:
        self.acls[fields["id"]] = fields

    def _remove_acl(self, fields: Fields) -> None:
        if self.acls.pop(fields["id"], None) is None:
            raise ConflictError(f"no record before it created the ACL with id {fields['id']}")

    def _set_quota(self, fields: Fields) -> None:
        names = {part["entityType"]: part["entityName"] for part in fields["entity"]}
        if len(names) < len(fields["entity"]):
            raise ConflictError("its entity has two parts of one type")
        limit = None if fields["remove"] else fields["value"]
        _set_or_remove(self.quotas, tuple(sorted(names.items())), fields["key"], limit)

    def _set_scram(self, fields: Fields) -> None:
        self.scram_iterations[ScramUser(fields["name"], fields["mechanism"])] = fields["iterations"]

    def _remove_scram(self, fields: Fields) -> None:
        self.scram_iterations.pop(ScramUser(fields["name"], fields["mechanism"]), None)

    def _set_token(self, fields: Fields) -> None:
        self.delegation_tokens[fields["tokenId"]] = fields

    def _remove_token(self, fields: Fields) -> None:
        self.delegation_tokens.pop(fields["tokenId"], None)

    def _set_feature(self, fields: Fields) -> None:
        if fields["featureLevel"]:
            self.features[fields["name"]] = fields["featureLevel"]
        else:
            self.features.pop(fields["name"], None)

    def _add_producer_ids(self, fields: Fields, offset: int) -> None:
        end = fields["nextProducerId"]
        if end < 0:
            raise ConflictError(f"its next producer id {end} is negative")
        block = ProducerIdBlock(
            end - BLOCK_SIZE, end, fields["brokerId"], fields["brokerEpoch"], offset
        )
        self.producer_id_blocks.append(block)

    def _register_broker(self, fields: Fields) -> None:
        self.brokers[fields["brokerId"]] = fields

    def _unregister_broker(self, fields: Fields) -> None:
        self.brokers.pop(fields["brokerId"], None)

    def _fence_broker(self, fields: Fields) -> None:
        self._change_broker(fields["id"], fields["epoch"], {"fenced": True})

    def _unfence_broker(self, fields: Fields) -> None:
        self._change_broker(fields["id"], fields["epoch"], {"fenced": False})

    def _change_registration(self, fields: Fields) -> None:
        changes: Fields = {}
        fencing, shutdown = fields.get("fenced", 0), fields.get("inControlledShutdown", 0)
        if fencing not in (-1, 0, 1) or shutdown not in (0, 1):
            raise ConflictError(
                f"fenced {fencing} with inControlledShutdown {shutdown} is no change"
            )
        if fencing:
            changes["fenced"] = fencing == 1
        if shutdown:
            changes["inControlledShutdown"] = True
        if fields.get("logDirs"):
            changes["logDirs"] = fields["logDirs"]
        if fields.get("cordonedLogDirs") is not None:
            changes["cordonedLogDirs"] = fields["cordonedLogDirs"]
        self._change_broker(fields["brokerId"], fields["brokerEpoch"], changes)

    def _change_broker(self, node_id: int, epoch: int, changes: Fields) -> None:
        broker = self.brokers.get(node_id)
        if broker is None:
            raise ConflictError(f"no record before it registered broker {node_id}")
        if broker["brokerEpoch"] != epoch:
            raise ConflictError(
                f"it changes broker {node_id} of epoch {epoch}, registered with epoch {broker['brokerEpoch']}"
            )
        self.brokers[node_id] = broker | changes

    def _register_controller(self, fields: Fields) -> None:
        self.controllers[fields["controllerId"]] = fields

    def _unregister_controller(self, fields: Fields) -> None:
        self.controllers.pop(fields["controllerId"], None)

    def _set_migration_state(self, fields: Fields) -> None:
        self.zk_migration_state = fields["zkMigrationState"]


def _set_or_remove(by_owner: dict[Any, dict[str, Any]], owner: Any, name: str, value: Any) -> None:
    """Set *name* of *owner* in *by_owner*; a *value* of None removes it, and the owner with its last name."""
    if value is not None:
        by_owner.setdefault(owner, {})[name] = value
    elif owner in by_owner:
        by_owner[owner].pop(name, None)
        if not by_owner[owner]:
            del by_owner[owner]


_APPLY: dict[str, Callable[[ClusterMetadata, Fields], None]] = {
    "TopicRecord": lambda cluster, fields: cluster.registry.add(fields),
    "RemoveTopicRecord": ClusterMetadata._remove_topic,
    "PartitionRecord": lambda cluster, fields: cluster.registry.add_partition(fields),
    "PartitionChangeRecord": lambda cluster, fields: cluster.registry.change_partition(fields),
    "ClearElrRecord": lambda cluster, fields: cluster.registry.clear_elr(fields),
    "ConfigRecord": ClusterMetadata._set_config,
    "AccessControlEntryRecord": ClusterMetadata._add_acl,
    "RemoveAccessControlEntryRecord": ClusterMetadata._remove_acl,
    "ClientQuotaRecord": ClusterMetadata._set_quota,
    "UserScramCredentialRecord": ClusterMetadata._set_scram,
    "RemoveUserScramCredentialRecord": ClusterMetadata._remove_scram,
    "DelegationTokenRecord": ClusterMetadata._set_token,
    "RemoveDelegationTokenRecord": ClusterMetadata._remove_token,
    "FeatureLevelRecord": ClusterMetadata._set_feature,
    "RegisterBrokerRecord": ClusterMetadata._register_broker,
    "UnregisterBrokerRecord": ClusterMetadata._unregister_broker,
    "FenceBrokerRecord": ClusterMetadata._fence_broker,
    "UnfenceBrokerRecord": ClusterMetadata._unfence_broker,
    "BrokerRegistrationChangeRecord": ClusterMetadata._change_registration,
    "RegisterControllerRecord": ClusterMetadata._register_controller,
    "UnregisterControllerRecord": ClusterMetadata._unregister_controller,
    "ZkMigrationStateRecord": ClusterMetadata._set_migration_state,
}
"""Methods that apply a message, by its name. A NoOpRecord changes nothing."""


def apply_records(
    cluster: ClusterMetadata, record_values: Iterable[tuple[int, bytes]], *, begin: int = 0
) -> list[Finding]:
    """Apply *record_values*, pairs of offset and value, from offset *begin* on.

    Returns a finding for each record that cannot be applied, which is left out.
    """
    findings = []
    for offset, value in record_values:
        if offset < begin:
            continue
        try:
            cluster.apply(value, offset)
        except FormatError as error:
            finding = record_finding(error, offset)
            findings.append(finding)
            if isinstance(error, ConflictError) and cluster.fault is None:
                cluster.fault = finding.message
    return findings


def record_finding(error: FormatError, offset: int) -> Finding:
    """Return the finding for the record at *offset*, which *error* says cannot be applied."""
    message = f"record at offset {offset}: {error.finding.message}"
    return Finding(code=error.finding.code, message=message, base_offset=offset)
