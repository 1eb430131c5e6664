"""What the columnar engine takes at once is what the reference engine scans, verifies and decodes."""

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.engines.columnar import buffers, control_block, fused, output
from magicbyte.engines.entry import checksum_of
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Taken
from magicbyte.limits import Limits
from magicbyte.reading import entry_groups
from magicbyte_tools.fuzz import agreement

ORIGIN = 50
"""The byte of its file at which all data begins."""

OF_BATCHES = ("offset", "timestamp", "key", "value", "headers", "position")
OF_MESSAGES = ("offset", "timestamp", "timestamp_type", "key", "value", "position")

ENOUGH = 1 << 22
FEW = 4000
"""Bytes that are enough, and an eighth of which is in front of what is unusual."""

Taking = Callable[..., Taken | None]


@pytest.fixture(params=[False, True], ids=["copied", "views"])
def views(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=[0, 100])
def behind(request: pytest.FixtureRequest) -> bytes:
    """Return what lies behind the entries: with nothing, the last one is at the edge."""
    return bytes(request.param)


@pytest.fixture
def taken(views: bool) -> Taking:
    """Return what takes the beginning of some bytes, once all of them have been compared."""
    columnar = engine("columnar", views=views)

    def taking(
        data: bytes, columns: tuple[str, ...] = OF_BATCHES, *, most_bytes: int = ENOUGH, **of: int
    ) -> Taken | None:
        limits = Limits(**of)
        view = memoryview(data)
        wrong = agreement.taken_runs(columnar, view, columns, origin=ORIGIN, limits=limits)
        assert not wrong
        return columnar.take(view, columns, origin=ORIGIN, limits=limits, most_bytes=most_bytes)

    return taking


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
def test_batches_are_taken(taken: Taking, views: bool, behind: bytes, codec: int) -> None:
    made = some_batches(codec=codec)
    found = taken(b"".join(made) + behind)
    # Views are not of copies: the last one has too few bytes behind it for a kernel.
    at_edge = bool(views and codec == 0 and not behind)
    assert found is not None and found.unsound is None
    assert len(found.entries) == len(made) - at_edge
    assert found.end == sum(map(len, made[: len(found.entries)]))


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [1, 2, 3])
def test_wrappers_are_taken(taken: Taking, behind: bytes, magic: int, codec: int) -> None:
    made = some_wrappers(magic, codec)
    found = taken(b"".join(made) + behind, OF_MESSAGES)
    assert found is not None and len(found.entries) == len(made)
    assert found.decoded.rows.num_rows == 3 * len(made)


@pytest.mark.parametrize("number", [0, 1, 40, 63, 99])
def test_messages_are_taken_up_to_a_wrong_checksum(
    taken: Taking, behind: bytes, number: int
) -> None:
    made = some_messages()
    sound = b"".join(made) + behind
    whole = taken(sound, OF_MESSAGES)
    assert whole is not None and len(whole.entries) >= 98
    data = bytearray(sound)
    end = sum(map(len, made[: number + 1]))
    data[end - 1] ^= 1
    found = taken(bytes(data), OF_MESSAGES)
    if found is None or found.unsound is None:  # views end before what is at the edge
        assert number == 99 and not behind
        return
    assert len(found.entries) == number and found.unsound.end == ORIGIN + end
    assert found.decoded.computed == checksum_of(memoryview(data), found.unsound, origin=ORIGIN)


@pytest.mark.parametrize("codec", range(5))
@pytest.mark.parametrize("number", [0, 17, 28])
def test_batches_are_taken_up_to_a_wrong_checksum(
    taken: Taking, behind: bytes, codec: int, number: int
) -> None:
    made = some_batches(codec=codec)
    made[number] = made[number][:-1] + bytes([made[number][-1] ^ 1])
    found = taken(b"".join(made) + behind)
    assert found is not None and found.unsound is not None
    assert len(found.entries) == number and found.unsound.base_offset == 3 * number
    assert found.decoded.computed != found.unsound.crc


