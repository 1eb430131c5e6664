"""Tables of schemas, connectors and mirrored groups, from the topics of registries and of Connect."""

import pyarrow as pa

from magicbyte.tables.table_definition import (
    INT32,
    INT64,
    STRING,
    TIME,
    TableDefinition,
    define_table,
)

# Schema registries

CONTEXT = ("context", STRING, "Context of the subject; `.` is the default one.")
REGISTRY_TOPIC = ("registry_topic", STRING, "Topic of the registry.")

SCHEMAS = define_table(
    "schemas",
    "version of a subject in a schema registry",
    CONTEXT,
    ("subject", STRING, "Subject, with its context if that is not the default one."),
    ("version", INT32, "Number of the version."),
    ("id", INT32, "Id of the schema, which is unique in a context."),
    ("guid", STRING, "GUID of the schema, computed as the registry does."),
    ("schema_type", STRING, "Type: `AVRO`, `PROTOBUF` or `JSON`."),
    (
        "references",
        pa.list_(pa.struct([("name", STRING), ("subject", STRING), ("version", INT32)])),
        "Schemas that it imports.",
    ),
    ("schema", STRING, "Text of the schema."),
    ("metadata", STRING, "Metadata as JSON."),
    ("rule_set", STRING, "Rules as JSON, such as those that encrypt fields."),
    ("deleted", pa.bool_(), "Whether it is deleted softly: the registry still has it by its id."),
    (
        "is_gone",
        pa.bool_(),
        "Whether the registry no longer has it: it was deleted for good, but not compacted away.",
    ),
    ("offset", INT64, "Offset of the first record that is left of it."),
    ("timestamp", TIME, "Timestamp of this record."),
    REGISTRY_TOPIC,
)

SCHEMA_CONFIGS = define_table(
    "schema_configs",
    "subject, context or registry with settings of its own",
    CONTEXT,
    ("subject", STRING, "Subject; null for the registry, `:.name:` for a context."),
    ("compatibility_level", STRING, "Compatibility level."),
    ("mode", STRING, "Mode, such as `READONLY` or `IMPORT`."),
    ("config", STRING, "Whole configuration as JSON."),
    ("offset", INT64, "Offset of the last record about it."),
    ("timestamp", TIME, "Timestamp of this record."),
    REGISTRY_TOPIC,
)

SCHEMA_ASSOCIATIONS = define_table(
    "schema_associations",
    "subject that belongs to a topic or to another resource",
    CONTEXT,
    ("subject", STRING, "Subject."),
    ("association_type", STRING, "Kind of the association, such as `key` or `value`."),
    ("resource_type", STRING, "Type of the resource, such as `topic`."),
    ("resource_namespace", STRING, "Namespace of the resource, such as the cluster id."),
    ("resource_name", STRING, "Name of the resource."),
    ("lifecycle", STRING, "Lifecycle: `STRONG` or `WEAK`."),
    ("frozen", pa.bool_(), "Whether the association may not be changed."),
    ("offset", INT64, "Offset of the record."),
    REGISTRY_TOPIC,
)

SCHEMA_TABLES: tuple[TableDefinition, ...] = (SCHEMAS, SCHEMA_CONFIGS, SCHEMA_ASSOCIATIONS)

# Kafka Connect

CONNECTOR = ("connector", STRING, "Name of the connector.")
CONNECTOR_STATE = ("state", STRING, "State that a worker has reported, such as `RUNNING`.")
WORKER = ("worker_id", STRING, "Worker that has reported it.")
GENERATION = ("generation", INT32, "Generation of the group of workers.")
TRACE = ("trace", STRING, "Stack trace of the failure.")
RECORD_TIMESTAMP = ("timestamp", TIME, "Time of the record.")
RECORD_OFFSET = ("record_offset", INT64, "Offset of the record.")

