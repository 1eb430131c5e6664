"""Tests that entry headers are the same as objects and as columns, from either engine."""

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.engines import _auto
from magicbyte.engines import header_scan as engines_heads
from magicbyte.engines._auto import AutoEngine
from magicbyte.engines.columnar import _buffers, _libraries
from magicbyte.engines.columnar._formats import DescriptorEntries
from magicbyte.engines.entry import Entry, checksum_of
from magicbyte.engines.entry_columns import NO_VALUE
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import BatchHeaders, Chunk, Decoded, Entries
from magicbyte.errors import ChangedError
from magicbyte.limits import Limits
from magicbyte.reading import _log_pass
from magicbyte.reading._walk import HeaderWalk, max_batch_bytes
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.storage import MemoryFile, open_file
from magicbyte_tools.fuzz.agreement import entries_of

NAMES = (*Entry._fields, "first_offset")
LOWEST = -(1 << 63)
ORIGIN = 50
"""The position in its file of the first byte of a chunk."""


def batches() -> list[bytes]:
    flags = (0, build.APPEND_TIME, build.TRANSACTIONAL, build.CONTROL, build.HORIZON, 0x7F80)
    found = [
        build.batch(build.records(n), 10 * n, codec=n % 5, flags=flag, leader_epoch=n)
        for n, flag in enumerate(flags)
    ]
    found += [build.batch(producer=4, epoch=5, sequence=6), build.batch(time=LOWEST)]
    return [*found, build.batch(base=(1 << 63) - 1), build.batch(last_delta=-3)]


def messages() -> list[bytes]:
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
        engine("reference"), Chunk(memoryview(data), ORIGIN), limits=Limits(), verify=False
    )
    assert end == len(data)
    return Entries(found)


def described(data: bytes) -> Entries:
    scan = engine("columnar").scan(Chunk(memoryview(data), ORIGIN), verify=True, limits=Limits())
    assert isinstance(scan.entries, DescriptorEntries) and scan.end == len(data)
    return scan.entries


def heads(data: bytes) -> Entries:
    whole = MemoryFile(bytes(ORIGIN) + data, "memory")
    return engine("reference").read_headers(whole, ORIGIN, ORIGIN + len(data))


def heads_by_kernel(data: bytes) -> Entries:
    with NamedTemporaryFile() as made:
        made.write(bytes(ORIGIN) + data)
        made.flush()
        with open_file(made.name) as file:
            assert file.descriptor is not None
            return engine("columnar").read_headers(file, ORIGIN, ORIGIN + len(data))


@pytest.mark.parametrize(
    ("made", "read"),
    [
        (batches, described),
        (batches, heads),
        (batches, heads_by_kernel),
        (messages, described),
    ],
)
def test_entries_are_the_same_whoever_has_read_them(made: Any, read: Any) -> None:
    data = b"".join(made())
    expected, found = listed(data), read(data)
    assert list(found) == list(expected)
    assert [found[n] for n in range(len(found))] == list(expected)
    assert found[-1] == expected[-1]
    with pytest.raises(IndexError):
        found[len(found)]
    assert list(found[2:5]) == list(expected)[2:5]
    chosen = found.picked(np.array([4, 1]))
    assert list(chosen) == list(expected.picked(np.array([4, 1])))
    assert list(chosen) == [expected[4], expected[1]]
    positions = expected.column("position") * 2
    moved = [entry._replace(position=entry.position * 2) for entry in expected]
    assert list(found.moved(positions)) == list(expected.moved(positions)) == moved
    assert list(found) == list(expected)
    others = [found[:1], found.moved(positions)[2:5]]
    joined = found[3:].followed_by(others)
    assert list(joined) == [*expected][3:] + [*expected][:1] + moved[2:5]
    assert joined.column("position").tolist() == [entry.position for entry in joined]
    for name in NAMES:
        assert found.column(name).tolist() == expected.column(name).tolist(), name
        assert found[2:5].column(name).tolist() == expected.column(name).tolist()[2:5], name


def test_entries_of_different_formats_follow_each_other() -> None:
    data = [b"".join(made()) for made in (batches, messages)]
    found = described(data[0]).followed_by([described(data[1]), listed(data[0])])
    expected = [*listed(data[0]), *listed(data[1]), *listed(data[0])]
    assert list(found) == expected


def test_column_marks_missing_values() -> None:
    found = listed(b"".join(messages()))
    for name in NAMES:
        values = [getattr(entry, name) for entry in found]
        numbers = [NO_VALUE if value is None else int(value) for value in values]
        assert found.column(name).tolist() == numbers, name
    assert NO_VALUE in found.column("record_count")


@pytest.mark.parametrize("heads", [heads, heads_by_kernel])
def test_heads_end_before_what_is_no_batch_of_theirs(heads: Any) -> None:
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
        assert isinstance(found, BatchHeaders)
        assert [entry.base_offset for entry in found] == [0, 1], behind
    assert len(heads(build.message() + one)) == 0
    least = build.batch([])
    assert len(least) == 61 and len(heads(least + least)) == 2


