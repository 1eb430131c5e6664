"""A code of findings with the texts that explain it, and texts that several codes share."""

from dataclasses import dataclass
from typing import Literal, get_args

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""Severities of findings, the gravest first."""


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding. Every text is needed: `magicbyte verify --explain` prints all of them."""

    name: str
    severity: Severity
    """`error`: rows are lost, wrong or in doubt. `warning`: something is wrong, but no row suffers.
    `note`: worth knowing."""
    sentence: str
    """The fault in one sentence."""
    cause: str
    """Ways in which the fault comes about."""
    consequence: str
    """Effect on rows, consumers and brokers."""
    remedy: str
    """Action for a user to take."""
    source: str
    """The authority: a class of Apache Kafka, a KIP, or a rule of magicbyte."""


FRAME = "FileLogInputStream, ByteBufferLogInputStream"
BATCH = "DefaultRecordBatch"
RECORD = "DefaultRecord"
LEGACY = "AbstractLegacyRecordBatch, LegacyRecord"
CODEC = "org.apache.kafka.common.compress"
OUR_RULE = "a rule of magicbyte"
OUR_LIMIT = "a limit of magicbyte"

COMPARE = "Compare with another replica of the partition: its bytes at this offset may be valid."
COPY_AGAIN = (
    "Copy the files again while the broker is stopped, or from a disk snapshot, and read that copy."
)
REFETCH = "If other replicas are in sync, let this broker fetch the partition from them again."
ASK_PRODUCER = "The bytes are as the producer sent them: check the client library and its version."
RAISE_LIMIT = "If the size is plausible, read again with a higher --max-entry-bytes or --max-batch-bytes; otherwise it is damage."
SKIP_OFFSETS = "Consumers get stuck here: move their groups to the next sound offset, which `magicbyte verify` prints with the command."

BYTES_CHANGED = "Bytes changed after they were written: by a disk, memory, or an incomplete copy."
WROTE_IT = "A client or a tool wrote the batch like this: the checksum is right."
ENTRY_NOT_DELIVERED = (
    "No record of the entry is delivered. A consumer fails at it and gets stuck there."
)
ROWS_RIGHT = "No row suffers."
