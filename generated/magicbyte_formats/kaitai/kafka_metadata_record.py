# Generated from spec/kafka_metadata_record.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 9ad1bd3bdb76301bd8ce138ec195f89a7aee7fde46b1bf602464eb8b30e8ff1f, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_uvarint
from enum import IntEnum

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaMetadataRecord(KaitaiStruct):
    """The value of a record of `__cluster_metadata`, the log of KRaft, and of its
    snapshots: a frame of three numbers around a message of Kafka's protocol,
    whose fields are those of a JSON file in Kafka's source, by type and version.
    The key is null. Control records have no such frame.

    Frame version 0 is of the early access of 2.8, which numbered some types in
    another way and whose logs no later release reads; since 3.0 it is 1. The
    topic `__remote_log_metadata` has the same frame around types of its own.

    .. seealso::
       Source - https://github.com/apache/kafka/tree/3.8.0/metadata/src/main/resources/common/metadata
    """

    class RecordTypes(IntEnum):
        register_broker = 0
        unregister_broker = 1
        topic = 2
        partition = 3
        config = 4
        partition_change = 5
        fence_broker = 7
        unfence_broker = 8
        remove_topic = 9
        delegation_token = 10
        user_scram_credential = 11
        feature_level = 12
        client_quota = 14
        producer_ids = 15
        broker_registration_change = 17
        access_control_entry = 18
        remove_access_control_entry = 19
        no_op = 20
        zk_migration_state = 21
        remove_user_scram_credential = 22
        begin_transaction = 23
        end_transaction = 24
        abort_transaction = 25
        remove_delegation_token = 26
        register_controller = 27
        clear_elr = 28
        unregister_controller = 29
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaMetadataRecord, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.frame_version = kafka_uvarint.KafkaUvarint(self._io)
        self.api_key = kafka_uvarint.KafkaUvarint(self._io)
        self.api_version = kafka_uvarint.KafkaUvarint(self._io)
        self.data = self._io.read_bytes_full()

    def _fetch_instances(self):
        pass
        self.frame_version._fetch_instances()
        self.api_key._fetch_instances()
        self.api_version._fetch_instances()
