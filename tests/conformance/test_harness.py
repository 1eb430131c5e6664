"""Tests of the harness's command line with runners that answer rightly, wrongly, or not at all."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from magicbyte_tools.conformance.__main__ import main
from magicbyte_tools.conformance.answer_shape import CHECKS, FEATURES
from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.conformance.level_scores import LEVELS, level_scores
from magicbyte_tools.conformance.runner import Answer
from magicbyte_tools.conformance.scoring import Score, scored
from magicbyte_tools.conformance.vectors_folder import VECTORS

COMMAND = (sys.executable, "-m", "magicbyte_tools.conformance")

RIGHT = """
    import json, sys
    from pathlib import Path
    file = Path(sys.argv[2])
    case = json.loads(file.with_suffix(".json").read_bytes())
    refusal = {key: case[key] for key in ("position",) if "error" in case}
    answer = {"fields": case.get("fields"), "error": refusal or None}
    if "records" in case:
        answer["records"] = case["records"]
"""
"""Program that sets `answer` to the expected answer; appended lines may change it and print it."""

PRINT = "    print(json.dumps(answer))\n"


class Run(NamedTuple):
    """Exit status, lines of stdout, and stderr of one run of the harness."""

    status: int
    lines: list[str]
    complaints: str


@dataclass(frozen=True)
class Harness:
    """Runs the harness's command line, in this process, on a folder of small cases."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def vectors(self) -> Path:
        return self.folder / "vectors"

    def add(self, name: str, **content: Any) -> None:
        """Add the case *name*, whose file has eight zero bytes; *content* is its description."""
        file = self.vectors / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_suffix(".bin").write_bytes(b"\0" * 8)
        content |= {"format": file.parent.name, "why": f"{file.name} was once misread"}
        file.with_suffix(".json").write_text(json.dumps(content))

    def known(self, text: str) -> Path:
        """Write *text* into a file of known failures; return its path."""
        file = self.folder / "known.json"
        file.write_text(text)
        return file

    def runner(self, program: str) -> list[str]:
        """Return the command of a runner with this *program*, without site-packages for speed."""
        file = self.folder / "runner.py"
        file.write_text(textwrap.dedent(program))
        return [sys.executable, "-I", "-S", str(file)]

    def call(self, *arguments: str | Path) -> Run:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as error:  # argparse
            assert isinstance(error.code, int)
            status = error.code
        out, complaints = self.capsys.readouterr()
        return Run(status, out.splitlines(), complaints)

    def judge(self, program: str, *options: str | Path) -> Run:
        """Judge a runner with this *program* on the small cases."""
        return self.call("--vectors", self.vectors, *options, "--", *self.runner(program))


@pytest.fixture
def harness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Harness:
    """Provide a harness with four small cases: two valid ones and two invalid ones."""
    harness = Harness(tmp_path, capsys)
    tree: dict[str, Any] = {"entries": [{"relative_offset": 1, "ofs_batch": 2}]}
    harness.add("valid/kafka_offset_index/one-entry", fields=tree, verdict="valid")
    harness.add("valid/kafka_offset_index/zeros", fields={"zero_tail": "00"}, verdict="valid")
    fault: dict[str, Any] = {"verdict": "invalid", "error": "FormatError", "position": 8}
    harness.add("invalid/kafka_time_index/cut", fields=None, caught_by="grammar", **fault)
    harness.add("invalid/kafka_log/crc", fields=tree, caught_by="checksum", **fault)
    return harness


NONE = {"passed": 0, "verdict": 0, "failed": 0, "known": 0, "not-judged": 0}


def counts(lines: list[str]) -> dict[str, int]:
    """Return the last row of the table that the harness prints: numbers of cases by outcome."""
    head = next(line for line in lines if line.startswith("format")).split()[2:]
    (row,) = (line.split()[1:] for line in lines if line.startswith("all"))
    return dict(zip(head, map(int, row), strict=True))


def test_a_runner_that_is_right_passes(harness: Harness) -> None:
    status, lines, complaints = harness.judge(RIGHT + PRINT)
    assert (status, complaints) == (0, "")
    assert lines == [
        "format              verdict  passed  verdict  failed  known  not-judged",
        "kafka_offset_index  valid         2        0       0      0           0",
        "kafka_log           invalid       1        0       0      0           0",
        "kafka_time_index    invalid       1        0       0      0           0",
        "all                               4        0       0      0           0",
    ]


