"""What can be wrong with a log: the registry of codes, and a finding of one of them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""Gravest first."""


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding."""

    name: str
    severity: Severity
    """`error`: rows are lost, wrong or in doubt. `warning`: something is not as it should be, and
    no row suffers. `note`: worth knowing."""
    sentence: str
    source: str
    """What decides: a class of Apache Kafka, a KIP, or a rule of ours."""


def _registry(*codes: Code) -> dict[str, Code]:
    return {code.name: code for code in codes}


FRAME = "FileLogInputStream, ByteBufferLogInputStream"
BATCH = "DefaultRecordBatch"
RECORD = "DefaultRecord"
LEGACY = "AbstractLegacyRecordBatch, LegacyRecord"
CODEC = "org.apache.kafka.common.compress"
CONTROL = "ControlRecordType, EndTransactionMarker"
TRANSACTIONS = "ProducerStateManager, TransactionIndex"
REQUEST = "ProduceRequest.validateRecords"
APPEND = "UnifiedLog.analyzeAndValidateRecords"
VALIDATOR = "LogValidator"
BUILDER = "MemoryRecordsBuilder"

CODES = _registry(
    # Framing
    Code("bad-size", "error", "The size field of an entry cannot be right.", FRAME),
    Code("unknown-magic", "error", "The magic byte names no known format.", FRAME),
    Code("incomplete-entry", "error", "An entry ends before its size says, with data to come.", FRAME),
    Code("incomplete-tail", "warning", "The log ends inside an entry, as after a crash.", FRAME),
    Code("zero-tail", "warning", "The log ends in zeros, as a preallocated file does.", FRAME),
    Code("zeros", "error", "Zeros lie where entries should.", FRAME),
    Code("entry-over-limit", "error", "An entry is larger than max_entry_bytes.", "a limit of ours"),
    Code("found-by-search", "warning", "Reading went on here after a search.", "a rule of ours"),
    Code("candidate-passed-over", "warning", "A search gave up on checking a candidate.", "a limit of ours"),
    # Checksums
    Code("checksum-mismatch", "error", "The checksum of an entry is not that of its bytes.", BATCH),
    Code("record-checksum-mismatch", "error", "The checksum of a message in a wrapper is wrong.", LEGACY),
    # Payloads
    Code("unknown-codec", "error", "The attributes name no known codec.", "CompressionType"),
    Code("codec-not-allowed", "error", "The codec is not allowed in this format.", LEGACY),
    Code("codec-error", "error", "The compressed section does not decompress.", CODEC),
    Code("batch-over-limit", "error", "A payload is larger than max_batch_bytes.", "a limit of ours"),
    Code("bad-record-count", "error", "The number of records is not the one stated.", BATCH),
    Code("bytes-left-over", "error", "Bytes are left over behind the last record.", BATCH),
    Code("bytes-unread", "warning", "A batch of no records holds bytes that nobody reads.", BATCH),
    Code("bad-record", "error", "A record is not what the format says.", RECORD),
    Code("bad-message", "error", "A v0 or v1 message is not what the format says.", LEGACY),
    Code("message-bytes-unread", "warning", "A v0 or v1 message goes on behind its value.", LEGACY),
    Code("negative-length", "warning", "A length below -1 was read as null.", LEGACY),
    Code("bad-wrapper", "error", "A compressed v0 or v1 message does not hold what it must.", LEGACY),
    Code("inner-magic-differs", "warning", "A wrapper holds messages of another format.", "KAFKA-4298"),
    Code("inner-message-cut", "warning", "A wrapper ends inside a message, which is dropped.", LEGACY),
    Code("bad-control-record", "error", "A control record has no readable key.", CONTROL),
    Code("bad-marker-value", "warning", "The value of a transaction marker cannot be read.", CONTROL),
    Code("unknown-control-type", "note", "A control record of a type we do not know.", CONTROL),
    # Offsets
    Code("offset-out-of-order", "error", "Offsets do not go up from entry to entry.", "UnifiedLog.append"),
    Code("offset-outside-segment", "error", "An offset lies outside its segment's range.", "LogSegment"),
    Code("offset-gap", "error", "Offsets are missing, and cleaning does not explain it.", "a rule of ours"),
    Code("offset-gap-cleaned", "note", "Offsets are missing; the segment looks cleaned.", "a rule of ours"),
    Code("leader-epoch-back", "warning", "Leader epochs go back from batch to batch.", "LeaderEpochFileCache"),
    Code("leader-epoch-mismatch", "warning", "Batches and the leader epoch checkpoint disagree.", "LeaderEpochFileCache"),
    Code("sequence-out-of-order", "warning", "A producer's batch does not follow on its last one.", "ProducerAppendInfo"),
    # Transactions
    Code("transaction-undecided", "error", "Damage hides how a transaction ended.", "a rule of ours"),
    Code("transaction-open", "note", "A transaction has not ended.", TRANSACTIONS),
    Code("txnindex-invalid", "warning", "A transaction index is not one.", "TransactionIndex"),
    Code("txnindex-mismatch", "warning", "A transaction index disagrees with the markers.", "TransactionIndex"),
    Code("txnindex-missing", "note", "Aborts without their index: a broker would deliver them.", "TransactionIndex"),
    Code("txnindex-trusted", "note", "Transaction indexes, not markers, said how transactions ended.", "a rule of ours"),
    Code("txnindex-doubted", "warning", "Transaction indexes were to decide, and could not be trusted.", "a rule of ours"),
    Code("snapshot-invalid", "warning", "A producer snapshot is not one.", "ProducerStateManager"),
    Code("snapshot-mismatch", "warning", "A producer snapshot disagrees with the log.", "ProducerStateManager"),
    Code("snapshot-missing", "note", "A segment has no producer snapshot.", "ProducerStateManager"),
    Code("snapshot-unconfirmed", "note", "A log knows no producer of its first snapshot.", "ProducerStateManager"),
    Code("snapshot-transaction-ignored", "warning", "A transaction known to one snapshot alone does not count.", "a rule of ours"),
    # Directories
    Code("segment-missing", "warning", "Companion files lie here without their segment.", "LogLoader"),
    Code("log-begins-above", "note", "The log begins above where its checkpoints say.", "a rule of ours"),
    Code("log-start-beyond", "warning", "The log start checkpoint lies above the end of the log.", "LogLoader"),
    Code("replicas-differ", "error", "Two replicas hold different batches at one offset.", "ReplicaManager"),
    Code("log-ends-below", "error", "The log ends below an offset that was acknowledged.", "a rule of ours"),
    Code("index-invalid", "warning", "An offset index is not one.", "OffsetIndex"),
    Code("index-missing", "note", "A segment has no offset or time index, and others have.", "LogSegment"),
    Code("index-mismatch", "warning", "An offset index leads past entries, or to no entry.", "OffsetIndex"),
    Code("timeindex-invalid", "warning", "A time index is not one.", "TimeIndex"),
    Code("timeindex-mismatch", "warning", "A time index has times that the log has not.", "TimeIndex"),
    Code("checkpoint-invalid", "warning", "A checkpoint file is not one.", "CheckpointFile"),
    Code("topic-id-missing", "note", "A partition has no partition.metadata, and others have.", "PartitionMetadataFile"),
    Code("topic-id-differs", "warning", "Partitions of one topic have different topic ids.", "LogManager"),
    Code("manifest-invalid", "error", "The manifest of a remote segment is not one, or not its own.", "SegmentManifestV1 (Aiven)"),
    Code("chunk-unreadable", "error", "A chunk of a remote segment does not decompress.", "SegmentManifestV1 (Aiven)"),
    Code("remote-unfinished", "note", "A remote segment was not uploaded to its end, and is left out.", "RemoteStorageManager, KIP-405"),
    Code("remote-overlap", "note", "Remote segments overlap; offsets and leader epochs say which count.", "RemoteLogMetadataCache, KIP-405"),
    Code("remote-other-topic", "note", "Remote segments of another topic of this name are left out.", "KIP-405, KIP-516"),
    Code("left-over", "note", "Files of a step that has not finished lie here.", "LogLoader"),
    Code("foreign-file", "note", "A file lies here that is not Kafka's.", "LogLoader"),
    Code("file-name-invalid", "warning", "A file has a segment's suffix, and no offset for a name.", "LogLoader"),
    Code("high-watermark-stale", "note", "The high watermark was checkpointed before a crash.", "ReplicaManager"),
    Code("timestamp-ahead", "note", "A segment has times that have not come yet.", "LogValidator, KIP-937"),
    Code("timestamp-out-of-range", "warning", "A time that the reader's type cannot hold became null.", "a limit of Spark"),
    # Produced batches: what a broker makes of a batch that a producer sends
    Code("produced-no-batch", "error", "The records of a produce request hold no batch.", REQUEST),
    Code("produced-several-batches", "error", "The records of a produce request hold more than one batch.", REQUEST),
    Code("produced-bytes-behind-batch", "warning", "Bytes behind the batch begin another that is cut; a broker drops them.", "UnifiedLog.trimInvalidBytes"),
    Code("produced-old-magic", "error", "Magic 0 and 1 are refused in Produce 3 and later; brokers before 4.0 convert them in Produce 0 to 2.", REQUEST),
    Code("produced-large", "note", "The batch is larger than the default of message.max.bytes.", APPEND),
    Code("produced-base-offset", "error", "The base offset is not 0; offsets are the broker's to give.", APPEND),
    Code("produced-leader-epoch", "note", "The leader epoch is not -1; the broker writes its own over it.", VALIDATOR),
    Code("produced-zstd", "note", "zstd is refused in Produce 6 and lower.", "ProduceRequest.validateRecords, KIP-110"),
    Code("produced-log-append-time", "error", "The timestamp type is LogAppendTime, which is the broker's to set; topics of that type refuse it.", VALIDATOR),
    Code("produced-control", "error", "The control bit is set; clients write no control records.", VALIDATOR),
    Code("produced-delete-horizon", "warning", "The delete horizon bit is set, which is the log cleaner's; a broker keeps it unless it compresses anew.", "KIP-534"),
    Code("produced-reserved-bits", "warning", "Attributes that have no meaning yet are set.", BATCH),
    Code("produced-no-records", "error", "The batch has no records; only the log cleaner leaves such.", VALIDATOR),
    Code("produced-last-offset-delta", "error", "The last offset delta is not the number of records less one.", VALIDATOR),
    Code("produced-transactional", "error", "A transactional batch has no producer id; a broker that compresses anew refuses it.", BUILDER),
    Code("produced-producer-id", "note", "A batch without a producer id has an epoch, a sequence, or an id below -1; brokers ignore them.", "KIP-98"),
    Code("produced-epoch", "error", "A batch whose producer id is not -1 has no epoch; a broker that knows the producer, or compresses anew, refuses it.", "ProducerAppendInfo, MemoryRecordsBuilder"),
    Code("produced-sequence", "error", "A batch whose producer id is not -1 has no sequence.", "LogValidator, MemoryRecordsBuilder"),
    Code("produced-bytes-behind-payload", "warning", "Bytes lie behind the end of the compressed data, where readers do not look.", CODEC),
    Code("produced-record-attributes", "warning", "A record's attributes, which have no meaning yet, are not 0.", RECORD),
    Code("produced-negative-timestamp", "error", "A record's time is below -1; a broker that encodes the batch anew refuses it.", BUILDER),
    Code("produced-offset-delta", "error", "A record's offset delta is not its index; a broker refuses it in a compressed batch, and keeps it in another.", VALIDATOR),
    Code("produced-null-key", "error", "A record for a compacted topic has no key.", VALIDATOR),
    Code("produced-header-key", "warning", "A header's key is not UTF-8; readers replace what is not.", "KIP-82"),
    Code("produced-overlong-varint", "note", "A number takes more bytes than it needs, or has bits that readers drop.", "ByteUtils"),
    Code("produced-base-timestamp", "note", "The base timestamp is not the first record's.", BATCH),
    Code("produced-max-timestamp", "warning", "The max timestamp is not the largest of the records; a broker sets it right.", VALIDATOR),
)  # fmt: skip

TAILS = ("incomplete-tail", "zero-tail")
"""What may lie at the end of a log that grows: an entry on its way, or room for the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem that was detected: a row of the table `problems`.

    Attributes:
        code: One of `magicbyte.CODES`.
        message: One sentence without the position.
        topic: Topic, if known; so are *partition* and *file*, a file's name in its folder.
        partition: Number of the partition.
        file: Name of the file.
        position: Byte of the file at which the batch, message or damaged range begins.
        payload_position: Byte of the decompressed payload at which the record begins.
        length: Bytes of the file that are concerned.
        base_offset: Offset that the batch or message states, right or wrong.
        field: The specification's name of the field that is wrong.
        found: Value that was found.
        expected: Value that was expected.
    Example:
        >>> str(mb.Finding(code="zeros", message="zeros", topic="t", partition=0, position=61))
        't-0 byte 61: zeros'
    """

    code: str
    message: str
    topic: str | None = None
    partition: int | None = None
    file: str | None = None
    position: int | None = None
    payload_position: int | None = None
    length: int | None = None
    base_offset: int | None = None
    field: str | None = None
    found: str | None = None
    expected: str | None = None

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise KeyError(self.code)

    def at(self, topic: str | None, partition: int | None, file: str | None) -> "Finding":
        """Return the finding with the names of the file that it is in.

        Args:
            topic: Topic of the file.
            partition: Number of the partition.
            file: Name of the file in its folder.
        Returns:
            A copy.
        Example:
            >>> str(mb.Finding(code="zeros", message="zeros").at("t", 0, "7.log"))
            't-0/7.log: zeros'
        """
        return replace(self, topic=topic, partition=partition, file=file)

    @property
    def severity(self) -> Severity:
        """The severity of the code: `error`, `warning` or `note`."""
        return CODES[self.code].severity

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message

    @property
    def where(self) -> str:
        """Partition, file and position in words, as far as they are known."""
        name = f"{self.topic}-{self.partition}" if self.topic is not None else ""
        parts = [part for part in (name, self.file) if part]
        place = "/".join(parts)
        if self.position is not None:
            place += f"{' ' if place else ''}byte {self.position}"
        if self.payload_position is not None:
            place += f", payload byte {self.payload_position}"
        return place


def worst(findings: Iterable[Finding]) -> Severity | None:
    """Return the gravest severity among *findings*, None where there are none."""
    present = {finding.severity for finding in findings}
    return next((severity for severity in SEVERITIES if severity in present), None)
