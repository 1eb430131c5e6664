# Generated from spec/kafka_offset_checkpoint.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 4cadbe2604cafbc160c92e402476713d02434dca62318cdf98b098b1341a7b69, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

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

    .. seealso::
       Source - https://github.com/apache/kafka/blob/3.8.0/server-common/src/main/java/org/apache/kafka/server/common/CheckpointFile.java
    """
    version = None
    num_entries = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaOffsetCheckpoint, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        if self._io.size() > 0:
            pass
            self.version = (self._io.read_bytes_term(10, False, True, True)).decode(u"UTF-8")
            if not self.version == u"0":
                raise kaitaistruct.ValidationNotEqualError(u"0", self.version, self._io, u"/seq/0")

        if self._io.size() > 0:
            pass
            self.num_entries = (self._io.read_bytes_term(10, False, True, True)).decode(u"UTF-8")

        self.entries = []
        i = 0
        while not self._io.is_eof():
            self.entries.append(KafkaOffsetCheckpoint.Entry(self._io, self, self._root))
            i += 1

    def _fetch_instances(self):
        pass
        if self._io.size() > 0:
            pass

        if self._io.size() > 0:
            pass

        for i in range(len(self.entries)):
            pass
            self.entries[i]._fetch_instances()

    class Entry(KaitaiStruct):
        """The offset of a partition.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/core/src/main/scala/kafka/server/checkpoints/OffsetCheckpointFile.scala
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaOffsetCheckpoint.Entry, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.topic = (self._io.read_bytes_term(32, False, True, True)).decode(u"UTF-8")
            self.partition = (self._io.read_bytes_term(32, False, True, True)).decode(u"UTF-8")
            self.offset = (self._io.read_bytes_term(10, False, True, True)).decode(u"UTF-8")

        def _fetch_instances(self):
            pass
