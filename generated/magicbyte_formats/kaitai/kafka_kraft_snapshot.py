# Generated from spec/kafka_kraft_snapshot.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 b7829eef89450601dab37f29964debbe7b27b1a8574c40722a69c2c2fe32d55a, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_record_batch

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaKraftSnapshot(KaitaiStruct):
    """The state of the metadata log just before the offset that its name gives,
    together with the epoch; since 3.0 (KIP-630). `bootstrap.checkpoint` has the
    same form. All files of a name such as `recovery-point-offset-checkpoint`
    are something else, text.

    It is batches of v2 like any log, and `kafka_log` reads it as well; this
    description asks for more: a first batch that begins with SNAPSHOT_HEADER and
    a last one that begins with SNAPSHOT_FOOTER, both control batches, with
    nothing behind. Without the footer a file is incomplete, such as the
    `.checkpoint.part` that a stopped controller leaves behind.

    The offsets in it count from 0 and are not those of the log. The values of
    the records that are no control records are what `kafka_metadata_record`
    describes.

    .. seealso::
       Source - https://github.com/apache/kafka/blob/3.8.0/raft/src/main/java/org/apache/kafka/snapshot/RecordsSnapshotWriter.java
    """
    unexpected = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaKraftSnapshot, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.header = KafkaKraftSnapshot.SnapshotBatch(self._io, self, self._root)
        self.batches = []
        i = 0
        while True:
            _ = KafkaKraftSnapshot.SnapshotBatch(self._io, self, self._root)
            self.batches.append(_)
            if _.is_footer:
                break
            i += 1
        if  (((not (self.header.is_header))) or ((not (self._io.is_eof())))) :
            pass
            self.unexpected = self._io.read_u1()
            if not self.unexpected >= 1:
                raise kaitaistruct.ValidationLessThanError(1, self.unexpected, self._io, u"/seq/2")
            if not self.unexpected <= 0:
                raise kaitaistruct.ValidationGreaterThanError(0, self.unexpected, self._io, u"/seq/2")

    def _fetch_instances(self):
        pass
        self.header._fetch_instances()
        for i in range(len(self.batches)):
            pass
            self.batches[i]._fetch_instances()

        if  (((not (self.header.is_header))) or ((not (self._io.is_eof())))) :
            pass

    class SnapshotBatch(KaitaiStruct):
        """A batch, with what tells that it begins or ends the snapshot.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/raft/src/main/java/org/apache/kafka/snapshot/RecordsSnapshotWriter.java
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaKraftSnapshot.SnapshotBatch, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.batch = kafka_record_batch.KafkaRecordBatch(self._io)

        def _fetch_instances(self):
            pass
            self.batch._fetch_instances()

        @property
        def control_type(self):
            """Kind of the batch's first control record, as the enum `control_types`
            of `kafka_control_record` numbers them.
            """
            if hasattr(self, '_m_control_type'):
                return self._m_control_type

            if self.has_control_type:
                pass
                self._m_control_type = int(self.batch.payload.records[0].body.control_record.key.control_type)

            return getattr(self, '_m_control_type', None)

        @property
        def has_control_records(self):
            """Whether the batch holds control records, as all but the state do."""
            if hasattr(self, '_m_has_control_records'):
                return self._m_has_control_records

            self._m_has_control_records =  ((self.batch.attributes.is_control) and (self.batch.attributes.codec == kafka_record_batch.KafkaRecordBatch.Codecs.none) and (self.batch.num_records > 0))
            return getattr(self, '_m_has_control_records', None)

        @property
        def has_control_type(self):
            """Whether the batch begins with a control record that has a key."""
            if hasattr(self, '_m_has_control_type'):
                return self._m_has_control_type

            self._m_has_control_type =  ((self.has_control_records) and (self.len_first_key >= 4))
            return getattr(self, '_m_has_control_type', None)

        @property
        def is_footer(self):
            """Whether the batch begins with SNAPSHOT_FOOTER."""
            if hasattr(self, '_m_is_footer'):
                return self._m_is_footer

            self._m_is_footer =  ((self.has_control_type) and (self.control_type == 4))
            return getattr(self, '_m_is_footer', None)

        @property
        def is_header(self):
            """Whether the batch begins with SNAPSHOT_HEADER."""
            if hasattr(self, '_m_is_header'):
                return self._m_is_header

            self._m_is_header =  ((self.has_control_type) and (self.control_type == 3))
            return getattr(self, '_m_is_header', None)

        @property
        def len_first_key(self):
            """Bytes in the key of the first control record."""
            if hasattr(self, '_m_len_first_key'):
                return self._m_len_first_key

            if self.has_control_records:
                pass
                self._m_len_first_key = self.batch.payload.records[0].body.len_key.value

            return getattr(self, '_m_len_first_key', None)
