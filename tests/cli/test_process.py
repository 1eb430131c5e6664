"""Tests of `magicbyte` as a process: pipes, terminals, signals, imports."""

import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import magicbyte
from log_builder import Folder, batch_of
from magicbyte import __version__
from magicbyte_cli.pager import paged_stdout, pager_command
from paths import DATA

from .conftest import COMMAND, TRANSACTIONS, run

VERBS = ("dump", "verify", "export", "extract", "spec", "pipeline")


def long_dump() -> subprocess.Popen[bytes]:
    """Start a dump that prints more than a pipe holds; return its process after the first line."""
    dump = subprocess.Popen(
        [*COMMAND, "dump", str(DATA / "2.8" / "formats" / "log-0"), "--format", "ndjson"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background job ignores the signal, and its child processes inherit this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert dump.stdout is not None
    assert dump.stdout.readline().startswith(b"{")
    return dump


def test_a_closed_pipe_ends_quietly() -> None:
    with long_dump() as dump:
        assert dump.stdout is not None and dump.stderr is not None
        dump.stdout.close()
        assert (dump.stderr.read(), dump.wait(30)) == (b"", 0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_one_line_and_status_2() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "dump", str(TRANSACTIONS / "aborted-0")],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, "Error: the output: No space left on device\n")


def test_an_interrupt_is_one_line_and_status_130() -> None:
    with long_dump() as dump:
        assert dump.stderr is not None
        dump.send_signal(signal.SIGINT)
        assert (dump.stderr.read(), dump.wait(30)) == (b"interrupted\n", 130)


def on_terminal(command: list[str], **environment: str) -> tuple[int, str]:
    """Run *command* on a terminal of 60 columns; return its status and all its output."""
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
    with suppress(OSError):  # on Linux, EIO: the command closed the terminal
        while data := os.read(ours, 4096):
            shown += data
    os.close(ours)
    return process.wait(30), shown.decode().replace("\r\n", "\n")


def test_lines_are_cut_at_the_width_of_a_terminal_alone() -> None:
    call = [*COMMAND, "dump", str(TRANSACTIONS / "committed-0"), "--limit", "3"]
    status, shown = on_terminal(call, NO_COLOR="1", PAGER="cat")
    assert status == 0
    lines = shown.splitlines()
    assert lines[0] == "topic committed, partition 0, headers []"
    assert len(lines) == 5
    assert all(len(line.removeprefix("\x1b[1m").removesuffix("\x1b[0m")) <= 60 for line in lines)
    assert all("\x1b[3" not in line for line in lines)  # no colour
    piped = subprocess.run(call, capture_output=True, check=True)
    assert b"\x1b" not in piped.stdout and "…".encode() not in piped.stdout


@pytest.mark.parametrize(
    ("command", "heading", "names"),
    [
        (
            "transactions",
            "topic open, partition 0, state Ongoing, hangs false",
            ["producer_id", "first_offset", "first_timestamp", "records", "transactional_id"],
        ),
        (
            "groups",
            "member_id -, client_host -, client_id -",
            ["group", "type", "topic", "partition", "offset", "log_end_offset", "lag"],
        ),
    ],
)
def test_a_terminal_of_80_columns_shows_the_columns_that_matter(
    command: str, heading: str, names: list[str]
) -> None:
    call = [*COMMAND, command, str(TRANSACTIONS)]
    status, shown = on_terminal(call, COLUMNS="80", NO_COLOR="1")
    lines = shown.splitlines()
    assert status == 0
    header = lines[lines.index(heading) + 1]
    assert header.removeprefix("\x1b[1m").removesuffix("\x1b[0m").split() == names
    assert command == "groups" or any(
        line
        == "columns that do not fit this terminal: producer_epoch, last_offset; --expanded and --no-trunc show them"
        for line in lines
    )


def test_sql_fits_a_terminal_and_writes_whole_lines_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    call = [*COMMAND, "sql", "SELECT * FROM records LIMIT 2", str(TRANSACTIONS / "committed-0")]
    shown = on_terminal(call, COLUMNS="60", NO_COLOR="1")[1].splitlines()
    header = shown[0].removeprefix("\x1b[1m").removesuffix("\x1b[0m").split()
    assert header == ["topic", "partition", "offset", "key", "value"]
    assert shown[-1].startswith("columns that do not fit this terminal: position, file, ")
    assert on_terminal([*call, "-o", str(out)], FORCE_COLOR="1")[0] == 0
    lines = out.read_text().splitlines()
    assert len(lines) == 3 and lines[0].split()[-2:] == ["disposition", "outcome"]
    assert "\x1b" not in out.read_text()


PAGER = """
import sys
lines = sys.stdin.buffer.readline(), sys.stdin.buffer.readline()
print("paged", len(b"".join(lines).decode().split()), flush=True)
"""


def test_a_pager_shows_what_was_read_first_and_may_end_early(tmp_path: Path) -> None:
    """The pager ends after two lines of an output that is much longer; messages come after it."""
    (tmp_path / "pager.py").write_text(PAGER)
    pager = shlex.join([sys.executable, str(tmp_path / "pager.py")])
    log_dir = str(TRANSACTIONS)
    call = [*COMMAND, "dump", log_dir, "--on-damage", "skip"]
    status, shown = on_terminal(call, MAGICBYTE_PAGER=pager)
    assert shown.startswith("paged ")
    assert "\n3 partitions of internal topics left out" in shown  # messages follow the pager
    assert "Traceback" not in shown and "BrokenPipe" not in shown
    status, shown = on_terminal([*call, "--no-pager", "--limit", "3"], MAGICBYTE_PAGER=pager)
    assert status == 0 and "paged" not in shown
    missing = on_terminal([*call, "--limit", "3"], MAGICBYTE_PAGER="no-such-pager")[1]
    assert "the pager no-such-pager cannot be started" in missing and "topic " in missing


@pytest.mark.parametrize("name", ["PAGER", "MAGICBYTE_PAGER"])
def test_nothing_is_paged_where_the_pager_is_cat_or_stdout_a_file(name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("PAGER", "MAGICBYTE_PAGER"):
            patch.delenv(variable, raising=False)
        patch.setenv("PAGER", "more -d")
        assert pager_command() == ["more", "-d"]
        patch.setenv(name, "cat")
        assert pager_command() == []
        patch.setenv(name, "false")
        with paged_stdout(is_wanted=True) as out:
            assert out is sys.stdout.buffer  # pytest's stdout is no terminal


def test_a_payload_is_refused_to_a_terminal() -> None:
    place = f"{TRANSACTIONS / 'aborted-0' / '00000000000000000000.log'}@0"
    status, shown = on_terminal([*COMMAND, "extract", place])
    assert status == 2
    assert "Error: a payload is binary" in shown


def test_output_is_utf8_whatever_the_locale() -> None:
    output = subprocess.check_output(
        [*COMMAND, "dump", str(TRANSACTIONS / "aborted-0"), "--disposition", "aborted"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"},
    )
    assert "naïve façade" in output.decode("utf-8")


def test_a_folder_whose_name_is_no_text_is_read(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes no such name")
    shutil.copytree(TRANSACTIONS / "aborted-0", os.fsdecode(folder + b"/aborted-0"))
    for arguments in ([b"dump", b"--limit", b"1"], [b"verify", b"--format", b"ndjson"]):
        command = [*map(os.fsencode, COMMAND), *arguments, folder + b"/aborted-0"]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    partition = next(line for line in done.stdout.splitlines() if b'"kind":"partition"' in line)
    assert os.fsencode(json.loads(partition)["log_dir"]) == folder


def test_the_command_imports_neither_spark_nor_numba() -> None:
    verbs = "".join(f"main.get_command(None, {verb!r}); " for verb in VERBS)
    program = (
        f"import sys; from magicbyte_cli import main; {verbs}"
        "print([n for n in ('numba', 'pyspark') if n in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_examples(verb: str) -> None:
    result = run(verb, "--help")
    assert result.exit_code == 0
    assert f"magicbyte {verb}" in result.stdout.partition("Examples:")[2]


def test_the_version_is_that_of_the_package() -> None:
    assert run("--version").stdout == f"magicbyte, version {__version__}\n"


def test_an_unknown_verb_is_status_2() -> None:
    result = run("dmup", "x")
    assert (result.exit_code, result.stdout) == (2, "")


ESCAPES = b"\x1b]0;title\x07\x9b31m \xe2\x80\xae\r"


def test_a_terminal_gets_no_escape_sequences_of_keys_and_values(folder: Folder) -> None:
    path = folder.segment("t-0", batch_of(0, ESCAPES, key=ESCAPES))
    command = [*COMMAND, "kafka-dump-log", "--print-data-log", "--files", str(path)]
    status, shown = on_terminal(command)
    assert status == 0
    assert "\\x1b]0;title\\x07" in shown
    assert all(character.isprintable() or character == "\n" for character in shown)
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    assert ESCAPES.decode("utf-8", "replace").encode() in piped


@pytest.mark.parametrize("arguments", ["--help", "dump --help", "--version", "spec"])
def test_a_full_disk_is_no_traceback_wherever_it_is_met(arguments: str) -> None:
    command = f"{shlex.join(COMMAND)} {arguments} >/dev/full"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "Error: the output: No space left on device\n")


@pytest.mark.parametrize(
    ("arguments", "streams", "status"),
    [
        ("spec", ">&-", 2),
        (f"dump {TRANSACTIONS / 'aborted-0'}", ">&-", 2),
        (f"dump {TRANSACTIONS / 'aborted-0'} --limit 1", ">/dev/null 2>&-", 0),
        ("dump nowhere", "2>&-", 2),
        ("dump nowhere", "<&- >&- 2>&-", 2),
        ("--help", "| true", 0),
    ],
)
def test_closed_streams_are_no_traceback(arguments: str, streams: str, status: int) -> None:
    script = f"{shlex.join(COMMAND)} {arguments} {streams}"
    if streams.startswith("|"):
        script = f"set -o pipefail; {script}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


def test_odd_environments_are_no_traceback(tmp_path: Path) -> None:
    environment = {
        **{"PATH": os.environ["PATH"], "LANG": "C", "LC_ALL": "C", "TZ": "No/Where"},
        **{"COLUMNS": "abc", "LINES": "0", "HOME": "/nonexistent", "TERM": "none"},
        **{"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    }
    for arguments in (["dump", "--limit", "1"], ["verify"]):
        command = [*COMMAND, *arguments, str(TRANSACTIONS / "aborted-0")]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize("limit_kb", [250_000, 450_000])
def test_too_little_memory_is_a_sentence_and_status_2(limit_kb: int) -> None:
    call = f"{shlex.join(COMMAND)} dump {TRANSACTIONS} --include-internal"
    command = ["bash", "-c", f"ulimit -v {limit_kb}; {call}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: not enough memory"), done.stderr


def test_an_unexpected_error_is_one_line_that_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("what")

    monkeypatch.setattr(magicbyte, "open", fail)
    monkeypatch.delenv("MAGICBYTE_TRACEBACK", raising=False)
    result = run("dump", TRANSACTIONS)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: KeyError: 'what'; this is a fault of magicbyte")
    monkeypatch.setenv("MAGICBYTE_TRACEBACK", "1")
    assert isinstance(run("dump", TRANSACTIONS).exception, KeyError)
