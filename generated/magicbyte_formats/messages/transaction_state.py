# Generated from spec/messages/transaction_state.yaml. Do not edit: change it and `make generate`.
# spec sha256 4088bb71ac5ae35f0083e250ca1ff9a210b8adcb98f13c5a6edf98f2ec069168
"""Records of __transaction_state."""

from magicbyte_kernels.message_schema import (
    MessageField,
    MessageSchema,
    ReleaseRange,
    VersionRange,
)

TRANSACTION_LOG_KEY = MessageSchema(
    name="TransactionLogKey",
    type=0,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None),),
    fields=(
        MessageField(name="transactionalId", kind="string"),
    ),
)
"""Key of a transactional id."""

TRANSACTION_LOG_VALUE = MessageSchema(
    name="TransactionLogValue",
    type=0,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)), ((3, 4), VersionRange(0, 1))),
    flexible=(((2, 8), VersionRange(1, None)),),
    fields=(
        MessageField(name="producerId", kind="int64"),
        MessageField(name="previousProducerId", kind="int64", versions=VersionRange(1, None), releases=ReleaseRange((4, 0), None), tag=0, default=-1),
        MessageField(name="nextProducerId", kind="int64", versions=VersionRange(1, None), releases=ReleaseRange((4, 0), None), tag=1, default=-1),
        MessageField(name="producerEpoch", kind="int16"),
        MessageField(name="nextProducerEpoch", kind="int16", versions=VersionRange(1, None), releases=ReleaseRange((4, 1), None), tag=3, default=-1),
        MessageField(name="transactionTimeoutMs", kind="int32"),
        MessageField(name="transactionStatus", kind="int8", values=((0, "Empty"), (1, "Ongoing"), (2, "PrepareCommit"), (3, "PrepareAbort"), (4, "CompleteCommit"), (5, "CompleteAbort"), (6, "Dead"), (7, "PrepareEpochFence"))),
        MessageField(name="transactionPartitions", kind="struct", is_array=True, is_nullable=True, struct="PartitionsSchema", fields=(
            MessageField(name="topic", kind="string"),
            MessageField(name="partitionIds", kind="int32", is_array=True),
        )),
        MessageField(name="transactionLastUpdateTimestampMs", kind="int64"),
        MessageField(name="transactionStartTimestampMs", kind="int64"),
        MessageField(name="clientTransactionVersion", kind="int16", versions=VersionRange(1, None), releases=ReleaseRange((4, 0), None), tag=2, default=0, values=((0, "TV_0"), (1, "TV_1"), (2, "TV_2"))),
    ),
)
"""The producer of a transactional id and its present or last transaction. Written when the producer starts, when partitions are added, and when the status changes."""

MESSAGES = (
    TRANSACTION_LOG_KEY,
    TRANSACTION_LOG_VALUE,
)
