"""Names of the numbers in records of `__cluster_metadata`, as Kafka's tools print them."""

METADATA_VERSIONS = dict(
    enumerate(
        (
            *("3.0-IV1", "3.1-IV0", "3.2-IV0", "3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3"),
            *("3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2"),
            *("3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0"),
            *("4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1"),
            *("4.2-IV0", "4.2-IV1", "4.3-IV0", "4.4-IV0", "4.4-IV1", "4.4-IV2", "4.5-IV0"),
        ),
        start=1,
    )
)
"""Names of the levels of metadata.version (MetadataVersion of 3.9.2 and 4.4.0, which tests/brokers compares)."""

ENTITY_TYPES = {2: "topics", 4: "brokers", 8: "broker-loggers", 16: "client-metrics", 32: "groups"}
"""Types of configured entities for kafka-configs, by the type of the resource (ConfigResource.Type)."""

RESOURCE_TYPES = {
    0: "UNKNOWN",
    1: "ANY",
    2: "TOPIC",
    3: "GROUP",
    4: "CLUSTER",
    5: "TRANSACTIONAL_ID",
    6: "DELEGATION_TOKEN",
    7: "USER",
}
"""Resources that ACLs guard (ResourceType)."""

PATTERN_TYPES = {0: "UNKNOWN", 1: "ANY", 2: "MATCH", 3: "LITERAL", 4: "PREFIXED"}

OPERATIONS = dict(
    enumerate(
        (
            *("UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE"),
            *("CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE"),
            *("CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT"),
        )
    )
)
"""Operations of ACLs (AclOperation)."""

PERMISSION_TYPES = {0: "UNKNOWN", 1: "ANY", 2: "DENY", 3: "ALLOW"}

SCRAM_MECHANISMS = {0: "UNKNOWN", 1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}

SECURITY_PROTOCOLS = {0: "PLAINTEXT", 1: "SSL", 2: "SASL_PLAINTEXT", 3: "SASL_SSL"}


def name_of(number: int, name_by_number: dict[int, str]) -> str:
    """Return the name of *number*; `UNKNOWN` and the number where it has none."""
    return name_by_number.get(number, f"UNKNOWN {number}")
