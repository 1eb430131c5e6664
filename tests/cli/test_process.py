"""The command as a process: pipes, terminals, signals, imports."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Run

VERBS = ("dump", "verify", "export", "extract", "spec", "pipeline")


def test_a_closed_pipe_ends_quietly(command: list[str], logs: Path) -> None:
    dump = subprocess.Popen(
        [*command, "dump", str(logs / "2.8" / "formats" / "log-0"), "--format", "ndjson"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert dump.stdout is not None and dump.stderr is not None
    assert dump.stdout.readline().startswith(b"{")
    dump.stdout.close()
    complaints = dump.stderr.read()
    dump.stderr.close()
    assert (dump.wait(30), complaints) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_one_line_and_status_2(command: list[str], transactions: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*command, "dump", str(transactions / "aborted-0")],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, "Error: the output: No space left on device\n")


def test_an_interrupt_is_one_line_and_status_130(command: list[str], logs: Path) -> None:
    dump = subprocess.Popen(
        [*command, "dump", str(logs / "2.8" / "formats" / "log-0"), "--format", "ndjson"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background job ignores the signal, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert dump.stdout is not None and dump.stderr is not None
    assert dump.stdout.readline().startswith(b"{")
    dump.send_signal(signal.SIGINT)
    assert dump.stderr.read() == b"interrupted\n"
    dump.stdout.close()
    dump.stderr.close()
    assert dump.wait(30) == 130


def on_terminal(command: list[str], **environment: str) -> tuple[int, str]:
    """Run *command* on a terminal of 60 columns; return its status and all that it showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "60", "LINES": "24", **environment},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(ours)
    return process.wait(30), shown.decode().replace("\r\n", "\n")


def test_lines_are_cut_at_the_width_of_a_terminal_alone(
    command: list[str], transactions: Path
) -> None:
    call = [*command, "dump", str(transactions / "aborted-0"), "--limit", "3"]
    status, shown = on_terminal(call, NO_COLOR="1")
    assert status == 0
    lines = shown.splitlines()
    assert len(lines) == 4
    assert all(len(line.removeprefix("\x1b[1m").removesuffix("\x1b[0m")) <= 60 for line in lines)
    assert all("\x1b[3" not in line for line in lines)  # no colour
    piped = subprocess.run(call, capture_output=True, check=True)
    assert b"\x1b" not in piped.stdout and "…".encode() not in piped.stdout


def test_a_payload_is_refused_to_a_terminal(command: list[str], transactions: Path) -> None:
    place = f"{transactions / 'aborted-0' / '00000000000000000000.log'}@0"
    status, shown = on_terminal([*command, "extract", place])
    assert status == 2
    assert "Error: a payload is binary" in shown


def test_output_is_utf8_whatever_the_locale(command: list[str], transactions: Path) -> None:
    done = subprocess.run(
        [*command, "dump", str(transactions / "aborted-0"), "--limit", "1"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"},
        capture_output=True,
        check=True,
    )
    assert "naïve façade" in done.stdout.decode("utf-8")


def test_a_folder_whose_name_is_no_text_is_read(
    command: list[str], transactions: Path, tmp_path: Path
) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes no such name")
    shutil.copytree(transactions / "aborted-0", os.fsdecode(folder + b"/aborted-0"))
    done = subprocess.run(
        [*map(os.fsencode, command), b"dump", folder + b"/aborted-0", b"--limit", b"1"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [*map(os.fsencode, command), b"verify", folder + b"/aborted-0", b"--format", b"ndjson"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    partition = next(line for line in done.stdout.splitlines() if b'"kind":"partition"' in line)
    assert os.fsencode(json.loads(partition)["log_dir"]) == folder


def test_the_command_imports_neither_spark_nor_numba() -> None:
    verbs = "".join(f"main.get_command(None, {verb!r}); " for verb in VERBS)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; from magicbyte_cli import main; {verbs}"
            "print([n for n in ('numba', 'pyspark') if n in sys.modules])",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_examples(run: Run, verb: str) -> None:
    result = run(verb, "--help")
    assert result.exit_code == 0
    assert f"magicbyte {verb}" in result.stdout.partition("Examples:")[2]


def test_the_version_is_that_of_the_package(run: Run) -> None:
    from magicbyte import __version__

    assert run("--version").stdout == f"magicbyte, version {__version__}\n"


def test_an_unknown_verb_is_status_2(run: Run) -> None:
    result = run("dmup", "x")
    assert (result.exit_code, result.stdout) == (2, "")
