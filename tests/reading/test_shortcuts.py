"""Entries that are taken all at once: what comes of it is what comes of them one by one."""

import random
import shutil
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte import storage
from magicbyte.engines.auto import AutoEngine
from magicbyte.engines.protocol import BatchHeaders, Entries
from magicbyte.reading import header_walk, resynchronize, split, survey, walk
from magicbyte.reading.offset_order import OffsetOrder
from magicbyte.tables import schemas
from paths import DATA
from surveys import surveys_of

LOGS = sorted(log for log in DATA.rglob("*.log") if log.stat().st_size)


def told(segment: survey.SegmentSurvey) -> tuple[Any, ...]:
    """What is known of *segment*; transactions have no equality but their identity."""
    boundaries = [
        (boundary.position, boundary.floor, [repr(one) for one in boundary.open_here])
        for boundary in segment.boundaries
    ]
    return replace(segment, boundaries=[]), boundaries


def planned(path: Path, split_bytes: int) -> list[tuple[Any, ...]]:
    """What a plan says of each partition."""
    dataset = mb.open(path, on_damage="skip", include_internal=True)
    return [
        (
            [told(segment) for segment in found.segments],
            found.findings,
            found.is_verified,
            found.log_start_offset,
            found.log_end_offset,
            found.last_stable_offset,
            [repr(one) for one in found.transactions],
        )
        for found in surveys_of(dataset, split_bytes)
    ]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the fewest entries taken at once, as otherwise only many are."""
    monkeypatch.setattr(survey, "FEW", 1)


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AutoEngine, "read_headers", lambda *_: BatchHeaders.back_to_back(b"", 0))
    monkeypatch.setattr(header_walk.HeaderWalk, "_small_messages", lambda *_: None)
    monkeypatch.setattr(
        header_walk.HeaderWalk, "_large_messages", lambda _, entry: Entries([entry])
    )
    monkeypatch.setattr(OffsetOrder, "_follow_ordered", lambda *_: 0)
    monkeypatch.setattr(survey._Pass, "_num_going_on", lambda *_: 0)


@pytest.mark.parametrize("split_bytes", [1, 100, 3000, 100_000])
def test_a_plan_is_the_same(split_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sorted(DATA.glob("*/*/log-0"))
    assert len(paths) > 5
    found = [planned(path, split_bytes) for path in paths]
    one_by_one(monkeypatch)
    assert found == [planned(path, split_bytes) for path in paths]


@pytest.mark.parametrize("most_small", [header_walk.MAX_SMALL_BYTES, 80])
def test_a_plan_of_damaged_logs_is_the_same(
    most_small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(header_walk, "MAX_SMALL_BYTES", most_small)
    rng, paths = random.Random(3), []
    for number in range(80):
        log = rng.choice(LOGS)
        folder = Path(shutil.copytree(log.parent, tmp_path / str(number) / log.parent.name))
        data = bytearray(log.read_bytes())
        at = rng.randrange(len(data))
        match rng.randrange(3):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at:]
            case _:
                del data[at : at + rng.randrange(300)]
        (folder / log.name).write_bytes(data)
        paths.append(folder)
    found = [planned(path, 3000) for path in paths]
    one_by_one(monkeypatch)
    assert found == [planned(path, 3000) for path in paths]


@pytest.mark.parametrize("most_small", [header_walk.MAX_SMALL_BYTES, 0])
def test_what_is_looked_at_stays_in_proportion(
    most_small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(header_walk, "MAX_SMALL_BYTES", most_small)
    asked = 0
    going_on = survey._Pass._num_going_on

    def counted(one: Any, entries: Entries, notes: Any) -> int:
        nonlocal asked
        asked += len(entries)
        return going_on(one, entries, notes)

    monkeypatch.setattr(survey._Pass, "_num_going_on", counted)
    monkeypatch.setattr(survey, "FEW", 48)
    count = 20_000
    log = tmp_path / "00000000000000000000.log"
    log.write_bytes(b"".join(build.message(offset=2 * number) for number in range(count)))
    [found] = surveys_of(mb.open(log), 1 << 30)
    assert [segment.sound_bytes for segment in found.segments] == [log.stat().st_size]
    assert count < asked < 16 * count


PRODUCERS = (0, 3, 7, 9)


def some_log(rng: random.Random, folder: Any) -> None:
    """Write a log of interleaved transactions, and companions that are right about little."""
    offset = segment = rng.choice([0, 40])
    data = b""
    epochs, aborted = dict.fromkeys(PRODUCERS, 0), []
    strange = rng.choice([0, 0, 0.01, 0.1])
    states = [(one, rng.randrange(2), 30 + one, 20 * rng.randrange(2) - 1) for one in PRODUCERS]
    folder.segment("t-0", build.producer_snapshot(*states[rng.randrange(5) :]), 40, "snapshot")
    for _ in range(rng.randrange(20, 150)):
        producer = rng.choice([*PRODUCERS[: rng.randrange(1, 5)], PRODUCERS[0]])
        count, more = rng.randrange(1, 4), {"epoch": epochs[producer], "leader_epoch": offset // 50}
        if rng.random() < strange:
            match rng.randrange(6):
                case 0:
                    offset += 3
                case 1:
                    offset = max(offset - 3, segment)
                case 2:
                    count, flags = 2, build.TRANSACTIONAL | build.HORIZON * rng.randrange(2)
                    data += build.batch([], offset, flags=flags, producer=producer, last_delta=1)
                case 3:
                    count = 1
                    data += build.control(build.ABORT, offset, producer, count=0, **more)
                case 4:
                    count = 1
                    data += build.control(rng.choice([9, 1]), offset, producer, key=None, **more)
                case _:
                    data += bytes([*build.batch(base=offset)[:-1], 1])
        elif rng.random() < 0.75:
            flags = build.TRANSACTIONAL if rng.random() < 0.9 else 0
            told = {"flags": flags, "producer": producer, "sequence": offset, **more}
            if rng.random() < 0.1:
                told = {"flags": build.HORIZON if rng.random() < strange else 0}
            time = build.TIME + rng.randrange(1000)
            data += build.batch(build.records(count), offset, time=time, **told)
        else:
            epochs[producer] += rng.randrange(2)
            count, kind = 1, rng.choice([build.ABORT, build.COMMIT])
            data += build.control(kind, offset, producer, epoch=epochs[producer])
            aborted += [(producer, rng.randrange(offset + 1), offset)] if not kind else []
        offset += count
        if offset > segment and rng.random() < 0.03:
            folder.segment("t-0", data, segment)
            segment, data = offset, b""
        if offset > 60 and rng.random() < 0.05:
            base = rng.choice([offset, offset - 5])
            states = [(one, epochs[one], base - 1 - one, -1) for one in PRODUCERS]
            states[0] = (*states[0][:3], base - 9)
            chosen = rng.sample(states, rng.randrange(5))
            folder.segment("t-0", build.producer_snapshot(*chosen), base, "snapshot")
    folder.segment("t-0", data, segment)
    folder.segment("t-0", build.transaction_index(*aborted[:5]), segment, "txnindex")
    if rng.random() < 0.5:
        folder.checkpoint("cleaner-offset-checkpoint", {("t", 0): rng.randrange(offset)})


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("isolation_level", ["read_committed", "read_uncommitted"])
def test_a_split_that_is_read_once_gives_the_same(
    seed: int, isolation_level: str, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    some_log(random.Random(seed), folder.log_dir())

    def read() -> tuple[list[Any], mb.Report]:
        dataset = mb.open(folder.path, on_damage="skip", isolation_level=isolation_level)
        rows = dataset.records(schemas.RECORDS.names, dispositions=schemas.DISPOSITIONS)
        return rows.to_pylist(), rows.report

    found = read()
    monkeypatch.setattr(split, "CHUNK", 0)
    assert found == read()


def test_a_split_with_transactions_is_read_once(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = build.transactional(0, 7, count=9) + build.control(build.ABORT, 9, 7)
    folder.log_dir().segment("t-0", data)
    dataset, asked = mb.open(folder.path, isolation_level="read_uncommitted"), []
    assert dataset.plan()[0].is_verified
    assert dataset.records(["outcome"]).to_table().num_rows == 9
    read_at = storage.LocalFile.read_at
    monkeypatch.setattr(
        storage.LocalFile,
        "read_at",
        lambda file, at, length: asked.append((at, length)) or read_at(file, at, length),
    )
    assert dataset.records(["outcome"]).to_table().to_pydict() == {"outcome": ["aborted"] * 9}
    assert [one for one in asked if one[1] == len(data)] == [(0, len(data))]


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("is_first", [True, False])
def test_where_a_damaged_size_leads_far_the_right_one_is_found_without_reading_that_far(
    is_first: bool, magic: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entry(offset: int) -> bytes:
        value = b"%099d" % offset
        if magic == 2:
            return bytes(build.batch([build.record(value)], offset))
        return bytes(build.message(value, offset, magic=magic))

    count = 200
    entries = [entry(offset) for offset in range(count)]
    damaged = 0 if is_first else 5
    far = 24_001  # in the middle of an entry
    entries[damaged] = entries[damaged][:8] + struct.pack(">i", far) + entries[damaged][12:]
    path = tmp_path / "t.log"
    path.write_bytes(b"".join(entries))

    def read() -> Any:
        rows = mb.open(path, on_damage="skip").records(["offset"])
        return rows.to_table().column("offset").to_pylist(), rows.report

    whole = read()
    position = sum(map(len, entries[:damaged]))
    told = [
        (one.position, one.field, one.found, one.expected)
        for one in whole[1].findings
        if one.code == "bad-size"
    ]
    assert told == [(position, "size", str(far), str(len(entries[damaged]) - 12))]
    monkeypatch.setattr(walk, "CHUNK", 1000)
    monkeypatch.setattr(resynchronize, "MAX_STEP", 700)
    monkeypatch.setattr(header_walk, "BLOCK_BYTES", 700)
    lengths = []
    read_at = storage.LocalFile.read_at

    def watched(file: storage.LocalFile, at: int, length: int) -> bytes:
        lengths.append(length)
        return read_at(file, at, length)

    monkeypatch.setattr(storage.LocalFile, "read_at", watched)
    assert read() == whole
    assert whole[0] == [offset for offset in range(count) if offset != damaged]
    assert max(lengths) < 5000, "more than a search asks for at first"
    assert sum(lengths) < 2.8 * path.stat().st_size, "two passes and a search"


@pytest.mark.parametrize("is_sound", [True, False])
def test_a_large_entry_in_front_of_garbage_is_judged_by_all_of_its_bytes(
    is_sound: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = build.batch([build.record(bytes(9000))], 1)
    entries = [build.batch(base=0), large, bytes(range(1, 99)), build.batch(base=2)]
    if not is_sound:
        entries[1] = large[:-1] + b"\1"
    path = tmp_path / "t.log"
    path.write_bytes(b"".join(entries))
    monkeypatch.setattr(walk, "CHUNK", 1000)
    rows = mb.open(path, on_damage="skip").records(["offset"])
    offsets = rows.to_table().column("offset").to_pylist()
    assert offsets == ([0, 1, 2] if is_sound else [0, 2])
    codes = [one.code for one in rows.report.findings if one.severity == "error"]
    assert ("checksum-mismatch" in codes) != is_sound


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        (range(10), range(12, 20)),
        ([*range(10), 40], range(12, 20)),  # below what has been
        ([*range(9), 40, *range(9, 15)], range(20, 30)),
        ([*range(9), 40, *range(9, 15)], range(35, 50)),
        ([*range(9), 40, *range(9, 15)], range(41, 50)),
    ],
)
def test_a_plan_is_the_same_whatever_comes_behind_damage(
    before: Any, behind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = bytearray(build.batch(base=11))
    damaged[-1] ^= 1
    batches = [[build.batch(base=offset) for offset in offsets] for offsets in (before, behind)]
    log = tmp_path / "topic-0" / f"{0:020}.log"
    log.parent.mkdir()
    log.write_bytes(b"".join([*batches[0], damaged, *batches[1]]))
    found = planned(log, 200)
    one_by_one(monkeypatch)
    assert found == planned(log, 200)


@pytest.mark.parametrize("seed", range(120))
def test_a_plan_of_transactions_is_the_same(
    seed: int, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    some_log(rng, folder.log_dir())
    split_bytes = rng.choice([1, 500, 5000])
    found = planned(folder.path, split_bytes)
    one_by_one(monkeypatch)
    assert found == planned(folder.path, split_bytes)


@pytest.mark.parametrize(
    "offsets",
    [
        range(12),
        [*range(9), 8, *range(9, 18)],
        [*range(9), *range(20, 30)],
        [*range((1 << 63) - 9, 1 << 63), *range(-(1 << 63), 9 - (1 << 63))],
        [*range((1 << 63) - 9, 1 << 63), -(1 << 63)],
        [*range(-9, 9), 1 << 32, *range(9, 18)],
    ],
)
def test_any_offsets_are_followed_alike(
    offsets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "topic-0" / f"{0:020}.log"
    log.parent.mkdir()
    log.write_bytes(b"".join(build.batch(base=offset) for offset in offsets))

    def read() -> Any:
        rows = mb.open(log, on_damage="skip").records(["offset"])
        quick = mb.verify(log, quick=True)
        told = quick.partitions, quick.findings
        return rows.to_table(), rows.report.findings, planned(log, 200), told

    found = read()
    one_by_one(monkeypatch)
    assert found == read()


def test_offsets_that_leave_their_order_in_the_midst_of_others_are_noted(tmp_path: Path) -> None:
    offsets = [0, 1, 2, 1, 3, 4, 9, 10]
    log = tmp_path / f"{0:020}.log"
    log.write_bytes(b"".join(build.batch(base=offset) for offset in offsets))
    (found,) = surveys_of(mb.open(log, on_damage="skip"))
    told = [(finding.code, finding.base_offset) for finding in found.findings]
    assert ("offset-out-of-order", 1) in told
    assert any(code.startswith("offset-gap") and base == 9 for code, base in told)
    assert found.log_end_offset == 11