def test_the_command_may_be_one_string(harness: Harness) -> None:
    command = shlex.join(harness.runner(RIGHT + PRINT))
    assert harness.call(command, "--vectors", harness.vectors).status == 0


def test_a_failure_says_what_was_expected_what_came_and_why(harness: Harness) -> None:
    program = RIGHT + "    answer['error'] = answer['error'] and {'position': 9}\n" + PRINT
    status, lines, _ = harness.judge(program)
    assert status == 1
    difference = "error.position: expected 8, found 9. Why:"
    assert lines[:2] == [
        f"FAILED invalid/kafka_log/crc: {difference} crc was once misread",
        f"FAILED invalid/kafka_time_index/cut: {difference} cut was once misread",
    ]
    assert counts(lines) == {**NONE, "passed": 2, "failed": 2}


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("print('oops')", "printed no JSON"),
        ("print('{\"fields\": {}, ')", "printed no JSON"),
        ("print('[' * 100000)", "printed no JSON"),
        ("print('{\"fields\": ' + '9' * 100000 + '}')", "printed no JSON"),
        ("print('7')", "expected a JSON object"),
        ("print('{}')", "unanswered"),
        ("", "printed nothing"),
        ("import sys; print('{\"fields\": {}}'); sys.exit(3)", "failed, exit status 3"),
        ("raise ValueError('a reason')", "failed, exit status 1: ValueError: a reason"),
        ("import os; os.kill(os.getpid(), 11)", "failed, killed by SIGSEGV"),
        ("import time; time.sleep(60)", "no answer within 0.5 s"),
        ("while True: pass", "no answer within 0.5 s"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "printed more than"),
        ("data = b'x' * (1 << 30)", "MemoryError"),
    ],
)
def test_malformed_answer_fails_its_case_and_not_the_run(
    program: str, words: str, harness: Harness
) -> None:
    timeout_s = "20" if "printed more" in words else "0.5"
    bounds = ("--timeout-s", timeout_s, "--memory-mib", "256")
    status, lines, _ = harness.judge(program, "--cases", "valid/*", *bounds)
    assert status == 1
    assert words in lines[0]
    assert counts(lines)["failed"] == 2


def test_child_processes_of_a_runner_are_killed(harness: Harness, tmp_path: Path) -> None:
    program = f"""
    import subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open({str(tmp_path / "children")!r}, "a") as file: print(child.pid, file=file)
    time.sleep(600)
    """
    # On a busy machine it takes more than a second until the child is there.
    harness.judge(program, "--cases", "valid/*/zeros", "--timeout-s", "3")
    children = [int(line) for line in (tmp_path / "children").read_text().split()]
    assert len(children) == 1
    deadline = time.monotonic() + 10
    while running := [pid for pid in children if is_running(pid)]:
        assert time.monotonic() < deadline, running
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


# Runners that take many cases


ANSWER = """
        case = json.loads(Path(name).with_suffix(".json").read_bytes())
        refusal = {key: case[key] for key in ("position",) if "error" in case}
        if "zeros" in name:
            FAULT
        print(json.dumps({"fields": case["fields"], "error": refusal or None}), flush=True)
"""
LINES = (
    """
    import json, os, sys
    from pathlib import Path
    assert sys.argv[1:] == ["--lines"]
    for line in sys.stdin:
        name = json.loads(line)["file"]
"""
    + ANSWER
)
FILES = (
    """
    import json, os, sys
    from pathlib import Path
    for name in sys.argv[2:]:
"""
    + ANSWER
)


@pytest.mark.parametrize(("process_per", "program"), [("run", LINES), ("format", FILES)])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("os._exit(0)", "ended without an answer, exit status 0"),
        ("os.abort()", "ended without an answer, killed by SIGABRT"),
        ("raise KeyError('x')", "ended without an answer, exit status 1: KeyError: 'x'"),
        ("import time; time.sleep(60)", "no answer within 2 s"),
        ("print('?', flush=True); continue", "printed no JSON"),
    ],
)
def test_a_case_that_ends_a_process_of_many_costs_itself_alone(
    process_per: str, program: str, fault: str, words: str, harness: Harness
) -> None:
    harness.add("valid/kafka_offset_index/zzz", fields={"a": 1}, verdict="valid")
    options = ("--process-per", process_per, "--timeout-s", "2")
    status, lines, _ = harness.judge(program.replace("FAULT", fault), *options)
    assert status == 1
    assert lines[0].startswith(f"FAILED valid/kafka_offset_index/zeros: {words}")
    assert counts(lines) == {**NONE, "passed": 4, "failed": 1}


