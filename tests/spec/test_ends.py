"""How files end: cleanly, cut off, with zeros that nothing has filled, or with garbage."""

import kaitaistruct
import pytest

from magicbyte_formats.kaitai.kafka_log import KafkaLog
from magicbyte_formats.kaitai.kafka_offset_index import KafkaOffsetIndex
from magicbyte_formats.kaitai.kafka_time_index import KafkaTimeIndex

MESSAGE = bytes.fromhex("0000000000000000 00000013 87a77ab2 00 00 ffffffff 00000005 68656c6c6f")


def ends(data: bytes) -> list[tuple[bool, bytes | None, bytes | None]]:
    entries = KafkaLog.from_bytes(data).entries
    return [(entry.content is not None, entry.partial, entry.zero_tail) for entry in entries]


WHOLE = (True, None, None)


def test_a_log_may_be_empty() -> None:
    assert ends(b"") == []


@pytest.mark.parametrize("length", [1, 11, 12, 16, 17, 100, 5000])
def test_zeros_up_to_the_end_are_shown_as_such(length: int) -> None:
    assert ends(MESSAGE + bytes(length)) == [WHOLE, (False, None, bytes(length))]


@pytest.mark.parametrize("length", range(12, len(MESSAGE)))
def test_an_entry_that_is_cut_off_is_shown_as_such(length: int) -> None:
    assert ends(MESSAGE + MESSAGE[:length]) == [WHOLE, (False, MESSAGE[:length], None)]


def test_a_log_that_begins_at_offset_0_is_no_zero_tail() -> None:
    assert MESSAGE[:11] == bytes(11)
    assert ends(MESSAGE) == [WHOLE]


@pytest.mark.parametrize("garbage", [bytes(100) + b"\x01", b"\x01" + bytes(100)])
def test_zeros_with_something_in_them_are_an_error(garbage: bytes) -> None:
    with pytest.raises(kaitaistruct.ValidationLessThanError):
        KafkaLog.from_bytes(MESSAGE + garbage)


@pytest.mark.parametrize("length", [12, 16])
@pytest.mark.parametrize("size", [0, 13, -1])
def test_a_size_below_any_entrys_is_an_error_though_the_magic_is_cut_off(
    length: int, size: int
) -> None:
    cut = b"\x01" + bytes(7) + size.to_bytes(4, "big", signed=True) + bytes(length - 12)
    with pytest.raises(kaitaistruct.ValidationLessThanError):
        KafkaLog.from_bytes(MESSAGE + cut)


def test_an_unknown_magic_is_an_error() -> None:
    with pytest.raises(kaitaistruct.ValidationNotAnyOfError):
        KafkaLog.from_bytes(MESSAGE[:16] + b"\x03" + MESSAGE[17:])


CUT = b"\xff" * 8 + MESSAGE[8:]


@pytest.mark.parametrize("length", range(1, len(MESSAGE)))
def test_what_is_there_of_an_entry_is_known(length: int) -> None:
    (entry,) = KafkaLog.from_bytes(CUT[:length]).entries
    assert entry.offset == (-1 if length >= 8 else None)
    size = 19 if length >= 12 else None
    assert (entry.raw_len_content, entry.len_content) == (size, size)
    assert entry.magic == (0 if length >= 17 else None)
    rest = CUT[:length].rstrip(b"\0") if length < 12 else None
    assert entry.bytes_without_zeros == rest


OFFSETS = bytes.fromhex("00000004 00000000 00000009 00001000")
TIMES = bytes.fromhex("0000018f125c7400 00000004 0000018f125c7401 00000009")


@pytest.mark.parametrize(("kind", "data"), [(KafkaOffsetIndex, OFFSETS), (KafkaTimeIndex, TIMES)])
class TestIndex:
    def test_entries_end_where_the_next_would_be_zeros(
        self, kind: type[KafkaOffsetIndex] | type[KafkaTimeIndex], data: bytes
    ) -> None:
        index = kind.from_bytes(data + bytes(240))
        assert index.entries is not None
        assert [entry.relative_offset for entry in index.entries] == [4, 9]
        assert (index.zero_tail, index.unknown_tail) == (bytes(240), None)

    def test_a_full_file_has_no_tail(
        self, kind: type[KafkaOffsetIndex] | type[KafkaTimeIndex], data: bytes
    ) -> None:
        index = kind.from_bytes(data)
        assert index.entries is not None
        assert len(index.entries) == 2
        assert (index.zero_tail, index.unknown_tail) == (None, None)

    def test_an_allocated_file_may_hold_no_entry_yet(
        self, kind: type[KafkaOffsetIndex] | type[KafkaTimeIndex], data: bytes
    ) -> None:
        index = kind.from_bytes(bytes(240))
        assert (index.entries, index.zero_tail, index.unknown_tail) == (None, bytes(240), None)

    def test_an_empty_file_has_nothing(
        self, kind: type[KafkaOffsetIndex] | type[KafkaTimeIndex], data: bytes
    ) -> None:
        index = kind.from_bytes(b"")
        assert (index.entries, index.zero_tail, index.unknown_tail) == (None, None, None)

    @pytest.mark.parametrize("tail", [b"\x01", bytes(24) + b"\x01", bytes(240) + b"\x01"])
    def test_what_is_neither_entry_nor_zeros_is_shown(
        self, kind: type[KafkaOffsetIndex] | type[KafkaTimeIndex], data: bytes, tail: bytes
    ) -> None:
        index = kind.from_bytes(data + tail)
        assert index.entries is not None
        assert len(index.entries) == 2
        assert (index.zero_tail, index.unknown_tail) == (None, tail)


def test_an_offset_index_looks_one_entry_ahead() -> None:
    index = KafkaOffsetIndex.from_bytes(b"\xff" * 16)
    assert index.entries is not None
    assert [index.first_entry, *(one.next_entry for one in index.entries)] == [-1, -1, None]
    assert KafkaOffsetIndex.from_bytes(b"").first_entry is None


def test_an_entry_of_an_offset_index_may_begin_with_zeros() -> None:
    index = KafkaOffsetIndex.from_bytes(OFFSETS[:8] + bytes(4) + OFFSETS[12:])
    assert index.entries is not None
    assert [entry.ofs_batch for entry in index.entries] == [0, 4096]


def test_a_time_index_looks_one_entry_ahead() -> None:
    index = KafkaTimeIndex.from_bytes(b"\xff" * 24)
    assert (index.first_timestamp, index.first_relative_offset) == (-1, -1)
    assert index.entries is not None
    ahead = [(one.next_timestamp, one.next_relative_offset) for one in index.entries]
    assert ahead == [(-1, -1), (None, None)]
    empty = KafkaTimeIndex.from_bytes(b"")
    assert (empty.first_timestamp, empty.first_relative_offset) == (None, None)