def test_unsupported_entry_stops_the_fused_run(taken: Taking, behind: bytes) -> None:
    batches, messages = some_batches(), some_messages()
    odd = {
        "no records": build.batch([], 7),
        "a record too few": build.batch(build.records(2), 60, count=3),
        "a record too many": build.batch(build.records(2), 60, count=1),
        "another format": build.message(b"m", 60),
        "compressed control": build.batch(build.records(1), 60, codec=2, flags=build.CONTROL),
        "a control batch of something else": build.batch(build.records(1), 60, flags=build.CONTROL),
    }
    for name, one in odd.items():
        found = taken(b"".join([*batches[:20], one, *batches[21:]]) + behind, most_bytes=FEW)
        if name == "a control batch of something else":
            assert found is None or len(found.entries) >= 20
            continue
        assert found is not None and len(found.entries) == 20, name
        assert taken(one + batches[0] + behind) is None or name == "another format", name
    for one in (
        build.message(attributes=1),
        build.message(magic=1, attributes=4),
        build.batch(build.records(1), 70),
        build.wrapper([build.message(magic=1)], 70),
    ):
        data = b"".join([*messages[:70], one, *messages[71:]]) + behind
        found = taken(data, OF_MESSAGES, most_bytes=FEW)
        assert found is not None and len(found.entries) == 70
        if one[16] < 2:  # what another format has is no whole entry of this one
            assert taken(data, OF_MESSAGES) is None  # so little is for who takes all


def test_markers_are_taken_with_what_they_say(taken: Taking, behind: bytes) -> None:
    made = some_batches(9)
    made[4] = build.control(build.COMMIT, 12, 9)
    made[6] = build.control(build.ABORT, 18, 9)
    found = taken(b"".join([*made, build.batch()]) + behind)
    assert found is not None and len(found.entries) >= 9
    said = {n: told.control and told.control.type for n, told in found.decoded.told.items()}
    assert said == {4: 1, 6: 0}


def test_the_last_entry_is_taken_though_nothing_is_behind_it(taken: Taking) -> None:
    """As a view it is one of a copy, and by itself: views of a batch are of the same bytes."""
    made = some_batches(9)
    data, numbers, at = b"".join(made), [], 0
    while at < len(data):
        found = taken(data[at:])
        assert found is not None
        numbers.append(len(found.entries))
        at += found.end
    assert numbers in ([9], [8, 1])


def test_compressed_and_plain_batches_are_taken_together_unless_as_views(
    taken: Taking, views: bool
) -> None:
    made = [build.batch(build.records(2), 2 * n, codec=n % 5) for n in range(20)]
    found = taken(b"".join(made) + bytes(100))
    assert found is None if views else found is not None and len(found.entries) == 20
    found = taken(b"".join(made[1:]) + bytes(100), most_bytes=500)
    assert found is not None and len(found.entries) >= 4
    codecs = found.entries.column("codec").tolist()
    assert codecs[:4] == [1, 2, 3, 4] and (0 in codecs) != views


@pytest.mark.parametrize("codec", range(5))
def test_fused_run_stops_at_the_byte_limit(taken: Taking, codec: int) -> None:
    size = 100_000
    made = [build.batch([build.record(bytes(size))], n, codec=codec) for n in range(40)]
    found = taken(b"".join(made) + bytes(100), most_bytes=5 * size)
    assert found is not None and found.unsound is None and not found.is_cut
    # What is compressed is decompressed some at a time, so it may be somewhat more.
    assert 5 <= len(found.entries) <= (5 if codec == 0 else 15)


def test_buffer_that_ends_inside_an_entry_is_reported(taken: Taking) -> None:
    data, last = b"".join(some_batches()), build.batch(base=90)
    for kept in (1, 16, 17, 60, 61, len(last) - 1):
        found = taken(data + last[:kept])
        assert found is not None and found.is_cut == (found.end == len(data))
    for whole in (data, data + build.message(b"", 90), data + last):
        found = taken(whole)
        assert found is not None and not found.is_cut
    assert taken(last[:-1]) is None and taken(b"") is None and taken(bytes(16)) is None


