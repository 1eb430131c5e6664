"""Tests that several processes give the result of one process, in the same order, and then end."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
import magicbyte.statistics
import magicbyte.verification.verify
from extent import WIDE
from magicbyte.reading import process_pool
from magicbyte.reading.process_pool import TASKS_AHEAD, in_processes, num_processes
from paths import DATA, shared

WAIT_S = 60
"""Seconds after which a test is taken to hang."""

NUMBERS = (1, 2, 5) if WIDE else (1, 3)
"""Numbers of processes: each takes half a second to start."""

SOUND = (DATA / "4.3" / "transactions", DATA / "2.8" / "lives")


def damaged_dirs() -> list[Path]:
    """Return the folders of about eight damaged log.dirs that brokers were started on."""
    found = sorted((shared() / "logs-damage").glob("*/*/dir"))
    return found[:: max(len(found) // 8, 1)]


def assert_processes_change_nothing(*paths: Path, quick: bool = False) -> mb.Verification:
    one, *others = (mb.verify(*paths, quick=quick, processes=number) for number in NUMBERS)
    for other in others:
        assert other == one
    assert one.partitions and one.segments
    return one


@pytest.mark.parametrize("quick", [False, True])
def test_processes_change_nothing_of_sound_logs(quick: bool) -> None:
    one = assert_processes_change_nothing(*SOUND, quick=quick)
    assert quick or (one.records["delivered"] and one.bytes)


@pytest.mark.skipif(not damaged_dirs(), reason=f"no logs in {shared()}; set MAGICBYTE_SHARED")
def test_processes_change_nothing_where_a_broker_met_damage() -> None:
    one = assert_processes_change_nothing(*damaged_dirs())
    assert len({finding.code for finding in one.findings}) >= 4
    assert len({row["verdict"] for row in one.partitions}) >= 3


@pytest.mark.parametrize("quick", [False, True])
def test_processes_change_no_statistics(quick: bool) -> None:
    one, *others = (
        mb.stats(*SOUND, by="segment", quick=quick, processes=number) for number in NUMBERS
    )
    assert len(one.rows) > 10 and one.total["log_bytes"] > 100_000
    for other in others:
        assert other == one


MIB = 1 << 20


@pytest.mark.parametrize(
    ("log_sizes", "processors", "expected"),
    [
        ([], 8, 1),
        ([10 << 30], 8, 1),
        ([200 * MIB, 200 * MIB], 8, 1),
        ([300 * MIB, 300 * MIB], 8, 2),
        ([300 * MIB] * 3, 2, 2),
        ([300 * MIB] * 100, 64, 4),
        ([0] * 900, 8, 1),
        ([0] * 1000, 8, 2),
        ([10 << 30] * 10, 1, 1),
    ],
)
def test_more_processes_are_used_where_they_pay(
    log_sizes: list[int], processors: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_pool, "num_processors", lambda: processors)
    assert num_processes(None, log_sizes) == expected


@pytest.mark.parametrize("function", [mb.verify, mb.stats])
def test_functions_use_as_many_processes_as_pay_if_asked(
    function: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    used = []

    def one_process(work: Any, tasks: Any, *, processes: int) -> Any:
        used.append(processes)
        return in_processes(work, tasks, processes=1)

    for module in (magicbyte.statistics, magicbyte.verification.verify):
        monkeypatch.setattr(module, "in_processes", one_process)
    monkeypatch.setattr(process_pool, "LOGS_PER_PROCESS", 1)
    monkeypatch.setattr(process_pool, "num_processors", lambda: 3)
    function(DATA / "4.3" / "plain", processes=None)
    function(DATA / "4.3" / "plain")
    assert used == [3, 1]


def test_a_partition_is_verified_as_it_is_among_others() -> None:
    """The log start, recovery point and clean shutdown of its log.dir are passed to the process."""
    log_dir = DATA / "4.3" / "plain" / "log-0"
    alone = mb.verify(log_dir / "deleted-records-0", processes=2)
    among = mb.verify(log_dir, processes=2)
    assert alone.partitions == [
        row
        for row in among.partitions
        if (row["topic"], row["partition"]) == ("deleted-records", 0)
    ]
    assert alone.partitions[0]["log_start_offset"] > 0


@pytest.mark.parametrize("processes", [1, 3])
def test_progress_counts_the_bytes_of_what_is_done(processes: int) -> None:
    told: list[tuple[int, int]] = []
    found = mb.verify(
        DATA / "2.8" / "lives",
        processes=processes,
        progress=lambda done, total: told.append((done, total)),
    )
    size = sum(row["size_bytes"] for row in found.segments if row["file_kind"] == "log")
    assert told == sorted(told) and len(told) >= len(found.partitions)
    assert told[-1] == (told[0][1], told[0][1]) == (size, size)


@pytest.mark.parametrize("processes", [1, 2])
def test_the_first_error_ends_it(processes: int) -> None:
    found = []
    with pytest.raises(ValueError, match="'first'"):
        for number in in_processes(int, iter(["1", "2", "first", "second"]), processes=processes):
            found.append(number)
    assert found == [1, 2]


def test_error_in_one_partition_ends_verify(tmp_path: Path) -> None:
    shutil.copytree(DATA / "2.8" / "lives" / "log-0", tmp_path / "log-0")
    logs = sorted((tmp_path / "log-0").glob("*/*.log"))

    def cut(done: int, total: int) -> None:
        for path in logs:
            path.write_bytes(path.read_bytes()[:1])

    with pytest.raises(mb.ChangedError):
        mb.verify(tmp_path, processes=2, progress=cut)


def test_death_of_a_worker_process_is_an_error() -> None:
    with pytest.raises(mb.InputError, match="a worker process died with status 3"):
        list(in_processes(os._exit, iter([3, 3]), processes=2))


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no masks of signals here")
@pytest.mark.parametrize("held", [[], [signal.SIGINT, signal.SIGTERM]])
def test_interrupts_are_the_callers_from_the_first_moment_on(held: list[int]) -> None:
    """Runs in a new Python process, since all later processes of this one share a fork server."""
    ran = subprocess.run(
        [sys.executable, "-c", MASKS, *map(str, map(int, held))], capture_output=True, check=True
    )
    first, second, caller = (json.loads(line) for line in ran.stdout.splitlines())
    assert signal.SIGINT in first and signal.SIGINT in second
    assert sorted(caller) == sorted(held)


MASKS = """
import sys
from functools import partial
from signal import SIG_BLOCK, pthread_sigmask
from magicbyte.reading.process_pool import in_processes

