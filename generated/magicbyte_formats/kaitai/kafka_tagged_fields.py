# Generated from spec/kafka_tagged_fields.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 c9c4f3df24611a8ccae5812aa74431234874f0f6562ad3df6a10031cbd3194cf, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_uvarint

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaTaggedFields(KaitaiStruct):
    """The end of every structure of a flexible version (KIP-482): fields that a
    reader skips if it does not know their tags. None is one zero byte.

    .. seealso::
       Source - https://kafka.apache.org/protocol#protocol_messages
    """
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaTaggedFields, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.num_fields = kafka_uvarint.KafkaUvarint(self._io)
        self.fields = []
        for i in range(self.num_fields.clamped):
            self.fields.append(KafkaTaggedFields.TaggedField(self._io, self, self._root))

    def _fetch_instances(self):
        pass
        self.num_fields._fetch_instances()
        for i in range(len(self.fields)):
            pass
            self.fields[i]._fetch_instances()

    class TaggedField(KaitaiStruct):
        """A field that may be there or not.

        .. seealso::
           KIP-482 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-482%3A+The+Kafka+Protocol+should+Support+Optional+Tagged+Fields
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaTaggedFields.TaggedField, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.tag = kafka_uvarint.KafkaUvarint(self._io)
            self.len_data = kafka_uvarint.KafkaUvarint(self._io)
            self.data = self._io.read_bytes(self.len_data.clamped)

        def _fetch_instances(self):
            pass
            self.tag._fetch_instances()
            self.len_data._fetch_instances()
