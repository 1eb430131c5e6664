# Generated from spec/kafka_message.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 f4ce549d3a8739c7e1994dc8a65d6b4bbea98a434929588a178bd722c696b4bd, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from enum import IntEnum

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

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

    .. seealso::
       Source - https://kafka.apache.org/documentation/#messageset
    """

    class Codecs(IntEnum):
        none = 0
        gzip = 1
        snappy = 2
        lz4 = 3

    class TimestampTypes(IntEnum):
        create_time = 0
        log_append_time = 1
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaMessage, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.offset = self._io.read_s8be()
        self.len_message = self._io.read_s4be()
        if not self.len_message >= 14:
            raise kaitaistruct.ValidationLessThanError(14, self.len_message, self._io, u"/seq/1")
        self._raw_message = self._io.read_bytes(self.len_message)
        _io__raw_message = KaitaiStream(BytesIO(self._raw_message))
        self.message = KafkaMessage.MessageBody(_io__raw_message, self, self._root)

    def _fetch_instances(self):
        pass
        self.message._fetch_instances()

    class MessageAttributes(KaitaiStruct):
        """One byte of bits.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/LegacyRecord.java

        .. seealso::
           KIP-32 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-32+-+Add+timestamps+to+Kafka+message
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaMessage.MessageAttributes, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.reserved = self._io.read_bits_int_be(4)
            self.timestamp_type = KaitaiStream.resolve_enum(KafkaMessage.TimestampTypes, self._io.read_bits_int_be(1))
            self.codec = KaitaiStream.resolve_enum(KafkaMessage.Codecs, self._io.read_bits_int_be(3))

        def _fetch_instances(self):
            pass

    class MessageBody(KaitaiStruct):
        """The message itself. Bytes behind the value are ignored by Kafka's reader,
        but covered by `crc`.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/LegacyRecord.java

        .. seealso::
           KIP-32 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-32+-+Add+timestamps+to+Kafka+message
        """
        timestamp = None
        key = None
        value = None
        ignored = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaMessage.MessageBody, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.crc = self._io.read_u4be()
            self.magic = self._io.read_s1()
            if not  ((self.magic == 0) or (self.magic == 1)) :
                raise kaitaistruct.ValidationNotAnyOfError(self.magic, self._io, u"/types/message_body/seq/1")
            self._raw_attributes = self._io.read_bytes(1)
            _io__raw_attributes = KaitaiStream(BytesIO(self._raw_attributes))
            self.attributes = KafkaMessage.MessageAttributes(_io__raw_attributes, self, self._root)
            if self.magic >= 1:
                pass
                self.timestamp = self._io.read_s8be()

            self.len_key = self._io.read_s4be()
            if self.len_key >= 0:
                pass
                self.key = self._io.read_bytes(self.len_key)

            self.len_value = self._io.read_s4be()
            if self.len_value >= 0:
                pass
                self.value = self._io.read_bytes(self.len_value)

            if (not (self._io.is_eof())):
                pass
                self.ignored = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
            self.attributes._fetch_instances()
            if self.magic >= 1:
                pass

            if self.len_key >= 0:
                pass

            if self.len_value >= 0:
                pass

            if (not (self._io.is_eof())):
                pass
