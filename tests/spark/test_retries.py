"""Tests that tasks whose worker processes are killed are tried again and give the same rows."""

import os
import random
import shutil
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from extent import WIDE
from file_damage import flip
from paths import DATA
from spark.reader_process import ReaderProcess
from spark_environment import environment_not_activated

PROCESSES = Path("/proc")
CLUSTER = DATA / "4.3" / "transactions" / "log-0"
COLUMNS = "topic,partition,offset,key,value,position,disposition"
FAILURES = 4
"""Spark ends the job when a task has failed this often, so fewer workers are killed."""

pytestmark = pytest.mark.skipif(
    not PROCESSES.is_dir(), reason="processes are found in /proc, which this system has not"
)


def workers(reading: ReaderProcess) -> list[int]:
    """Return the ids of the processes that run tasks: children of Spark's Python daemon."""
    commands, children = {}, dict[int, list[int]]()
    for folder in PROCESSES.glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            continue
        commands[int(folder.name)] = command
        children.setdefault(parent, []).append(int(folder.name))
    ours = [reading.pid]
    for one in ours:
        ours += children.get(one, [])
    is_daemon = {one for one in ours if b"pyspark.daemon\0pyspark.worker\0" in commands[one]}
    return [child for one in is_daemon for child in children.get(one, []) if child in is_daemon]


@pytest.fixture(scope="module")
def reading() -> Iterator[ReaderProcess]:
    """A process with a Spark session of its own, which tries failed tasks again.

    Nobody has activated its environment: `import magicbyte.spark` names its Python to Spark.
    """
    env = environment_not_activated()
    with ReaderProcess(f"local[2,{FAILURES}]", env=env) as process:
        yield process


@contextmanager
def killing(reading: ReaderProcess, rng: random.Random) -> Iterator[list[int]]:
    """Kill worker processes at random moments, and yield the list of their ids."""
    killed: list[int] = []
    ends = threading.Event()

    def kill() -> None:
        while len(killed) < FAILURES - 1 and not ends.wait(rng.uniform(0, 0.6)):
            if running := workers(reading):
                killed.append(rng.choice(running))
                os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ends.set()
        thread.join()


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cluster with a byte flipped in every third segment."""
    rng = random.Random(7)
    copy = Path(shutil.copytree(CLUSTER, tmp_path_factory.mktemp("damaged") / "log-0"))
    for file in sorted(copy.glob("*/*.log"))[::3]:
        if size := file.stat().st_size:
            flip(file, rng.randrange(size), 1 << rng.randrange(8))
    return copy


@pytest.mark.parametrize("seed", range(12 if WIDE else 1))
def test_tasks_that_are_killed_and_tried_again_give_the_same_rows(
    seed: int, reading: ReaderProcess, damaged: Path, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    out = tmp_path / "rows.arrow"
    failures = 0
    for path, on_damage in ((CLUSTER, "fail"), (damaged, "skip")):
        read = mb.open(path, on_damage=on_damage).records(COLUMNS.split(","))
        expected = counted(read.to_table())
        assert expected.total() > 1000
        for most in ("6k", "128m") if WIDE else ("6k",):
            options = {"onDamage": on_damage, "columns": COLUMNS, "maxPartitionBytes": most}
            with killing(reading, rng):
                told = reading.answer({"path": str(path), "options": options, "out": str(out)})
            assert told["error"] is None
            failures += told["failed_tasks"]
            with pa.ipc.open_file(out) as file:
                assert counted(file.read_all()) == expected, (path, most)
    assert failures >= 3, "they were killed while they had something to do"


def counted(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in table.to_pylist())
