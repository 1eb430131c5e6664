"""Tests that several threads give the rows, order, findings and sums of one, and then end."""

import random
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from extent import WIDE
from magicbyte.reading import planner
from magicbyte.reading._ordered_threads import MAX_AHEAD_BYTES, in_order
from paths import DATA, shared

COLUMNS = ("topic", "partition", "offset", "key", "value", "file", "position", "disposition")
RECORDS = partial(mb.Dataset.records, columns=COLUMNS)
THREADS = (1, 2, 5)
SMALL = 700
"""Bytes of a split: it holds one to a few entries."""

WAIT_S = 60
"""Seconds after which a test is taken to hang."""


CLUSTERS = ("2.8/compacted", "4.3/compacted")


def log_dirs() -> list[Path]:
    if not WIDE:
        return [DATA / cluster / "log-0" for cluster in CLUSTERS]
    root = shared() / "logs" if (shared() / "logs").is_dir() else DATA
    return sorted(root.glob("*/*/log-*"))


def damaged_dirs() -> list[Path]:
    """Return the folders of some damaged logs that brokers were started on (all if WIDE)."""
    found = sorted((shared() / "logs-damage").glob("*/*/dir"))
    return found if WIDE else found[:: max(len(found) // 5, 1)]


def opened(path: Path, threads: int, **options: Any) -> mb.Dataset:
    return mb.open(path, threads=threads, include_internal=True, **options)


@pytest.fixture(autouse=True)
def _small_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "SPLIT_BYTES", SMALL)


def read(rows: mb.Rows) -> tuple[pa.Table, mb.Report, str | None]:
    """Return the table of *rows*, the report up to the end, and the error that ended the read.

    The sizes of record batches are not compared: with engine `auto` they depend on earlier reads.
    """
    report, batches, error = mb.Report(), [], None
    try:
        batches.extend(rows.read_into(report))
    except mb.MagicbyteError as raised:
        error = f"{type(raised).__name__}: {raised}"
    return pa.Table.from_batches(batches, rows.schema), report, error


def assert_threads_change_nothing(
    path: Path, table: Callable[..., mb.Rows] = RECORDS, **options: Any
) -> tuple[pa.Table, mb.Report, str | None]:
    one, *others = (read(table(opened(path, threads, **options))) for threads in THREADS)
    for other in others:
        assert other == one
    return one


@pytest.mark.parametrize("log_dir", log_dirs(), ids=lambda path: "-".join(path.parts[-3:-1]))
def test_threads_change_neither_rows_nor_their_order_nor_the_report(log_dir: Path) -> None:
    rows, report, error = assert_threads_change_nothing(log_dir, on_damage="skip")
    assert error is None
    assert rows.num_rows == report.records["delivered"] > 0


def spoil(folder: Path, seed: str) -> None:
    """Damage up to two random positions of each log in *folder*, by *seed*."""
    chosen = random.Random(seed)
    for log in sorted(folder.rglob("*.log")):
        data = bytearray(log.read_bytes())
        for _ in range(2 if data else 0):
            at = chosen.randrange(len(data))
            if chosen.random() < 0.3:
                del data[at : at + 9]
            else:
                data[at] ^= 1 << chosen.randrange(8)
        log.write_bytes(data)


@pytest.mark.parametrize("table", [mb.Dataset.records, mb.Dataset.batches])
@pytest.mark.parametrize("on_damage", ["skip", "fail", "stop"])
def test_threads_change_nothing_where_a_log_is_damaged(copied, table: Any, on_damage: str) -> None:
    cluster = copied("4.3/transactions")
    spoil(cluster, "threads")
    _, report, error = assert_threads_change_nothing(
        cluster, table, on_damage=on_damage, topics=["aborted", "open"]
    )
    assert (error is not None) == (on_damage == "fail")
    assert report.findings


@pytest.mark.skipif(not damaged_dirs(), reason=f"no logs in {shared()}; set MAGICBYTE_SHARED")
def test_threads_change_nothing_where_a_broker_met_damage() -> None:
    codes = set()
    for path in damaged_dirs():
        _, report, _ = assert_threads_change_nothing(path, on_damage="skip")
        codes |= {finding.code for finding in report.findings}
    assert len(codes) >= 4


def test_quick_batches_are_those_of_one_thread(real: Path) -> None:
    quick = partial(mb.Dataset.batches, quick=True)
    assert_threads_change_nothing(real / "4.3/killed/log-0", quick, on_damage="skip")


# Ends


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "magicbyte"]


def test_threads_end_with_the_iteration(real: Path) -> None:
    dataset = opened(real / "4.3/transactions/log-0", 3)
    whole = iter(dataset.records(["offset"]))
    next(whole)
    assert len(readers()) == 3
    list(whole)
    assert not readers()
    early = iter(dataset.records(["offset"]))
    next(early)
    early.close()
    assert not readers()
    left = iter(dataset.records(["offset"]))
    next(left)
    del left
    assert not readers()


def test_threads_end_with_an_error_and_the_rows_before_it_come(folder: Any) -> None:
    good = [build.batch(build.records(2), base) for base in range(0, 40, 2)]
    path = folder.segment("t-0", b"".join([*good[:10], build.batch(base=20, crc=1), *good[11:]]))
    rows = iter(opened(path.parent, 4).records(["offset"]))
    offsets = []
    with pytest.raises(mb.ChecksumError) as caught:
        offsets.extend(offset for batch in rows for offset in batch.column("offset").to_pylist())
    assert caught.value.position == sum(map(len, good[:10]))
    assert not readers()


