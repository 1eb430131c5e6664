"""Tests of the tally of a partition: how often bytes are read, and that damage is found all the same."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.storage._local import LocalFile

BATCHES = [build.batch(build.records(20), base=20 * n) for n in range(50)]


@pytest.fixture
def bytes_read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return the bytes that are read of each file except single headers, by name; counted from now on."""
    counts: Counter[str] = Counter()
    read_at = LocalFile.read_at

    def counted(file: LocalFile, position: int, length: int) -> bytes:
        counts[file.name] += length
        return read_at(file, position, length)

    monkeypatch.setattr(LocalFile, "read_at", counted)
    return counts


def test_verify_reads_a_sound_log_once(folder: Any, bytes_read: Counter[str]) -> None:
    log: Path = folder.segment("t-0", b"".join(BATCHES))
    found = mb.verify(log)
    assert found.records["delivered"] == 1000 and not found.findings
    size = log.stat().st_size
    assert size <= bytes_read[log.name] < 1.5 * size


@pytest.mark.parametrize("is_first", [True, False])
def test_verify_finds_damage_that_headers_do_not_show(is_first: bool, folder: Any) -> None:
    damaged = BATCHES[7][:-1] + bytes([BATCHES[7][-1] ^ 1])
    others = BATCHES[8:] if is_first else BATCHES[:7]
    log = folder.segment("t-0", b"".join([damaged, *others] if is_first else [*others, damaged]), 0)
    found = mb.verify(log)
    assert [one.code for one in found.findings if one.severity == "error"] == ["checksum-mismatch"]
    assert found.records["delivered"] == 20 * len(others)
    assert found.bytes["damaged"] == len(damaged)
    (partition,) = found.partitions
    assert len(partition["damaged_ranges"]) == 1


def test_verify_compares_companion_files_of_a_log_without_transactions(folder: Any) -> None:
    folder.log_dir()
    folder.segment("t-0", build.batch(base=0, producer=7, sequence=0))
    folder.segment("t-0", build.batch(base=1, producer=7, sequence=1), 1)
    folder.segment("t-0", build.producer_snapshot((7, 0, 0, -1), (9, 0, 0, -1)), 1, "snapshot")
    codes = {one.code for one in mb.verify(folder.path).findings}
    assert "snapshot-mismatch" in codes
