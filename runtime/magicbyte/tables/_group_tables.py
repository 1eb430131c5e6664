"""Tables of groups, transactional ids and producers, from the topics of coordinators."""

import pyarrow as pa

from magicbyte.tables.table_definition import (
    INT32,
    INT64,
    PARTITION,
    STRING,
    TIME,
    TOPIC,
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
    ("pending_offset", INT64, "Offset in a transaction that has not ended."),
    ("pending_producer_id", INT64, "Producer id of that transaction."),
    ("leader_epoch", INT32, "Leader epoch of the record before the committed offset."),
    ("expire_timestamp", TIME, "Time from which the offset may be deleted, if the client set one."),
    ("topic_id", STRING, "Topic id at the time of the commit, as brokers write it since 4.1."),
    ("record_offset", INT64, "Offset of the record with the committed offset."),
    OFFSETS_PARTITION,
    num_default=10,
    never_null="group topic partition offsets_partition",
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
    never_null="group type state member_count offsets_partition",
)

GROUP_MEMBERS = define_table(
    "group_members",
    "member of a group",
    GROUP,
    ("member_id", STRING, "Id of the member."),
    ("group_instance_id", STRING, "Name of a static member (`group.instance.id`)."),
    ("client_id", STRING, "Name that the client gives itself (`client.id`)."),
    ("client_host", STRING, "Address from which it connects."),
    ("member_epoch", INT32, "Epoch that the member has reached; null in a classic group."),
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
    ("subscribed_topics", pa.list_(STRING), "Topics to which it subscribes by name."),
    ("subscribed_topic_regex", STRING, "Regular expression for more topics."),
    ("assignor", STRING, "Assignor that it asks for."),
    ("rack_id", STRING, "Rack of the client (`client.rack`)."),
    ("active_tasks", TASK_LIST, "Active tasks that a member of a streams group has."),
    ("standby_tasks", TASK_LIST, "Standby tasks that it has."),
    ("warmup_tasks", TASK_LIST, "Warm-up tasks that it has."),
    num_default=7,
    never_null="group member_id",
)

SHARE_GROUP_OFFSETS = define_table(
    "share_group_offsets",
    "partition that a share group reads",
    GROUP,
    TOPIC_READ,
    PARTITION_READ,
    (
        "start_offset",
        INT64,
        "First offset that the group is not yet done with; null before it reads.",
    ),
    (
        "delivery_complete_count",
        INT64,
        "Records from there on that are acknowledged or archived; null if it is not known.",
    ),
    LOG_END_OFFSET,
    ("lag", INT64, "Log end offset less start offset less delivery complete count."),
    ("leader_epoch", INT32, "Leader epoch of the leader that wrote the state."),
    ("state_epoch", INT32, "Epoch under which the group coordinator last set the state up."),
    ("topic_id", STRING, "Topic id, which stands for the topic where its name is not known."),
    (
        "state_batches",
        STATE_BATCHES,
        "Ranges of offsets from the start offset on, with their state.",
    ),
    num_default=7,
    never_null="group partition",
)

TRANSACTIONAL_IDS = define_table(
    "transactional_ids",
    "transactional id",
    ("transactional_id", STRING, "Transactional id (`transactional.id`)."),
    (
        "state",
        STRING,
        "State of its present or last transaction: `Empty`, `Ongoing`, `CompleteCommit`, ...",
    ),
    ("producer_id", INT64, "Producer id, as in the batches of the producer."),
    ("producer_epoch", INT16, "Epoch of the producer."),
    ("start_timestamp", TIME, "Time at which the transaction began; null if there was none."),
    ("last_update_timestamp", TIME, "Time of the last change."),
    ("timeout_ms", INT32, "Time in milliseconds after which the coordinator aborts a transaction."),
    ("partitions", PARTITION_LIST, "Partitions in the transaction, each of which gets a marker."),
    (
        "coordinator_partition",
        INT32,
        "Partition of `__transaction_state` that has its records.",
    ),
    (
        "previous_producer_id",
        INT64,
        "Producer id before the last change, if the epochs of that one were used up.",
    ),
    num_default=8,
    never_null="transactional_id state producer_id producer_epoch coordinator_partition",
)

PRODUCERS = define_table(
    "producers",
    "producer of a partition",
    TOPIC,
    PARTITION,
    ("producer_id", INT64, "Producer id."),
    (
        "transactional_id",
        STRING,
        "Transactional id of the producer; null if it has none, or `__transaction_state` does not know it.",
    ),
    ("producer_epoch", INT16, "Epoch of its last batch or marker."),
    ("last_sequence", INT32, "Sequence of its last record; null after a new epoch."),
    ("last_offset", INT64, "Offset of its last record; null after a new epoch."),
    (
        "last_timestamp",
        TIME,
        "Largest timestamp of its last batch, or time of the marker after it.",
    ),
    ("coordinator_epoch", INT32, "Epoch of the coordinator that wrote its last marker."),
    (
        "current_transaction_start_offset",
        INT64,
        "First offset of its open transaction; null if none is open.",
    ),
    never_null="producer_id producer_epoch",
)

TABLES: tuple[TableDefinition, ...] = (
    GROUP_OFFSETS,
    GROUPS,
    GROUP_MEMBERS,
    SHARE_GROUP_OFFSETS,
    TRANSACTIONAL_IDS,
    PRODUCERS,
)
