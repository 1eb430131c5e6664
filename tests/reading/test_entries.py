"""Headers of many entries: the same as objects and as columns, whoever has read them."""

from typing import Any

import pytest

from magicbyte.engines import Entries, engine
from magicbyte.engines.columnar.described import Described
from magicbyte.engines.entries import NOT_TOLD
from magicbyte.engines.entry import Entry, read_entry
from magicbyte.limits import Limits
from magicbyte.reading import groups as grouping
from magicbyte.reading import heads as reading_heads
from magicbyte.reading.groups import groups
from magicbyte.reading.heads import Heads, read_heads
from magicbyte.storage import MemoryFile
from magicbyte_tools.fuzz.agreement import entries_of

NAMES = (*Entry._fields, "first_offset")
LOWEST = -(1 << 63)


def batches(build: Any) -> list[bytes]:
    flags = (0, build.APPEND_TIME, build.TRANSACTIONAL, build.CONTROL, build.HORIZON, 0x7F80)
    found = [
        build.batch(build.records(n), 10 * n, codec=n % 5, flags=flag, leader_epoch=n)
        for n, flag in enumerate(flags)
    ]
    found += [build.batch(producer=4, epoch=5, sequence=6), build.batch(time=LOWEST)]
    return [*found, build.batch(base=(1 << 63) - 1), build.batch(last_delta=-3)]


def messages(build: Any) -> list[bytes]:
    plain = [build.message(b"v", 7, magic=magic) for magic in (0, 1, 0)]
    wrappers = [build.wrapper([build.message(magic=m)], 9, magic=m) for m in (1, 0)]
    return [
        *plain,
        *wrappers,
        build.message(time=LOWEST),
        build.message(attributes=build.APPEND_TIME),
    ]


def listed(data: bytes) -> Entries:
    found, end, _ = entries_of(
        engine("reference"), memoryview(data), origin=50, limits=Limits(), verify=False
    )
    assert end == len(data)
    return Entries(found)


def described(data: bytes) -> Entries:
    scan = engine("columnar").scan(memoryview(data), origin=50, verify=True, limits=Limits())
    assert isinstance(scan.entries, Described) and scan.end == len(data)
    return scan.entries


def heads(data: bytes) -> Entries:
    return read_heads(MemoryFile(bytes(50) + data, "memory"), 50, 50 + len(data))


@pytest.mark.parametrize(
    ("made", "read"), [(batches, described), (batches, heads), (messages, described)]
)
def test_entries_are_the_same_whoever_has_read_them(build: Any, made: Any, read: Any) -> None:
    data = b"".join(made(build))
    expected, found = listed(data), read(data)
    assert list(found) == list(expected)
    assert [found[n] for n in range(len(found))] == list(expected)
    assert found[-1] == expected[-1]
    with pytest.raises(IndexError):
        found[len(found)]
    assert list(found[2:5]) == list(expected)[2:5]
    for name in NAMES:
        assert found.column(name).tolist() == expected.column(name).tolist(), name
        assert found[2:5].column(name).tolist() == expected.column(name).tolist()[2:5], name


def test_a_column_says_what_is_not_told(build: Any) -> None:
    found = listed(b"".join(messages(build)))
    for name in NAMES:
        values = [getattr(entry, name) for entry in found]
        numbers = [NOT_TOLD if value is None else int(value) for value in values]
        assert found.column(name).tolist() == numbers, name
    assert NOT_TOLD in found.column("record_count")


def test_heads_end_before_what_is_no_batch_of_theirs(build: Any) -> None:
    two, one = build.batch() + build.batch(base=1), build.batch()
    for behind in (
        b"",
        build.message(),
        build.batch(magic=3),
        build.batch(length=48),
        build.batch(length=-1),
        build.batch()[:-1],
        build.batch()[:60],
        b"\0",
    ):
        found = heads(two + behind)
        assert isinstance(found, Heads)
        assert [entry.base_offset for entry in found] == [0, 1], behind
    assert len(heads(build.message() + one)) == 0
    least = build.batch([])
    assert len(least) == 61 and len(heads(least + least)) == 2


def test_not_all_heads_are_read_at_once(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_heads, "MOST_HEADS", 3)
    assert len(heads(build.batch() * 5)) == 3


def test_groups_hold_what_comes_to_so_many_bytes(
    build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, packed = build.batch(build.records(3)), build.batch(build.records(3), codec=build.GZIP)
    large = build.batch([build.record(bytes(400))])
    monkeypatch.setattr(grouping, "MAX_GROUP_BYTES", 2 * len(plain))

    def sizes(*made: bytes, expansion: int = 1) -> list[int]:
        return [len(group) for group in groups(listed(b"".join(made)), expansion)]

    assert sizes() == []
    assert sizes(*[plain] * 5) == [2, 2, 1]
    assert sizes(plain, large, plain, plain, plain) == [1, 1, 2, 1]
    assert sizes(large, large) == [1, 1]
    assert sizes(packed, packed, plain, plain, expansion=10) == [1, 1, 2]
    entries = listed(plain * 3)
    assert [entry for group in groups(entries) for entry in group] == list(entries)
    assert read_entry(plain, 0).codec == 0
