"""Tests of the benchmark: contenders must give equal answers, and are then measured in turns."""

import sys
from pathlib import Path

import pytest

from magicbyte_tools.bench.contenders import Contender
from magicbyte_tools.bench.data import Kind, Segment
from magicbyte_tools.bench.jobs import Failed, run
from magicbyte_tools.bench.measure import Disagreement, measure
from magicbyte_tools.bench.process import Process, Stopped
from magicbyte_tools.bench.starts import starts

SEGMENT = Segment(Kind(2, "100B", "16k", "none"), Path("any.log"), 100, 1, 1000)

ANSWER = """
import sys
for line in sys.stdin:
    with open({log!r}, "a") as log:
        print({name!r}, *line.split("\\t")[1:3], file=log)
    print(*{answer!r}, flush=True)
"""


def contender(
    name: str, log: Path, answer: tuple[int, ...] = (100, 7, 5000, 6000, 9000), **more: object
) -> Contender:
    """Return a contender that gives the same *answer* to every request, and appends it to *log*."""
    program = ANSWER.format(log=str(log), name=name, answer=answer)
    command = (sys.executable, "-S", "-c", program)
    return Contender(name=name, command=command, **more)  # type: ignore[arg-type]


def test_everybody_is_warmed_up_and_then_they_take_turns(tmp_path: Path) -> None:
    log = tmp_path / "log"
    both = [contender("a", log), contender("b", log, mode="offsets", via="file")]
    cell = measure(SEGMENT, both, repetitions=2)
    checks = ["a check memory", "b check file"]
    turns = ["a columns memory", "b offsets file"]
    warm_up = [turns[0]] * 2 + [turns[1]] * 2
    assert log.read_text().splitlines() == checks + warm_up + turns * 2
    assert cell.cpu_ns == {"a": [50.0, 50.0], "b": [50.0, 50.0]}
    assert cell.wall_ns == {"a": [90.0, 90.0], "b": [90.0, 90.0]}


def test_contender_that_compiles_warms_up_longer(tmp_path: Path) -> None:
    log = tmp_path / "log"
    one = contender("a", log, warm_up_s=0.000_024)  # a pass takes 5 microseconds
    measure(SEGMENT, [one], repetitions=1)
    assert log.read_text().splitlines() == ["a check memory"] + ["a columns memory"] * 6


def test_contender_that_settles_has_warm_up_passes_before_each_measured_one(tmp_path: Path) -> None:
    log = tmp_path / "log"
    one = contender("a", log, settle_s=0.000_027)  # a pass takes 9 microseconds
    cell = measure(SEGMENT, [one], repetitions=2)
    assert len(log.read_text().splitlines()) == 1 + 2 + 2 * (3 + 1)
    assert len(cell.wall_ns["a"]) == 2


def test_contender_without_v0_and_v1_skips_those_cells(tmp_path: Path) -> None:
    log = tmp_path / "log"
    messages = Segment(Kind(1, "100B", "16k", "none"), Path("any.log"), 100, 1, 1000)
    both = [contender("a", log), contender("b", log, reads_messages=False)]
    assert list(measure(messages, both, repetitions=1).cpu_ns) == ["a"]


@pytest.mark.parametrize("answer", [(99, 7, 1, 1, 1), (100, 8, 1, 1, 1)])
def test_contender_with_other_rows_ends_the_run(tmp_path: Path, answer: tuple[int, ...]) -> None:
    log = tmp_path / "log"
    both = [contender("a", log), contender("b", log, answer)]
    with pytest.raises(Disagreement, match="v2-100B-16k-none"):
        measure(SEGMENT, both, repetitions=1)


def test_contender_that_reads_a_part_may_return_fewer_rows(tmp_path: Path) -> None:
    log = tmp_path / "log"
    slow = contender("slow", log, (10, 1, 5000, 6000, 9000), reads_all=False)
    cell = measure(SEGMENT, [contender("a", log), slow], repetitions=1)
    assert cell.cpu_ns["slow"] == [500.0]


def test_a_contender_that_ends_is_an_error() -> None:
    command = [sys.executable, "-S", "-c", "raise SystemExit(3)"]
    with Process(command) as gone, pytest.raises(Stopped, match="five numbers"):
        gone.ask(Path("any.log"), "columns", "memory")


def test_job_runs_the_given_number_of_times_and_its_failure_is_raised() -> None:
    (job,) = run({"quiet": [sys.executable, "-S", "-c", "print(1)"]}, repetitions=2)
    assert len(job.cpu_s) == len(job.wall_s) == len(job.peak_bytes) == 2
    loud = [sys.executable, "-S", "-c", "raise SystemExit('no such luck')"]
    with pytest.raises(Failed, match=r"loud: exit 1: .*no such luck"):
        run({"loud": loud}, repetitions=1)


def test_a_job_keeps_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    code = "import sys; raise SystemExit(sys.dont_write_bytecode)"
    run({"python": [sys.executable, "-S", "-c", code]}, repetitions=1)


def test_starts_are_those_of_ours_and_of_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    monkeypatch.setattr(
        "magicbyte_tools.bench.jobs._run", lambda job, command: begun.append(command[-1])
    )
    jobs = starts(repetitions=2)
    assert [job.name for job in jobs] == ["import magicbyte", "import pyarrow"]
    assert begun == ["import magicbyte", "import pyarrow"] * (1 + 2 * 4)
