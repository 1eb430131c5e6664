# Generated from spec/kafka_producer_snapshot.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 09d97d702f99ed0424cb1cf20af63eca600431d6f3bc914ed10ea6ecf1fa5eba, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaProducerSnapshot(KaitaiStruct):
    """What a broker knows of the idempotent and transactional producers of a
    partition just before the offset that names the file. It is written when a
    segment is full and at a clean stop; since 0.11 (KIP-98).

    It is the only file that says which transactions are open at an offset.

    .. seealso::
       Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/ProducerStateManager.java
    """
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaProducerSnapshot, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.version = self._io.read_s2be()
        if not self.version == 1:
            raise kaitaistruct.ValidationNotEqualError(1, self.version, self._io, u"/seq/0")
        self.crc = self._io.read_u4be()
        self.num_producers = self._io.read_s4be()
        if not self.num_producers >= 0:
            raise kaitaistruct.ValidationLessThanError(0, self.num_producers, self._io, u"/seq/2")
        self.producers = []
        for i in range(self.num_producers):
            self.producers.append(KafkaProducerSnapshot.Producer(self._io, self, self._root))

    def _fetch_instances(self):
        pass
        for i in range(len(self.producers)):
            pass
            self.producers[i]._fetch_instances()

    class Producer(KaitaiStruct):
        """A producer, with its last batch in this partition.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/ProducerStateEntry.java

        .. seealso::
           KIP-98 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaProducerSnapshot.Producer, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.producer_id = self._io.read_s8be()
            self.epoch = self._io.read_s2be()
            self.last_sequence = self._io.read_s4be()
            self.last_offset = self._io.read_s8be()
            self.offset_delta = self._io.read_s4be()
            self.timestamp = self._io.read_s8be()
            self.coordinator_epoch = self._io.read_s4be()
            self.current_transaction_first_offset = self._io.read_s8be()

        def _fetch_instances(self):
            pass
