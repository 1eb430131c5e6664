# Generated from spec/kafka_time_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 51e5317788d2f05f7808ba4d0e076e45bc9b3c02c0ca1531995322ec787d52ff, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaTimeIndex(KaitaiStruct):
    """A sparse map from timestamps to offsets, for the log segment of the same
    name, without header and without checksum; since 0.10.1 (KIP-33). A segment
    that holds only messages of v0, which have no timestamps, has an empty one.

    The file of the newest segment is allocated before it is filled and cut to
    size when the segment is full or the broker stops; until then its rest is
    zeros. So the entries end where the next one would be all zeros.

    .. seealso::
       Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/TimeIndex.java
    """
    entries = None
    zero_tail = None
    unknown_tail = None
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaTimeIndex, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        if self.has_entries:
            pass
            self.entries = []
            i = 0
            while True:
                _ = KafkaTimeIndex.Entry(self._io.pos(), self._io, self, self._root)
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

        _ = self.first_relative_offset
        if hasattr(self, '_m_first_relative_offset'):
            pass

        _ = self.first_timestamp
        if hasattr(self, '_m_first_timestamp'):
            pass

        _ = self.tail_without_zeros
        if hasattr(self, '_m_tail_without_zeros'):
            pass

    class Entry(KaitaiStruct):
        """The newest record up to here: none with a lower or the same offset has a
        later timestamp.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/TimestampOffset.java
        """
        def __init__(self, ofs_entry, _io, _parent=None, _root=None):
            super(KafkaTimeIndex.Entry, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self.ofs_entry = ofs_entry
            self._read()

        def _read(self):
            self.timestamp = self._io.read_s8be()
            self.relative_offset = self._io.read_s4be()

        def _fetch_instances(self):
            pass
            _ = self.next_relative_offset
            if hasattr(self, '_m_next_relative_offset'):
                pass

            _ = self.next_timestamp
            if hasattr(self, '_m_next_timestamp'):
                pass

        @property
        def is_last(self):
            """Whether no entry follows."""
            if hasattr(self, '_m_is_last'):
                return self._m_is_last

            self._m_is_last =  ((self._io.size() - self.ofs_entry < 24) or ( ((self.next_timestamp == 0) and (self.next_relative_offset == 0)) ))
            return getattr(self, '_m_is_last', None)

        @property
        def next_relative_offset(self):
            """The offset of the next entry."""
            if hasattr(self, '_m_next_relative_offset'):
                return self._m_next_relative_offset

            if self._io.size() - self.ofs_entry >= 24:
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry + 20)
                self._m_next_relative_offset = self._io.read_s4be()
                self._io.seek(_pos)

            return getattr(self, '_m_next_relative_offset', None)

        @property
        def next_timestamp(self):
            """The timestamp of the next entry."""
            if hasattr(self, '_m_next_timestamp'):
                return self._m_next_timestamp

            if self._io.size() - self.ofs_entry >= 24:
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry + 12)
                self._m_next_timestamp = self._io.read_s8be()
                self._io.seek(_pos)

            return getattr(self, '_m_next_timestamp', None)

    @property
    def first_relative_offset(self):
        """The offset of the first entry."""
        if hasattr(self, '_m_first_relative_offset'):
            return self._m_first_relative_offset

        if self._io.size() >= 12:
            pass
            _pos = self._io.pos()
            self._io.seek(8)
            self._m_first_relative_offset = self._io.read_s4be()
            self._io.seek(_pos)

        return getattr(self, '_m_first_relative_offset', None)

    @property
    def first_timestamp(self):
        """The timestamp of the first entry."""
        if hasattr(self, '_m_first_timestamp'):
            return self._m_first_timestamp

        if self._io.size() >= 12:
            pass
            _pos = self._io.pos()
            self._io.seek(0)
            self._m_first_timestamp = self._io.read_s8be()
            self._io.seek(_pos)

        return getattr(self, '_m_first_timestamp', None)

    @property
    def has_entries(self):
        """Whether the file begins with an entry rather than with zeros."""
        if hasattr(self, '_m_has_entries'):
            return self._m_has_entries

        self._m_has_entries =  ((self._io.size() >= 12) and ( ((self.first_timestamp != 0) or (self.first_relative_offset != 0)) ))
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

        self._m_ofs_tail = ((len(self.entries) * 12) if self.has_entries else 0)
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
