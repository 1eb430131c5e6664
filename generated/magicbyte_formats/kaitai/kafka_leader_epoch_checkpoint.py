# Generated from spec/kafka_leader_epoch_checkpoint.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 1c1ddc459811ac940f7f64bf108dd882523b5cfcb939f8a1e53c043dc400f6a2, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaLeaderEpochCheckpoint(KaitaiStruct):
    """The file `leader-epoch-checkpoint` of a partition: lines of text that say
    with which offset each leader's epoch began; since 0.11 (KIP-101). The broker
    writes a new file and renames it; there is no checksum. An empty file means
    no entries.

    Fields and lines end as in `kafka_offset_checkpoint`, which also says what
    Kafka's reader takes and this description does not. Numbers are left as the
    text that they are.

    .. seealso::
       Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/checkpoint/LeaderEpochCheckpointFile.java
    """
    version = None
    num_entries = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaLeaderEpochCheckpoint, self).__init__(_io)
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
            self.entries.append(KafkaLeaderEpochCheckpoint.Entry(self._io, self, self._root))
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
        """Where an epoch began.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/EpochEntry.java

        .. seealso::
           KIP-101 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-101+-+Alter+Replication+Protocol+to+use+Leader+Epoch+rather+than+High+Watermark+for+Truncation
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaLeaderEpochCheckpoint.Entry, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.epoch = (self._io.read_bytes_term(32, False, True, True)).decode(u"UTF-8")
            self.start_offset = (self._io.read_bytes_term(10, False, True, True)).decode(u"UTF-8")

        def _fetch_instances(self):
            pass