@pytest.mark.parametrize("codec", range(5))
def test_buffers_grow_beyond_their_first_capacity(
    taken: Taking, monkeypatch: pytest.MonkeyPatch, codec: int
) -> None:
    monkeypatch.setattr(output, "POOL", buffers.Pool())
    monkeypatch.setattr(output, "LEAST_ROOM", 1)
    monkeypatch.setattr(fused, "FEWEST", 1)
    monkeypatch.setattr(fused, "learnt", dict)
    monkeypatch.setattr(output, "learnt", dict)
    made = some_batches(codec=codec)
    large = [build.batch([build.record(bytes(30_000))] * 100, 90, codec=codec)]
    found = taken(b"".join([*made, *large, *made]) + bytes(100))
    assert found is not None and len(found.entries) == 61
    messages = some_messages()
    found = taken(b"".join(messages) + bytes(100), OF_MESSAGES)
    assert found is not None and len(found.entries) == 100


def test_a_few_bytes_do_not_say_how_many_entries_there_are_in_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The end of a segment is taken by itself: the next one begins with a table as large as before."""
    tables: list[int] = []
    made = fused.new_descriptors

    def noted(count: int, width: int) -> Any:
        tables.append(count)
        return made(count, width)

    monkeypatch.setattr(fused, "new_descriptors", noted)
    monkeypatch.setattr(fused, "FEWEST", 1)
    one = build.message(b"value", 0, magic=1)
    known: dict[object, Any] = {}
    monkeypatch.setattr(fused, "learnt", lambda: known)
    columnar = engine("columnar")
    for count in (1000, 10, 1000):
        tables.clear()
        data = memoryview(one * count + bytes(100))
        found = columnar.take(data, OF_MESSAGES, origin=ORIGIN, limits=Limits(), most_bytes=ENOUGH)
        assert found is not None and len(found.entries) == count
    assert len(tables) == 1 and 1000 < tables[0] < 1400


def test_a_payload_over_the_limit_is_for_others(taken: Taking) -> None:
    made = some_batches(5, codec=1)
    made.append(build.batch([build.record(bytes(3 << 20))], 90, codec=1))
    assert len(made[-1]) < 10_000
    found = taken(b"".join(made) + bytes(100), max_batch_bytes=1 << 20, most_bytes=500)
    assert found is not None and len(found.entries) == 5
    found = taken(b"".join(made) + bytes(100), max_entry_bytes=len(made[-1]) - 1)
    assert found is not None and len(found.entries) == 5
    found = taken(b"".join(made) + bytes(100))
    assert found is not None and len(found.entries) == 6


def test_the_reference_engine_takes_nothing() -> None:
    data = memoryview(build.batch())
    options: Any = {"origin": ORIGIN, "limits": Limits(), "most_bytes": 1}
    assert engine("reference").take(data, OF_BATCHES, **options) is None


def test_a_kernel_that_fails_is_not_taken_for_one_that_ends(
    taken: Taking, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(place: int) -> None:
        sheet = (ctypes.c_int64 * control_block.LENGTH_OF_SHEET).from_address(place)
        sheet[control_block.STATUS] = 1

    monkeypatch.setattr(fused, "pump", lambda: run)
    with pytest.raises(RuntimeError, match="a kernel ended"):
        taken(build.batch() + bytes(100))


@pytest.mark.parametrize("table", ["records", "stored"])
def test_a_record_batch_goes_before_the_next_is_made(
    folder: Any, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.setattr(entry_groups, "MAX_GROUP_BYTES", 1)
    path = folder.segment("t-0", b"".join(some_batches()), 0)
    log = mb.open(str(path.parent), engine="columnar")
    columns = ["offset", "value"]
    places, count = set(), 0
    for rows in log.records(columns) if table == "records" else log.stored("records", columns):
        places.add(rows["value"].buffers()[2].address)
        count += 1
        del rows
    assert count >= 29 and len(places) == 1
