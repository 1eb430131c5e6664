"""Tests of reading while a broker changes the log: no wrong row, no unreported loss of rows.

A simulated broker takes its next step between two system calls of the reader.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from broker_simulator import CALLS, Broker, Watched
from magicbyte.storage import _local

STEPS = 1000
"""Number of changes to a directory during a read, for each way to read."""


Row = tuple[int, bytes]


def of_records(folder: Path, **how: Any) -> Iterator[Row]:
    for batch in mb.open(folder, **how).records(["offset", "value"]):
        yield from zip(batch["offset"].to_pylist(), batch["value"].to_pylist(), strict=True)


def of_splits(folder: Path, **how: Any) -> Iterator[Row]:
    for split in mb.plan(mb.open(folder, **how), 200):
        for batch in mb.read_split(split, ("offset", "value")):
            yield from zip(batch["offset"].to_pylist(), batch["value"].to_pylist(), strict=True)


def nothing_but_findings(folder: Path, **how: Any) -> Iterator[Row]:
    mb.verify(folder, engine=how["engine"])
    dataset = mb.open(folder, **how)
    for table in ("segments", "partitions", "transactions", "problems", "batches"):
        getattr(dataset, table)().to_table()
    return iter(())


@pytest.mark.parametrize("engine", ["reference", "columnar"])
@pytest.mark.parametrize("on_damage", ["fail", "skip"])
@pytest.mark.parametrize("read", [of_records, of_splits, nothing_but_findings])
def test_rows_of_a_directory_that_changes_are_its_rows(
    read: Callable[..., Iterator[Row]],
    on_damage: str,
    engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    num_steps, num_whole, seed = 0, 0, 0
    while num_steps < STEPS:
        seed += 1
        broker = Broker(tmp_path / f"{seed}" / "t-0", build, seed)
        # Changes that come while a folder is listed, and then no more, are met by whole reads.
        calls = broker.random.choice([{"scandir"}, {"open", "fstat"}, {"pread"}, CALLS])
        chance = broker.random.choice([0.05, 0.3, 0.9])

        def before(
            call: str, broker: Broker = broker, calls: set[str] = calls, chance: float = chance
        ) -> None:
            nonlocal num_steps
            if call in calls and broker.random.random() < chance:
                broker.step()
                num_steps += 1

        monkeypatch.setattr(_local, "os", Watched(before))
        rows: list[Row] = []
        is_whole = True
        try:
            for row in read(broker.folder, engine=engine, on_damage=on_damage):
                rows.append(row)
        except mb.MagicbyteError:
            is_whole = False
        finally:
            monkeypatch.undo()

        offsets = [offset for offset, _ in rows]
        assert offsets == sorted(set(offsets)), f"seed {seed}: each offset once, in order"
        for offset, value in rows:
            assert value in broker.values[offset], f"seed {seed}: what stands at {offset}"
        end = broker.lowest_end if is_whole else max(offsets, default=0)
        missing = set(range(end)) - set(offsets) - broker.lost
        if read is not nothing_but_findings:
            assert not missing, f"seed {seed}: {missing} are still there, and were not given"
        num_whole += is_whole
    assert num_whole > 10, "what is asserted of whole reads is asserted of some"
