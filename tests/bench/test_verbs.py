"""Tests of the benchmark of commands: its log is sound, and jobs are compared with the first."""

from pathlib import Path

import pytest

import magicbyte as mb
from magicbyte_tools.bench import planning, verbs
from magicbyte_tools.bench.jobs import ProcessJob


def test_the_log_is_a_partition_without_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verbs, "CACHE", tmp_path / "cache")
    log = verbs._log(tmp_path / "logs", 50_000)
    found = mb.verify(tmp_path / "logs")
    assert found.findings == [] and log.stat().st_size > 50_000
    assert f"{found.records.total():,} records" in capsys.readouterr().out


def test_small_segments_lie_in_as_many_partitions_as_wanted(tmp_path: Path) -> None:
    planning.write_segments(tmp_path, 6, per_partition=2)
    logs = mb.open(tmp_path).logs
    assert [len(log.logs) for log in logs] == [2, 2, 2]
    assert mb.verify(tmp_path).findings == []


def test_jobs_are_compared_with_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    first = ProcessJob("first", cpu_s=[2.0, 4.0, 3.0], wall_s=[4.0], peak_bytes=[1_000_000, None])
    verbs._tell(
        "9 bytes", [first, ProcessJob("second", cpu_s=[1.5], wall_s=[1.0], peak_bytes=[None])]
    )
    assert capsys.readouterr().out.splitlines()[3:] == [
        "| first | 4.00 | 3.00 | 1 | 1.00 | 1.00 |",
        "| second | 1.00 | 1.50 | 0 | 0.25 | 0.50 |",
    ]
