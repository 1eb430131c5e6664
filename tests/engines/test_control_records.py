"""Tests of control records: equal control batches are decoded once."""

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import log_builder as build
from magicbyte.engines import control_records
from magicbyte.engines.control_records import ControlContent, ControlReader
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk, DecodedEntry, Entries
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import Limits
from magicbyte.tables.schemas import WIRE_COLUMNS

ORIGIN = 50
"""The position in its file of the first byte of a chunk."""


def control_batches() -> list[bytes]:
    """Return control batches of different meaning; some differ in a few bytes only."""
    plain = build.control(build.COMMIT, 0, 7)
    return [
        plain,
        build.control(build.ABORT, 0, 7),
        build.control(build.COMMIT, 0, 7, coordinator_epoch=3),
        build.control(9, 0, 7),
        build.control(build.COMMIT, 0, 7, key=None),
        build.control(build.COMMIT, 0, 7, value=None),
        build.control(build.COMMIT, 0, 7, value=bytes(100)),
        build.control(build.COMMIT, 0, 7, count=2),
        build.control(build.COMMIT, 0, 7, count=0),
        build.control(build.COMMIT, 0, 7, codec=build.ZSTD),
        build.control(build.COMMIT, 0, 7, codec=build.GZIP, section=plain[61:]),
        build.control(build.COMMIT, 0, 7, codec=5, section=plain[61:]),
        build.batch(plain[61:-1], flags=build.CONTROL, producer=7),
    ]


def scanned(data: bytes) -> Entries:
    scan = engine("columnar").scan(Chunk(memoryview(data), ORIGIN), verify=True, limits=Limits())
    assert scan.end == len(data)
    return scan.entries


def alone(data: bytes, entries: Entries, number: int, limits: Limits) -> DecodedEntry:
    entry = entries[number]
    begin = entry.position - ORIGIN
    view = memoryview(data)[begin : begin + entry.size_bytes]
    return ReferenceEngine().decode_entry(view, entry, (), limits)[1]


@pytest.mark.parametrize("most_kinds", [1, 1024])
def test_a_control_batch_says_what_it_would_say_alone(
    most_kinds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_records, "MAX_CACHED_CONTENTS", most_kinds)
    data = b"".join(control_batches()) * 2
    entries, reader = scanned(data), ControlReader()
    numbers = np.arange(len(entries))
    told = set()
    for limits in (Limits(), Limits(max_batch_bytes=9), Limits()):
        found = reader.read(Chunk(memoryview(data), ORIGIN), entries, numbers, limits=limits)
        for number, said in enumerate(found):
            one = alone(data, entries, number, limits)
            assert said == ControlContent(one.control, one.num_rows, one.is_sound, not one.findings)
            told.add(said)
        assert len(reader._cache) <= most_kinds
    assert len(told) > 6


def markers() -> bytes:
    some = [build.control(build.COMMIT, 5 * n, n, epoch=n, time=n) for n in range(9)]
    return b"".join([*some, build.control(build.ABORT, 50, 1)])


def test_markers_that_say_the_same_are_decoded_once() -> None:
    chosen, data = ReferenceEngine(), markers()
    entries = scanned(data)
    with patch.object(chosen, "decode_entry", wraps=chosen.decode_entry) as decode_entry:
        found = ControlReader(chosen).read(
            Chunk(memoryview(data), ORIGIN), entries, np.arange(len(entries)), limits=Limits()
        )
        types = [said.control.type for said in found if said.control]
    assert types == [build.COMMIT] * 9 + [build.ABORT]
    assert decode_entry.call_count == 2


@pytest.mark.parametrize("codec", range(5))
@pytest.mark.parametrize("views", [False, True])
def test_rows_of_control_batches_are_the_same_from_kernels(views: bool, codec: int) -> None:
    data = b""
    for one in control_batches() * 2:
        data += build.batch(build.records(3), codec=codec) + one
    first_size = scanned(data)[0].size_bytes
    for first in (0, first_size):
        tables = []
        for name in ("reference", "columnar"):
            rows, told, position = [], [], first
            while position < len(data):
                part = engine(name, views=views).decode(
                    Chunk(memoryview(data)[position:], ORIGIN + position),
                    WIRE_COLUMNS,
                    limits=Limits(),
                    max_bytes=1000,
                )
                rows.append(part.rows)
                told += part.all_results()
                position += part.end
            tables.append((pa.Table.from_batches(rows).to_pylist(), told))
        assert tables[0] == tables[1]


def test_kernels_take_markers() -> None:
    chosen, data = engine("columnar"), build.batch() + markers() * 3 + build.batch()
    reference = chosen._reference
    with patch.object(reference, "decode_entry", wraps=reference.decode_entry) as decode_entry:
        decoded = chosen.decode(Chunk(memoryview(data), ORIGIN), ("key",), limits=Limits())
    assert decoded.rows.num_rows == 32
    assert decode_entry.call_count == 2
