"""Rows of the tables of a cluster, from the state that its metadata records add up to."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from magicbyte.internal_topics._metadata_messages import Fields
from magicbyte.internal_topics._metadata_names import (
    ENTITY_TYPES,
    METADATA_VERSIONS,
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSION_TYPES,
    RESOURCE_TYPES,
    SCRAM_MECHANISMS,
    SECURITY_PROTOCOLS,
    name_of,
)
from magicbyte.internal_topics._secrets import masked
from magicbyte.internal_topics.cluster_metadata import METADATA_VERSION, ClusterMetadata
from magicbyte.internal_topics.metadata_topics import RECOVERY_STATES, TopicRegistration

KRAFT_VERSION = "kraft.version"
"""Feature whose level is in control records (KIP-853)."""

INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")
"""Topics that brokers treat as internal (Topic.INTERNAL_TOPICS)."""

DEFAULT_ENTITY = "<default>"
"""Name for all users, client ids or addresses that have no quota of their own."""

NUM_TOKEN_CHARACTERS = 4

TableRow = dict[str, Any]


def _null(number: int) -> int | None:
    """Return *number*, or None for the sentinel -1."""
    return None if number == -1 else number


def topics_by_name(cluster: ClusterMetadata) -> list[TopicRegistration]:
    return sorted(cluster.registry, key=lambda registration: registration.name)


def _topic_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    for registration in topics_by_name(cluster):
        numbers = registration.partition_by_number
        first = numbers[min(numbers)] if numbers else None
        yield {
            "topic": registration.name,
            "topic_id": registration.topic_id,
            "partition_count": len(numbers),
            "replication_factor": 0 if first is None else len(first.replicas.nodes),
            "is_internal": registration.name in INTERNAL,
        }


def _partition_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    for registration in topics_by_name(cluster):
        for number, partition in sorted(registration.partition_by_number.items()):
            yield {
                "topic": registration.name,
                "partition": number,
                "leader": _null(partition.leader),
                "replicas": partition.replicas.nodes,
                "isr": partition.isr,
                "elr": partition.elr,
                "last_known_elr": partition.last_known_elr,
                "adding_replicas": partition.adding_replicas,
                "removing_replicas": partition.removing_replicas,
                "leader_epoch": partition.leader_epoch,
                "partition_epoch": partition.partition_epoch,
                "leader_recovery_state": RECOVERY_STATES[partition.leader_recovery_state],
                "directories": partition.replicas.directories,
                "topic_id": registration.topic_id,
            }


def _config_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    for (type_, entity), configs in sorted(cluster.configs.items()):
        for name, value in sorted(configs.items()):
            yield {
                "entity_type": name_of(type_, ENTITY_TYPES),
                "entity_name": entity or None,
                "name": name,
                "value": masked(name, value),
            }


def _acl_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    acl_rows = (
        {
            "resource_type": name_of(acl["resourceType"], RESOURCE_TYPES),
            "resource_name": acl["resourceName"],
            "pattern_type": name_of(acl["patternType"], PATTERN_TYPES),
            "principal": acl["principal"],
            "host": acl["host"],
            "operation": name_of(acl["operation"], OPERATIONS),
            "permission_type": name_of(acl["permissionType"], PERMISSION_TYPES),
            "acl_id": acl_id,
        }
        for acl_id, acl in cluster.acls.items()
    )
    yield from sorted(acl_rows, key=lambda row: tuple(row.values()))


def _quota_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    quota_rows = []
    for entity, limits in cluster.quotas.items():
        by_type = {type_: DEFAULT_ENTITY if name is None else name for type_, name in entity}
        owner = {
            column: by_type.get(type_)
            for column, type_ in (("user", "user"), ("client_id", "client-id"), ("ip", "ip"))
        }
        quota_rows += [{**owner, "name": name, "value": limit} for name, limit in limits.items()]
    yield from sorted(quota_rows, key=lambda row: [str(row[name] or "") for name in row])


def _scram_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    for (user, mechanism), iterations in sorted(cluster.scram_iterations.items()):
        name = name_of(mechanism, SCRAM_MECHANISMS)
        yield {"user": user, "mechanism": name, "iterations": iterations}


def _token_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    for token_id, token in sorted(cluster.delegation_tokens.items()):
        yield {
            "token_id": f"{token_id[:NUM_TOKEN_CHARACTERS]}...",
            "owner": token["owner"],
            "requester": token["requester"],
            "renewers": token["renewers"],
            "issue_timestamp": token["issueTimestamp"],
            "expiration_timestamp": token["expirationTimestamp"],
            "max_timestamp": token["maxTimestamp"],
        }


def _feature_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    supported_levels: dict[str, list[tuple[int, int]]] = {}
    for node in (*cluster.brokers.values(), *cluster.controllers.values()):
        for feature in node["features"]:
            levels = feature["minSupportedVersion"], feature["maxSupportedVersion"]
            supported_levels.setdefault(feature["name"], []).append(levels)
    finalized = {KRAFT_VERSION: cluster.quorum.kraft_version, **cluster.features}
    for name in sorted(supported_levels.keys() | finalized.keys()):
        level, supported = finalized.get(name, 0), supported_levels.get(name)
        yield {
            "feature": name,
            "finalized_level": level,
            "level_name": METADATA_VERSIONS.get(level) if name == METADATA_VERSION else None,
            "min_supported_level": max(low for low, _ in supported) if supported else None,
            "max_supported_level": min(high for _, high in supported) if supported else None,
        }


def _listeners(node: Fields) -> list[TableRow]:
    return [
        {
            "name": listener["name"],
            "host": listener["host"],
            "port": listener["port"],
            "security_protocol": name_of(listener["securityProtocol"], SECURITY_PROTOCOLS),
        }
        for listener in node["endPoints"]
    ]


def _features(node: Fields) -> list[TableRow]:
    return [
        {
            "feature": feature["name"],
            "min_level": feature["minSupportedVersion"],
            "max_level": feature["maxSupportedVersion"],
        }
        for feature in sorted(node["features"], key=lambda feature: str(feature["name"]))
    ]


def _broker_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    for node_id, broker in sorted(cluster.brokers.items()):
        yield {
            "broker_id": node_id,
            "fenced": broker["fenced"],
            "in_controlled_shutdown": broker.get("inControlledShutdown", False),
            "rack": broker["rack"],
            "listeners": _listeners(broker),
            "log_dirs": broker.get("logDirs", []),
            "cordoned_log_dirs": broker.get("cordonedLogDirs"),
            "broker_epoch": broker["brokerEpoch"],
            "incarnation_id": broker["incarnationId"],
            "is_migrating_zk_broker": broker.get("isMigratingZkBroker", False),
            "features": _features(broker),
        }


def _controller_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    voters = cluster.quorum.voter_directories
    for node_id in sorted(cluster.controllers.keys() | voters.keys()):
        controller = cluster.controllers.get(node_id)
        yield {
            "controller_id": node_id,
            "is_voter": node_id in voters if voters else None,
            "directory_id": voters.get(node_id),
            "listeners": None if controller is None else _listeners(controller),
            "incarnation_id": None if controller is None else controller["incarnationId"],
            "zk_migration_ready": None if controller is None else controller["zkMigrationReady"],
            "features": None if controller is None else _features(controller),
        }


def _producer_id_rows(cluster: ClusterMetadata) -> Iterator[TableRow]:
    for block in cluster.producer_id_blocks:
        # A snapshot has the end of the last block only, with broker -1.
        is_whole = block.broker_id != -1
        yield {
            "first_producer_id": block.first if is_whole else None,
            "last_producer_id": block.end - 1,
            "broker_id": _null(block.broker_id),
            "broker_epoch": block.broker_epoch if is_whole else None,
            "record_offset": block.offset if is_whole else None,
        }


ROWS: dict[str, Callable[[ClusterMetadata], Iterator[TableRow]]] = {
    "topics": _topic_rows,
    "topic_partitions": _partition_rows,
    "configs": _config_rows,
    "acls": _acl_rows,
    "quotas": _quota_rows,
    "scram_users": _scram_rows,
    "delegation_tokens": _token_rows,
    "features": _feature_rows,
    "brokers": _broker_rows,
    "controllers": _controller_rows,
    "producer_id_blocks": _producer_id_rows,
}
"""Functions that yield the rows of each table, by name."""


def metadata_rows(table_name: str, cluster: ClusterMetadata) -> Iterable[TableRow]:
    """Return the rows of a table of *cluster*, in the order of its first columns."""
    return ROWS[table_name](cluster)
