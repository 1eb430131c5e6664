# Generated from spec/kafka_varlong.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 18d6b320b24a2f416ac030c102f00586878bc0730c7576de8a62c017b2e2d2d5, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaVarlong(KaitaiStruct):
    """A signed 64-bit integer in 1 to 10 bytes: `VARLONG` in Kafka's protocol
    guide. The encoding is that of `kafka_varint`, only longer; an 11th byte is
    an error.

    In JavaScript, and so in the Web IDE, a result beyond `2**53` is rounded.

    .. seealso::
       Source - https://protobuf.dev/programming-guides/encoding/#signed-ints

    .. seealso::
       Source - https://kafka.apache.org/protocol#protocol_types
    """
    last_group = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaVarlong, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.groups = []
        i = 0
        while True:
            _ = self._io.read_u1()
            self.groups.append(_)
            if  ((_ < 128) or (len(self.groups) == 9)) :
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
    def has_last_group(self):
        """Whether there is a 10th byte."""
        if hasattr(self, '_m_has_last_group'):
            return self._m_has_last_group

        self._m_has_last_group = self.groups[-1] >= 128
        return getattr(self, '_m_has_last_group', None)

    @property
    def high_bits(self):
        """Bits 55 to 62 of the magnitude."""
        if hasattr(self, '_m_high_bits'):
            return self._m_high_bits

        self._m_high_bits = (((self.groups[8] if len(self.groups) > 8 else 0) & 127) + ((self.last_group if self.has_last_group else 0) & 1) * 128)
        return getattr(self, '_m_high_bits', None)

    @property
    def is_negative(self):
        """The sign, which is the lowest bit of the zigzag-mapped number."""
        if hasattr(self, '_m_is_negative'):
            return self._m_is_negative

        self._m_is_negative = self.groups[0] % 2 != 0
        return getattr(self, '_m_is_negative', None)

    @property
    def low_bits(self):
        """Bits 0 to 26 of the magnitude."""
        if hasattr(self, '_m_low_bits'):
            return self._m_low_bits

        self._m_low_bits = ((((self.groups[0] & 127) // 2 + ((self.groups[1] if len(self.groups) > 1 else 0) & 127) * 64) + ((self.groups[2] if len(self.groups) > 2 else 0) & 127) * 8192) + ((self.groups[3] if len(self.groups) > 3 else 0) & 127) * 1048576)
        return getattr(self, '_m_low_bits', None)

    @property
    def magnitude(self):
        """The zigzag-mapped number without its sign bit."""
        if hasattr(self, '_m_magnitude'):
            return self._m_magnitude

        self._m_magnitude = ((self.low_bits + (self.middle_bits * 134217728)) + (self.high_bits * 36028797018963968))
        return getattr(self, '_m_magnitude', None)

    @property
    def middle_bits(self):
        """Bits 27 to 54 of the magnitude."""
        if hasattr(self, '_m_middle_bits'):
            return self._m_middle_bits

        self._m_middle_bits = (((((self.groups[4] if len(self.groups) > 4 else 0) & 127) + ((self.groups[5] if len(self.groups) > 5 else 0) & 127) * 128) + ((self.groups[6] if len(self.groups) > 6 else 0) & 127) * 16384) + ((self.groups[7] if len(self.groups) > 7 else 0) & 127) * 2097152)
        return getattr(self, '_m_middle_bits', None)

    @property
    def num_bytes(self):
        """Number of bytes that this integer takes."""
        if hasattr(self, '_m_num_bytes'):
            return self._m_num_bytes

        self._m_num_bytes = (len(self.groups) + (1 if self.has_last_group else 0))
        return getattr(self, '_m_num_bytes', None)

    @property
    def value(self):
        """The integer itself."""
        if hasattr(self, '_m_value'):
            return self._m_value

        self._m_value = ((-1 - self.magnitude) if self.is_negative else self.magnitude)
        return getattr(self, '_m_value', None)
