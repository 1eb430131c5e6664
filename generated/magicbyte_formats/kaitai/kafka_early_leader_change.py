# Generated from spec/kafka_early_leader_change.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 f44198c071f959d7f2d94846a60bbf03836cde2e5fbec026bb755c0790de5eee, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_tagged_fields
from . import kafka_uvarint

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaEarlyLeaderChange(KaitaiStruct):
    """The value of a control record by which a new leader of the metadata quorum
    began its epoch before 3.0, when KRaft was for trying out: its key has the
    type 3, and the value has no version. No release reads what these wrote.

    Since 3.0 the change of leader has the type 2 and begins with a version, and
    3 is the header of a snapshot. The bytes alone do not say which of the two a
    value of type 3 is, but the file does: a change of leader is in a log, and
    the header of a snapshot is in a `.checkpoint` and nowhere else. Besides, a
    header takes 11 bytes, and a change of leader never does; and the records of
    such a log have frames of version 0, where later ones have 1 (see
    `kafka_metadata_record`).

    The batch around it, and the key, are as `kafka_control_record` says.

    .. seealso::
       Source - https://github.com/apache/kafka/blob/2.8.0/clients/src/main/resources/common/message/LeaderChangeMessage.json
    """
    num_granting_voters = None
    granting_voters = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaEarlyLeaderChange, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.leader_id = self._io.read_s4be()
        self.num_voters = kafka_uvarint.KafkaUvarint(self._io)
        self.voters = []
        for i in range(self.num_voters.count):
            self.voters.append(KafkaEarlyLeaderChange.Voter(self._io, self, self._root))

        if self.has_granting_voters:
            pass
            self.num_granting_voters = kafka_uvarint.KafkaUvarint(self._io)

        if self.has_granting_voters:
            pass
            self.granting_voters = []
            for i in range(self.num_granting_voters.count):
                self.granting_voters.append(KafkaEarlyLeaderChange.Voter(self._io, self, self._root))

        self.extension = kafka_tagged_fields.KafkaTaggedFields(self._io)

    def _fetch_instances(self):
        pass
        self.num_voters._fetch_instances()
        for i in range(len(self.voters)):
            pass
            self.voters[i]._fetch_instances()

        if self.has_granting_voters:
            pass
            self.num_granting_voters._fetch_instances()

        if self.has_granting_voters:
            pass
            for i in range(len(self.granting_voters)):
                pass
                self.granting_voters[i]._fetch_instances()

        self.extension._fetch_instances()

    class Voter(KaitaiStruct):
        """A voter of the metadata quorum.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/2.8.0/clients/src/main/resources/common/message/LeaderChangeMessage.json
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaEarlyLeaderChange.Voter, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.voter_id = self._io.read_s4be()
            self.extension = kafka_tagged_fields.KafkaTaggedFields(self._io)

        def _fetch_instances(self):
            pass
            self.extension._fetch_instances()

    @property
    def has_granting_voters(self):
        """Whether more than the tagged fields, which are one byte where there are
        none, follows the voters. To be asked for behind them.
        """
        if hasattr(self, '_m_has_granting_voters'):
            return self._m_has_granting_voters

        self._m_has_granting_voters = self._io.size() - self._io.pos() > 1
        return getattr(self, '_m_has_granting_voters', None)
