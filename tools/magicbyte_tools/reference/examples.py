"""Example bytes for the pages of the format reference, mostly written by real brokers."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from magicbyte.codecs import decompress
from magicbyte_tools.generate.kaitai import CHECKOUT

DATA = CHECKOUT / "tests" / "data"


class FileBytes(NamedTuple):
    """A range of bytes in a file that a broker wrote."""

    file: str
    """Path of the file below tests/data."""
    start: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An example on a format's page: its bytes, their origin, and a text about them."""

    format: str
    title: str
    about: str
    file_bytes: FileBytes | None = None
    given: str = ""
    """The bytes in hex, where no file in tests/data has such bytes."""
    codec: int = 0
    """Codec that compressed the bytes in the file; the example shows the decompressed bytes."""
    magic: int = 2
    parameters: tuple[Any, ...] = ()
    worked_out: tuple[str, ...] = ()
    """Names of the format's instances (derived values) whose values the page states."""

    @property
    def data(self) -> bytes:
        """The example's bytes, decompressed."""
        if self.file_bytes is None:
            return bytes.fromhex(self.given)
        file, start, size = self.file_bytes
        data = (DATA / file).read_bytes()[start : start + size]
        return decompress(self.codec, data, magic=self.magic, max_bytes=1 << 16)

    @property
    def source(self) -> str:
        """Sentence about the origin of the bytes: file and positions, or made for the page."""
        if self.file_bytes is None:
            return "Bytes made for this page; no log among the test data has such."
        file, start, size = self.file_bytes
        words = f"Bytes {start} to {start + size - 1} of `tests/data/{file}`"
        return words + (", decompressed." if self.codec else ".")


FIRST = "00000000000000000000"
COMPRESSED = f"2.8/compacted/log-0/v2-compacted-gzip-0/{'114'.zfill(20)}.log"
WRAPPER = f"2.8/compacted/log-0/v1-compacted-gzip-0/{'185'.zfill(20)}.log"
BOOTSTRAP = "4.3/plain/log-0/bootstrap.checkpoint"
QUORUM = f"4.3/compacted/log-0/__cluster_metadata-0/{FIRST}.log"
HORIZON = f"4.3/compacted/log-0/compact-and-delete-0/{'182'.zfill(20)}.log"
HEADERS = f"4.3/plain/log-0/headers-0/{FIRST}.log"