def test_a_file_that_vanishes_while_threads_read_is_an_error(folder: Any) -> None:
    paths = [
        folder.segment("t-0", b"".join(build.batch(base=base + n) for n in range(100)), base)
        for base in (0, 100)
    ]
    rows = iter(opened(paths[0].parent, 2).records(["offset"]))
    next(rows)
    paths[1].unlink()
    with pytest.raises(mb.ChangedError, match="gone"):
        list(rows)
    assert not readers()


def test_an_iteration_that_is_left_hanging_does_not_hold_up_the_exit(real: Path) -> None:
    script = (
        "import sys, threading, magicbyte as mb;"
        "rows = iter(mb.open(sys.argv[1], threads=3).records());"
        "print(next(rows).num_rows > 0, threading.active_count())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(real / "4.3/plain/log-0")],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("True 4\n", "")


def test_no_thread_is_no_number_of_threads(real: Path) -> None:
    with pytest.raises(mb.InputError, match="threads 0; expected at least 1"):
        mb.open(real / "4.3/plain/log-0", threads=0)


# The line of tasks


def numbers(task: int, count: int) -> Generator[tuple[int, int], None, None]:
    for number in range(count):
        yield task, number


def in_line(tasks: Iterator[Any], threads: int, size: int = 1) -> Generator[Any, None, None]:
    return in_order(tasks, threads=threads, make_tool=object, size_of=lambda _: size)


@pytest.mark.parametrize("threads", THREADS)
def test_items_come_in_the_order_of_their_tasks(threads: int) -> None:
    counts = [3, 0, 1, 50, 0, 0, 7] * 5
    tasks = (lambda _, n=n, count=count: numbers(n, count) for n, count in enumerate(counts))
    expected = [(n, number) for n, count in enumerate(counts) for number in range(count)]
    assert list(in_line(tasks, threads)) == expected


@pytest.mark.parametrize("threads", THREADS)
def test_error_of_a_task_is_raised_in_the_order_of_the_tasks(threads: int) -> None:
    def fails(_: object) -> Generator[str, None, None]:
        yield "last"
        raise LookupError("in a task")

    def tasks(*, in_task: bool) -> Iterator[Any]:
        for n in range(10):
            yield lambda _, n=n: numbers(n, 2)
        if not in_task:
            raise LookupError("between tasks")
        yield fails
        yield lambda _: numbers(11, 1)

    whole = [(n, number) for n in range(10) for number in range(2)]
    for in_task, rest, message in ((True, ["last"], "in a task"), (False, [], "between tasks")):
        found: list[Any] = []
        with pytest.raises(LookupError, match=message):
            found.extend(in_line(tasks(in_task=in_task), threads))
        assert found == whole + rest


def test_a_tool_is_one_threads_own() -> None:
    begun = threading.Barrier(3)

    def task(tool: list[int], n: int) -> Generator[tuple[int, int], None, None]:
        if n < 3:
            begun.wait(WAIT_S)  # three are at work at the same time
        tool.append(threading.get_ident())
        yield id(tool), threading.get_ident()

    tools: list[list[int]] = []

    def make_tool() -> list[int]:
        tools.append([])
        return tools[-1]

    tasks = (partial(task, n=n) for n in range(30))
    items = in_order(tasks, threads=3, make_tool=make_tool, size_of=lambda _: 1)
    users = set(items)
    assert len(users) == 3
    assert sum(len(tool) for tool in tools) == 30
    assert all(len(set(tool)) == 1 for tool in tools)
    assert threading.get_ident() not in {thread for _, thread in users}


def test_number_of_finished_results_in_memory_is_bounded() -> None:
    """While the caller takes no result, the threads go on up to the bound and then wait."""
    threads, size = 2, MAX_AHEAD_BYTES // 4
    most = threads * MAX_AHEAD_BYTES // size
    made, lock = threading.Semaphore(0), threading.Lock()
    ahead = highest = 0

    def count(change: int) -> None:
        nonlocal ahead, highest
        with lock:
            ahead += change
            highest = max(highest, ahead)

    def task(_: object) -> Generator[int, None, None]:
        for n in range(100):
            count(1)
            made.release()
            yield n

    items = in_line((task for _ in range(4)), threads, size)
    next(items)
    count(-1)
    # Besides the waiting results, each thread holds one for which there is no capacity.
    for _ in range(1 + most + threads):
        assert made.acquire(timeout=WAIT_S)
    for _ in items:
        count(-1)
    assert highest <= most + threads + 1
    assert ahead == 0


def test_the_first_in_line_comes_on_whatever_the_others_hold() -> None:
    others_are_full = threading.Event()

    def first(_: object) -> Generator[str, None, None]:
        assert others_are_full.wait(WAIT_S)
        yield from ("first",) * 20

    def second(_: object) -> Generator[str, None, None]:
        yield "second"
        yield "second"
        others_are_full.set()
        yield from ("second",) * 20

    items = in_line(iter([first, second]), 2, size=MAX_AHEAD_BYTES)
    assert list(items) == ["first"] * 20 + ["second"] * 22
