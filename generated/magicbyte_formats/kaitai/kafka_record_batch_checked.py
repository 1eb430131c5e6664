# Generated from spec/kafka_record_batch_checked.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 3c1c22a67cb278be6bc62193e35800814fb6389acad31c34aa66c3b2ee1692c7, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_crc
from . import kafka_record_batch

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaRecordBatchChecked(KaitaiStruct):
    """For looking at a batch in a visualizer; see `kafka_crc` for what it costs.

    .. seealso::
       Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/DefaultRecordBatch.java
    """
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaRecordBatchChecked, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.batch = kafka_record_batch.KafkaRecordBatch(self._io)

    def _fetch_instances(self):
        pass
        self.batch._fetch_instances()
        _ = self.computed_crc
        if hasattr(self, '_m_computed_crc'):
            pass
            self._m_computed_crc._fetch_instances()

    @property
    def computed_crc(self):
        """The checksum of the bytes that the batch's `crc` covers."""
        if hasattr(self, '_m_computed_crc'):
            return self._m_computed_crc

        _pos = self._io.pos()
        self._io.seek(21)
        self._raw__m_computed_crc = self._io.read_bytes(self.batch.len_batch - 9)
        _io__raw__m_computed_crc = KaitaiStream(BytesIO(self._raw__m_computed_crc))
        self._m_computed_crc = kafka_crc.KafkaCrc(True, _io__raw__m_computed_crc)
        self._io.seek(_pos)
        return getattr(self, '_m_computed_crc', None)

    @property
    def is_crc_valid(self):
        """Whether the batch is as it was when its checksum was written."""
        if hasattr(self, '_m_is_crc_valid'):
            return self._m_is_crc_valid

        self._m_is_crc_valid = self.computed_crc.value == self.batch.crc
        return getattr(self, '_m_is_crc_valid', None)
