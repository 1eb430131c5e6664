"""Tests that entries between damaged ones are read together, with the result of reading them one by one."""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.engines.factory import engine
from magicbyte.reading import _damage, _interrupted_run, _joined_pieces, _walk
from magicbyte.reading._survey_passes import VerifiedPass
from magicbyte.reading.planner import Planner
from magicbyte.reading.results import examine

COLUMNS = ("offset", "key", "value", "headers", "position", "disposition", "codec")


def entries(chance: random.Random, magics: tuple[int, ...]) -> Iterator[bytes]:
    """Yield entries with consecutive offsets, many with a flipped bit, some with another fault."""
    offset, gap_share = 0, chance.choice([0.01, 0.3])
    for number in range(chance.randrange(40, 200)):
        magic, count = chance.choice(magics), chance.randrange(1, 4)
        if magic == 2:
            stated = count + (chance.random() < 0.05)
            codec = chance.choice([0, 0, build.ZSTD])
            entry = build.batch(build.records(count), offset, codec=codec, count=stated)
        elif chance.random() < 0.2:
            inner = [build.message(b"inner %d" % n, n, magic=magic) for n in range(count)]
            last = count - 1 + offset
            entry = build.wrapper(inner, last, magic=magic, codec=build.GZIP)
        else:
            count, entry = 1, build.message(b"value %d" % number, offset, magic=magic)
        damaged = bytearray(entry)
        if chance.random() < 0.3:
            at = chance.choice(
                [len(entry) - 1, 17 if magic == 2 else 12, chance.randrange(len(entry))]
            )
            damaged[at] ^= 1 << chance.randrange(8)
        yield bytes(damaged)
        if chance.random() < 0.01:
            yield bytes(chance.randrange(1, 60))
        offset += count + 5 * (chance.random() < gap_share)


def transactional_entries(chance: random.Random) -> Iterator[bytes]:
    """Yield batches of transactions of three producers and their markers; a third have a wrong checksum."""
    for offset in range(chance.randrange(100, 300)):
        producer, kind = chance.randrange(3), chance.choice(["data", "data", "plain", "marker"])
        if kind == "marker":
            entry = build.control(chance.choice([build.ABORT, build.COMMIT]), offset, producer)
        elif kind == "data":
            entry = build.transactional(offset, producer, sequence=offset)
        else:
            entry = build.batch(build.records(1), offset, producer=7, sequence=offset)
        damaged = bytearray(entry)
        damaged[17] ^= chance.random() < 0.3
        yield bytes(damaged)