mask = partial(pthread_sigmask, SIG_BLOCK)
mask(map(int, sys.argv[1:]))
for found in *in_processes(mask, iter([(), ()]), processes=2), mask(()):
    print(list(map(int, found)))
"""


def test_tasks_are_taken_as_they_are_done() -> None:
    tasks = count()
    found = in_processes(abs, tasks, processes=2)
    assert [next(found) for _ in range(20)] == list(range(20))
    assert next(tasks) <= 20 + 2 * TASKS_AHEAD
    found.close()


def test_no_processes_are_refused() -> None:
    with pytest.raises(mb.InputError, match="at least 1"):
        mb.verify(DATA / "4.3", processes=0)


SCRIPT = """
import sys
from pathlib import Path
from magicbyte.reading.process_pool import in_processes

if __name__ == "__main__":
    list(in_processes(Path.read_bytes, iter(map(Path, sys.argv[1:])), processes=2))
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here to wait at")
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_processes_end_with_the_caller_whatever_they_are_at(name: str, tmp_path: Path) -> None:
    script, pipes = tmp_path / "script.py", [tmp_path / "one", tmp_path / "two"]
    script.write_text(SCRIPT)
    for pipe in pipes:
        os.mkfifo(pipe)
    caller = subprocess.Popen(
        [sys.executable, script, *pipes],
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # Each opens as soon as its process reads, and cannot be written to when that is gone.
    files = [pipe.open("wb", buffering=0) for pipe in pipes]
    if name == "SIGINT":  # as a terminal does: to all of them
        os.killpg(caller.pid, signal.SIGINT)
    else:
        caller.kill()
    _, said = caller.communicate(timeout=WAIT_S)
    assert caller.returncode != 0
    assert said.count(b"KeyboardInterrupt") == (name == "SIGINT")
    for file in files:
        with pytest.raises(BrokenPipeError), file:
            while True:
                file.write(b"more")
