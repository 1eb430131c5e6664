# Generated from spec/kafka_transaction_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 f51c638d173eeb6d6e2291beb268afc8a71f41e1fbd7a46bdd98ecf38e2a96de, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaTransactionIndex(KaitaiStruct):
    """The aborted transactions whose abort marker lies in the log segment of the
    same name, which a consumer needs to skip their records. Without header,
    checksum and zeros at the end; since 0.11 (KIP-98). There is no file where
    there is no such transaction.

    .. seealso::
       Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/AbortedTxn.java
    """
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaTransactionIndex, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.aborted_transactions = []
        i = 0
        while not self._io.is_eof():
            self.aborted_transactions.append(KafkaTransactionIndex.AbortedTransaction(self._io, self, self._root))
            i += 1

    def _fetch_instances(self):
        pass
        for i in range(len(self.aborted_transactions)):
            pass
            self.aborted_transactions[i]._fetch_instances()

    class AbortedTransaction(KaitaiStruct):
        """An aborted transaction, in so far as it touched this partition.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/AbortedTxn.java

        .. seealso::
           KIP-98 - https://cwiki.apache.org/confluence/display/KAFKA/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaTransactionIndex.AbortedTransaction, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.version = self._io.read_s2be()
            if not self.version == 0:
                raise kaitaistruct.ValidationNotEqualError(0, self.version, self._io, u"/types/aborted_transaction/seq/0")
            self.producer_id = self._io.read_s8be()
            self.first_offset = self._io.read_s8be()
            self.last_offset = self._io.read_s8be()
            self.last_stable_offset = self._io.read_s8be()

        def _fetch_instances(self):
            pass
