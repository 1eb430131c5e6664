"""Tests that sound entries between wrong checksums, decoded together, are those decoded one by one."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.engines.factory import engine
from magicbyte.reading import _damage, _walk

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


def read(folder: Path, engine_name: str) -> Any:
    rows = mb.open(folder, on_damage="skip", engine=engine_name).records(COLUMNS)
    table = rows.to_table()
    report = rows.report
    findings = [(found.code, found.position, str(found)) for found in report.findings]
    return table, findings, report.bytes, report.records


@pytest.mark.parametrize("seed", range(8))
def test_entries_between_wrong_checksums_are_the_same_together_and_one_by_one(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    magics = ((0, 1), (2,), (0, 1, 2, 2))[seed % 3]
    log = b"".join(entries(random.Random(seed), magics))
    (folder / f"{0:020}.log").write_bytes(log)
    together = {name: read(folder, name) for name in ("reference", "columnar")}
    monkeypatch.setattr(_walk, "MAX_SOUND_ENTRIES", -2)
    monkeypatch.setattr(_damage, "MAX_WRONG_ENTRIES", 0)
    one_by_one = read(folder, "reference")
    assert together["reference"][1] == together["columnar"][1]
    for table, findings, *totals in together.values():
        assert table.equals(one_by_one[0])
        assert sorted(findings) == sorted(one_by_one[1])
        assert totals == list(one_by_one[2:])


def test_a_log_with_every_second_checksum_wrong_takes_few_calls_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    messages = [build.message(b"v", n, magic=0, crc=1 if n % 2 else None) for n in range(2000)]
    (folder / f"{0:020}.log").write_bytes(b"".join(messages))
    calls: list[Any] = []
    kind = type(engine("columnar"))
    decode = kind.decode

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return decode(*arguments, **options)

    monkeypatch.setattr(kind, "decode", counted)
    table, findings, *_ = read(folder, "columnar")
    assert (table.num_rows, len(findings)) == (1000, 1000)
    assert len(calls) < 10
