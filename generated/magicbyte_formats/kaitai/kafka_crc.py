# Generated from spec/kafka_crc.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 e89671564464b2868c3a986d9d3fef59e4a5484b63923961962276ae66375c2a, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaCrc(KaitaiStruct):
    """The checksum of a whole stream, worked out by the specification itself: one
    step per byte, each going on from the result of the one before. Slow, and
    meant for looking at single batches; a real reader computes it elsewhere.

    The 32 bits are kept as two halves of 16 bits, because JavaScript, and so
    the Web IDE, has signed 32-bit bitwise operators.

    .. seealso::
       Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/utils/Crc32C.java
    """
    def __init__(self, is_castagnoli, _io, _parent=None, _root=None):
        super(KafkaCrc, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self.is_castagnoli = is_castagnoli
        self._read()

    def _read(self):
        self.steps = []
        i = 0
        while not self._io.is_eof():
            self.steps.append(KafkaCrc.Step((65535 if i == 0 else self.steps[i - 1].high), (65535 if i == 0 else self.steps[i - 1].low), self._io, self, self._root))
            i += 1

    def _fetch_instances(self):
        pass
        for i in range(len(self.steps)):
            pass
            self.steps[i]._fetch_instances()

    class Step(KaitaiStruct):
        """One byte, taken in two nibbles."""
        def __init__(self, prev_high, prev_low, _io, _parent=None, _root=None):
            super(KafkaCrc.Step, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self.prev_high = prev_high
            self.prev_low = prev_low
            self._read()

        def _read(self):
            self.data = self._io.read_u1()

        def _fetch_instances(self):
            pass

        @property
        def high(self):
            """Upper half of the register after this byte."""
            if hasattr(self, '_m_high'):
                return self._m_high

            self._m_high = ((((self.high_after1 >> 4 ^ (self.nibble2 % 2) * self._root.high1) ^ ((self.nibble2 // 2) % 2) * self._root.high2) ^ ((self.nibble2 // 4) % 2) * self._root.high4) ^ (self.nibble2 // 8) * self._root.high8)
            return getattr(self, '_m_high', None)

        @property
        def high_after1(self):
            """Upper half of the register after the lower nibble."""
            if hasattr(self, '_m_high_after1'):
                return self._m_high_after1

            self._m_high_after1 = (((self.prev_high >> 4 ^ (self.nibble1 % 2) * self._root.high1) ^ ((self.nibble1 // 2) % 2) * self._root.high2) ^ ((self.nibble1 // 4) % 2) * self._root.high4) ^ (self.nibble1 // 8) * self._root.high8
            return getattr(self, '_m_high_after1', None)

        @property
        def low(self):
            """Lower half of the register after this byte."""
            if hasattr(self, '_m_low'):
                return self._m_low

            self._m_low = (((((self.low_after1 >> 4) + (self.high_after1 & 15) * 4096 ^ (self.nibble2 % 2) * self._root.low1) ^ ((self.nibble2 // 2) % 2) * self._root.low2) ^ ((self.nibble2 // 4) % 2) * self._root.low4) ^ (self.nibble2 // 8) * self._root.low8)
            return getattr(self, '_m_low', None)

        @property
        def low_after1(self):
            """Lower half of the register after the lower nibble."""
            if hasattr(self, '_m_low_after1'):
                return self._m_low_after1

            self._m_low_after1 = ((((self.prev_low >> 4) + (self.prev_high & 15) * 4096 ^ (self.nibble1 % 2) * self._root.low1) ^ ((self.nibble1 // 2) % 2) * self._root.low2) ^ ((self.nibble1 // 4) % 2) * self._root.low4) ^ (self.nibble1 // 8) * self._root.low8
            return getattr(self, '_m_low_after1', None)

        @property
        def nibble1(self):
            """Lower nibble of the byte, with what the register adds to it."""
            if hasattr(self, '_m_nibble1'):
                return self._m_nibble1

            self._m_nibble1 = (self.prev_low ^ self.data) & 15
            return getattr(self, '_m_nibble1', None)

        @property
        def nibble2(self):
            """Upper nibble of the byte, with what the register adds to it."""
            if hasattr(self, '_m_nibble2'):
                return self._m_nibble2

            self._m_nibble2 = (self.low_after1 ^ self.data >> 4) & 15
            return getattr(self, '_m_nibble2', None)

    @property
    def high1(self):
        """Upper half of the polynomial for bit 0 of a nibble."""
        if hasattr(self, '_m_high1'):
            return self._m_high1

        self._m_high1 = (4190 if self.is_castagnoli else 7607)
        return getattr(self, '_m_high1', None)

    @property
    def high2(self):
        """Upper half of the polynomial for bit 1 of a nibble."""
        if hasattr(self, '_m_high2'):
            return self._m_high2

        self._m_high2 = (8381 if self.is_castagnoli else 15214)
        return getattr(self, '_m_high2', None)

    @property
    def high4(self):
        """Upper half of the polynomial for bit 2 of a nibble."""
        if hasattr(self, '_m_high4'):
            return self._m_high4

        self._m_high4 = (16763 if self.is_castagnoli else 30428)
        return getattr(self, '_m_high4', None)

    @property
    def high8(self):
        """Upper half of the polynomial for bit 3 of a nibble."""
        if hasattr(self, '_m_high8'):
            return self._m_high8

        self._m_high8 = (33526 if self.is_castagnoli else 60856)
        return getattr(self, '_m_high8', None)

    @property
    def low1(self):
        """Lower half of the polynomial for bit 0 of a nibble."""
        if hasattr(self, '_m_low1'):
            return self._m_low1

        self._m_low1 = (51055 if self.is_castagnoli else 4196)
        return getattr(self, '_m_low1', None)

    @property
    def low2(self):
        """Lower half of the polynomial for bit 1 of a nibble."""
        if hasattr(self, '_m_low2'):
            return self._m_low2

        self._m_low2 = (36574 if self.is_castagnoli else 8392)
        return getattr(self, '_m_low2', None)

    @property
    def low4(self):
        """Lower half of the polynomial for bit 2 of a nibble."""
        if hasattr(self, '_m_low4'):
            return self._m_low4

        self._m_low4 = (7612 if self.is_castagnoli else 16784)
        return getattr(self, '_m_low4', None)

    @property
    def low8(self):
        """Lower half of the polynomial for bit 3 of a nibble."""
        if hasattr(self, '_m_low8'):
            return self._m_low8

        self._m_low8 = (15224 if self.is_castagnoli else 33568)
        return getattr(self, '_m_low8', None)

    @property
    def value(self):
        """The checksum, to be compared with the stored one."""
        if hasattr(self, '_m_value'):
            return self._m_value

        self._m_value = ((65535 - self.steps[-1].high) * 65536 + (65535 - self.steps[-1].low))
        return getattr(self, '_m_value', None)
