"""Tables of a cluster, from `__cluster_metadata`."""

import pyarrow as pa

from magicbyte.tables.table_definition import (
    INT32,
    INT64,
    STRING,
    TIME,
    TableDefinition,
    define_table,
)

INT16, BOOL, FLOAT64 = pa.int16(), pa.bool_(), pa.float64()

NODE_IDS = pa.list_(INT32)

STRINGS = pa.list_(STRING)

LISTENERS = pa.list_(
    pa.struct([("name", STRING), ("host", STRING), ("port", INT32), ("security_protocol", STRING)])
)

FEATURE_RANGES = pa.list_(
    pa.struct([("feature", STRING), ("min_level", INT16), ("max_level", INT16)])
)

TOPIC_NAME = ("topic", STRING, "Name of the topic.")

TOPIC_ID = ("topic_id", STRING, "Topic id, in Kafka's form.")

TOPICS = define_table(
    "topics",
    "topic",
    TOPIC_NAME,
    TOPIC_ID,
    ("partition_count", INT32, "Partitions."),
    ("replication_factor", INT32, "Replicas of the partition with the lowest number."),
    ("is_internal", BOOL, "Whether brokers treat the topic as internal."),
    never_null="topic topic_id partition_count is_internal",
)

TOPIC_PARTITIONS = define_table(
    "topic_partitions",
    "partition of a topic",
    TOPIC_NAME,
    ("partition", INT32, "Partition number."),
    (
        "leader",
        INT32,
        "Node id of the leader; null without one, as after a clean stop of the last replica.",
    ),
    ("replicas", NODE_IDS, "Node ids of the replicas, the preferred leader first."),
    ("isr", NODE_IDS, "Node ids of the replicas that are in sync."),
    (
        "elr",
        NODE_IDS,
        "Eligible leader replicas: out of sync, with all committed records (KIP-966).",
    ),
    (
        "last_known_elr",
        NODE_IDS,
        "Replicas that were eligible until they stopped uncleanly, or the last leader.",
    ),
    ("adding_replicas", NODE_IDS, "Replicas that a reassignment adds."),
    ("removing_replicas", NODE_IDS, "Replicas that a reassignment takes away."),
    ("leader_epoch", INT32, "Number of times that a leader was set."),
    ("partition_epoch", INT32, "Number of changes of the partition."),
    ("leader_recovery_state", STRING, "`RECOVERED`, or `RECOVERING` after an unclean election."),
    (
        "directories",
        STRINGS,
        "Id of the log.dir of each replica, in the order of `replicas` (KIP-858).",
    ),
    TOPIC_ID,
    never_null="topic partition leader_epoch partition_epoch",
)

CONFIGS = define_table(
    "configs",
    "dynamic configuration of a topic, broker, group or client metrics subscription",
    (
        "entity_type",
        STRING,
        "`topics`, `brokers`, `groups` or `client-metrics`, as for kafka-configs.",
    ),
    (
        "entity_name",
        STRING,
        "Name of the topic or group, or node id; null for the default of all brokers.",
    ),
    ("name", STRING, "Name of the configuration."),
    ("value", STRING, "Value; `[hidden]` for one that may be a password or a key."),
)

ACLS = define_table(
    "acls",
    "access control entry",
    (
        "resource_type",
        STRING,
        "`TOPIC`, `GROUP`, `CLUSTER`, `TRANSACTIONAL_ID`, `DELEGATION_TOKEN` or `USER`.",
    ),
    ("resource_name", STRING, "Name, or beginning of the name, of the resource."),
    ("pattern_type", STRING, "`LITERAL` or `PREFIXED`."),
    ("principal", STRING, "Principal, such as `User:alice`; `User:*` for all."),
    ("host", STRING, "Address from which the principal connects; `*` for all."),
    ("operation", STRING, "Operation, such as `READ`."),
    ("permission_type", STRING, "`ALLOW` or `DENY`."),
    ("acl_id", STRING, "Id of the entry."),
)

