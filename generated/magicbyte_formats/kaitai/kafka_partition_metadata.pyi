# Generated from spec/kafka_partition_metadata.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 44cb0a716a80247104ebacdcb77afabfaf25169f273625994e63153fb2fafadb, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaPartitionMetadata(KaitaiStruct):
    """The file `partition.metadata` of a partition: two lines of text that say to
    which topic it belongs; since 2.8 (KIP-516). The broker writes a new file and
    renames it; there is no checksum.

    What is written is described here: one space behind each colon, a line feed
    behind the first line and nothing behind the second. Kafka's reader also
    takes other white space behind the colons, CR and CR LF as the end of a line,
    and an id that is padded with `=`. A topic id of nothing but `A`, which is
    zero, is an error in Kafka.
    """
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaPartitionMetadata
    version_key: str
    """The word before the version."""
    version: str
    """Version of the file, in decimal. Brokers write 0. They read a higher one
    as 0, so that a log.dir survives a downgrade, and refuse one below 0.
    """
    topic_id_key: str
    """The word before the topic's id."""
    topic_id: str
    """UUID of the topic, given out by the controller when the topic was made:
    its 16 bytes in base64 with `-` and `_` (RFC 4648, section 5), without
    padding.
    """
    rest: bytes | None
    """What follows. No broker writes that, and Kafka's reader takes a line feed
    and whatever is behind it, but nothing else.
    """
