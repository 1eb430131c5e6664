"""Tables of groups, transactional ids and producers, from the topics of coordinators."""

import pyarrow as pa

from magicbyte.tables.table_definition import (
    INT32,
    INT64,
    STRING,
    TIME,
    TableDefinition,
    define_table,
)

INT16 = pa.int16()

PARTITION_LIST = pa.list_(pa.struct([("topic", STRING), ("partition", INT32)]))

TASK_LIST = pa.list_(pa.struct([("subtopology", STRING), ("partition", INT32)]))

STATE_BATCHES = pa.list_(
    pa.struct(
        [
            ("first_offset", INT64),
            ("last_offset", INT64),
            ("delivery_state", STRING),
            ("delivery_count", INT16),
        ]
    )
)

GROUP = ("group", STRING, "Id of the group (`group.id`).")

TOPIC_READ = ("topic", STRING, "Topic that the group reads.")

PARTITION_READ = ("partition", INT32, "Partition of that topic.")

LOG_END_OFFSET = (
    "log_end_offset",
    INT64,
    "Log end offset of the partition; null if its log is not below the paths.",
)

OFFSETS_PARTITION = (
    "offsets_partition",
    INT32,
    "Partition of `__consumer_offsets` that has the records of the group.",
)

GROUP_OFFSETS = define_table(
    "group_offsets",
    "partition in which a group has committed an offset, or is about to in a transaction",
    GROUP,
    TOPIC_READ,
    PARTITION_READ,
    (
        "offset",
        INT64,
        "Committed offset: the group goes on here. Null if only a pending one exists.",
    ),
    LOG_END_OFFSET,
    ("lag", INT64, "Log end offset less committed offset."),
    ("commit_timestamp", TIME, "Time of the commit, by the coordinator's clock."),
    ("metadata", STRING, "Text that the client has added to the commit."),
    ("leader_epoch", INT32, "Leader epoch of the record before the committed offset."),
    ("expire_timestamp", TIME, "Time from which the offset may be deleted, if the client set one."),
    ("pending_offset", INT64, "Offset in a transaction that has not ended."),
    ("pending_producer_id", INT64, "Producer id of that transaction."),
    ("topic_id", STRING, "Topic id at the time of the commit, as brokers write it since 4.1."),
    ("record_offset", INT64, "Offset of the record with the committed offset."),
    OFFSETS_PARTITION,
)

GROUPS = define_table(
    "groups",
    "group",
    GROUP,
    ("type", STRING, "`Classic`, `Consumer`, `Share` or `Streams`."),
    (
        "state",
        STRING,
        "State that a coordinator gives the group when it has loaded it: `Empty`, `Stable`, `Assigning`, `Reconciling`, `NotReady`.",
    ),
    (
        "protocol_type",
        STRING,
        "`consumer`, `connect`, `share`, ...; null if it never had a member.",
    ),
    (
        "protocol",
        STRING,
        "Assignor that members agreed on, or ask the coordinator for; null: none, or the broker's default.",
    ),
    ("generation", INT32, "Generation of a classic group."),
    ("group_epoch", INT32, "Epoch of a group of another type."),
    ("assignment_epoch", INT32, "Group epoch of the target assignment."),
    ("leader", STRING, "Member id of the leader of a classic group."),
    ("member_count", INT64, "Members."),
    OFFSETS_PARTITION,
)

GROUP_MEMBERS = define_table(
    "group_members",
    "member of a group",
    GROUP,
    ("member_id", STRING, "Id of the member."),
    ("group_instance_id", STRING, "Name of a static member (`group.instance.id`)."),
    ("client_id", STRING, "Name that the client gives itself (`client.id`)."),
    ("client_host", STRING, "Address from which it connects."),
    ("rack_id", STRING, "Rack of the client (`client.rack`)."),
    ("member_epoch", INT32, "Epoch that the member has reached; null in a classic group."),
    ("subscribed_topics", pa.list_(STRING), "Topics to which it subscribes by name."),
    ("subscribed_topic_regex", STRING, "Regular expression for more topics."),
    ("assignor", STRING, "Assignor that it asks for."),
    (
        "assignment",
        PARTITION_LIST,
        "Partitions that it has; the topic id stands for a topic whose name is not known.",
    ),
    (
        "target_assignment",
        PARTITION_LIST,
        "Partitions that it is to have; null in a classic group.",
    ),
    ("active_tasks", TASK_LIST, "Active tasks that a member of a streams group has."),
    ("standby_tasks", TASK_LIST, "Standby tasks that it has."),
    ("warmup_tasks", TASK_LIST, "Warm-up tasks that it has."),
)

TABLES: tuple[TableDefinition, ...] = (GROUP_OFFSETS, GROUPS)
