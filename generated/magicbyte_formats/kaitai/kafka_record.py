# Generated from spec/kafka_record.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 ed3fb40148e3d7ae4b6e8fdf60d9efa81c56910853b9c0fec9dd947f1e5ec148, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_control_record
from . import kafka_varint
from . import kafka_varlong

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaRecord(KaitaiStruct):
    """One record of a record batch: a key, a value and headers, with a timestamp
    and an offset that are counted from those of the batch.

    Every number but `attributes` is a zigzag varint. A negative length stands
    for an absent (null) byte string, which is not the same as an empty one;
    writers use -1, and readers take any negative length as null. A record has
    no checksum of its own: that of the batch covers all of it, and where the
    batch is compressed it covers the compressed bytes.

    .. seealso::
       Source - https://kafka.apache.org/documentation/#record
    """
    def __init__(self, is_control, _io, _parent=None, _root=None):
        super(KafkaRecord, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self.is_control = is_control
        self._read()

    def _read(self):
        self.len_body = kafka_varint.KafkaVarint(self._io)
        self._raw_body = self._io.read_bytes(self.len_body.value)
        _io__raw_body = KaitaiStream(BytesIO(self._raw_body))
        self.body = KafkaRecord.RecordBody(_io__raw_body, self, self._root)

    def _fetch_instances(self):
        pass
        self.len_body._fetch_instances()
        self.body._fetch_instances()

    class Header(KaitaiStruct):
        """A header of a record.

        .. seealso::
           Source - https://kafka.apache.org/documentation/#recordheader

        .. seealso::
           KIP-82 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-82+-+Add+Record+Headers
        """
        value = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaRecord.Header, self).__init__(_io)
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

    class RecordBody(KaitaiStruct):
        """Everything in a record but its length.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/DefaultRecord.java
        """
        key = None
        value = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaRecord.RecordBody, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
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
                self.headers.append(KafkaRecord.Header(self._io, self, self._root))

        def _fetch_instances(self):
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

            _ = self.control_record
            if hasattr(self, '_m_control_record'):
                pass
                self._m_control_record._fetch_instances()

        @property
        def control_record(self):
            """The same bytes as `len_key` to `value`, taken apart."""
            if hasattr(self, '_m_control_record'):
                return self._m_control_record

            if  ((self._parent.is_control) and (self.len_key.value >= 4)) :
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_len_key)
                self._m_control_record = kafka_control_record.KafkaControlRecord(self._io)
                self._io.seek(_pos)

            return getattr(self, '_m_control_record', None)

        @property
        def ofs_len_key(self):
            """Position of `len_key`, in bytes from the start of this body."""
            if hasattr(self, '_m_ofs_len_key'):
                return self._m_ofs_len_key

            self._m_ofs_len_key = ((1 + self.timestamp_delta.num_bytes) + self.offset_delta.num_bytes)
            return getattr(self, '_m_ofs_len_key', None)
