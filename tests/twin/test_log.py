"""Tests of the twin's logs: entries of any magic, both undamaged ends, positions of damage."""

import pytest
from construct import ChecksumError, ConstructError

import magicbyte_construct as twin

ENTRIES = [
    twin.message(b"zero", magic=0),
    twin.message(b"one", offset=1),
    twin.record_batch([{"value": b"two"}], base_offset=2),
]
DATA = b"".join(ENTRIES)


def test_entries_of_every_magic() -> None:
    log = twin.Log.parse(DATA)
    assert [entry.magic for entry in log.entries] == [0, 1, 2]
    assert (log.partial, log.zero_tail) == (None, None)
    assert twin.Log.build(log) == DATA
    assert twin.Log.build({}) == b""


@pytest.mark.parametrize("entry", ENTRIES, ids=["magic 0", "magic 1", "magic 2"])
def test_a_cut_entry_is_partial_wherever_it_is_cut(entry: bytes) -> None:
    # An entry of offset 0 begins with zeros, which alone are a tail of zeros.
    first = next(size for size in range(1, len(entry)) if any(entry[:size]))
    for size in range(first, len(entry)):
        log = twin.Log.parse(DATA + entry[:size])
        assert len(log.entries) == 3
        assert log.partial == entry[:size]
        assert twin.Log.build(log) == DATA + entry[:size]


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(bytes(200_000) + b"\x01", id="zeros and then something"),
        pytest.param(twin.message(b"v", len_message=0), id="size 0"),
        pytest.param(twin.message(b"v", len_message=0) + bytes(200_000), id="size 0, zeros later"),
        pytest.param(twin.message(b"v", len_message=13), id="size below any entry's"),
        pytest.param(twin.message(b"v", len_message=-1), id="size negative"),
        pytest.param(twin.record_batch([], len_batch=48) + DATA, id="size below a batch's"),
        pytest.param(twin.record_batch([{}], magic=3), id="magic 3"),
        pytest.param(twin.record_batch([{}], magic=3)[:-1], id="magic 3, cut"),
        pytest.param(twin.record_batch([{}], magic=-1), id="magic negative"),
        pytest.param(b"\0" * 8 + b"\0\0\0\x0d" + b"\0" * 4 + b"\x01", id="size 13 at the end"),
        pytest.param(bytes(8) + b"\0\0\0\x0d" + bytes(4), id="size 13, cut before the magic"),
        pytest.param(bytes(7) + b"\x01" + bytes(4), id="size 0, cut behind it"),
    ],
)
def test_a_broken_size_or_magic_is_an_error_that_says_where(broken: bytes) -> None:
    for strict in (True, False):
        with pytest.raises(ConstructError, match=f"entry at byte {len(DATA)}") as caught:
            twin.Log.parse(DATA + broken, strict=strict)
        assert caught.value.position == len(DATA)


def test_error_in_an_entry_names_the_position_of_the_entry() -> None:
    altered = DATA[:-1] + b"\x02"
    with pytest.raises(ChecksumError, match=f"entry at byte {len(DATA) - len(ENTRIES[2])}"):
        twin.Log.parse(altered)
