"""Tests of the planning benchmark: its logs have no findings, and their plans are complete."""

from pathlib import Path

import pytest

import magicbyte as mb
from magicbyte_tools.bench import planning


def test_segments_go_on_from_one_another(tmp_path: Path) -> None:
    planning.write_segments(tmp_path, 40)
    dataset = mb.open(str(tmp_path))
    assert len(dataset.logs) == 2
    assert [len(log.logs) for log in dataset.logs] == [planning.SEGMENTS_PER_PARTITION] * 2
    assert dataset.problems().to_table().num_rows == 0
    per_partition = planning.SEGMENTS_PER_PARTITION * planning.BATCHES_PER_SEGMENT
    offsets = dataset.records(["offset"]).to_table().column(0).to_pylist()
    assert offsets == [*range(per_partition)] * 2


@pytest.mark.parametrize("producers", [1, 10])
def test_a_log_of_aborted_transactions_has_nothing_else_and_their_index(
    producers: int, tmp_path: Path
) -> None:
    planning.write_aborted(tmp_path / "one-0", 50, num_producers=producers)
    dataset = mb.open(str(tmp_path))
    assert dataset.problems().to_table().num_rows == 0
    assert dataset.records().to_table().num_rows == 0
    outcomes = dataset.transactions(["outcome"]).to_table().column(0).to_pylist()
    assert outcomes == ["aborted"] * 50


def test_a_process_of_its_own_plans_what_there_is(tmp_path: Path) -> None:
    planning.write_batches(tmp_path / "one-0", 30)
    found = planning.measured({"path": str(tmp_path)})
    assert found["tasks"] == 1
    assert found["peak_bytes"] > 10_000_000 and found["cpu_s"] > 0
    assert 100 < found["split_bytes"] < 300