def with_lost_framing(chance: random.Random, made: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the entries *made*, many with a fault after which only a search finds the next one."""
    share = chance.choice([0.1, 0.3, 0.6])
    for entry in made:
        damaged = bytearray(entry)
        if chance.random() < share:
            match chance.choice(["noise", "zeros", "cut", "magic", "size", "lost"]):
                case "noise":
                    damaged = bytearray(chance.randbytes(chance.randrange(1, 90))) + damaged
                case "zeros":
                    damaged = bytearray(chance.randrange(1, 90)) + damaged
                case "cut":
                    del damaged[chance.randrange(1, len(damaged)) :]
                case "magic":
                    damaged[16] = 9
                case "size":
                    damaged[10 + chance.randrange(2)] ^= 1 << chance.randrange(8)
                case _:
                    damaged[:] = chance.randbytes(len(damaged))
        yield bytes(damaged)


def described(findings: list[mb.Finding]) -> list[Any]:
    return [(found.code, found.position, found.length, str(found)) for found in findings]


def read(folder: Path, engine_name: str, isolation_level: str = "read_committed") -> Any:
    rows = mb.open(
        folder, on_damage="skip", engine=engine_name, isolation_level=isolation_level
    ).records(COLUMNS)
    table = rows.to_table()
    report = rows.report
    return table, described(report.findings), report.bytes, report.records


def verify(folder: Path, engine_name: str) -> Any:
    result = mb.verify(folder, engine=engine_name)
    totals = [result.bytes, result.records, result.segments, result.partitions]
    return [described(result.findings), *totals]


def boundaries(folder: Path) -> Any:
    splits = mb.open(folder, on_damage="skip").plan(max_partition_bytes=500)
    return [
        (split.start, split.end, split.bounds, split.first, split.planned_outcomes)
        for split in splits
    ]


def write(folder: Path, entries: Iterable[bytes]) -> Path:
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(b"".join(entries))
    return folder


def read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_walk, "MAX_SOUND_ENTRIES", -1)
    monkeypatch.setattr(_interrupted_run, "MIN_PLANNED_RANGES", 1 << 30)
    monkeypatch.setattr(_joined_pieces, "MIN_PLANNED_RANGES", 1 << 30)
    monkeypatch.setattr(_damage, "MAX_WRONG_ENTRIES", 0)


@pytest.mark.parametrize("seed", range(8))
def test_entries_between_wrong_checksums_are_the_same_together_and_one_by_one(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    magics = ((0, 1), (2,), (0, 1, 2, 2))[seed % 3]
    folder = write(tmp_path / "t-0", entries(random.Random(seed), magics))
    together = {name: read(folder, name) for name in ("reference", "columnar")}
    verified = verify(folder, "columnar")
    read_one_by_one(monkeypatch)
    one_by_one = read(folder, "columnar")
    for table, *others in together.values():
        assert table.equals(one_by_one[0])
        assert others == list(one_by_one[1:])
    assert verified == verify(folder, "columnar")


@pytest.mark.parametrize("seed", range(4))
def test_transactions_with_wrong_checksums_are_the_same_together_and_one_by_one(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "t-0", transactional_entries(random.Random(seed)))
    levels = ("read_committed", "read_uncommitted")
    together = [read(folder, "columnar", level) for level in levels]
    verified = verify(folder, "columnar")
    transactions = mb.open(folder, on_damage="skip").transactions().to_pylist()
    read_one_by_one(monkeypatch)
    for (table, *others), level in zip(together, levels, strict=True):
        one_by_one = read(folder, "columnar", level)
        assert table.equals(one_by_one[0])
        assert others == list(one_by_one[1:])
    assert verified == verify(folder, "columnar")
    assert transactions == mb.open(folder, on_damage="skip").transactions().to_pylist()


@pytest.mark.parametrize("seed", range(16))
def test_entries_between_lost_framing_are_the_same_together_and_one_by_one(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    magics = ((0, 1), (2,), (0, 1, 2, 2), ())[seed % 4]
    if seed % 8 >= 4:  # many entries are in two chunks
        monkeypatch.setattr(_walk, "CHUNK", 1500)
        monkeypatch.setattr(_joined_pieces, "CHUNK", 1500)
    made = entries(chance, magics) if magics else transactional_entries(chance)
    folder = write(tmp_path / "t-0", with_lost_framing(chance, made))
    together = {name: read(folder, name) for name in ("reference", "columnar")}
    verified = verify(folder, "columnar")
    transactions = mb.open(folder, on_damage="skip").transactions().to_pylist()
    splits = boundaries(folder)
    read_one_by_one(monkeypatch)
    one_by_one = read(folder, "columnar")
    for table, *others in together.values():
        assert table.equals(one_by_one[0])
        assert others == list(one_by_one[1:])
    assert verified == verify(folder, "columnar")
    assert transactions == mb.open(folder, on_damage="skip").transactions().to_pylist()
    assert splits == boundaries(folder)


def test_an_entry_damaged_since_the_plan_is_reported_among_damaged_ones(tmp_path: Path) -> None:
    messages = [build.message(b"v", n, magic=0, crc=1 if n % 2 else None) for n in range(200)]
    folder = write(tmp_path / "t-0", messages)
    planner = Planner(mb.open(folder, on_damage="skip").options)
    (log,) = mb.open(folder).logs
    (split,) = planner.splits(planner.survey(log, verify=True), (None, None))
    messages[100] = build.message(b"v", 100, magic=0, crc=1)
    (folder / f"{0:020}.log").write_bytes(b"".join(messages))
    with pytest.raises(mb.ChangedError, match=f"no sound entry at byte {100 * len(messages[0])}"):
        for _ in examine(split, None, ordered=False):
            pass


@pytest.mark.parametrize("magic", [0, 2])
@pytest.mark.parametrize("table", ["verify", "stats", "records", "stored"])
def test_reading_a_log_with_every_second_checksum_wrong_takes_few_calls_of_the_engine(
    table: str, magic: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = (
        [build.message(b"v", n, magic=0, crc=1 if n % 2 else None) for n in range(2000)]
        if magic == 0
        else [build.batch(base=n, producer=5, crc=1 if n % 2 else None) for n in range(2000)]
    )
    folder = write(tmp_path / "t-0", made)
    calls: list[str] = []
    kind = type(engine("columnar"))
    for name in ("scan", "decode"):
        method = getattr(kind, name)

        def counted(*arguments: Any, name: str = name, method: Any = method, **options: Any) -> Any:
            calls.append(name)
            return method(*arguments, **options)

        monkeypatch.setattr(kind, name, counted)
    blocks: list[Any] = []
    add_block = VerifiedPass.add_block
    monkeypatch.setattr(
        VerifiedPass,
        "add_block",
        lambda survey, block: (blocks.append(block), add_block(survey, block)),
    )
    if table == "verify":
        assert len(mb.verify(folder, engine="columnar").findings) >= 1000
    elif table == "stats":
        assert len(mb.stats(folder, engine="columnar").findings) == 1000
    elif table == "stored":
        dataset = mb.open(folder, on_damage="skip", engine="columnar")
        assert dataset.stored("records").to_table().num_rows == 1000
    else:
        rows, findings, *_ = read(folder, "columnar")
        assert (rows.num_rows, len(findings)) == (1000, 1000)
    assert len(calls) < 40
    assert len(blocks) < 10


@pytest.mark.parametrize("magic", [0, 2])
@pytest.mark.parametrize("table", ["verify", "stats", "records"])
def test_reading_a_log_with_noise_before_every_second_entry_joins_the_entries(
    table: str, magic: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, made = random.Random(1), []
    for n in range(400):
        entry = build.message(b"v", n, magic=0) if magic == 0 else build.batch(base=n, producer=5)
        made.append(chance.randbytes(20) + entry if n % 2 else entry)
    folder = write(tmp_path / "t-0", made)
    decoded: list[int] = []
    kind = type(engine("columnar"))
    decode = kind.decode

    def counted(*arguments: Any, **options: Any) -> Any:
        result = decode(*arguments, **options)
        decoded.append(len(result.entries))
        return result

    monkeypatch.setattr(kind, "decode", counted)
    blocks: list[Any] = []
    add_block = VerifiedPass.add_block
    monkeypatch.setattr(
        VerifiedPass,
        "add_block",
        lambda survey, block: (blocks.append(block), add_block(survey, block)),
    )
    if table == "verify":
        findings = list(mb.verify(folder, engine="columnar").findings)
    elif table == "stats":
        findings = list(mb.stats(folder, engine="columnar").findings)
    else:
        rows, findings, *_ = read(folder, "columnar")
        assert rows.num_rows == 400
    assert len(findings) >= 400  # two for each damage
    assert len(decoded) < 10
    assert len(blocks) < 10
    assert sum(len(block.piece.entries) for block in blocks) == 400
