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

TABLES: tuple[TableDefinition, ...] = SCHEMA_TABLES
