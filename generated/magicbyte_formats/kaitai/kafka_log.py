# Generated from spec/kafka_log.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 68673d8ac0d9698469c3b63f7da8b7c2ee760753d9502cb49c4a40c93d656a58, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_message
from . import kafka_record_batch

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaLog(KaitaiStruct):
    """A file of a topic partition, and likewise the `records` of a produce request
    or a fetch response: entries back to back, without a file header.

    All formats put the magic byte, which tells them apart, 16 bytes after the
    start of an entry, and a length, which counts what follows it, 8 bytes after
    the start. Formats may be mixed within one file.

    A file ends where an entry ends, or in one of two other ways that are no
    damage: with an entry that is cut off, after a crash or where a fetch
    response reached its size limit; or with zeros, where a broker allocates
    files before it fills them. Anything else is an error here, as in Kafka.

    .. seealso::
       Source - https://kafka.apache.org/documentation/#log
    """
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaLog, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.entries = []
        i = 0
        while not self._io.is_eof():
            self.entries.append(KafkaLog.Entry(self._io.pos(), self._io, self, self._root))
            i += 1

    def _fetch_instances(self):
        pass
        for i in range(len(self.entries)):
            pass
            self.entries[i]._fetch_instances()

    class Entry(KaitaiStruct):
        """An entry of any format, or the end of the file behind the last one. Of
        `content`, `partial` and `zero_tail` exactly one is there.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/ByteBufferLogInputStream.java
        """
        content = None
        zero_tail = None
        partial = None
        def __init__(self, ofs_entry, _io, _parent=None, _root=None):
            super(KafkaLog.Entry, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self.ofs_entry = ofs_entry
            self._read()

        def _read(self):
            if self.is_complete:
                pass
                _on = self.magic
                if _on == 0:
                    pass
                    self._raw_content = self._io.read_bytes(12 + self.len_content)
                    _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                    self.content = kafka_message.KafkaMessage(_io__raw_content)
                elif _on == 1:
                    pass
                    self._raw_content = self._io.read_bytes(12 + self.len_content)
                    _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                    self.content = kafka_message.KafkaMessage(_io__raw_content)
                elif _on == 2:
                    pass
                    self._raw_content = self._io.read_bytes(12 + self.len_content)
                    _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                    self.content = kafka_record_batch.KafkaRecordBatch(_io__raw_content)
                else:
                    pass
                    self._raw_content = self._io.read_bytes(12 + self.len_content)
                    _io__raw_content = KaitaiStream(BytesIO(self._raw_content))
                    self.content = KafkaLog.UnknownContent(_io__raw_content, self, self._root)

            if self.is_zero_tail:
                pass
                self.zero_tail = self._io.read_bytes_full()

            if  (((not (self.is_complete))) and ((not (self.is_zero_tail)))) :
                pass
                self.partial = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
            if self.is_complete:
                pass
                _on = self.magic
                if _on == 0:
                    pass
                    self.content._fetch_instances()
                elif _on == 1:
                    pass
                    self.content._fetch_instances()
                elif _on == 2:
                    pass
                    self.content._fetch_instances()
                else:
                    pass
                    self.content._fetch_instances()

            if self.is_zero_tail:
                pass

            if  (((not (self.is_complete))) and ((not (self.is_zero_tail)))) :
                pass

            _ = self.bytes_without_zeros
            if hasattr(self, '_m_bytes_without_zeros'):
                pass

            _ = self.len_content
            if hasattr(self, '_m_len_content'):
                pass

            _ = self.magic
            if hasattr(self, '_m_magic'):
                pass

            _ = self.offset
            if hasattr(self, '_m_offset'):
                pass

            _ = self.raw_len_content
            if hasattr(self, '_m_raw_len_content'):
                pass

        @property
        def bytes_without_zeros(self):
            """The rest of the file without the zeros at its end; looked at only
            where an entry cannot begin.
            """
            if hasattr(self, '_m_bytes_without_zeros'):
                return self._m_bytes_without_zeros

            if  ((self.len_avail < 12) or (self.raw_len_content == 0)) :
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry)
                self._m_bytes_without_zeros = KaitaiStream.bytes_strip_right(self._io.read_bytes_full(), 0)
                self._io.seek(_pos)

            return getattr(self, '_m_bytes_without_zeros', None)

        @property
        def is_complete(self):
            """Whether the file holds all bytes that the entry's length counts. That
            `len_content` and `magic` are looked at refuses what is no entry where
            one might be cut.
            """
            if hasattr(self, '_m_is_complete'):
                return self._m_is_complete

            self._m_is_complete =  (((not (self.is_zero_tail))) and (self.len_avail >= 12) and (self.len_content > 0) and (self.len_avail >= 17) and (self.magic >= 0) and (self.len_avail >= (12 + self.len_content)))
            return getattr(self, '_m_is_complete', None)

        @property
        def is_zero_tail(self):
            """Whether nothing but zeros follows."""
            if hasattr(self, '_m_is_zero_tail'):
                return self._m_is_zero_tail

            self._m_is_zero_tail =  (( ((self.len_avail < 12) or (self.raw_len_content == 0)) ) and (len(self.bytes_without_zeros) == 0))
            return getattr(self, '_m_is_zero_tail', None)

        @property
        def len_avail(self):
            """Bytes from the start of the entry to the end of the file."""
            if hasattr(self, '_m_len_avail'):
                return self._m_len_avail

            self._m_len_avail = (self._io.size() - self.ofs_entry)
            return getattr(self, '_m_len_avail', None)

        @property
        def len_content(self):
            """Bytes of the entry after this number. Kafka accepts no entry with
            fewer than 14. No checksum covers it.
            """
            if hasattr(self, '_m_len_content'):
                return self._m_len_content

            if  ((self.len_avail >= 12) and ((not (self.is_zero_tail)))) :
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry + 8)
                self._m_len_content = self._io.read_s4be()
                if not self._m_len_content >= 14:
                    raise kaitaistruct.ValidationLessThanError(14, self._m_len_content, self._io, u"/types/entry/instances/len_content")
                self._io.seek(_pos)

            return getattr(self, '_m_len_content', None)

        @property
        def magic(self):
            """Version of the format: 0 and 1 are messages, 2 is a record batch.
            """
            if hasattr(self, '_m_magic'):
                return self._m_magic

            if  ((self.len_avail >= 17) and ((not (self.is_zero_tail)))) :
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry + 16)
                self._m_magic = self._io.read_s1()
                if not  ((self._m_magic == 0) or (self._m_magic == 1) or (self._m_magic == 2)) :
                    raise kaitaistruct.ValidationNotAnyOfError(self._m_magic, self._io, u"/types/entry/instances/magic")
                self._io.seek(_pos)

            return getattr(self, '_m_magic', None)

        @property
        def offset(self):
            """Offset of the first record in v2, of the last one in v0 and v1. No
            checksum covers it.
            """
            if hasattr(self, '_m_offset'):
                return self._m_offset

            if self.len_avail >= 8:
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry)
                self._m_offset = self._io.read_s8be()
                self._io.seek(_pos)

            return getattr(self, '_m_offset', None)

        @property
        def raw_len_content(self):
            """The length as it is stored, whether or not it is valid."""
            if hasattr(self, '_m_raw_len_content'):
                return self._m_raw_len_content

            if self.len_avail >= 12:
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry + 8)
                self._m_raw_len_content = self._io.read_s4be()
                self._io.seek(_pos)

            return getattr(self, '_m_raw_len_content', None)

    class UnknownContent(KaitaiStruct):
        """Never parsed, as `magic` is checked; but without it a value of `content`
        that is no known format would be raw bytes, which Nim cannot express.
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaLog.UnknownContent, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.data = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
