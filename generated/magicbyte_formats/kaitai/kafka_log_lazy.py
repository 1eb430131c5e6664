# Generated from spec/kafka_log_lazy.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 b34a3adfc3609ab54562b6158e3a5a98503893a899e4b788ac3309f7dac44474, kaitai-struct-compiler 0.11.0
import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from . import kafka_message
from . import kafka_record_batch

if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class KafkaLogLazy(KaitaiStruct):
    """The same bytes as in `kafka_log`, read only as far as somebody looks: of each
    entry the bytes are skipped, and its fields are parsed when `fields` is asked
    for. So a large segment opens, and a damaged one does as well: what is no
    entry is shown as bytes, where `kafka_log` refuses the file as Kafka does.

    Only the framing is judged here. An entry whose magic is unknown is skipped
    by its length. Where a length cannot be one, nothing tells where the next
    entry begins; `rest` is then all that follows. To go on, find an entry behind
    the damage and begin there: `part` has the position as its parameter.

    .. seealso::
       Source - https://kafka.apache.org/documentation/#log
    """
    def __init__(self, _io, _parent=None, _root=None):
        super(KafkaLogLazy, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.whole = KafkaLogLazy.Part(self._io.pos(), self._io, self, self._root)

    def _fetch_instances(self):
        pass
        self.whole._fetch_instances()

    class Entry(KaitaiStruct):
        """An entry of any format, or what follows the last. Of `skipped` and `rest`
        exactly one is there.

        .. seealso::
           Source - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/ByteBufferLogInputStream.java
        """
        skipped = None
        rest = None
        def __init__(self, ofs_entry, _io, _parent=None, _root=None):
            super(KafkaLogLazy.Entry, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self.ofs_entry = ofs_entry
            self._read()

        def _read(self):
            if self.is_framed:
                pass
                self.skipped = self._io.read_bytes(12 + self.len_content)

            if (not (self.is_framed)):
                pass
                self.rest = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
            if self.is_framed:
                pass

            if (not (self.is_framed)):
                pass

            _ = self.bytes_without_zeros
            if hasattr(self, '_m_bytes_without_zeros'):
                pass

            _ = self.fields
            if hasattr(self, '_m_fields'):
                pass
                _on = self.magic
                if _on == 0:
                    pass
                    self._m_fields._fetch_instances()
                elif _on == 1:
                    pass
                    self._m_fields._fetch_instances()
                elif _on == 2:
                    pass
                    self._m_fields._fetch_instances()
                else:
                    pass
                    self._m_fields._fetch_instances()

            _ = self.len_content
            if hasattr(self, '_m_len_content'):
                pass

            _ = self.magic
            if hasattr(self, '_m_magic'):
                pass

            _ = self.offset
            if hasattr(self, '_m_offset'):
                pass

        @property
        def bytes_without_zeros(self):
            """The rest of the file, without the zeros at its end."""
            if hasattr(self, '_m_bytes_without_zeros'):
                return self._m_bytes_without_zeros

            if (not (self.is_framed)):
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry)
                self._m_bytes_without_zeros = KaitaiStream.bytes_strip_right(self._io.read_bytes_full(), 0)
                self._io.seek(_pos)

            return getattr(self, '_m_bytes_without_zeros', None)

        @property
        def fields(self):
            """The fields of the entry, parsed when they are asked for."""
            if hasattr(self, '_m_fields'):
                return self._m_fields

            if self.is_framed:
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry)
                _on = self.magic
                if _on == 0:
                    pass
                    self._raw__m_fields = self._io.read_bytes(12 + self.len_content)
                    _io__raw__m_fields = KaitaiStream(BytesIO(self._raw__m_fields))
                    self._m_fields = kafka_message.KafkaMessage(_io__raw__m_fields)
                elif _on == 1:
                    pass
                    self._raw__m_fields = self._io.read_bytes(12 + self.len_content)
                    _io__raw__m_fields = KaitaiStream(BytesIO(self._raw__m_fields))
                    self._m_fields = kafka_message.KafkaMessage(_io__raw__m_fields)
                elif _on == 2:
                    pass
                    self._raw__m_fields = self._io.read_bytes(12 + self.len_content)
                    _io__raw__m_fields = KaitaiStream(BytesIO(self._raw__m_fields))
                    self._m_fields = kafka_record_batch.KafkaRecordBatch(_io__raw__m_fields)
                else:
                    pass
                    self._raw__m_fields = self._io.read_bytes(12 + self.len_content)
                    _io__raw__m_fields = KaitaiStream(BytesIO(self._raw__m_fields))
                    self._m_fields = KafkaLogLazy.UnknownContent(_io__raw__m_fields, self, self._root)
                self._io.seek(_pos)

            return getattr(self, '_m_fields', None)

        @property
        def is_framed(self):
            """Whether the length is possible and the file holds what it counts."""
            if hasattr(self, '_m_is_framed'):
                return self._m_is_framed

            self._m_is_framed =  ((self.len_avail >= 17) and (self.len_content >= 14) and (self.len_avail >= (12 + self.len_content)))
            return getattr(self, '_m_is_framed', None)

        @property
        def is_known(self):
            """Whether the entry is of a format that Kafka has."""
            if hasattr(self, '_m_is_known'):
                return self._m_is_known

            self._m_is_known =  ((self.is_framed) and (self.magic >= 0) and (self.magic <= 2))
            return getattr(self, '_m_is_known', None)

        @property
        def is_zero_tail(self):
            """Whether nothing but zeros follows."""
            if hasattr(self, '_m_is_zero_tail'):
                return self._m_is_zero_tail

            self._m_is_zero_tail =  (((not (self.is_framed))) and (len(self.bytes_without_zeros) == 0))
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
            """Bytes of the entry after this number, as stored: an entry has at least
            14. No checksum covers it.
            """
            if hasattr(self, '_m_len_content'):
                return self._m_len_content

            if self.len_avail >= 12:
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry + 8)
                self._m_len_content = self._io.read_s4be()
                self._io.seek(_pos)

            return getattr(self, '_m_len_content', None)

        @property
        def magic(self):
            """Version of the format, as stored: 0 and 1 are messages, 2 is a record
            batch.
            """
            if hasattr(self, '_m_magic'):
                return self._m_magic

            if self.len_avail >= 17:
                pass
                _pos = self._io.pos()
                self._io.seek(self.ofs_entry + 16)
                self._m_magic = self._io.read_s1()
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

    class Part(KaitaiStruct):
        """The entries from a position on, up to the end of the file.

        .. seealso::
           Source - https://kafka.apache.org/documentation/#log
        """
        def __init__(self, ofs_first, _io, _parent=None, _root=None):
            super(KafkaLogLazy.Part, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self.ofs_first = ofs_first
            self._read()

        def _read(self):
            pass

        def _fetch_instances(self):
            pass
            _ = self.entries
            if hasattr(self, '_m_entries'):
                pass
                for i in range(len(self._m_entries)):
                    pass
                    self._m_entries[i]._fetch_instances()

        @property
        def entries(self):
            """The entries, and what follows the last."""
            if hasattr(self, '_m_entries'):
                return self._m_entries

            _pos = self._io.pos()
            self._io.seek(self.ofs_first)
            self._m_entries = []
            i = 0
            while not self._io.is_eof():
                self._m_entries.append(KafkaLogLazy.Entry(self._io.pos(), self._io, self, self._root))
                i += 1

            self._io.seek(_pos)
            return getattr(self, '_m_entries', None)

    class UnknownContent(KaitaiStruct):
        """An entry whose magic is of no known format."""
        def __init__(self, _io, _parent=None, _root=None):
            super(KafkaLogLazy.UnknownContent, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.data = self._io.read_bytes_full()

        def _fetch_instances(self):
            pass