EXAMPLES = (
    Example(
        format="kafka_record_batch",
        title="Two records, as a producer sent them",
        about=(
            "The Java client of Kafka 2.8. The batch ends where `len_batch` says: 12 bytes for the "
            "offset and the length itself, and 107 after them. The second record came 12 ms after "
            "the first."
        ),
        file_bytes=FileBytes(f"2.8/formats/log-0/v2-java-none-0/{FIRST}.log", 0, 119),
        worked_out=("last_offset",),
    ),
    Example(
        format="kafka_record_batch",
        title="Compressed, and cleaned",
        about=(
            "A batch of a compacted topic. The header is never compressed; the records are, as a "
            "whole. The cleaner took records away and wrote the batch anew, with the base offset, "
            "`last_offset_delta` and maximum timestamp it had. What comes out of gzip is taken "
            "apart at [kafka_records](kafka_records.md#real-bytes)."
        ),
        file_bytes=FileBytes(COMPRESSED, 752, 120),
        worked_out=("last_offset",),
    ),
    Example(
        format="kafka_record_batch",
        title="Without records",
        about=(
            "The cleaner of Kafka 4.3 removed all records of this batch, but keeps the header for "
            "what it knows of the producer: its last sequence number. The six offsets are gone; "
            "`base_timestamp` is -1, `max_timestamp` what it was."
        ),
        file_bytes=FileBytes(f"4.3/compacted/log-0/emptied-batches-0/{FIRST}.log", 0, 61),
        worked_out=("last_offset",),
    ),
    Example(
        format="kafka_record_batch",
        title="With a delete horizon",
        about=(
            "A tombstone that the cleaner met for the first time. Bit 6 is set, and "
            "`base_timestamp` is now the time from which the tombstone may go; the record's "
            "`timestamp_delta`, large and negative, leads back to when it was made."
        ),
        file_bytes=FileBytes(HORIZON, 151, 78),
    ),
    Example(
        format="kafka_record_batch",
        title="With the broker's append time",
        about=(
            "`timestamp_type` is 1: the record's time is `max_timestamp`. `base_timestamp` is what "
            "the producer sent, and means nothing to a consumer."
        ),
        file_bytes=FileBytes(f"4.3/plain/log-1/append-time-none-0/{FIRST}.log", 3449, 92),
    ),
    Example(
        format="kafka_record_batch_kip_931",
        title="One record",
        about=(
            "As the proposal would have it, for what no producer ever wrote. The same record takes "
            "73 bytes in v2."
        ),
        given=(
            "000000000000000000000030ffffffff03281b6dd20080ffffffffffffffffff"
            "ffffffffff000000010080d0e3a5e26300140000010a68656c6c6f00"
        ),
    ),
    Example(
        format="kafka_message",
        title="A message of v0",
        about="No timestamp: `len_key` follows on `attributes`.",
        file_bytes=FileBytes(
            f"2.8/compacted/log-0/v0-compacted-none-0/{'135'.zfill(20)}.log", 0, 39
        ),
    ),
    Example(
        format="kafka_message",
        title="A tombstone of v1",
        about="The value is null, its length -1: the key is to be forgotten.",
        file_bytes=FileBytes(
            f"2.8/compacted/log-0/v1-compacted-none-0/{'123'.zfill(20)}.log", 50, 40
        ),
    ),
    Example(
        format="kafka_message",
        title="A wrapper of v1",
        about=(
            "The codec is gzip, the key null. `offset` is that of the last message inside. What "
            "comes out is taken apart at [kafka_log](kafka_log.md#what-was-in-a-wrapper)."
        ),
        file_bytes=FileBytes(WRAPPER, 261, 130),
    ),
    Example(
        format="kafka_log",
        title="Where v1 ends and v2 begins",
        about=(
            "Two entries of one segment of a topic whose format was raised from v1 to v2. The byte "
            "at 16 after the start of each tells them apart."
        ),
        file_bytes=FileBytes(f"2.8/lives/log-0/upgraded-one-segment-0/{FIRST}.log", 7229, 173),
    ),
    Example(
        format="kafka_log",
        title="What was in a wrapper",
        about=(
            "The value of the wrapper at [kafka_message](kafka_message.md#a-wrapper-of-v1), whose "
            "offset is 249. The offsets in here are relative, and those between them were cleaned "
            "away. The messages' own are `249 - 5 + 0` and `249 - 5 + 5`: 244 and 249."
        ),
        file_bytes=FileBytes(WRAPPER, 261 + 34, 96),
        codec=1,
        magic=1,
    ),
    Example(
        format="kafka_record",
        title="A record with three headers",
        about=(
            "Two headers of one key with different values, and a third of the same key whose value "
            "is null. The length counts the 56 bytes after itself."
        ),
        file_bytes=FileBytes(HEADERS, 61, 57),
        parameters=(False,),
    ),
    Example(
        format="kafka_records",
        title="Real bytes",
        about="The payload of the compressed batch at [kafka_record_batch](kafka_record_batch.md).",
        file_bytes=FileBytes(COMPRESSED, 752 + 61, 120 - 61),
        codec=1,
    ),
    Example(
        format="kafka_control_record",
        title="A COMMIT marker",
        about="The whole batch around it has 78 bytes, and bits 4 and 5 of its attributes set.",
        file_bytes=FileBytes(f"2.8/lives/log-0/v2-transactions-0/{'2'.zfill(20)}.log", 65, 12),
    ),
    Example(
        format="kafka_control_record",
        title="A change of leader",
        about="The first record of the metadata log of a cluster with one controller.",
        file_bytes=FileBytes(QUORUM, 65, 25),
    ),
    Example(
        format="kafka_control_record",
        title="The beginning of a snapshot",
        about="Of the snapshot that a new cluster starts from; it covers no record yet.",
        file_bytes=FileBytes(BOOTSTRAP, 65, 17),
    ),
    Example(
        format="kafka_control_record",
        title="The end of a snapshot",
        about="The last record of the same file.",
        file_bytes=FileBytes(BOOTSTRAP, 401, 9),
    ),
    Example(
        format="kafka_control_record",
        title="The version of KRaft",
        about="From here on the voters stand in the log.",
        given="08 0000 0005 0a 0000 0001 00",
    ),
    Example(
        format="kafka_control_record",
        title="The voters of KRaft",
        about="One voter with one address. Every structure ends with its tagged fields: none.",
        given=(
            "08 0000 0006 6e 0000 02 00000001 000102030405060708090a0b0c0d0e0f"
            "02 0b 434f4e54524f4c4c4552 0a 6c6f63616c686f7374 2385 00 0000 0001 00 00 00"
        ),
    ),
    Example(
        format="kafka_varint",
        title="Two bytes",
        about=(
            "The length of a record. `d8` says that another byte follows; 0x58 and 4 times 0x80 is 600, "
            "which is even, so it stands for half of itself."
        ),
        file_bytes=FileBytes(HEADERS, 118, 2),
        worked_out=("value", "num_bytes"),
    ),
    Example(
        format="kafka_varlong",
        title="Six bytes",
        about="A timestamp delta of minus a few years: the base is a delete horizon.",
        file_bytes=FileBytes(HORIZON, 214, 6),
        worked_out=("value", "num_bytes"),
    ),
    Example(
        format="kafka_uvarint",
        title="One byte",
        about="The number of voters in a change of leader, plus one.",
        file_bytes=FileBytes(QUORUM, 77, 1),
        worked_out=("value", "count"),
    ),
    Example(
        format="kafka_offset_index",
        title="A whole index",
        about="The segment begins at offset 189, so the first entry is about its record at 209.",
        file_bytes=FileBytes(
            f"4.3/compacted/log-0/compacted-small-segments-0/{'189'.zfill(20)}.index", 0, 32
        ),
    ),
    Example(
        format="kafka_time_index",
        title="A whole index",
        about="Of the same segment as the example of [kafka_offset_index](kafka_offset_index.md).",
        file_bytes=FileBytes(
            f"4.3/compacted/log-0/compacted-small-segments-0/{'189'.zfill(20)}.timeindex", 0, 48
        ),
    ),
    Example(
        format="kafka_transaction_index",
        title="Two aborted transactions",
        about="A whole file.",
        file_bytes=FileBytes(f"4.3/transactions/log-0/append-time-0/{FIRST}.txnindex", 0, 68),
    ),
    Example(
        format="kafka_producer_snapshot",
        title="One producer",
        about="A whole file: the state of the partition just before offset 55.",
        file_bytes=FileBytes(f"4.3/transactions/log-0/aborted-0/{'55'.zfill(20)}.snapshot", 0, 56),
    ),
    Example(
        format="kafka_crc",
        title="The check value of CRC-32C",
        about="By custom a checksum is told by its value of these nine digits: here 0xe3069283.",
        given="313233343536373839",
        parameters=(True,),
        worked_out=("value",),
    ),
    Example(
        format="kafka_metadata_record",
        title="A feature's level",
        about="The value of the first data record of a new cluster's first snapshot.",
        file_bytes=FileBytes(BOOTSTRAP, 150, 23),
    ),
    Example(
        format="kafka_early_leader_change",
        title="A leader with one voter",
        about="As 2.8 would write it for a quorum of one.",
        given="00000001 02 00000001 00 02 00000001 00 00",
    ),
    Example(
        format="kafka_tagged_fields",
        title="One field",
        about="A field with the tag 0, of two bytes. What Kafka writes where there is none is `00`.",
        given="01 00 02 cafe",
    ),
    Example(
        format="kafka_kraft_snapshot",
        title="The snapshot that a cluster starts from",
        about="A whole file: a header, six records of features, a footer.",
        file_bytes=FileBytes(BOOTSTRAP, 0, 411),
    ),
    Example(
        format="kafka_offset_checkpoint",
        title="A whole file",
        about="Where the logs of two partitions begin since records were deleted from them.",
        file_bytes=FileBytes("4.3/plain/log-0/log-start-offset-checkpoint", 0, 46),
    ),
    Example(
        format="kafka_leader_epoch_checkpoint",
        title="A whole file",
        about="Four leaders, one after another; an epoch in which nothing was written is not kept.",
        file_bytes=FileBytes("4.3/plain/log-1/epochs-0/leader-epoch-checkpoint", 0, 22),
    ),
    Example(
        format="kafka_partition_metadata",
        title="A whole file",
        about="There is no line feed at its end.",
        file_bytes=FileBytes("4.3/transactions/log-0/open-1/partition.metadata", 0, 43),
    ),
)