@pytest.mark.parametrize("heads", [heads, heads_by_kernel])
def test_not_all_heads_are_read_at_once(heads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines_heads, "MAX_HEADERS", 3)
    assert len(heads(build.batch() * 5)) == 3


def runs(
    name: str, data: memoryview, columns: tuple[str, ...], **options: Any
) -> Iterator[Decoded]:
    """Yield the result of each call of the engine's `decode` on sound *data*, to its end."""
    chunk, decoder = Chunk(data, ORIGIN), engine(name)
    while chunk.data:
        decoded = decoder.decode(chunk, columns, limits=Limits(), **options)
        assert len(decoded.entries)
        chunk = chunk.after(decoded.end)
        yield decoded


@pytest.mark.parametrize("name", ["reference", "columnar"])
@pytest.mark.parametrize("max_bytes", [1, 100, 200, 1000, 1 << 20])
def test_decoding_ends_where_entries_have_so_many_bytes(name: str, max_bytes: int) -> None:
    messages = [build.message(b"m%d" % i, i, magic=1) for i in range(3)]
    some = [build.batch(build.records(5), codec=codec) for codec in range(5)]
    some += [build.batch(build.records(3), count=2), build.control(build.COMMIT, 5, 9), *messages]
    some += [build.wrapper(messages, 3, codec=build.LZ4), build.batch([])]
    data, columns = memoryview(b"".join(some * 3)), ("offset", "key", "value", "codec", "position")
    whole = engine("reference").decode(Chunk(data, ORIGIN), columns, limits=Limits())
    assert whole.rows.num_rows == 3 * (5 * 5 + 1 + 3 + 3)
    parts = list(runs(name, data, columns, max_bytes=max_bytes))
    assert [one for part in parts for one in part.all_results()] == whole.all_results()
    assert pa.Table.from_batches([part.rows for part in parts]).equals(
        pa.Table.from_batches([whole.rows])
    )
    # Kernels end a run before an entry of another format, too.
    num_parts = {1: len(whole.entries), 1 << 20: 1 if name == "reference" else 7}
    assert len(parts) == num_parts.get(max_bytes, len(parts))
    assert 1 < len(parts) < len(whole.entries) or max_bytes in num_parts


@pytest.mark.parametrize("views", [False, True])
def test_decoding_ends_in_front_of_a_wrong_checksum(views: bool) -> None:
    plain = [build.message(b"m%d" % i, i, magic=i % 2) for i in range(3)]
    some = [build.batch(build.records(5), codec=codec) for codec in (0, 0, 4, 3, 0, 2, 2, 1, 0)]
    some += [build.control(build.COMMIT, 5, 9), build.batch(build.records(2)), build.batch([])]
    some += [*plain, build.wrapper(plain[1:2] * 3, 3, codec=build.LZ4), *plain]
    some += [build.batch(count=-1, codec=build.ZSTD), build.batch(count=-1), build.batch()]
    sound = b"".join(some)
    entries, limits = listed(sound), Limits()
    columns = ("offset", "key", "value", "position")
    engines = [engine(name, views=views) for name in ("reference", "columnar")]
    for number, entry in enumerate(entries):
        data = bytearray(sound)
        data[entry.end - 1 - ORIGIN] ^= 0x10
        view = memoryview(bytes(data))
        whole = Chunk(view, ORIGIN)
        before = engines[0].decode(whole, columns, limits=limits, verify=False, max_entries=number)
        for one in engines:
            results, rows, chunk = [], [], whole
            while True:
                found = one.decode(chunk, columns, limits=limits)
                results += found.all_results()
                rows += found.rows.to_pylist()
                chunk = chunk.after(found.end)
                if found.unsound is not None:
                    break
            assert (len(results), found.unsound.position) == (number, entry.position)
            assert found.computed == checksum_of(view, entry, origin=ORIGIN) != entry.crc
            assert results == before.all_results()
            assert rows == before.rows.to_pylist()


@pytest.mark.parametrize("name", ["reference", "columnar"])
def test_entries_that_come_to_much_do_not_get_into_one_record_batch(name: str) -> None:
    _buffers.reset()  # a larger buffer of an earlier test would hold more entries
    value = bytes(1 << 20)
    bomb = build.batch([build.record(value)], codec=build.GZIP)
    data = memoryview(bomb * 40)
    assert len(data) < 100_000
    sizes = [found.rows.nbytes for found in runs(name, data, ("value",), max_bytes=4 << 20)]
    assert sum(sizes) > 40 << 20
    assert max(sizes) < 6 << 20


@pytest.mark.parametrize("name", ["reference", "columnar"])
@pytest.mark.parametrize("codec", [0, 2])
def test_a_record_batch_of_numbers_holds_more_entries(codec: int, name: str) -> None:
    _buffers.reset()
    data = memoryview(build.batch([build.record(bytes(1 << 19))], codec=codec) * 80)

    def sizes(*columns: str) -> list[int]:
        max_bytes = max_batch_bytes(columns)
        return [len(found.entries) for found in runs(name, data, columns, max_bytes=max_bytes)]

    of_all, of_numbers = sizes("offset", "value"), sizes("offset", "position", "is_transactional")
    assert sum(of_all) == sum(of_numbers) == 80
    assert of_all[0] in range(7, 11) and of_numbers[0] in range(30, 36)


