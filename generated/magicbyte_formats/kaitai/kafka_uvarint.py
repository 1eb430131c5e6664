# Generated from spec/kafka_uvarint.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 c543c132306be739578eb279f3e114221cc5413b1555a1b25617c3d344cf4744, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaUvarint(KaitaiStruct):
    """An unsigned 32-bit integer in 1 to 5 bytes: `UNSIGNED_VARINT` in Kafka's
    protocol guide, used by the flexible versions of its messages (KIP-482). The
    encoding is that of `kafka_varint`, but for the zigzag.

    .. seealso::
       Source - https://kafka.apache.org/protocol#protocol_types
    """
    last_group = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaUvarint, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.groups = []
        i = 0
        while True:
            _ = self._io.read_u1()
            self.groups.append(_)
            if  ((_ < 128) or (len(self.groups) == 4)) :
                break
            i += 1
        if self.has_last_group:
            pass
            self.last_group = self._io.read_u1()
            if not self.last_group <= 127:
                raise kaitaistruct.ValidationGreaterThanError(127, self.last_group, self._io, u"/seq/1")

    def _fetch_instances(self):
        pass
        for i in range(len(self.groups)):
            pass

        if self.has_last_group:
            pass

    @property
    def clamped(self):
        """The integer, or the largest of 31 bits where it is larger. For lengths and
        counts: so they lead past the end of the bytes in every language, instead
        of being negative in some.
        """
        if hasattr(self, '_m_clamped'):
            return self._m_clamped

        self._m_clamped = (2147483647 if self.value > 2147483647 else self.value)
        return getattr(self, '_m_clamped', None)

    @property
    def count(self):
        """What the integer stands for where it is a count or a length that is
        stored plus one, so that 0 can stand for null: here -1.
        """
        if hasattr(self, '_m_count'):
            return self._m_count

        self._m_count = (self.clamped - 1)
        return getattr(self, '_m_count', None)

    @property
    def has_last_group(self):
        """Whether there is a 5th byte."""
        if hasattr(self, '_m_has_last_group'):
            return self._m_has_last_group

        self._m_has_last_group = self.groups[-1] >= 128
        return getattr(self, '_m_has_last_group', None)

    @property
    def high_bits(self):
        """Bits 28 to 31."""
        if hasattr(self, '_m_high_bits'):
            return self._m_high_bits

        self._m_high_bits = ((self.last_group if self.has_last_group else 0) & 15)
        return getattr(self, '_m_high_bits', None)

    @property
    def low_bits(self):
        """Bits 0 to 27."""
        if hasattr(self, '_m_low_bits'):
            return self._m_low_bits

        self._m_low_bits = ((((self.groups[0] & 127) + ((self.groups[1] if len(self.groups) > 1 else 0) & 127) * 128) + ((self.groups[2] if len(self.groups) > 2 else 0) & 127) * 16384) + ((self.groups[3] if len(self.groups) > 3 else 0) & 127) * 2097152)
        return getattr(self, '_m_low_bits', None)

    @property
    def value(self):
        """The integer itself."""
        if hasattr(self, '_m_value'):
            return self._m_value

        self._m_value = (self.low_bits + (self.high_bits * 268435456))
        return getattr(self, '_m_value', None)