CONNECTORS = define_table(
    "connectors",
    "connector of a Connect cluster",
    CONNECTOR,
    ("class", STRING, "Class of the connector (`connector.class`)."),
    ("target_state", STRING, "State that was asked for: `STARTED`, `PAUSED` or `STOPPED`."),
    CONNECTOR_STATE,
    WORKER,
    GENERATION,
    TRACE,
    ("task_count", INT32, "Tasks; null if records of the last commit are missing."),
    ("config", STRING, "Configuration as JSON; `[hidden]` for a value that may be a secret."),
    ("config_topic", STRING, "Topic of configurations of the Connect cluster."),
)

CONNECTOR_TASKS = define_table(
    "connector_tasks",
    "task of a connector",
    CONNECTOR,
    ("task", INT32, "Number of the task."),
    CONNECTOR_STATE,
    WORKER,
    GENERATION,
    TRACE,
    ("config", STRING, "Configuration as JSON; `[hidden]` for a value that may be a secret."),
    ("config_topic", STRING, "Topic of configurations of the Connect cluster."),
)

CONNECTOR_OFFSETS = define_table(
    "connector_offsets",
    "partition of a source, with the offset at which the connector goes on",
    CONNECTOR,
    ("partition", STRING, "Partition of the source, as JSON."),
    ("offset", STRING, "Offset in the source, as JSON."),
    RECORD_TIMESTAMP,
    RECORD_OFFSET,
    ("offsets_topic", STRING, "Topic of offsets of the Connect cluster."),
)

CONNECTOR_STATUS = define_table(
    "connector_status",
    "last state of a connector or a task, or topic that a connector uses",
    CONNECTOR,
    ("task", INT32, "Number of the task; null for the connector itself."),
    ("topic", STRING, "Topic that the connector uses; null for a state."),
    CONNECTOR_STATE,
    WORKER,
    GENERATION,
    TRACE,
    ("version", STRING, "Version of the connector's plugin."),
    RECORD_TIMESTAMP,
    RECORD_OFFSET,
    ("status_topic", STRING, "Topic of states of the Connect cluster."),
)

# MirrorMaker

UPSTREAM_OFFSET = ("upstream_offset", INT64, "Offset in the source cluster.")
DOWNSTREAM_OFFSET = ("downstream_offset", INT64, "Offset of the same record in the target cluster.")

MIRROR_CHECKPOINTS = define_table(
    "mirror_checkpoints",
    "last checkpoint of a group in a partition",
    ("group", STRING, "Id of the group."),
    ("topic", STRING, "Topic in the target cluster."),
    ("partition", INT32, "Partition."),
    UPSTREAM_OFFSET,
    DOWNSTREAM_OFFSET,
    ("metadata", STRING, "Text that the client has added to the commit."),
    RECORD_TIMESTAMP,
    RECORD_OFFSET,
    ("checkpoints_topic", STRING, "Topic of the checkpoints, which names the source cluster."),
)

MIRROR_OFFSET_SYNCS = define_table(
    "mirror_offset_syncs",
    "offset sync of a partition, as far as the log has them",
    ("topic", STRING, "Topic in the source cluster."),
    ("partition", INT32, "Partition."),
    UPSTREAM_OFFSET,
    DOWNSTREAM_OFFSET,
    RECORD_TIMESTAMP,
    RECORD_OFFSET,
    ("offset_syncs_topic", STRING, "Topic of the offset syncs, which names the other cluster."),
)

MIRROR_HEARTBEATS = define_table(
    "mirror_heartbeats",
    "last heartbeat between two clusters",
    ("source_cluster", STRING, "Alias of the source cluster."),
    ("target_cluster", STRING, "Alias of the target cluster."),
    ("heartbeat_timestamp", TIME, "Time at which MirrorMaker sent it."),
    RECORD_TIMESTAMP,
    RECORD_OFFSET,
    ("heartbeats_topic", STRING, "Topic of the heartbeats."),
)

CONNECT_TABLES: tuple[TableDefinition, ...] = (
    *(CONNECTORS, CONNECTOR_TASKS, CONNECTOR_OFFSETS, CONNECTOR_STATUS),
    *(MIRROR_CHECKPOINTS, MIRROR_OFFSET_SYNCS, MIRROR_HEARTBEATS),
)

TABLES: tuple[TableDefinition, ...] = (*SCHEMA_TABLES, *CONNECT_TABLES)
