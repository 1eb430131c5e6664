"""Tests of the logs of the benchmark `damage_cost`: each fault damages the share of entries that was asked for."""

from pathlib import Path

import pytest

import magicbyte as mb
from magicbyte_tools.bench.damaged_logs import SHAPES_OF_LOGS, damaged_log, faults

NAMES = ("1k-none", "1k-lz4", "v0", "v1-gzip")

SIZE = 30_000

CASES = [(name, fault) for name in NAMES for fault in faults(SHAPES_OF_LOGS[name])]

HARMLESS = {"zeros", "noise", "negative-length", "delta", "inner-size"}
"""Faults with which records are delivered: bytes between entries, or warnings."""


def read(folder: Path, data: bytes) -> tuple[int, list[mb.Finding]]:
    """Return the number of records of the log *data*, and the findings."""
    path = folder / "t-0" / f"{0:020}.log"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    result = mb.open(path, on_damage="skip", engine="reference").records()
    return sum(rows.num_rows for rows in result), result.report.findings


@pytest.mark.parametrize("name", NAMES)
def test_log_without_fault_is_sound(name: str, tmp_path: Path) -> None:
    count = SHAPES_OF_LOGS[name].num_records
    num_rows, findings = read(tmp_path, damaged_log(SHAPES_OF_LOGS[name], None, SIZE, 0, 1))
    assert num_rows == SIZE // (140 * count) * count
    assert not findings


@pytest.mark.parametrize(("name", "fault"), CASES)
def test_fault_damages_the_share_of_entries(name: str, fault: str, tmp_path: Path) -> None:
    shape = SHAPES_OF_LOGS[name]
    num_entries = SIZE // (140 * shape.num_records)
    data = damaged_log(shape, faults(shape)[fault], SIZE, 50, 1)
    num_rows, findings = read(tmp_path, data)
    if fault not in HARMLESS:
        num_sound = num_entries - num_entries // 2
        assert num_rows <= num_sound * shape.num_records
    assert findings or fault == "delta"