def test_a_case_that_fails_only_behind_others_is_asked_again(harness: Harness) -> None:
    fault = "if len(sys.argv) > 3 and sys.argv[2] != name: os.abort()"
    run = harness.judge(FILES.replace("FAULT", fault), "--process-per", "format")
    assert counts(run.lines) == {**NONE, "passed": 4}


def test_a_runner_is_told_what_a_case_sets(harness: Harness) -> None:
    limits = {"max_entry_bytes": 2**53 + 1}
    harness.add("valid/kafka_produced/set", fields=limits, verdict="valid", limits=limits)
    alone = """
    import json, os, sys
    told = json.loads(os.environ.get("CONFORMANCE_SETTINGS", "{}"))
    print(json.dumps({"fields": told.get("limits")}))
    """
    lines = """
    import json, sys
    for line in sys.stdin:
        print(json.dumps({"fields": json.loads(line).get("limits")}), flush=True)
    """
    produced = ("--cases", "*/kafka_produced/*")
    assert harness.judge(alone, *produced).status == 0
    assert harness.judge(lines, *produced, "--process-per", "run").status == 0
    assert harness.judge(alone, "--cases", "valid/*").status == 1


# Known failures


def test_a_known_failure_does_not_fail_the_run(harness: Harness) -> None:
    program = RIGHT + "    if 'zeros' in sys.argv[2]: answer['fields'] = {}\n" + PRINT
    assert harness.judge(program).status == 1
    file = harness.known('{"kafka_offset_index/zeros": {"reason": "no zeros"}}')
    status, lines, _ = harness.judge(program, "--known", file)
    assert status == 0
    assert counts(lines) == {**NONE, "passed": 3, "known": 1}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kafka_offset_index/zeros", "listed as a known failure, but passes"),
        ("kafka_offset_index/no-such-case", "but there is no such case"),
    ],
)
def test_a_known_failure_that_is_none_fails_the_run(
    name: str, words: str, harness: Harness
) -> None:
    file = harness.known(json.dumps({name: {"reason": "it fails"}}))
    status, lines, _ = harness.judge(RIGHT + PRINT, "--known", file)
    assert status == 1
    assert any(f"{name}: " in line and words in line for line in lines)


def test_a_known_failure_that_was_not_run_is_not_stale(harness: Harness) -> None:
    file = harness.known('{"kafka_log/crc": {"reason": "it fails"}}')
    assert harness.judge(RIGHT + PRINT, "--known", file, "--cases", "valid/*").status == 0


# Calls that are wrong


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "expected either a RUNNER or --engine"),
        (("true", "--engine", "runtime"), "expected either a RUNNER or --engine"),
        (("--engine", "none"), "invalid choice"),
        (("no-such-program",), "No such file or directory: 'no-such-program'"),
        (("/",), "Permission denied"),
        (("true", "--vectors", "/nowhere"), "no case"),
        (("true", "--cases", "nothing/*"), "no case is named like nothing/*"),
        (("true", "--known", "/nowhere"), "No such file"),
        (("true", "--timeout-s", "0"), "invalid _positive value"),
        (("'unclosed",), "No closing quotation"),
        (("true", "--lacks", "v3"), "no features: v3"),
        (("true", "--level", "v3"), "invalid choice"),
        (("true", "--badges", "/tmp/x", "--cases", "valid/*"), "leave out --cases"),
    ],
)
def test_a_wrong_call_has_status_2(
    arguments: tuple[str, ...], words: str, harness: Harness
) -> None:
    status, lines, complaints = harness.call(*arguments)
    assert (status, lines) == (2, [])
    assert words in complaints
    assert "Traceback" not in complaints


@pytest.mark.parametrize("text", ["", "[]", '{"a": "b"}', '{"a": {"reason": ""}}', '{"a": {}}'])
def test_a_list_of_known_failures_that_is_none_has_status_2(text: str, harness: Harness) -> None:
    assert harness.call("true", "--known", harness.known(text)).status == 2


