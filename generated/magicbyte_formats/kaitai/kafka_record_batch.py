# Generated from spec/kafka_record_batch.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 03ca42287501d997311624dd6ef5313e86534e1d7f6a51e5e40c392e7852195d, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_record
from enum import IntEnum

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaRecordBatch(KaitaiStruct):
    """The unit of storage, replication, compression and transactions of Kafka 0.11
    and later, used alike on disk, in produce requests and in fetch responses.

    A header of 61 bytes is followed by the records, which are compressed as a
    whole if `attributes.codec` names a codec. The checksum covers all bytes from
    `attributes` to the end of the batch, as they are stored; what lies before
    it, the broker may set without a new one.

    The log cleaner removes records from a batch but keeps `base_offset`,
    `last_offset_delta` and the producer's fields. So neither the first nor the
    last offset need belong to a record, and `num_records` may be 0.

    What no specification of a batch can say: whether its transaction was
    aborted. The marker that decides comes later in the log.

    .. seealso::
       Source - https://kafka.apache.org/documentation/#recordbatch
    """

    class Codecs(IntEnum):
        none = 0
        gzip = 1
        snappy = 2
        lz4 = 3
        zstd = 4

    class TimestampTypes(IntEnum):
        create_time = 0
        log_append_time = 1
    payload = None
    compressed_payload = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaRecordBatch, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.base_offset = self._io.read_s8be()
        self.len_batch = self._io.read_s4be()
        if not self.len_batch >= 49:
            raise kaitaistruct.ValidationLessThanError(49, self.len_batch, self._io, u"/seq/1")
        self.partition_leader_epoch = self._io.read_s4be()
        self.magic = self._io.read_s1()
        if not self.magic == 2:
            raise kaitaistruct.ValidationNotEqualError(2, self.magic, self._io, u"/seq/3")
        self.crc = self._io.read_u4be()
        self._raw_attributes = self._io.read_bytes(2)
        _io__raw_attributes = KaitaiStream(BytesIO(self._raw_attributes))
        self.attributes = KafkaRecordBatch.BatchAttributes(_io__raw_attributes, self, self._root)
        self.last_offset_delta = self._io.read_s4be()
        self.base_timestamp = self._io.read_s8be()
        self.max_timestamp = self._io.read_s8be()
        self.producer_id = self._io.read_s8be()
        self.producer_epoch = self._io.read_s2be()
        self.base_sequence = self._io.read_s4be()
        self.num_records = self._io.read_s4be()
        if not self.num_records >= 0:
            raise kaitaistruct.ValidationLessThanError(0, self.num_records, self._io, u"/seq/12")
        if self.attributes.codec == KafkaRecordBatch.Codecs.none:
            pass
            self._raw_payload = self._io.read_bytes(self.len_batch - 49)
            _io__raw_payload = KaitaiStream(BytesIO(self._raw_payload))
            self.payload = KafkaRecordBatch.RecordList(_io__raw_payload, self, self._root)

        if self.attributes.codec != KafkaRecordBatch.Codecs.none:
            pass
            self.compressed_payload = self._io.read_bytes(self.len_batch - 49)

    def _fetch_instances(self):
        pass
        self.attributes._fetch_instances()
        if self.attributes.codec == KafkaRecordBatch.Codecs.none:
            pass
            self.payload._fetch_instances()

        if self.attributes.codec != KafkaRecordBatch.Codecs.none:
            pass

    class BatchAttributes(KaitaiStruct):
        """Two bytes of bits, written by the producer; the broker sets the timestamp
        type and the log cleaner the delete horizon. Kafka's reader looks at the
        lower byte alone.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/DefaultRecordBatch.java
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaRecordBatch.BatchAttributes, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.reserved = self._io.read_bits_int_be(9)
            self.has_delete_horizon = self._io.read_bits_int_be(1) != 0
            self.is_control = self._io.read_bits_int_be(1) != 0
            self.is_transactional = self._io.read_bits_int_be(1) != 0
            self.timestamp_type = KaitaiStream.resolve_enum(KafkaRecordBatch.TimestampTypes, self._io.read_bits_int_be(1))
            self.codec = KaitaiStream.resolve_enum(KafkaRecordBatch.Codecs, self._io.read_bits_int_be(3))

        def _fetch_instances(self):
            pass

    class RecordList(KaitaiStruct):
        """The records of an uncompressed batch.

        .. seealso::
           Source - https://kafka.apache.org/documentation/#record
        """
        ignored = None
        unexpected = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaRecordBatch.RecordList, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.records = []
            for i in range(self._parent.num_records):
                self.records.append(kafka_record.KafkaRecord(self._parent.attributes.is_control, self._io))

            if  ((self._parent.num_records == 0) and ((not (self._io.is_eof())))) :
                pass
                self.ignored = self._io.read_bytes_full()

            if (not (self._io.is_eof())):
                pass
                self.unexpected = self._io.read_u1()
                if not self.unexpected >= 1:
                    raise kaitaistruct.ValidationLessThanError(1, self.unexpected, self._io, u"/types/record_list/seq/2")
                if not self.unexpected <= 0:
                    raise kaitaistruct.ValidationGreaterThanError(0, self.unexpected, self._io, u"/types/record_list/seq/2")

        def _fetch_instances(self):
            pass
            for i in range(len(self.records)):
                pass
                self.records[i]._fetch_instances()

            if  ((self._parent.num_records == 0) and ((not (self._io.is_eof())))) :
                pass

            if (not (self._io.is_eof())):
                pass

    @property
    def last_offset(self):
        """Offset of the last record, kept when that record is removed."""
        if hasattr(self, '_m_last_offset'):
            return self._m_last_offset

        self._m_last_offset = self.base_offset + self.last_offset_delta
        return getattr(self, '_m_last_offset', None)
