# Generated from spec/kafka_partition_metadata.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 44cb0a716a80247104ebacdcb77afabfaf25169f273625994e63153fb2fafadb, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaPartitionMetadata(KaitaiStruct):
    """The file `partition.metadata` of a partition: two lines of text that say to
    which topic it belongs; since 2.8 (KIP-516). The broker writes a new file and
    renames it; there is no checksum.

    What is written is described here: one space behind each colon, a line feed
    behind the first line and nothing behind the second. Kafka's reader also
    takes other white space behind the colons, CR and CR LF as the end of a line,
    and an id that is padded with `=`. A topic id of nothing but `A`, which is
    zero, is an error in Kafka.

    .. seealso::
       Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/checkpoint/PartitionMetadata.java
    """
    rest = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaPartitionMetadata, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.version_key = (self._io.read_bytes_term(32, False, True, True)).decode(u"UTF-8")
        if not self.version_key == u"version:":
            raise kaitaistruct.ValidationNotEqualError(u"version:", self.version_key, self._io, u"/seq/0")
        self.version = (self._io.read_bytes_term(10, False, True, True)).decode(u"UTF-8")
        self.topic_id_key = (self._io.read_bytes_term(32, False, True, True)).decode(u"UTF-8")
        if not self.topic_id_key == u"topic_id:":
            raise kaitaistruct.ValidationNotEqualError(u"topic_id:", self.topic_id_key, self._io, u"/seq/2")
        self.topic_id = (self._io.read_bytes(22)).decode(u"UTF-8")
        if (not (self._io.is_eof())):
            pass
            self.rest = self._io.read_bytes_full()

    def _fetch_instances(self):
        pass
        if (not (self._io.is_eof())):
            pass
