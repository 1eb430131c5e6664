"""Tests that fused runs of the columnar engine give the results of the reference engine."""

import ctypes
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.engines.columnar import _buffers, _control_block, _entry_run, _output
from magicbyte.engines.entry import checksum_of
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk, Decoded
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import Limits
from magicbyte.reading import _walk
from magicbyte_tools.fuzz import agreement

ORIGIN = 50
"""The position in its file of the first byte of a chunk."""

OF_BATCHES = ("offset", "timestamp", "key", "value", "headers", "position")
OF_MESSAGES = ("offset", "timestamp", "timestamp_type", "key", "value", "position")

Run = Callable[..., Decoded]


@pytest.fixture(params=[False, True], ids=["copied", "views"])
def views(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=[0, 100])
def behind(request: pytest.FixtureRequest) -> bytes:
    """Bytes after the last entry: none, so that the entry ends the data, or 100 zeros."""
    return bytes(request.param)


@pytest.fixture
def decoded(views: bool) -> Run:
    """A function that decodes the first entries, after comparing all with the reference engine."""
    columnar = engine("columnar", views=views)

    def decode(
        data: bytes,
        columns: tuple[str, ...] = OF_BATCHES,
        *,
        max_bytes: int | None = None,
        **of: int,
    ) -> Decoded:
        chunk = Chunk(memoryview(data), ORIGIN)
        options: dict[str, Any] = {"limits": Limits(**of), "max_bytes": max_bytes}
        assert not agreement.run_differences(columnar, chunk, columns, verify=True, **options)
        return columnar.decode(chunk, columns, **options)

    return decode


def some_batches(count: int = 30, **options: Any) -> list[bytes]:
    return [build.batch(build.records(1 + n % 3), 3 * n, **options) for n in range(count)]


