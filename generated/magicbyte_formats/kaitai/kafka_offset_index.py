# Generated from spec/kafka_offset_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 52fc966b28702b115558dcf58f379f939238b2bf9ae36c55b7b90b78b8fc95da, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaOffsetIndex(KaitaiStruct):
    """A sparse map from offsets to positions in the log segment of the same name,
    without header and without checksum. The broker adds an entry after every
    4096 bytes of log or so (`index.interval.bytes`), and makes the file anew
    from the segment where it is missing or wrong.

    The file of the newest segment is allocated before it is filled and cut to
    size when the segment is full or the broker stops; until then its rest is
    zeros. So the entries end where the next one would be all zeros.

    .. seealso::
       Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/OffsetIndex.java
    """
    entries = None
    zero_tail = None
    unknown_tail = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaOffsetIndex, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        if self.has_entries:
            pass
            self.entries = []
            i = 0
            while True:
                _ = KafkaOffsetIndex.Entry(self._io.pos(), self._io, self, self._root)
                self.entries.append(_)
                if _.is_last:
                    break
                i += 1

        if  (((not (self._io.is_eof()))) and (self.is_tail_zero)) :
            pass
            self.zero_tail = self._io.read_bytes_full()

        if (not (self._io.is_eof())):
            pass
            self.unknown_tail = self._io.read_bytes_full()

    def _fetch_instances(self):
        pass
        if self.has_entries:
            pass
            for i in range(len(self.entries)):
                pass
                self.entries[i]._fetch_instances()

        if  (((not (self._io.is_eof()))) and (self.is_tail_zero)) :
            pass

        if (not (self._io.is_eof())):
            pass

        _ = self.first_entry
        if hasattr(self, '_m_first_entry'):
            pass

        _ = self.tail_without_zeros
        if hasattr(self, '_m_tail_without_zeros'):
            pass

    class Entry(KaitaiStruct):
        """Where to begin reading for an offset: no batch before that position holds
        it or a higher one.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/OffsetPosition.java
        """
        def __init__(self, ofs_entry, _io, _parent=None, _root=None):
            super(KafkaOffsetIndex.Entry, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self.ofs_entry = ofs_entry
            self._read()

        def _read(self):
            self.relative_offset = self._io.read_s4be()
            self.ofs_batch = self._io.read_s4be()

        def _fetch_instances(self):
            pass
            _ = self.next_entry
            if hasattr(self, '_m_next_entry'):
                pass

        @property
        def is_last(self):
            """Whether no entry follows."""
            if hasattr(self, '_m_is_last'):
                return self._m_is_last

            self._m_is_last =  ((self._io.size() - self.ofs_entry < 16) or (self.next_entry == 0))
            return getattr(self, '_m_is_last', None)

        @property
        def next_entry(self):
            """All bits of the next entry."""
            if hasattr(self, '_m_next_entry'):
                return self._m_next_entry

            if self._io.size() - self.ofs_entry >= 16:
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry + 8)
                self._m_next_entry = self._io.read_s8be()
                self._io.seek(_pos)

            return getattr(self, '_m_next_entry', None)

    @property
    def first_entry(self):
        """All bits of the first entry."""
        if hasattr(self, '_m_first_entry'):
            return self._m_first_entry

        if self._io.size() >= 8:
            pass
            _pos = self._io.pos()
            self._io.seek(0)
            self._m_first_entry = self._io.read_s8be()
            self._io.seek(_pos)

        return getattr(self, '_m_first_entry', None)

    @property
    def has_entries(self):
        """Whether the file begins with an entry rather than with zeros."""
        if hasattr(self, '_m_has_entries'):
            return self._m_has_entries

        self._m_has_entries =  ((self._io.size() >= 8) and (self.first_entry != 0))
        return getattr(self, '_m_has_entries', None)

    @property
    def is_tail_zero(self):
        """Whether nothing but zeros follows the entries."""
        if hasattr(self, '_m_is_tail_zero'):
            return self._m_is_tail_zero

        self._m_is_tail_zero = len(self.tail_without_zeros) == 0
        return getattr(self, '_m_is_tail_zero', None)

    @property
    def ofs_tail(self):
        """Position of what follows the entries, in bytes."""
        if hasattr(self, '_m_ofs_tail'):
            return self._m_ofs_tail

        self._m_ofs_tail = ((len(self.entries) * 8) if self.has_entries else 0)
        return getattr(self, '_m_ofs_tail', None)

    @property
    def tail_without_zeros(self):
        """What follows the entries, without the zeros at its end."""
        if hasattr(self, '_m_tail_without_zeros'):
            return self._m_tail_without_zeros

        _pos = self._io.pos()
        self._io.seek(self.ofs_tail)
        self._m_tail_without_zeros = KaitaiStream.bytes_strip_right(self._io.read_bytes_full(), 0)
        self._io.seek(_pos)
        return getattr(self, '_m_tail_without_zeros', None)
