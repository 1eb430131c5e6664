# Generated from spec/kafka_records.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 8fa1b223c28c1a926ed2c6b3c3d28a42314b4f529c277447d29de2684fc29c0f, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_record

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaRecords(KaitaiStruct):
    """The records of one batch, as they lie in an uncompressed batch and as they
    come out of the decompressor of a compressed one. A specification cannot run
    Kafka's codecs; so decompress `compressed_payload` of `kafka_record_batch`
    and parse the result with this type.

    .. seealso::
       Source - https://kafka.apache.org/documentation/#record
    """
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaRecords, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.records = []
        i = 0
        while not self._io.is_eof():
            self.records.append(kafka_record.KafkaRecord(False, self._io))
            i += 1

    def _fetch_instances(self):
        pass
        for i in range(len(self.records)):
            pass
            self.records[i]._fetch_instances()
