# Generated from spec/kafka_offset_checkpoint.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 4cadbe2604cafbc160c92e402476713d02434dca62318cdf98b098b1341a7b69, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaOffsetCheckpoint(KaitaiStruct):
    """Lines of text that give an offset for partitions of the log directory: the
    files `replication-offset-checkpoint`, `recovery-point-offset-checkpoint`,
    `log-start-offset-checkpoint` and `cleaner-offset-checkpoint`. The broker
    writes a new file and renames it; there is no checksum. An empty file means
    no entries, as a broker makes it before it first writes one.

    What is written is one space between fields and one line feed behind each
    line, and that is what is described here. Kafka's reader also takes any other
    white space between the fields, CR and CR LF as the end of a line, a last
    line without an end, and a file that ends behind the version. Here the last
    two are an error; of the others the texts come out otherwise than in Kafka,
    with the white space in them.

    Numbers are left as the text that they are, because this language cannot say
    what is a number in text. Kafka refuses what is no decimal number; a count
    that is not that of the entries; and, in most releases, nothing else, so that
    a topic may be there twice and the last entry counts.
    """
    class Entry(KaitaiStruct):
        """The offset of a partition."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        topic: str
        """The topic's name, of ASCII letters and digits, `.`, `_` and `-`."""
        partition: str
        """Number of the partition in its topic, in decimal."""
        offset: str
        """An offset in the partition, in decimal. Which one, the file's name
        says: in `replication-offset-checkpoint` the high watermark, below
        which all replicas have the records; in
        `recovery-point-offset-checkpoint` the first that may not be on disk
        yet; in `log-start-offset-checkpoint` the first that was not deleted,
        where its segment begins lower; in `cleaner-offset-checkpoint` the
        first that the log cleaner has not cleaned.
        """
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaOffsetCheckpoint
    version: str | None
    """Version of the file; always 0. Kafka also takes other ways to write that
    number, such as `00`. Null in an empty file.
    """
    num_entries: str | None
    """Entries that follow, in decimal. A reader has to compare it, as Kafka
    does. Null in an empty file.
    """
    entries: list[KafkaOffsetCheckpoint.Entry]
    """The entries, in no order."""