@pytest.mark.parametrize("text", ["", "[]", '{"format": "kafka_log", "verdict": "valid"}'])
def test_a_case_that_is_none_has_status_2(text: str, harness: Harness) -> None:
    (harness.vectors / "valid" / "kafka_offset_index" / "zeros.json").write_text(text)
    status, _, complaints = harness.call("true", "--vectors", harness.vectors)
    assert status == 2
    assert "zeros" in complaints


# Levels, and features that a runner lacks


def levelled(harness: Harness) -> None:
    """Add a case of v2-read and one of legacy, which needs v1."""
    rows: dict[str, Any] = {"records": [], "verdict": "valid"}
    harness.add("valid/kafka_log/read", fields={"a": 1}, levels=["v2-read"], **rows)
    harness.add("valid/kafka_log/old", fields={"a": 2}, levels=["legacy"], needs=["v1"], **rows)


def test_levels_have_a_table_of_their_own(harness: Harness) -> None:
    levelled(harness)
    lines = harness.judge(RIGHT + PRINT).lines
    assert lines[-4:] == [
        "",
        "level    passed  of  by verdict  not judged  lacking",
        "v2-read       1   1           0           0        0",
        "legacy        1   1           0           0        0",
    ]


def test_a_level_alone_can_be_scored(harness: Harness, tmp_path: Path) -> None:
    levelled(harness)
    options = ("--level", "legacy", "--badges", tmp_path / "badges", "--junit", tmp_path / "x.xml")
    run = harness.judge(RIGHT + PRINT, *options, "--json", tmp_path / "x.json", "--name", "mine")
    assert (run.status, counts(run.lines)["passed"]) == (0, 1)
    (badge,) = (tmp_path / "badges").iterdir()
    assert json.loads(badge.read_text())["message"] == "1/1"
    assert json.loads((tmp_path / "x.json").read_text())["runner"] == "mine"
    assert b'name="old"' in (tmp_path / "x.xml").read_bytes()


def test_cases_that_need_what_a_runner_lacks_are_not_run(harness: Harness) -> None:
    levelled(harness)
    run = harness.judge(RIGHT + "    assert 'old' not in sys.argv[2]\n" + PRINT, "--lacks", "v0,v1")
    assert run.status == 0
    assert run.lines[-1].split() == ["legacy", "0", "0", "0", "0", "1"]


# Runners that cannot run at all


@pytest.mark.parametrize("process_per", ["case", "format", "run"])
def test_a_runner_that_never_answers_is_given_up_after_three_starts(
    process_per: str, harness: Harness, tmp_path: Path
) -> None:
    program = f"""
    with open({str(tmp_path / "starts")!r}, "a") as file: file.write("x")
    raise ImportError("no class path")
    """
    status, lines, complaints = harness.judge(program, "--process-per", process_per)
    assert status == 2
    assert "no answer to any of the first 3 cases" in complaints
    assert "ImportError: no class path" in complaints
    assert (tmp_path / "starts").read_text() == "xxx"
    assert len([line for line in lines if line.startswith("FAILED")]) == 2


def test_a_runner_that_answered_once_is_asked_all_cases(harness: Harness) -> None:
    run = harness.judge(RIGHT + "    assert 'one-entry' in sys.argv[2]\n" + PRINT)
    assert (run.status, counts(run.lines)["failed"]) == (1, 3)


# The scorer in one file