QUOTAS = define_table(
    "quotas",
    "limit of a client quota",
    (
        "user",
        STRING,
        "User; `<default>` for all users without a limit; null if the limit is not by user.",
    ),
    ("client_id", STRING, "Client id, in the same way."),
    ("ip", STRING, "Address, in the same way."),
    ("name", STRING, "Name of the limit, such as `producer_byte_rate`."),
    ("value", FLOAT64, "Limit: bytes per second, percent, or operations per second."),
)

SCRAM_USERS = define_table(
    "scram_users",
    "SCRAM credential of a user",
    ("user", STRING, "User."),
    ("mechanism", STRING, "`SCRAM-SHA-256` or `SCRAM-SHA-512`."),
    ("iterations", INT32, "Iterations of the hash function. Salt and keys are never shown."),
)

DELEGATION_TOKENS = define_table(
    "delegation_tokens",
    "delegation token",
    ("token_id", STRING, "First four characters of the token id."),
    ("owner", STRING, "Principal that the token stands for."),
    ("requester", STRING, "Principal that asked for it."),
    ("renewers", STRINGS, "Principals that may renew it."),
    ("issue_timestamp", TIME, "Time at which it was made."),
    ("expiration_timestamp", TIME, "Time at which it expires unless it is renewed."),
    ("max_timestamp", TIME, "Time beyond which it cannot be renewed."),
)

FEATURES = define_table(
    "features",
    "feature of the cluster",
    ("feature", STRING, "Name of the feature, such as `metadata.version`."),
    ("finalized_level", INT16, "Level that is in use; 0 if the feature is off."),
    ("level_name", STRING, "Kafka's name of a level of `metadata.version`, such as `4.3-IV0`."),
    ("min_supported_level", INT16, "Lowest level that all registered nodes support."),
    ("max_supported_level", INT16, "Highest level that all registered nodes support."),
)

BROKERS = define_table(
    "brokers",
    "registered broker",
    ("broker_id", INT32, "Node id."),
    (
        "fenced",
        BOOL,
        "Whether the broker may not lead partitions, as before its start and after its stop.",
    ),
    ("in_controlled_shutdown", BOOL, "Whether it has asked to stop."),
    ("rack", STRING, "Rack (`broker.rack`)."),
    ("listeners", LISTENERS, "Listeners that it advertises."),
    ("log_dirs", STRINGS, "Ids of its log.dirs that are online."),
    ("cordoned_log_dirs", STRINGS, "Ids of the log.dirs that get no new replicas (KIP-1066)."),
    ("broker_epoch", INT64, "Epoch of the registration."),
    ("incarnation_id", STRING, "Id of the process."),
    ("is_migrating_zk_broker", BOOL, "Whether it runs with ZooKeeper, in a migration."),
    ("features", FEATURE_RANGES, "Levels of features that it supports."),
)

CONTROLLERS = define_table(
    "controllers",
    "controller, or voter of the metadata quorum",
    ("controller_id", INT32, "Node id."),
    ("is_voter", BOOL, "Whether it is a voter; null if no record names the voters."),
    (
        "directory_id",
        STRING,
        "Id of the voter's metadata directory, if the voters are in the log (KIP-853).",
    ),
    ("listeners", LISTENERS, "Listeners that it has registered with (KIP-919)."),
    ("incarnation_id", STRING, "Id of the process."),
    ("zk_migration_ready", BOOL, "Whether it is set up to migrate from ZooKeeper."),
    ("features", FEATURE_RANGES, "Levels of features that it supports."),
)

PRODUCER_ID_BLOCKS = define_table(
    "producer_id_blocks",
    "block of producer ids that a broker was given",
    (
        "first_producer_id",
        INT64,
        "First producer id of the block; null if only a snapshot has its end.",
    ),
    ("last_producer_id", INT64, "Last producer id of the block."),
    ("broker_id", INT32, "Node id of the broker; null if only a snapshot has the block."),
    ("broker_epoch", INT64, "Epoch of that broker's registration."),
    ("record_offset", INT64, "Offset of the record; null if it is from a snapshot."),
)

TABLES: tuple[TableDefinition, ...] = (
    *(TOPICS, TOPIC_PARTITIONS, CONFIGS, ACLS, QUOTAS, SCRAM_USERS, DELEGATION_TOKENS),
    *(FEATURES, BROKERS, CONTROLLERS, PRODUCER_ID_BLOCKS),
)
