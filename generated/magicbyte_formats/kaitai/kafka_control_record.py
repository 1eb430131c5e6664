# Generated from spec/kafka_control_record.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 7a8b27e8850a1fa577a03a3b5ac4c36041022486f3282e0a02dd8ce95a2cae24, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_tagged_fields
from . import kafka_uvarint
from . import kafka_varint
from enum import IntEnum

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaControlRecord(KaitaiStruct):
    """Key and value of a record in a control batch, each behind its length: the
    middle of what `kafka_record` describes. The key says what the value is. The
    batch's CRC covers all of it.

    Two families share the format. A transaction marker ends a transaction in a
    partition; its batch is transactional, bears the producer's id and holds this
    one record. The others belong to KRaft, in the log `__cluster_metadata` and
    its snapshots; their batches are not transactional and may hold several.
    Consumers are given neither; each takes an offset.

    In the early KRaft of Kafka 2.7 and 2.8, type 3 was the change of leader, and
    its value had no version: see `kafka_early_leader_change`, which also says
    how to tell. Here, type 3 is the header of a snapshot.

    .. seealso::
       Source - https://kafka.apache.org/documentation/#controlbatch

    .. seealso::
       Source - https://github.com/apache/kafka/tree/3.8.0/clients/src/main/resources/common/message
    """

    class ControlTypes(IntEnum):
        abort = 0
        commit = 1
        leader_change = 2
        snapshot_header = 3
        snapshot_footer = 4
        kraft_version = 5
        kraft_voters = 6
    content = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaControlRecord, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.len_key = kafka_varint.KafkaVarint(self._io)
        self._raw_key = self._io.read_bytes(self.len_key.value)
        _io__raw_key = KaitaiStream(BytesIO(self._raw_key))
        self.key = KafkaControlRecord.ControlKey(_io__raw_key, self, self._root)
        self.len_value = kafka_varint.KafkaVarint(self._io)
        if self.len_value.value >= 0:
            pass
            _on = self.key.control_type
            if _on == KafkaControlRecord.ControlTypes.abort:
                pass
                self._raw_content = self._io.read_bytes(self.len_value.value)
                _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                self.content = KafkaControlRecord.EndTransactionMarker(_io__raw_content, self, self._root)
            elif _on == KafkaControlRecord.ControlTypes.commit:
                pass
                self._raw_content = self._io.read_bytes(self.len_value.value)
                _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                self.content = KafkaControlRecord.EndTransactionMarker(_io__raw_content, self, self._root)
            elif _on == KafkaControlRecord.ControlTypes.kraft_version:
                pass
                self._raw_content = self._io.read_bytes(self.len_value.value)
                _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                self.content = KafkaControlRecord.KraftVersionRecord(_io__raw_content, self, self._root)
            elif _on == KafkaControlRecord.ControlTypes.kraft_voters:
                pass
                self._raw_content = self._io.read_bytes(self.len_value.value)
                _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                self.content = KafkaControlRecord.VotersRecord(_io__raw_content, self, self._root)
            elif _on == KafkaControlRecord.ControlTypes.leader_change:
                pass
                self._raw_content = self._io.read_bytes(self.len_value.value)
                _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                self.content = KafkaControlRecord.LeaderChangeMessage(_io__raw_content, self, self._root)
            elif _on == KafkaControlRecord.ControlTypes.snapshot_footer:
                pass
                self._raw_content = self._io.read_bytes(self.len_value.value)
                _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                self.content = KafkaControlRecord.SnapshotFooterRecord(_io__raw_content, self, self._root)
            elif _on == KafkaControlRecord.ControlTypes.snapshot_header:
                pass
                self._raw_content = self._io.read_bytes(self.len_value.value)
                _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                self.content = KafkaControlRecord.SnapshotHeaderRecord(_io__raw_content, self, self._root)
            else:
                pass
                self._raw_content = self._io.read_bytes(self.len_value.value)
                _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                self.content = KafkaControlRecord.UnknownContent(_io__raw_content, self, self._root)

    def _fetch_instances(self):
        pass
        self.len_key._fetch_instances()
        self.key._fetch_instances()
        self.len_value._fetch_instances()
        if self.len_value.value >= 0:
            pass
            _on = self.key.control_type
            if _on == KafkaControlRecord.ControlTypes.abort:
                pass
                self.content._fetch_instances()
            elif _on == KafkaControlRecord.ControlTypes.commit:
                pass
                self.content._fetch_instances()
            elif _on == KafkaControlRecord.ControlTypes.kraft_version:
                pass
                self.content._fetch_instances()
            elif _on == KafkaControlRecord.ControlTypes.kraft_voters:
                pass
                self.content._fetch_instances()
            elif _on == KafkaControlRecord.ControlTypes.leader_change:
                pass
                self.content._fetch_instances()
            elif _on == KafkaControlRecord.ControlTypes.snapshot_footer:
                pass
                self.content._fetch_instances()
            elif _on == KafkaControlRecord.ControlTypes.snapshot_header:
                pass
                self.content._fetch_instances()
            else:
                pass
                self.content._fetch_instances()

    class ControlKey(KaitaiStruct):
        """The key of a control record.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/ControlRecordType.java
        """
        ignored = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaControlRecord.ControlKey, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.version = self._io.read_s2be()
            if not self.version >= 0:
                raise kaitaistruct.ValidationLessThanError(0, self.version, self._io, u"/types/control_key/seq/0")
            self.control_type = KaitaiStream.resolve_enum(KafkaControlRecord.ControlTypes, self._io.read_s2be())
            if (not (self._io.is_eof())):
                pass
                self.ignored = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
            if (not (self._io.is_eof())):
                pass

    class ElectionVoter(KaitaiStruct):
        """A voter in the election of a leader.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/LeaderChangeMessage.json

        .. seealso::
           KIP-853 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-853%3A+KRaft+Controller+Membership+Changes
        """
        voter_directory_id = None
        def __init__(self, version, _io, _parent=None, _root=None):
            super(KafkaControlRecord.ElectionVoter, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self.version = version
            self._read()

        def _read(self):
            self.voter_id = self._io.read_s4be()
            if self.version >= 1:
                pass
                self.voter_directory_id = self._io.read_bytes(16)

            self.extension = kafka_tagged_fields.KafkaTaggedFields(self._io)

        def _fetch_instances(self):
            pass
            if self.version >= 1:
                pass

            self.extension._fetch_instances()

    class EndTransactionMarker(KaitaiStruct):
        """The value of a transaction marker, be it an abort or a commit.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/EndTransactionMarker.java

        .. seealso::
           KIP-98 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging
        """
        ignored = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaControlRecord.EndTransactionMarker, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.version = self._io.read_s2be()
            if not self.version >= 0:
                raise kaitaistruct.ValidationLessThanError(0, self.version, self._io, u"/types/end_transaction_marker/seq/0")
            self.coordinator_epoch = self._io.read_s4be()
            if (not (self._io.is_eof())):
                pass
                self.ignored = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
            if (not (self._io.is_eof())):
                pass

    class Endpoint(KaitaiStruct):
        """An address of a voter.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/VotersRecord.json

        .. seealso::
           KIP-853 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-853%3A+KRaft+Controller+Membership+Changes
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaControlRecord.Endpoint, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.len_name = kafka_uvarint.KafkaUvarint(self._io)
            self.name = (self._io.read_bytes(self.len_name.count)).decode(u"UTF-8")
            self.len_host = kafka_uvarint.KafkaUvarint(self._io)
            self.host = (self._io.read_bytes(self.len_host.count)).decode(u"UTF-8")
            self.port = self._io.read_u2be()
            self.extension = kafka_tagged_fields.KafkaTaggedFields(self._io)

        def _fetch_instances(self):
            pass
            self.len_name._fetch_instances()
            self.len_host._fetch_instances()
            self.extension._fetch_instances()

    class KraftVersionRecord(KaitaiStruct):
        """Which version of the KRaft protocol the cluster uses from here on; since
        3.8 (KIP-853).

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/KRaftVersionRecord.json

        .. seealso::
           KIP-853 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-853%3A+KRaft+Controller+Membership+Changes
        """
        ignored = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaControlRecord.KraftVersionRecord, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.version = self._io.read_s2be()
            self.protocol_version = self._io.read_s2be()
            self.extension = kafka_tagged_fields.KafkaTaggedFields(self._io)
            if (not (self._io.is_eof())):
                pass
                self.ignored = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
            self.extension._fetch_instances()
            if (not (self._io.is_eof())):
                pass

    class LeaderChangeMessage(KaitaiStruct):
        """A new leader of the metadata quorum writes this first in its epoch; since
        3.0.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/LeaderChangeMessage.json

        .. seealso::
           KIP-595 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-595%3A+A+Raft+Protocol+for+the+Metadata+Quorum
        """
        ignored = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaControlRecord.LeaderChangeMessage, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.version = self._io.read_s2be()
            self.leader_id = self._io.read_s4be()
            self.num_voters = kafka_uvarint.KafkaUvarint(self._io)
            self.voters = []
            for i in range(self.num_voters.count):
                self.voters.append(KafkaControlRecord.ElectionVoter(self.version, self._io, self, self._root))

            self.num_granting_voters = kafka_uvarint.KafkaUvarint(self._io)
            self.granting_voters = []
            for i in range(self.num_granting_voters.count):
                self.granting_voters.append(KafkaControlRecord.ElectionVoter(self.version, self._io, self, self._root))

            self.extension = kafka_tagged_fields.KafkaTaggedFields(self._io)
            if (not (self._io.is_eof())):
                pass
                self.ignored = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
            self.num_voters._fetch_instances()
            for i in range(len(self.voters)):
                pass
                self.voters[i]._fetch_instances()

            self.num_granting_voters._fetch_instances()
            for i in range(len(self.granting_voters)):
                pass
                self.granting_voters[i]._fetch_instances()

            self.extension._fetch_instances()
            if (not (self._io.is_eof())):
                pass

    class SnapshotFooterRecord(KaitaiStruct):
        """The last record of a snapshot of the metadata log; since 3.0. A snapshot
        without it is incomplete.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/SnapshotFooterRecord.json
        """
        ignored = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaControlRecord.SnapshotFooterRecord, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.version = self._io.read_s2be()
            self.extension = kafka_tagged_fields.KafkaTaggedFields(self._io)
            if (not (self._io.is_eof())):
                pass
                self.ignored = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
            self.extension._fetch_instances()
            if (not (self._io.is_eof())):
                pass

    class SnapshotHeaderRecord(KaitaiStruct):
        """The first record of a snapshot of the metadata log; since 3.0.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/SnapshotHeaderRecord.json
        """
        ignored = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaControlRecord.SnapshotHeaderRecord, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.version = self._io.read_s2be()
            self.last_contained_log_timestamp = self._io.read_s8be()
            self.extension = kafka_tagged_fields.KafkaTaggedFields(self._io)
            if (not (self._io.is_eof())):
                pass
                self.ignored = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
            self.extension._fetch_instances()
            if (not (self._io.is_eof())):
                pass

    class UnknownContent(KaitaiStruct):
        """The value of a kind of record that is not known here."""
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaControlRecord.UnknownContent, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.data = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass

    class Voter(KaitaiStruct):
        """A voter of the metadata quorum.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/VotersRecord.json

        .. seealso::
           KIP-853 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-853%3A+KRaft+Controller+Membership+Changes
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaControlRecord.Voter, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.voter_id = self._io.read_s4be()
            self.voter_directory_id = self._io.read_bytes(16)
            self.num_endpoints = kafka_uvarint.KafkaUvarint(self._io)
            self.endpoints = []
            for i in range(self.num_endpoints.count):
                self.endpoints.append(KafkaControlRecord.Endpoint(self._io, self, self._root))

            self.min_supported_version = self._io.read_s2be()
            self.max_supported_version = self._io.read_s2be()
            self.feature_extension = kafka_tagged_fields.KafkaTaggedFields(self._io)
            self.extension = kafka_tagged_fields.KafkaTaggedFields(self._io)

        def _fetch_instances(self):
            pass
            self.num_endpoints._fetch_instances()
            for i in range(len(self.endpoints)):
                pass
                self.endpoints[i]._fetch_instances()

            self.feature_extension._fetch_instances()
            self.extension._fetch_instances()

    class VotersRecord(KaitaiStruct):
        """The voters of the metadata quorum from here on; since 3.8 (KIP-853).

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/VotersRecord.json

        .. seealso::
           KIP-853 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-853%3A+KRaft+Controller+Membership+Changes
        """
        ignored = None
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaControlRecord.VotersRecord, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.version = self._io.read_s2be()
            self.num_voters = kafka_uvarint.KafkaUvarint(self._io)
            self.voters = []
            for i in range(self.num_voters.count):
                self.voters.append(KafkaControlRecord.Voter(self._io, self, self._root))

            self.extension = kafka_tagged_fields.KafkaTaggedFields(self._io)
            if (not (self._io.is_eof())):
                pass
                self.ignored = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
            self.num_voters._fetch_instances()
            for i in range(len(self.voters)):
                pass
                self.voters[i]._fetch_instances()

            self.extension._fetch_instances()
            if (not (self._io.is_eof())):
                pass
