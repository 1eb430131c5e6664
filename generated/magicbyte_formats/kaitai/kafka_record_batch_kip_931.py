# Generated from spec/kafka_record_batch_kip_931.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 502f4e56be8f448efa396bb0d14defd950d8d8267b58ec18c7f7a2f7a5b410dc, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_varint
from . import kafka_varlong
from enum import IntEnum

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaRecordBatchKip931(KaitaiStruct):
    """A proposal that was discarded. No broker and no client of Apache Kafka ever
    wrote a batch like this one or reads it; to Kafka, a batch of magic 3 is an
    error, and so it is in `kafka_log`. It is described for those who study how
    the format could have gone on.

    KIP-931 wanted to save bytes: records without their attributes, and three of
    the header's numbers as varints at its end. Where it does not say what it
    changes, this is v2, with that format's names. Its list of fields leaves out
    the count of the records, without which they cannot be read; it stands here
    where v2 has it, before the fields of variable length.

    .. seealso::
       Source - https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field
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
        super(KafkaRecordBatchKip931, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.base_offset = self._io.read_s8be()
        self.len_batch = self._io.read_s4be()
        if not self.len_batch >= 32:
            raise kaitaistruct.ValidationLessThanError(32, self.len_batch, self._io, u"/seq/1")
        self.partition_leader_epoch = self._io.read_s4be()
        self.magic = self._io.read_s1()
        if not self.magic == 3:
            raise kaitaistruct.ValidationNotEqualError(3, self.magic, self._io, u"/seq/3")
        self.crc = self._io.read_u4be()
        self._raw_attributes = self._io.read_bytes(2)
        _io__raw_attributes = KaitaiStream(BytesIO(self._raw_attributes))
        self.attributes = KafkaRecordBatchKip931.BatchAttributes(_io__raw_attributes, self, self._root)
        self.producer_id = self._io.read_s8be()
        self.producer_epoch = self._io.read_s2be()
        self.base_sequence = self._io.read_s4be()
        self.num_records = self._io.read_s4be()
        if not self.num_records >= 0:
            raise kaitaistruct.ValidationLessThanError(0, self.num_records, self._io, u"/seq/9")
        self.last_offset_delta = kafka_varint.KafkaVarint(self._io)
        self.base_timestamp = kafka_varlong.KafkaVarlong(self._io)
        self.max_timestamp_delta = kafka_varint.KafkaVarint(self._io)
        if self.attributes.codec == KafkaRecordBatchKip931.Codecs.none:
            pass
            self._raw_payload = self._io.read_bytes((self.len_batch - 29) - self.len_varints)
            _io__raw_payload = KaitaiStream(BytesIO(self._raw_payload))
            self.payload = KafkaRecordBatchKip931.RecordList(_io__raw_payload, self, self._root)

        if self.attributes.codec != KafkaRecordBatchKip931.Codecs.none:
            pass
            self.compressed_payload = self._io.read_bytes((self.len_batch - 29) - self.len_varints)

    def _fetch_instances(self):
        pass
        self.attributes._fetch_instances()
        self.last_offset_delta._fetch_instances()
        self.base_timestamp._fetch_instances()
        self.max_timestamp_delta._fetch_instances()
        if self.attributes.codec == KafkaRecordBatchKip931.Codecs.none:
            pass
            self.payload._fetch_instances()

        if self.attributes.codec != KafkaRecordBatchKip931.Codecs.none:
            pass

    class BatchAttributes(KaitaiStruct):
        """Two bytes of bits, as in v2 but for `ignores_message_attributes`.

        .. seealso::
           KIP-931 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaRecordBatchKip931.BatchAttributes, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.reserved = self._io.read_bits_int_be(8)
            self.ignores_message_attributes = self._io.read_bits_int_be(1) != 0
            self.has_delete_horizon = self._io.read_bits_int_be(1) != 0
            self.is_control = self._io.read_bits_int_be(1) != 0
            self.is_transactional = self._io.read_bits_int_be(1) != 0
            self.timestamp_type = KaitaiStream.resolve_enum(KafkaRecordBatchKip931.TimestampTypes, self._io.read_bits_int_be(1))
            self.codec = KaitaiStream.resolve_enum(KafkaRecordBatchKip931.Codecs, self._io.read_bits_int_be(3))

        def _fetch_instances(self):
            pass

    class Header(KaitaiStruct):
        """A header of a record.

        .. seealso::
           KIP-931 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field
        """
        value = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaRecordBatchKip931.Header, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.len_key = kafka_varint.KafkaVarint(self._io)
            self.key = self._io.read_bytes(self.len_key.value)
            self.len_value = kafka_varint.KafkaVarint(self._io)
            if self.len_value.value >= 0:
                pass
                self.value = self._io.read_bytes(self.len_value.value)

        def _fetch_instances(self):
            pass
            self.len_key._fetch_instances()
            self.len_value._fetch_instances()
            if self.len_value.value >= 0:
                pass

    class Record(KaitaiStruct):
        """A record, as in v2 but for the attributes.

        .. seealso::
           KIP-931 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field
        """
        def __init__(self, has_attributes, _io, _parent=None, _root=None):
            super(KafkaRecordBatchKip931.Record, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self.has_attributes = has_attributes
            self._read()

        def _read(self):
            self.len_body = kafka_varint.KafkaVarint(self._io)
            self._raw_body = self._io.read_bytes(self.len_body.value)
            _io__raw_body = KaitaiStream(BytesIO(self._raw_body))
            self.body = KafkaRecordBatchKip931.RecordBody(self.has_attributes, _io__raw_body, self, self._root)

        def _fetch_instances(self):
            pass
            self.len_body._fetch_instances()
            self.body._fetch_instances()

    class RecordBody(KaitaiStruct):
        """Everything in a record but its length.

        .. seealso::
           KIP-931 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field
        """
        attributes = None
        key = None
        value = None
        unexpected = None
        def __init__(self, has_attributes, _io, _parent=None, _root=None):
            super(KafkaRecordBatchKip931.RecordBody, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self.has_attributes = has_attributes
            self._read()

        def _read(self):
            if self.has_attributes:
                pass
                self.attributes = self._io.read_s1()

            self.timestamp_delta = kafka_varlong.KafkaVarlong(self._io)
            self.offset_delta = kafka_varint.KafkaVarint(self._io)
            self.len_key = kafka_varint.KafkaVarint(self._io)
            if self.len_key.value >= 0:
                pass
                self.key = self._io.read_bytes(self.len_key.value)

            self.len_value = kafka_varint.KafkaVarint(self._io)
            if self.len_value.value >= 0:
                pass
                self.value = self._io.read_bytes(self.len_value.value)

            self.num_headers = kafka_varint.KafkaVarint(self._io)
            self.headers = []
            for i in range(self.num_headers.value):
                self.headers.append(KafkaRecordBatchKip931.Header(self._io, self, self._root))

            if  ((self.num_headers.value < 0) or ((not (self._io.is_eof())))) :
                pass
                self.unexpected = self._io.read_u1()
                if not self.unexpected >= 1:
                    raise kaitaistruct.ValidationLessThanError(1, self.unexpected, self._io, u"/types/record_body/seq/9")
                if not self.unexpected <= 0:
                    raise kaitaistruct.ValidationGreaterThanError(0, self.unexpected, self._io, u"/types/record_body/seq/9")

        def _fetch_instances(self):
            pass
            if self.has_attributes:
                pass

            self.timestamp_delta._fetch_instances()
            self.offset_delta._fetch_instances()
            self.len_key._fetch_instances()
            if self.len_key.value >= 0:
                pass

            self.len_value._fetch_instances()
            if self.len_value.value >= 0:
                pass

            self.num_headers._fetch_instances()
            for i in range(len(self.headers)):
                pass
                self.headers[i]._fetch_instances()

            if  ((self.num_headers.value < 0) or ((not (self._io.is_eof())))) :
                pass

    class RecordList(KaitaiStruct):
        """The records of an uncompressed batch.

        .. seealso::
           KIP-931 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field
        """
        unexpected = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaRecordBatchKip931.RecordList, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.records = []
            for i in range(self._parent.num_records):
                self.records.append(KafkaRecordBatchKip931.Record((not (self._parent.attributes.ignores_message_attributes)), self._io, self, self._root))

            if  ((self._parent.num_records > 0) and ((not (self._io.is_eof())))) :
                pass
                self.unexpected = self._io.read_u1()
                if not self.unexpected >= 1:
                    raise kaitaistruct.ValidationLessThanError(1, self.unexpected, self._io, u"/types/record_list/seq/1")
                if not self.unexpected <= 0:
                    raise kaitaistruct.ValidationGreaterThanError(0, self.unexpected, self._io, u"/types/record_list/seq/1")

        def _fetch_instances(self):
            pass
            for i in range(len(self.records)):
                pass
                self.records[i]._fetch_instances()

            if  ((self._parent.num_records > 0) and ((not (self._io.is_eof())))) :
                pass

    @property
    def len_varints(self):
        """Bytes that the varints of the header take, 3 to 20."""
        if hasattr(self, '_m_len_varints'):
            return self._m_len_varints

        self._m_len_varints = ((self.last_offset_delta.num_bytes + self.base_timestamp.num_bytes) + self.max_timestamp_delta.num_bytes)
        return getattr(self, '_m_len_varints', None)