@pytest.mark.parametrize("name", ["reference", "columnar"])
@pytest.mark.parametrize("kept", [0, 1, 30, 60, 61, 80])
def test_heads_end_where_a_file_has_become_shorter(tmp_path: Path, kept: int, name: str) -> None:
    one, path = build.batch(), tmp_path / "00000000000000000000.log"
    path.write_bytes(one * 3)
    with open_file(str(path)) as file:
        os.truncate(path, 2 * len(one) + kept)
        found = engine(name).read_headers(file, 0, file.size_bytes)
        assert [entry.position for entry in found] == [0, len(one), 2 * len(one)][: len(found)]
        assert len(found) == (3 if kept >= 61 else 2)
        bounds = Bounds(floor=None, ceiling=None)
        walk = HeaderWalk(file, engine=engine(name), limits=Limits(), bounds=bounds)
        if kept < 61:
            with pytest.raises(ChangedError, match="the file ends at byte"):
                list(walk)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """(length, position) of each file read during the test, by Python or by a kernel."""
    reads: list[tuple[int, int]] = []
    pread = os.pread

    def noted(descriptor: int, length: int, position: int) -> bytes:
        reads.append((length, position))
        return pread(descriptor, length, position)

    @ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, *[ctypes.c_int64] * 2)
    def noted_by_kernel(descriptor: int, to: int, length: int, position: int) -> int:
        data = noted(descriptor, length, position)
        ctypes.memmove(to, data, len(data))
        return len(data)

    monkeypatch.setattr(os, "pread", noted)
    address = ctypes.cast(noted_by_kernel, ctypes.c_void_p).value
    # The default keeps the function alive as long as its address.
    monkeypatch.setattr(_libraries, "pread", lambda _=noted_by_kernel: address)
    return reads


def quick(path: Path, name: str) -> pa.Table:
    """Return the table of batches of the partition of *path*, read from headers alone."""
    return mb.open(str(path.parent), engine=name).batches(quick=True).to_table()


@pytest.mark.parametrize("name", ["reference", "columnar"])
def test_headers_alone_are_read_once(
    folder: Any, monkeypatch: pytest.MonkeyPatch, name: str, reads: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr(engines_heads, "MAX_HEADERS", 5)
    for base in (0, 40, 80):
        data = b"".join(build.batch(build.records(2), base + 2 * n) for n in range(20))
        path = folder.segment("t-0", data, base)
    once = quick(path, name)
    assert once.num_rows == 60
    assert reads == [(61, position) for position in once["position"].to_pylist()]
    for most_kept in (0, 17):  # less than there is
        monkeypatch.setattr(_log_pass.KeptHeaderPass, "num_kept_headers", most_kept)
        reads.clear()
        assert quick(path, name).equals(once) and len(reads) == 120 - most_kept // 5 * 5


def test_headers_are_read_by_a_kernel_where_none_is_compiled_for_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Engine:
        def __init__(self, name: str) -> None:
            self.name = name

        def read_headers(self, *_: object) -> BatchHeaders:
            asked.append(self.name)
            return BatchHeaders.back_to_back(bytes(4 * 61), 0)

        def load(self, magic: int) -> None:
            pass

    asked: list[str] = []
    chosen, process = AutoEngine(), _auto._Process
    for name in ("reference", "columnar"):
        monkeypatch.setattr(chosen, f"_{name}", Engine(name))
    for is_loaded, is_refused, is_built, expected in [
        (False, False, True, "columnar"),
        (True, False, False, "columnar"),
        (False, True, True, "reference"),
        (False, False, False, "reference"),
    ]:
        monkeypatch.setattr(process, "is_loaded", is_loaded)
        monkeypatch.setattr(process, "is_refused", is_refused)
        monkeypatch.setattr(_auto, "is_library_built", lambda is_built=is_built: is_built)
        chosen.read_headers(MemoryFile(b"", "memory"), 0, 0)
        assert asked[-1] == expected, (is_loaded, is_refused, is_built)


@pytest.mark.parametrize("name", ["reference", "columnar"])
def test_headers_of_small_messages_are_read_along_with_what_lies_between(
    folder: Any, monkeypatch: pytest.MonkeyPatch, name: str, reads: list[tuple[int, int]]
) -> None:
    large = build.message(bytes(5000), 500, magic=1)
    small = [build.message(b"v" * (n % 7), n, magic=n // 700) for n in range(1000)]
    path = folder.segment("t-0", b"".join([*small[:500], large, *small[501:]]), 0)
    found = quick(path, name)
    assert found["base_offset"].to_pylist() == list(range(1000))
    assert len(reads) < 40
    reads.clear()
    monkeypatch.setattr(HeaderWalk, "_small_messages", lambda *_: None)
    assert quick(path, name).equals(found)
    assert len(reads) > 1000
