"""Tests of parsing the ends of files: clean, cut, preallocated zeros, or garbage."""

import pytest

from golden_bytes import V0 as MESSAGE
from magicbyte_formats.kaitai.kafka_log import KafkaLog
from magicbyte_formats.kaitai.kafka_offset_index import KafkaOffsetIndex
from magicbyte_formats.kaitai.kafka_time_index import KafkaTimeIndex


def ends(data: bytes) -> list[tuple[bool, bytes | None, bytes | None]]:
    entries = KafkaLog.from_bytes(data).entries
    return [(entry.content is not None, entry.partial, entry.zero_tail) for entry in entries]


WHOLE = (True, None, None)


@pytest.mark.parametrize("length", range(12, len(MESSAGE)))
def test_an_entry_that_is_cut_off_is_shown_as_such(length: int) -> None:
    assert ends(MESSAGE + MESSAGE[:length]) == [WHOLE, (False, MESSAGE[:length], None)]


CUT = b"\xff" * 8 + MESSAGE[8:]


@pytest.mark.parametrize("length", range(1, len(MESSAGE)))
def test_fields_of_a_cut_entry_are_parsed(length: int) -> None:
    (entry,) = KafkaLog.from_bytes(CUT[:length]).entries
    assert entry.offset == (-1 if length >= 8 else None)
    size = 19 if length >= 12 else None
    assert (entry.raw_len_content, entry.len_content) == (size, size)
    assert entry.magic == (0 if length >= 17 else None)
    rest = CUT[:length].rstrip(b"\0") if length < 12 else None
    assert entry.bytes_without_zeros == rest


def test_an_offset_index_looks_one_entry_ahead() -> None:
    index = KafkaOffsetIndex.from_bytes(b"\xff" * 16)
    assert index.entries is not None
    assert [index.first_entry, *(one.next_entry for one in index.entries)] == [-1, -1, None]
    assert KafkaOffsetIndex.from_bytes(b"").first_entry is None


def test_an_entry_of_an_offset_index_may_begin_with_zeros() -> None:
    index = KafkaOffsetIndex.from_bytes(bytes.fromhex("00000004 00000000 00000000 00001000"))
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
