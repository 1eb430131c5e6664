# Generated from spec/kafka_message.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 f4ce549d3a8739c7e1994dc8a65d6b4bbea98a434929588a178bd722c696b4bd, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaMessage(KaitaiStruct):
    """One entry of a message set, the storage format of Kafka before 0.11: v0 up to
    0.9, v1, which has a timestamp, in 0.10. Later releases still read them.

    If `attributes.codec` is not `none`, the message is a wrapper: its value is
    another message set, compressed as a whole. A specification cannot run the
    codecs; so decompress `value` and parse the result with `kafka_log`.

    The offsets inside a wrapper of v0 are absolute. Those inside a wrapper of v1
    are relative (0, 1, 2, ...), and that of the wrapper is the absolute offset
    of the last message: a message's own is `wrapper - last relative + relative`.
    If a wrapper of v1 has the append time, it is that of all messages in it.
    """
    class Codecs(IntEnum):
        none = 0
        """An ordinary message, no wrapper."""
        gzip = 1
        """RFC 1952; several members are read as one stream."""
        snappy = 2
        """One raw snappy block, or, where the bytes begin with its magic, blocks
        in the framing of xerial's snappy-java.
        """
        lz4 = 3
        """An LZ4 frame of independent blocks; since 0.8.2. Its header checksum is
        wrong in v0, where it also covers the magic of the frame, and right in
        v1 (KAFKA-3160).
        """
    class TimestampTypes(IntEnum):
        create_time = 0
        """The producer's clock, or a time that its application gave."""
        log_append_time = 1
        """The broker's clock when it appended the message."""
    class MessageBody(KaitaiStruct):
        """The message itself. Bytes behind the value are ignored by Kafka's reader,
        but covered by `crc`.
        """
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        crc: int
        """CRC-32 (the one of zlib and Ethernet) of all bytes after this field,
        compressed as they are stored. Written by the producer, and again by
        a broker that changes what it covers.
        """
        magic: int
        """Version of the format, in the same place in all formats: 0 or 1.
        Covered by `crc`.
        """
        attributes: KafkaMessage.MessageAttributes
        """Bits that say how to read the message. Covered by `crc`."""
        timestamp: int | None
        """Milliseconds since the Unix epoch; -1 stands for none. From the
        producer, or from the broker where `attributes.timestamp_type` says
        so; of a wrapper, the largest of the messages in it. Covered by `crc`.
        """
        len_key: int
        """Bytes in `key`; -1 where there is none. Covered by `crc`."""
        key: bytes | None
        """The key, as the producer serialized it; a wrapper has none. Null where
        `len_key` is negative. Covered by `crc`.
        """
        len_value: int
        """Bytes in `value`; -1 where there is none. Covered by `crc`."""
        value: bytes | None
        """The value, as the producer serialized it; of a wrapper, the messages
        in it, compressed. Null where `len_value` is negative: such a message
        is a tombstone, which deletes its key from a compacted topic. Covered
        by `crc`.
        """
        ignored: bytes | None
        """Bytes behind the value, at which Kafka's reader does not look and
        which no known producer writes. Covered by `crc`.
        """
    class MessageAttributes(KaitaiStruct):
        """One byte of bits."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        reserved: int
        """Not in use; written as 0 and ignored."""
        timestamp_type: KafkaMessage.TimestampTypes | int
        """Whose clock the timestamp is from. Of no meaning in v0, nor in the
        messages inside a wrapper, which follow the wrapper's.
        """
        codec: KafkaMessage.Codecs | int
        """How the value is compressed; 4 to 7 are an error."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaMessage
    offset: int
    """Offset of the message in its partition, of a wrapper that of the last
    message in it. Set by the broker; not covered by `crc`.
    """
    len_message: int
    """Bytes of the entry after this field; 14 of v0 and 22 of v1 where key and
    value are null or empty. Not covered by `crc`.
    """
    message: KafkaMessage.MessageBody
    """The message without its offset and length."""
