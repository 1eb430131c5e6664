"""Codes for batches that a producer sends: how a broker reacts to them."""

from magicbyte._finding_codes._code import BATCH, CODEC, RECORD, Code, Severity

REQUEST = "ProduceRequest.validateRecords"
APPEND = "UnifiedLog.analyzeAndValidateRecords"
VALIDATOR = "LogValidator"
BUILDER = "MemoryRecordsBuilder"

REFUSED = "A broker refuses the batch, at least with some settings."
ACCEPTED = "A broker accepts the batch."


def _code(
    name: str, severity: Severity, sentence: str, consequence: str, remedy: str, source: str
) -> Code:
    """Return a code whose cause is the encoder of the client."""
    return Code(
        f"produced-{name}",
        severity,
        sentence,
        cause="The client's encoder wrote the batch like this.",
        consequence=consequence,
        remedy=remedy,
        source=source,
    )


PRODUCED = (
    _code("no-batch", "error", "The records of a produce request hold no batch.", REFUSED, "A produce request carries one batch per partition.", REQUEST),
    _code("several-batches", "error", "The records of a produce request hold more than one batch.", REFUSED, "Send the second batch in another request.", REQUEST),
    _code("bytes-behind-batch", "warning", "Bytes after the batch begin another one, which is cut; a broker drops them.", "The batch is appended, and the bytes after it are lost.", "The size field and the number of bytes that follow must agree.", "UnifiedLog.trimInvalidBytes"),
    _code("old-magic", "error", "Magic 0 and 1 are refused in Produce 3 and later; brokers before 4.0 convert them in Produce 0 to 2.", REFUSED, "Write v2.", REQUEST),
    _code("large", "note", "The batch is larger than the default of message.max.bytes.", "A broker with the default refuses the batch.", "Send smaller batches, or raise message.max.bytes of the broker or max.message.bytes of the topic.", APPEND),
    _code("base-offset", "error", "The base offset is not 0; the broker assigns offsets.", REFUSED, "Write 0.", APPEND),
    _code("leader-epoch", "note", "The leader epoch is not -1; the broker overwrites it.", ACCEPTED, "Nothing to do; clients write -1.", VALIDATOR),
    _code("zstd", "note", "zstd is refused in Produce 6 and lower.", "A broker refuses the batch in such a request.", "Use version 7 of Produce or later.", "ProduceRequest.validateRecords, KIP-110"),
    _code("log-append-time", "error", "The timestamp type is LogAppendTime, which only the broker sets; topics of that type refuse it.", REFUSED, "Leave the timestamp type 0.", VALIDATOR),
    _code("control", "error", "The control bit is set; clients do not write control records.", REFUSED, "Leave the bit 0; EndTxn ends transactions.", VALIDATOR),
    _code("delete-horizon", "warning", "The delete horizon bit is set, which only the log cleaner sets; a broker keeps it unless it recompresses the batch.", "Readers take the base timestamp for a delete horizon.", "Leave the bit 0.", "KIP-534"),
    _code("reserved-bits", "warning", "Reserved attribute bits are set.", ACCEPTED, "Leave the bits 0: a later Kafka may give them a meaning.", BATCH),
    _code("no-records", "error", "The batch has no records; only the log cleaner leaves such batches.", REFUSED, "Do not send it.", VALIDATOR),
    _code("last-offset-delta", "error", "The last offset delta is not the number of records minus one.", REFUSED, "It must be the number of records minus one.", VALIDATOR),
    _code("transactional", "error", "A transactional batch has no producer id; a broker that recompresses it refuses it.", REFUSED, "Get a producer id from InitProducerId first.", BUILDER),
    _code("producer-id", "note", "A batch without a producer id has an epoch, a sequence, or an id below -1; brokers ignore them.", ACCEPTED, "Write -1 for all of id, epoch and sequence, or for none of them.", "KIP-98"),
    _code("epoch", "error", "A batch whose producer id is not -1 has no epoch; a broker that knows the producer, or recompresses the batch, refuses it.", REFUSED, "Write the epoch from InitProducerId.", "ProducerAppendInfo, MemoryRecordsBuilder"),
    _code("sequence", "error", "A batch whose producer id is not -1 has no sequence.", REFUSED, "Count sequences from 0 per partition.", "LogValidator, MemoryRecordsBuilder"),
    _code("bytes-behind-payload", "warning", "Bytes follow the end of the compressed data; readers ignore them.", ACCEPTED, "End the batch where the compressed data ends.", CODEC),
    _code("record-attributes", "warning", "The reserved attributes of a record are not 0.", ACCEPTED, "Write 0.", RECORD),
    _code("negative-timestamp", "error", "The timestamp of a record is below -1; a broker that re-encodes the batch refuses it.", REFUSED, "Write milliseconds since the epoch, or -1 for no timestamp.", BUILDER),
    _code("offset-delta", "error", "The offset delta of a record is not its index; a broker refuses it in a compressed batch, and keeps it in an uncompressed one.", REFUSED, "Number the records from 0.", VALIDATOR),
    _code("null-key", "error", "A record for a compacted topic has no key.", "A broker refuses the batch.", "Give the record a key, or use a topic that is not compacted.", VALIDATOR),
    _code("header-key", "warning", "The key of a record header is not UTF-8; readers replace invalid bytes.", ACCEPTED, "Write header keys as UTF-8.", "KIP-82"),
    _code("overlong-varint", "note", "A varint has more bytes than it needs, or bits that readers drop.", ACCEPTED, "Write the shortest form.", "ByteUtils"),
    _code("base-timestamp", "note", "The base timestamp is not the timestamp of the first record.", ACCEPTED, "Nothing to do; readers add the deltas to any base timestamp.", BATCH),
    _code("max-timestamp", "warning", "The max timestamp is not the largest of the records; a broker corrects it.", ACCEPTED, "Write the largest timestamp of the records.", VALIDATOR),
)  # fmt: skip
