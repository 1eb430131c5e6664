"""Tests that recovery in runs of many entries gives the result of recovery entry by entry."""

import os
import random
import struct
from collections.abc import Iterator
from typing import Any

import pytest

import log_builder
from extent import WIDE
from log_builder import CONTROL, TRANSACTIONAL, message, record
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Entries, Scan
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.logdir.indexes import SEGMENT_SPAN
from magicbyte.storage import MemoryFile
from magicbyte.verification.startup import _segment_entries
from magicbyte.verification.startup._prediction import StartupRefusedError
from magicbyte.verification.startup._producer_state import ProducerState
from magicbyte.verification.startup._segment_recovery import OffsetOrderError, OffsetOverflowError

from .conftest import recovered

SEED = int(os.environ.get("MAGICBYTE_SEED") or random.randrange(1 << 32))

BASE = 1000
"""Base offset of the segment."""

MAX_OFFSET = (1 << 63) - 1


class OneByOne(ReferenceEngine):
    """An engine that scans no entry, so that recovery frames every entry as Kafka does."""

    def scan(self, buffer: memoryview, **_: Any) -> Scan:
        return Scan(entries=Entries(), end=0)


def batch(offset: int, *, flags: int, delta: int, control: int, **fields: Any) -> bytes:
    content = []
    if flags & CONTROL and control >= 0:
        content = [record(struct.pack(">hi", 0, 0), struct.pack(">hh", 0, control))]
    return log_builder.batch(
        content, offset, flags=flags, last_delta=delta, epoch=0, sequence=-1, **fields
    )


def entries(chance: random.Random) -> Iterator[bytes]:
    """Yield random batches and messages; the offsets of nearly all are in order."""
    offset, timestamp = BASE, chance.choice([-1, 1_600_000_000_000])
    magics = chance.choice([[0], [1], [2], [2], [0, 1, 2], [1, 2, 3]])
    producers = chance.choice([[-1], [-1, 1], [1, 2, 3]])
    flags = chance.choice([[0], [0], [0, TRANSACTIONAL], [TRANSACTIONAL]])
    magic = chance.choice(magics)
    is_unruly = chance.random() < 0.3
    for _ in range(chance.randint(1, 200)):
        if chance.random() < 0.05:
            magic = chance.choice(magics)
        if is_unruly and chance.random() < 0.02:
            jump = chance.choice([-5, -1, 1 << 30, 1 << 62])
            edge = BASE + SEGMENT_SPAN - chance.choice([0, 1])
            offset = chance.choice([edge, min(offset + jump, MAX_OFFSET)])
        timestamp += chance.choice([0, 1, 5, -3])
        if magic < 2:
            yield message(b"\0\0", offset, magic=magic, time=timestamp)
        else:
            is_end = chance.random() < 0.1
            of_end = CONTROL | chance.choice([0, TRANSACTIONAL])
            yield batch(
                offset,
                time=timestamp,
                producer=chance.choice(producers),
                flags=of_end if is_end else chance.choice(flags),
                delta=0 if is_end else chance.choice([0, 0, 3]),
                magic=magic,
                control=chance.choice([0, 1, 1, -1] + [5] * is_unruly),
            )
        offset = min(offset + chance.choice([1, 4, 4, 9]), MAX_OFFSET)


def segment(chance: random.Random) -> bytes:
    """Return a random segment: half of them sound, the others damaged, cut or padded with zeros."""
    data = bytearray(b"".join(entries(chance)))
    match chance.randrange(6):
        case 0:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case 1:
            del data[chance.randrange(len(data)) :]
        case 2:
            data += bytes(chance.randrange(40))
    return bytes(data)


def recovery_result(data: bytes, of: Any, *, interval_bytes: int, opened: dict[int, int]) -> Any:
    """Return the result or error of recovering *data*, and the transactions open at its end."""
    producers = ProducerState(opened)
    options = {"interval_bytes": interval_bytes, "producers": producers, "engine": of}
    try:
        found: Any = recovered(MemoryFile(data, "segment"), BASE, **options)
    except OffsetOverflowError as error:
        found = error.position, error.base_offset, error.last_offset
    except (OffsetOrderError, StartupRefusedError) as error:
        return type(error), str(error)
    return found, producers.open_transactions


@pytest.mark.parametrize("name", ["reference", "columnar"])
def test_runs_of_entries_leave_what_one_by_one_they_leave(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(SEED)
    kinds = set()
    for number in range(20_000 if WIDE else 75):
        data = segment(chance)
        options: dict[str, Any] = {
            "interval_bytes": chance.choice([-1, 0, 60, 300, 4096, 1 << 70]),
            "opened": chance.choice([{}, {}, {1: 5}]),
        }
        monkeypatch.setattr(_segment_entries, "CHUNK", chance.choice([100, 1000, 1 << 20]))
        expected = recovery_result(data, OneByOne(), **options)
        found = recovery_result(data, engine(name), **options)
        assert found == expected, f"MAGICBYTE_SEED={SEED}, case {number}"
        kinds.add(expected[0] if isinstance(expected[0], type) else type(expected[0]))
    assert len(kinds) == 4  # a recovered segment and three errors


def test_formats_that_alternate_are_read_three_times_at_most() -> None:
    formats = message(b"\0\0", time=0), batch(0, time=0, flags=0, delta=0, control=-1)
    offsets = range(BASE, BASE + 40_000)
    data = b"".join(offset.to_bytes(8, "big") + formats[offset % 2][8:] for offset in offsets)

    class Counted(MemoryFile):
        num_bytes = 0

        def read_at(self, position: int, length: int) -> bytes:
            self.num_bytes += length
            return super().read_at(position, length)

    file = Counted(data, "segment")
    found = recovered(file, BASE, engine=engine("columnar"))
    assert found.size_bytes == len(data)
    assert file.num_bytes <= 3 * len(data)