def test_the_scorer_of_one_file_needs_no_other(harness: Harness) -> None:
    """It runs in an interpreter without site-packages, and on the vectors beside it."""
    shutil.copy(VECTORS / "score.py", harness.vectors)
    command = [sys.executable, "-I", "-S", harness.vectors / "score.py", "--"]
    done = subprocess.run(
        [*command, *harness.runner(RIGHT + PRINT)], capture_output=True, text=True, cwd="/"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert counts(done.stdout.splitlines())["passed"] == 4


def test_the_scorer_of_one_file_refuses_an_empty_call() -> None:
    command = [sys.executable, "-I", "-S", VECTORS / "score.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "expected a RUNNER" in done.stderr


# NDJSON


def test_ndjson_has_a_line_per_case_and_a_summary(harness: Harness) -> None:
    program = RIGHT + "    if 'crc' in sys.argv[2]: answer = {'unsupported': 'why'}\n" + PRINT
    status, lines, _ = harness.judge(program, "--format", "ndjson")
    *rows, summary = [json.loads(line) for line in lines]
    assert status == 0
    assert [row["kind"] for row in (*rows, summary)] == ["case"] * 4 + ["summary"]
    (crc,) = (row for row in rows if row["path"].endswith("/crc"))
    assert crc["outcome"] == "not-judged"
    assert crc["complaints"] == ["why"]
    assert crc["why"] == "crc was once misread"
    assert (summary["passed"], summary["not-judged"], summary["is_good"]) == (3, 1, True)


# What trivial runners score on the real cases


ANSWERS = {
    "refuses everything": {"fields": None, "records": [], "stopped": True, "error": {}},
    "accepts everything": {"fields": {}, "records": [], "error": None},
    "finds nothing": {"records": [], "findings": [], "error": None},
    "says yes to everything": {"accepted": True},
    "looks for nothing": {"fields": {}, "error": None, "checks": []},
    "looks for nothing and reads no fields": {"records": [], "error": None, "checks": []},
    "refuses and looks for nothing": {"fields": None, "error": {}, "checks": []},
    "reads nothing": {"unsupported": "not yet"},
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_runner_that_reads_nothing_scores_badly(name: str, all_cases: list[Case]) -> None:
    score = Score()
    for one in scored(((case, Answer(ANSWERS[name])) for case in all_cases), {}):
        score.add(one)
    assert not score.is_good
    passed = [one.case for one in score.case_results if one.outcome in ("passed", "verdict")]
    if name.startswith("refuses"):  # it passes many cases that a reader may refuse
        assert not [case.path for case in passed if case.verdict == "valid"]
    elif name != "says yes to everything":
        assert len(passed) < len(all_cases) / 10, [case.path for case in passed]
    levels = level_scores(score.case_results)
    if name != "reads nothing":
        assert levels["v2-safe"].passed == levels["v2-safe"].total
    for level in ("v2-read", "legacy", "directory"):
        assert levels[level].passed < levels[level].total / 5, level
    for level in ("write", "files"):
        assert levels[level].passed < levels[level].total * 0.7, level
    assert name.startswith("refuses") or not levels["v2-strict"].passed


def run_of_the_readme(
    program: str, folder: Path, harness: Harness, format_name: str, *names: str
) -> Run:
    """Return the run of *program*, in the README, on the valid cases called *names*."""
    (folder / "runner.py").write_text(program)
    cases = folder / "real" / "valid" / format_name
    cases.mkdir(parents=True)
    for name in names:
        for file in (VECTORS / "valid" / format_name).glob(f"{name}.*"):
            shutil.copy(file, cases)
    return harness.call("--vectors", folder / "real", "--", sys.executable, folder / "runner.py")


def test_the_runners_of_the_readme_run(tmp_path: Path, harness: Harness) -> None:
    text = (VECTORS / "README.md").read_text()
    encoder, reader = re.findall("```python\n(.*?)```", text, re.DOTALL)
    for name in ("encoder", "reader"):
        (tmp_path / name).mkdir()
    names = ("header-key-twice", "gzip-transactional")
    run = run_of_the_readme(encoder, tmp_path / "encoder", harness, "kafka_encoded", *names)
    assert counts(run.lines) == {**NONE, "passed": 2}
    names = ("v2-three-records", "v2-gzip", "v2-log-append-time")
    run = run_of_the_readme(reader, tmp_path / "reader", harness, "kafka_log", *names)
    assert counts(run.lines) == {**NONE, "passed": 2, "failed": 1}
    assert run.lines[0].startswith("FAILED valid/kafka_log/v2-log-append-time: ")


@pytest.mark.parametrize(
    ("title", "names"), [("### Checks", CHECKS), ("### Levels", LEVELS), ("### Needs", FEATURES)]
)
def test_the_readme_names_checks_levels_and_features(title: str, names: Iterable[str]) -> None:
    section = (VECTORS / "README.md").read_text().partition(title)[2].partition("\n##")[0]
    assert re.findall(r"^\| `([\w-]+)`", section, re.MULTILINE) == list(names)


def test_a_signal_of_the_user_ends_the_runner_too(harness: Harness, tmp_path: Path) -> None:
    program = f"""
    import os, time
    open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
    time.sleep(600)
    """
    options = ["--vectors", harness.vectors, "--timeout-s", "500"]
    process = subprocess.Popen(
        [*COMMAND, *options, "--", *harness.runner(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background job ignores the signal, and its child processes inherit this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    pid = int((tmp_path / "pid").read_text())
    assert not is_running(pid)
