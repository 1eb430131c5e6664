"""Findings: the codes of everything that can be wrong with a log, and the value that reports it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""Severities of findings, the gravest first."""


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding."""

    name: str
    severity: Severity
    """`error`: rows are lost, wrong or in doubt. `warning`: something is wrong, but no row suffers.
    `note`: worth knowing."""
    sentence: str
    source: str
    """The authority: a class of Apache Kafka, a KIP, or a rule of magicbyte."""


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

_CODES = (
    # Framing
    Code("bad-size", "error", "The size field of an entry is impossible.", FRAME),
    Code("unknown-magic", "error", "The magic byte names no known format.", FRAME),
    Code("incomplete-entry", "error", "An entry ends before the end that its size field states, and data follow.", FRAME),
    Code("incomplete-tail", "warning", "The log ends inside an entry, as after a crash.", FRAME),
    Code("zero-tail", "warning", "The log ends in zeros, like a preallocated file.", FRAME),
    Code("zeros", "error", "There are zeros instead of entries.", FRAME),
    Code("entry-over-limit", "error", "An entry is larger than max_entry_bytes.", "a limit of magicbyte"),
    Code("found-by-search", "warning", "Reading continued here after a search.", "a rule of magicbyte"),
    Code("candidate-passed-over", "warning", "A search left a candidate unchecked, because it was too large.", "a limit of magicbyte"),
    Code("unreadable", "error", "The operating system or the store does not deliver these bytes, this file or this folder.", "a fault below the bytes"),
    # Checksums
    Code("checksum-mismatch", "error", "The stored checksum of an entry differs from the checksum of its bytes.", BATCH),
    Code("record-checksum-mismatch", "error", "The checksum of a message in a wrapper message is wrong.", LEGACY),
    # Payloads
    Code("unknown-codec", "error", "The attributes name an unknown codec.", "CompressionType"),
    Code("codec-not-allowed", "error", "The codec is not allowed in this format.", LEGACY),
    Code("codec-error", "error", "The compressed section does not decompress.", CODEC),
    Code("batch-over-limit", "error", "A payload is larger than max_batch_bytes.", "a limit of magicbyte"),
    Code("bad-record-count", "error", "The number of records differs from the one that the header states.", BATCH),
    Code("bytes-left-over", "error", "Bytes follow the last record.", BATCH),
    Code("bytes-unread", "warning", "A batch without records holds bytes, which Kafka ignores.", BATCH),
    Code("bad-record", "error", "A record violates the format.", RECORD),
    Code("bad-message", "error", "A v0 or v1 message violates the format.", LEGACY),
    Code("message-bytes-unread", "warning", "Bytes follow the value of a v0 or v1 message.", LEGACY),
    Code("negative-length", "warning", "A length below -1 was read as null.", LEGACY),
    Code("bad-wrapper", "error", "A wrapper message does not hold valid messages.", LEGACY),
    Code("inner-magic-differs", "warning", "A wrapper message holds messages of another format.", "KAFKA-4298"),
    Code("inner-message-cut", "warning", "A wrapper message ends inside a message, which is dropped.", LEGACY),
    Code("bad-control-record", "error", "A control record has no readable key.", CONTROL),
    Code("bad-marker-value", "warning", "The value of a transaction marker cannot be read.", CONTROL),
    Code("unknown-control-type", "note", "A control record has an unknown type.", CONTROL),
    # Offsets
    Code("offset-out-of-order", "error", "Offsets do not increase from entry to entry.", "UnifiedLog.append"),
    Code("offset-outside-segment", "error", "An offset is outside the range of its segment.", "LogSegment"),
    Code("offset-gap", "error", "Offsets are missing, and compaction does not explain it.", "a rule of magicbyte"),
    Code("offset-gap-cleaned", "note", "Offsets are missing; the segment looks compacted.", "a rule of magicbyte"),
    Code("leader-epoch-back", "warning", "A leader epoch is lower than that of an earlier batch.", "LeaderEpochFileCache"),
    Code("leader-epoch-mismatch", "warning", "Batches disagree with the leader epoch checkpoint.", "LeaderEpochFileCache"),
    Code("sequence-out-of-order", "warning", "The sequence of a batch does not follow the producer's previous batch.", "ProducerAppendInfo"),
    # Transactions
    Code("transaction-undecided", "error", "Damage hides how a transaction ended.", "a rule of magicbyte"),
    Code("transaction-open", "note", "A transaction has not ended.", TRANSACTIONS),
    Code("txnindex-invalid", "warning", "A transaction index is invalid.", "TransactionIndex"),
    Code("txnindex-mismatch", "warning", "A transaction index disagrees with the markers.", "TransactionIndex"),
    Code("txnindex-missing", "note", "A segment with aborted transactions has no transaction index: a broker would deliver their records.", "TransactionIndex"),
    Code("txnindex-trusted", "note", "Transaction indexes, not markers, decided how transactions ended.", "a rule of magicbyte"),
    Code("txnindex-doubted", "warning", "Transaction indexes could not be trusted to decide how transactions ended.", "a rule of magicbyte"),
    Code("snapshot-invalid", "warning", "A producer snapshot is invalid.", "ProducerStateManager"),
    Code("snapshot-mismatch", "warning", "A producer snapshot disagrees with the log.", "ProducerStateManager"),
    Code("snapshot-missing", "note", "A segment has no producer snapshot.", "ProducerStateManager"),
    Code("snapshot-unconfirmed", "note", "No producer of the first snapshot is in the log.", "ProducerStateManager"),
    Code("snapshot-transaction-ignored", "warning", "A transaction that only one snapshot names is ignored.", "a rule of magicbyte"),
    # Directories
    Code("segment-missing", "warning", "Companion files are present without their segment.", "LogLoader"),
    Code("log-begins-above", "note", "The log starts above the offset that its checkpoints state.", "a rule of magicbyte"),
    Code("log-start-beyond", "warning", "The log start checkpoint is above the log end offset.", "LogLoader"),
    Code("replicas-differ", "error", "Two replicas hold different batches at the same offset.", "ReplicaManager"),
    Code("log-ends-below", "error", "The log end offset is below an acknowledged offset.", "a rule of magicbyte"),
    Code("index-invalid", "warning", "An offset index is invalid.", "OffsetIndex"),
    Code("index-missing", "note", "A segment has no offset or time index, although other segments have.", "LogSegment"),
    Code("index-mismatch", "warning", "An offset index points past entries, or at no entry.", "OffsetIndex"),
    Code("timeindex-invalid", "warning", "A time index is invalid.", "TimeIndex"),
    Code("timeindex-mismatch", "warning", "A time index has timestamps that the log does not have.", "TimeIndex"),
    Code("checkpoint-invalid", "warning", "A checkpoint file is invalid.", "CheckpointFile"),
    Code("topic-id-missing", "note", "A partition has no partition.metadata, although other partitions have.", "PartitionMetadataFile"),
    Code("topic-id-differs", "warning", "Partitions of one topic have different topic ids.", "LogManager"),
    Code("manifest-invalid", "error", "The manifest of a remote segment is invalid, or belongs to another segment.", "SegmentManifestV1 (Aiven)"),
    Code("chunk-unreadable", "error", "A chunk of a remote segment does not decompress.", "SegmentManifestV1 (Aiven)"),
    Code("remote-unfinished", "note", "The upload of a remote segment did not finish; the segment is ignored.", "RemoteStorageManager, KIP-405"),
    Code("remote-overlap", "note", "Remote segments overlap; offsets and leader epochs decide which are read.", "RemoteLogMetadataCache, KIP-405"),
    Code("remote-other-topic", "note", "Remote segments of another topic with the same name are ignored.", "KIP-405, KIP-516"),
    Code("left-over", "note", "Files of an unfinished step are present.", "LogLoader"),
    Code("foreign-file", "note", "A file is not one of Kafka's.", "LogLoader"),
    Code("file-name-invalid", "warning", "A file has a suffix of a segment's files, but its name is not an offset.", "LogLoader"),
    Code("high-watermark-stale", "note", "The high watermark was checkpointed before a crash.", "ReplicaManager"),
    Code("timestamp-ahead", "note", "A segment has timestamps in the future.", "LogValidator, KIP-937"),
    Code("timestamp-out-of-range", "warning", "A timestamp that the reader's type cannot hold became null.", "a limit of Spark"),
    # Brokers: what stops a broker, or makes it start with loss
    Code("folder-name-invalid", "error", "A folder in a log.dir is not named like a partition: the broker does not start.", "LogManager, LocalLog.parseTopicPartitionName"),
    Code("partition-in-two-folders", "error", "Two folders of one broker are the same partition: the broker does not start.", "LogManager"),
    Code("partition-invalid", "error", "A file of a partition stops the broker, or takes its log.dir offline.", "LogLoader"),
    Code("partition-metadata-invalid", "error", "A partition.metadata cannot be read: the broker ends, or the log.dir goes offline.", "PartitionMetadataFile"),
    Code("partition-truncated", "error", "Offsets of a partition are lost on startup.", "LogLoader"),
    Code("partition-stray", "error", "A folder is renamed to -stray on startup, and its records are not served.", "LogManager, KIP-858"),
    Code("partition-missing", "error", "No log.dir has the folder of a partition that the broker should have.", "LogManager"),
    Code("partition-not-served", "error", "The broker starts and does not serve a partition whose folder is here.", "ReplicaManager"),
    Code("meta-properties-missing", "error", "A log.dir has no meta.properties: the broker does not start.", "KafkaRaftServer, MetaPropertiesEnsemble"),
    Code("meta-properties-invalid", "error", "A meta.properties cannot be parsed, or lacks an id.", "MetaPropertiesEnsemble, BrokerMetadataCheckpoint"),
    Code("meta-properties-differ", "error", "The meta.properties of two log.dirs differ, which brokers until 3.6 refuse.", "BrokerMetadataCheckpoint"),
    Code("node-id-differs", "error", "The log.dirs of a broker have different node ids.", "MetaPropertiesEnsemble"),
    Code("cluster-id-differs", "error", "The log.dirs of a broker have different cluster ids.", "MetaPropertiesEnsemble"),
    Code("directory-id-duplicate", "error", "Two log.dirs of a broker have the same directory id.", "MetaPropertiesEnsemble"),
    Code("directory-id-invalid", "error", "A log.dir has a directory id that is reserved.", "MetaPropertiesEnsemble, DirectoryId"),
    Code("log-dir-failed", "error", "A log.dir goes offline on startup, and its partitions are not served.", "LogDirFailureChannel"),
    Code("log-dir-locked", "warning", "Another process holds the lock of a log.dir.", "LogManager.lockLogDirs"),
    Code("metadata-log-misplaced", "error", "The folder of the metadata log is in a log.dir that is not the metadata.log.dir.", "KafkaRaftServer"),
    Code("metadata-log-without-snapshot", "error", "The metadata log begins above 0, and no snapshot reaches its beginning.", "KafkaRaftLog"),
    Code("metadata-log-damaged", "error", "The metadata log is in a state with which the node never gets ready.", "KafkaRaftClient"),
    Code("metadata-log-truncated", "error", "Records of the metadata log are lost on startup, and no other voter is known to have them.", "KafkaRaftLog"),
    Code("metadata-log-missing", "error", "The metadata log is gone: the node would know no topic.", "KafkaRaftServer"),
    Code("metadata-log-refetched", "note", "The node fetches a part of the metadata log again from the controllers.", "KafkaRaftClient"),
    Code("metadata-log-not-given", "note", "No given log.dir holds the metadata log.", "a rule of magicbyte"),
    Code("metadata-snapshot-invalid", "error", "A snapshot of the metadata log cannot be read: the node does not start.", "RecordsSnapshotReader, Snapshots"),
    Code("quorum-state-invalid", "error", "The file quorum-state cannot be read: the node does not start.", "FileQuorumStateStore"),
    Code("bootstrap-checkpoint-invalid", "error", "The file bootstrap.checkpoint cannot be read or has no metadata.version: the node does not start.", "BootstrapDirectory"),
    # Produced batches: how a broker reacts to a batch that a producer sends
    Code("produced-no-batch", "error", "The records of a produce request hold no batch.", REQUEST),
    Code("produced-several-batches", "error", "The records of a produce request hold more than one batch.", REQUEST),
    Code("produced-bytes-behind-batch", "warning", "Bytes after the batch begin another one, which is cut; a broker drops them.", "UnifiedLog.trimInvalidBytes"),
    Code("produced-old-magic", "error", "Magic 0 and 1 are refused in Produce 3 and later; brokers before 4.0 convert them in Produce 0 to 2.", REQUEST),
    Code("produced-large", "note", "The batch is larger than the default of message.max.bytes.", APPEND),
    Code("produced-base-offset", "error", "The base offset is not 0; the broker assigns offsets.", APPEND),
    Code("produced-leader-epoch", "note", "The leader epoch is not -1; the broker overwrites it.", VALIDATOR),
    Code("produced-zstd", "note", "zstd is refused in Produce 6 and lower.", "ProduceRequest.validateRecords, KIP-110"),
    Code("produced-log-append-time", "error", "The timestamp type is LogAppendTime, which only the broker sets; topics of that type refuse it.", VALIDATOR),
    Code("produced-control", "error", "The control bit is set; clients do not write control records.", VALIDATOR),
    Code("produced-delete-horizon", "warning", "The delete horizon bit is set, which only the log cleaner sets; a broker keeps it unless it recompresses the batch.", "KIP-534"),
    Code("produced-reserved-bits", "warning", "Reserved attribute bits are set.", BATCH),
    Code("produced-no-records", "error", "The batch has no records; only the log cleaner leaves such batches.", VALIDATOR),
    Code("produced-last-offset-delta", "error", "The last offset delta is not the number of records minus one.", VALIDATOR),
    Code("produced-transactional", "error", "A transactional batch has no producer id; a broker that recompresses it refuses it.", BUILDER),
    Code("produced-producer-id", "note", "A batch without a producer id has an epoch, a sequence, or an id below -1; brokers ignore them.", "KIP-98"),
    Code("produced-epoch", "error", "A batch whose producer id is not -1 has no epoch; a broker that knows the producer, or recompresses the batch, refuses it.", "ProducerAppendInfo, MemoryRecordsBuilder"),
    Code("produced-sequence", "error", "A batch whose producer id is not -1 has no sequence.", "LogValidator, MemoryRecordsBuilder"),
    Code("produced-bytes-behind-payload", "warning", "Bytes follow the end of the compressed data; readers ignore them.", CODEC),
    Code("produced-record-attributes", "warning", "The reserved attributes of a record are not 0.", RECORD),
    Code("produced-negative-timestamp", "error", "The timestamp of a record is below -1; a broker that re-encodes the batch refuses it.", BUILDER),
    Code("produced-offset-delta", "error", "The offset delta of a record is not its index; a broker refuses it in a compressed batch, and keeps it in an uncompressed one.", VALIDATOR),
    Code("produced-null-key", "error", "A record for a compacted topic has no key.", VALIDATOR),
    Code("produced-header-key", "warning", "The key of a record header is not UTF-8; readers replace invalid bytes.", "KIP-82"),
    Code("produced-overlong-varint", "note", "A varint has more bytes than it needs, or bits that readers drop.", "ByteUtils"),
    Code("produced-base-timestamp", "note", "The base timestamp is not the timestamp of the first record.", BATCH),
    Code("produced-max-timestamp", "warning", "The max timestamp is not the largest of the records; a broker corrects it.", VALIDATOR),
)  # fmt: skip

CODES = {code.name: code for code in _CODES}

TAILS = ("incomplete-tail", "zero-tail")
"""Codes for the end of a log that still grows: an incomplete entry, or preallocated zeros."""


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
        """Partition, file and position in words, as far as known."""
        name = f"{self.topic}-{self.partition}" if self.topic is not None else ""
        where = "/".join(part for part in (name, self.file) if part)
        if self.position is not None:
            where += f"{' ' if where else ''}byte {self.position}"
        if self.payload_position is not None:
            where += f", payload byte {self.payload_position}"
        return where


def worst(findings: Iterable[Finding]) -> Severity | None:
    """Return the gravest severity among *findings*, None where there are none."""
    present = {finding.severity for finding in findings}
    return next((severity for severity in SEVERITIES if severity in present), None)
