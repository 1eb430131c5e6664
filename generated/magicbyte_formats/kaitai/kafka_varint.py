# Generated from spec/kafka_varint.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 6389e472e746bdba1c76e4911e9bc9177c96e1d3019a11ccb352df4bd7f701c5, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaVarint(KaitaiStruct):
    """A signed 32-bit integer in 1 to 5 bytes: `VARINT` in Kafka's protocol guide.

    The number is first zigzag-mapped to an unsigned one (0, -1, 1, -2, 2 become
    0, 1, 2, 3, 4) and then cut into groups of 7 bits, the least significant
    group first. The top bit of a byte says that another byte follows.

    Kafka's reader accepts forms that are longer than need be, and so does this
    one. A 6th byte is an error.

    The groups are combined with `+` and `*` only, because in JavaScript, and so
    in the Web IDE, `<<`, `|` and `^` cut every number to 32 bits. The magnitude
    is built without the sign bit, so nothing ever needs an unsigned type.

    .. seealso::
       Source - https://protobuf.dev/programming-guides/encoding/#signed-ints

    .. seealso::
       Source - https://kafka.apache.org/protocol#protocol_types
    """
    last_group = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaVarint, self).__init__(_io)
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
    def has_last_group(self):
        """Whether there is a 5th byte."""
        if hasattr(self, '_m_has_last_group'):
            return self._m_has_last_group

        self._m_has_last_group = self.groups[-1] >= 128
        return getattr(self, '_m_has_last_group', None)

    @property
    def is_negative(self):
        """The sign, which is the lowest bit of the zigzag-mapped number."""
        if hasattr(self, '_m_is_negative'):
            return self._m_is_negative

        self._m_is_negative = self.groups[0] % 2 != 0
        return getattr(self, '_m_is_negative', None)

    @property
    def magnitude(self):
        """The zigzag-mapped number without its sign bit."""
        if hasattr(self, '_m_magnitude'):
            return self._m_magnitude

        self._m_magnitude = (((((self.groups[0] & 127) // 2 + ((self.groups[1] if len(self.groups) > 1 else 0) & 127) * 64) + ((self.groups[2] if len(self.groups) > 2 else 0) & 127) * 8192) + ((self.groups[3] if len(self.groups) > 3 else 0) & 127) * 1048576) + ((self.last_group if self.has_last_group else 0) & 15) * 134217728)
        return getattr(self, '_m_magnitude', None)

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