def some_messages() -> list[bytes]:
    made = [build.message(b"m%d" % n, n, magic=n // 50) for n in range(100)]
    made[70] = build.message(None, 70, attributes=build.APPEND_TIME, key=b"k")
    return made


def some_wrappers(magic: int, codec: int, count: int = 20) -> list[bytes]:
    inner = [build.message(b"i%d" % n, n, magic=magic) for n in range(3)]
    return [build.wrapper(inner, 3 * n + 2, magic=magic, codec=codec) for n in range(count)]


@pytest.mark.parametrize("codec", range(5))
def test_fused_run_decodes_batches(decoded: Run, views: bool, behind: bytes, codec: int) -> None:
    made = some_batches(codec=codec)
    found = decoded(b"".join(made) + behind)
    # Views do not refer to copies: a kernel needs more bytes after the last entry than there are.
    at_edge = bool(views and codec == 0 and not behind)
    assert found.unsound is None
    assert len(found.entries) == len(made) - at_edge
    assert found.end == sum(map(len, made[: len(found.entries)]))


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [1, 2, 3])
def test_fused_run_decodes_wrapper_messages(
    decoded: Run, behind: bytes, magic: int, codec: int
) -> None:
    made = some_wrappers(magic, codec)
    found = decoded(b"".join(made) + behind, OF_MESSAGES)
    assert len(found.entries) == len(made)
    assert found.rows.num_rows == 3 * len(made)


@pytest.mark.parametrize("number", [0, 1, 40, 63, 99])
def test_run_of_messages_ends_before_a_wrong_checksum(
    decoded: Run, behind: bytes, number: int
) -> None:
    made = some_messages()
    sound = b"".join(made) + behind
    whole = decoded(sound, OF_MESSAGES)
    assert len(whole.entries) >= 98
    data = bytearray(sound)
    end = sum(map(len, made[: number + 1]))
    data[end - 1] ^= 1
    found = decoded(bytes(data), OF_MESSAGES)
    if found.unsound is None:  # with views, an entry at the end of the data is left out
        assert number == 99 and not behind
        return
    assert len(found.entries) == number and found.unsound.end == ORIGIN + end
    assert found.computed == checksum_of(memoryview(data), found.unsound, origin=ORIGIN)


@pytest.mark.parametrize("codec", range(5))
@pytest.mark.parametrize("number", [0, 17, 28])
def test_run_of_batches_ends_before_a_wrong_checksum(
    decoded: Run, behind: bytes, codec: int, number: int
) -> None:
    made = some_batches(codec=codec)
    made[number] = made[number][:-1] + bytes([made[number][-1] ^ 1])
    found = decoded(b"".join(made) + behind)
    assert found.unsound is not None
    assert len(found.entries) == number and found.unsound.base_offset == 3 * number
    assert found.computed != found.unsound.crc


def test_unusual_entries_are_decoded_by_the_reference_engine(
    decoded: Run, views: bool, behind: bytes
) -> None:
    batches, messages = some_batches(), some_messages()
    unusual = {
        "no records, but bytes": build.batch([], 7, section=b"unread"),
        "a record too few": build.batch(build.records(2), 60, count=3),
        "a record too many": build.batch(build.records(2), 60, count=1),
        "another format": build.message(b"m", 60),
        "compressed control": build.batch(build.records(1), 60, codec=2, flags=build.CONTROL),
        "a control batch of something else": build.batch(build.records(1), 60, flags=build.CONTROL),
    }
    for name, entry in unusual.items():
        found = decoded(b"".join([*batches[:20], entry, *batches[21:]]) + behind)
        ends_run = name == "another format" or (views and name == "compressed control")
        assert len(found.entries) == 20 if ends_run else len(found.entries) >= 29, name
        assert 20 in found.results or ends_run, name
    for entry in (
        build.message(attributes=1),
        build.message(magic=1, attributes=4),
        build.batch(build.records(1), 70),
        build.wrapper([build.message(magic=1)], 70),
    ):
        found = decoded(b"".join([*messages[:70], entry, *messages[71:]]) + behind, OF_MESSAGES)
        ends_run = entry[16] == 2 or views
        assert len(found.entries) == 70 if ends_run else len(found.entries) >= 99


def test_batches_emptied_by_compaction_are_decoded_by_kernels(
    decoded: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = some_batches()
    batches[7] = build.batch([], 21)
    monkeypatch.setattr(ReferenceEngine, "decode_entry", None)
    found = decoded(b"".join(batches) + bytes(100))
    assert len(found.entries) == 30 and found.num_rows[7] == 0


def test_fused_run_decodes_transaction_markers(decoded: Run, behind: bytes) -> None:
    made = some_batches(9)
    made[4] = build.control(build.COMMIT, 12, 9)
    made[6] = build.control(build.ABORT, 18, 9)
    found = decoded(b"".join([*made, build.batch()]) + behind)
    assert len(found.entries) >= 9
    said = {n: result.control and result.control.type for n, result in found.results.items()}
    assert said == {4: 1, 6: 0}


def test_last_entry_is_decoded_without_bytes_after_it(decoded: Run) -> None:
    """With views, the last entry is copied and decoded alone: views share their batch's bytes."""
    made = some_batches(9)
    data, numbers, at = b"".join(made), [], 0
    while at < len(data):
        found = decoded(data[at:])
        numbers.append(len(found.entries))
        at += found.end
    assert numbers in ([9], [8, 1])


def test_compressed_batches_end_a_run_of_views_alone(decoded: Run, views: bool) -> None:
    made = [build.batch(build.records(2), 2 * n, codec=n % 5) for n in range(20)]
    data = b"".join(made) + bytes(100)
    assert len(decoded(data).entries) == (1 if views else 20)
    assert len(decoded(data[len(made[0]) :]).entries) == 19


def test_compressed_and_plain_messages_are_decoded_together(decoded: Run) -> None:
    made = [*some_wrappers(1, 3), *some_messages(), *some_wrappers(1, 1)]
    found = decoded(b"".join(made) + bytes(100), OF_MESSAGES)
    assert len(found.entries) == len(made)


@pytest.mark.parametrize("codec", range(5))
def test_fused_run_stops_at_the_byte_limit(decoded: Run, codec: int) -> None:
    size = 100_000
    made = [build.batch([build.record(bytes(size))], n, codec=codec) for n in range(40)]
    found = decoded(b"".join(made) + bytes(100), max_bytes=5 * size)
    assert found.unsound is None and found.stopped_by is None
    # What is compressed is decompressed some at a time, so it may be somewhat more.
    assert 5 <= len(found.entries) <= (5 if codec == 0 else 15)


def test_buffer_that_ends_inside_an_entry_is_reported(decoded: Run) -> None:
    data, last = b"".join(some_batches()), build.batch(base=90)

    def is_cut(found: Decoded) -> bool:
        return found.stopped_by is not None and found.stopped_by.code == "incomplete-entry"

    for kept in (1, 16, 17, 60, 61, len(last) - 1):
        found = decoded(data + last[:kept])
        assert is_cut(found) == (found.end == len(data))
    for whole in (data, data + build.message(b"", 90), data + last):
        assert not is_cut(decoded(whole))
    assert is_cut(decoded(last[:-1])) and not decoded(b"").entries
    assert not decoded(bytes(16)).entries


@pytest.mark.parametrize("codec", range(5))
def test_buffers_grow_beyond_their_first_capacity(
    decoded: Run, monkeypatch: pytest.MonkeyPatch, codec: int
) -> None:
    monkeypatch.setattr(_output, "POOL", _buffers.MemoryPool())
    monkeypatch.setattr(_output, "MIN_CAPACITY", 1)
    monkeypatch.setattr(_entry_run, "MIN_DESCRIPTORS", 1)
    monkeypatch.setattr(_entry_run, "size_estimates", dict)
    monkeypatch.setattr(_output, "size_estimates", dict)
    made = some_batches(codec=codec)
    large = [build.batch([build.record(bytes(30_000))] * 100, 90, codec=codec)]
    found = decoded(b"".join([*made, *large, *made]) + bytes(100))
    assert len(found.entries) == 61
    messages = some_messages()
    found = decoded(b"".join(messages) + bytes(100), OF_MESSAGES)
    assert len(found.entries) == 100


def test_descriptor_table_is_not_sized_by_the_last_buffer_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A short last buffer of a segment does not shrink the table for the next segment."""
    table = Mock(wraps=_entry_run.descriptor_table)
    monkeypatch.setattr(_entry_run, "descriptor_table", table)
    monkeypatch.setattr(_entry_run, "MIN_DESCRIPTORS", 1)
    one = build.message(b"value", 0, magic=1)
    known: dict[object, Any] = {}
    monkeypatch.setattr(_entry_run, "size_estimates", lambda: known)
    columnar = engine("columnar")
    for count in (1000, 10, 1000):
        table.reset_mock()
        data = memoryview(one * count + bytes(100))
        found = columnar.decode(Chunk(data, ORIGIN), OF_MESSAGES, limits=Limits())
        assert len(found.entries) == count
    table.assert_called_once()
    assert 1000 < table.call_args.args[0] < 1400


def test_payload_over_the_limit_is_reported(decoded: Run) -> None:
    made = some_batches(5, codec=1)
    made.append(build.batch([build.record(bytes(3 << 20))], 90, codec=1))
    assert len(made[-1]) < 10_000
    found = decoded(b"".join(made) + bytes(100), max_batch_bytes=1 << 20)
    assert [finding.code for finding in found.result(5).findings] == ["batch-over-limit"]
    found = decoded(b"".join(made) + bytes(100), max_entry_bytes=len(made[-1]) - 1)
    assert len(found.entries) == 5 and found.unsound is not None and found.computed is None
    found = decoded(b"".join(made) + bytes(100))
    assert len(found.entries) == 6


def test_failing_kernel_raises(decoded: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(place: int) -> None:
        block = (ctypes.c_int64 * _control_block.NUM_SLOTS).from_address(place)
        block[_control_block.STATUS] = 1

    monkeypatch.setattr(_entry_run, "fused_kernel", lambda: run)
    with pytest.raises(RuntimeError, match="a kernel ended"):
        decoded(build.batch() + bytes(100))


@pytest.mark.parametrize("table", ["records", "stored"])
def test_arrow_batch_is_freed_before_the_next_is_decoded(
    folder: Any, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.setattr(_walk, "MAX_BATCH_BYTES", 1)
    path = folder.segment("t-0", b"".join(some_batches()), 0)
    log = mb.open(str(path.parent), engine="columnar")
    columns = ["offset", "value"]
    places, count = set(), 0
    for rows in log.records(columns) if table == "records" else log.stored("records", columns):
        places.add(rows["value"].buffers()[2].address)
        count += 1
        del rows
    assert count >= 29 and len(places) == 1
