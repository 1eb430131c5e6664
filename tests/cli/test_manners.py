"""Tests of help, manual pages, completion, and defaults in the environment and in a configuration file."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from magicbyte import CODES, __version__
from magicbyte_cli import COMMANDS, main
from magicbyte_cli.exit_statuses import EXIT_STATUSES
from magicbyte_cli.man import command_page, main_page
from paths import CHECKOUT

from .conftest import PLAIN, TRANSACTIONS, refusal, run

LOG = PLAIN / "headers-0"


@pytest.fixture(autouse=True)
def own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let no test read the configuration of the user who runs it; return the file's path."""
    monkeypatch.delenv("MAGICBYTE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "magicbyte" / "config.toml"


def run_help(*arguments: str) -> str:
    return CliRunner().invoke(main, arguments, prog_name="magicbyte").stdout


# Help


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_help_fits_a_screen(name: str) -> None:
    lines = run_help(name, "-h").splitlines()
    assert 5 <= len(lines) <= 24 and max(map(len, lines)) <= 100
    assert lines[0].startswith(f"Usage: magicbyte {name}")
    assert f"magicbyte {name} --help" in lines[-1]
    options = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", "\n".join(lines), re.MULTILINE)
    whole = run_help(name, "--help")
    assert len(whole.splitlines()) > len(lines) - 2
    assert all(option in whole for option in options)


def test_the_short_help_of_all_lists_each_command() -> None:
    lines = run_help("-h").splitlines()
    assert len(lines) <= len(COMMANDS) + 6
    assert {line.split()[0] for line in lines[4:-2]} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_an_option_has_one_default_and_names_that_exist(name: str) -> None:
    words = " ".join(run_help(name, "--help").split())
    assert re.findall(r"\[default: [^]]*\] \[default: [^]]*\]", words) == []
    assert "Replace OUT" not in words or "-o OUT" in words


def test_help_is_a_command_too() -> None:
    assert run("help", "dump").stdout == run("dump", "--help").stdout
    assert run("help").stdout == run("--help").stdout
    assert "No such command 'dmup'" in refusal("help", "dmup")


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_has_a_short_option(option: str) -> None:
    assert run(option).stdout == f"magicbyte, version {__version__}\n"


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "magicbyte", "dump", str(LOG), "-f", "%o", "--limit", "2"]
    assert subprocess.check_output(command, text=True) == "0\n1\n"


def test_exit_statuses_are_in_the_docs() -> None:
    page = (CHECKOUT / "docs" / "command-line.md").read_text("utf-8")
    for status, sentence in EXIT_STATUSES.items():
        assert f"| {status} | {sentence} |" in page


# Manual pages


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_a_manual_page_has_all_options(name: str | None) -> None:
    root = click.Context(main, info_name="magicbyte")
    page = main_page(root) if name is None else command_page(root, name)
    assert page.startswith(".TH ") and ".SH EXIT STATUS\n" in page
    command = main if name is None else main.get_command(root, name)
    assert command is not None
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[-1].replace("-", "\\-") in page
    for line in page.splitlines():
        assert not line.startswith("'")
        assert not line.startswith(".") or re.match(r"\.(TH|SH|TP|PP|nf|fi|ad)\b", line), line


@pytest.mark.skipif(
    shutil.which("groff") is None, reason="groff, which checks manual pages, is not on PATH"
)
def test_groff_takes_the_pages() -> None:
    page = run("man", "dump").stdout
    command = ["groff", "-man", "-Tutf8", "-ww", "-Kutf8"]
    done = subprocess.run(command, input=page, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    text = re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout)
    assert "--template TEMPLATE" in text and r"\n, \t, \r, \0, \xNN" in text
    assert "magicbyte dump orders-0 -f '%o %k %s'" in text


def test_pages_are_written_to_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "man1"
    assert run("man", "-o", out).exit_code == 0
    names = {path.name for path in out.iterdir()}
    assert names == {"magicbyte.1", *(f"magicbyte-{name}.1" for name in COMMANDS)}
    assert "exists already" in refusal("man", "-o", out)
    assert run("man", "-o", out, "--overwrite").exit_code == 0


# Completion


def completed(*words: str, shell: str = "bash") -> list[str]:
    """Return what the shell would offer for the last of *words*, in the environment of its script."""
    environment = {
        **os.environ,
        "_MAGICBYTE_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": " ".join(("magicbyte", *words)),
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words)),
    }
    program = "from magicbyte_cli import main; main(prog_name='magicbyte')"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_values_are_completed() -> None:
    log_dir = str(TRANSACTIONS)
    assert completed("tr") == ["transactions"]
    assert completed("dump", "some/fi") == ["some/fi"]  # of the type `file`: by the shell
    assert completed("dump", log_dir, "--topic", "inter") == [
        "interleaved",
        "interleaved-one-segment",
    ]
    assert completed("dump", log_dir, "--table", "seg") == ["segments"]
    assert completed("dump", "--columns", "offset,va") == ["offset,value"]
    codes = completed("verify", "--explain", "checksum")
    assert codes and codes == [code for code in CODES if code.startswith("checksum")]
    assert "--no-pager" in completed("dump", "--no-p")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_calls_the_command(shell: str) -> None:
    script = run("completion", shell).stdout
    assert f"_MAGICBYTE_COMPLETE={shell}_complete" in script
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script, text=True, check=True)


# Defaults


def test_the_environment_gives_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAGICBYTE_DUMP_FORMAT", "csv")
    monkeypatch.setenv("MAGICBYTE_DUMP_COLUMNS", "offset,key")
    monkeypatch.setenv("MAGICBYTE_DUMP_TOPIC", "headers absent")
    assert "no topic 'absent'" in run("dump", LOG).stderr
    monkeypatch.setenv("MAGICBYTE_DUMP_TOPIC", "headers")
    assert run("dump", LOG, "--limit", 1).stdout == "offset,key\n0,key-738836\n"
    line = run("dump", LOG, "--limit", 1, "--format", "ndjson").stdout
    assert line == '{"offset":0,"key":"key-738836","key_encoding":"utf-8"}\n'


def test_the_command_line_comes_before_the_environment_and_that_before_the_file(
    own_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_config.parent.mkdir(parents=True)
    own_config.write_text(
        '[dump]\nlimit = 3\nformat = "csv"\ncolumns = ["offset"]\ntopic = "headers"\n'
    )
    assert run("dump", LOG).stdout == "offset\n0\n1\n2\n"
    monkeypatch.setenv("MAGICBYTE_DUMP_LIMIT", "2")
    assert run("dump", LOG).stdout == "offset\n0\n1\n"
    assert run("dump", LOG, "--limit", 1).stdout == "offset\n0\n"
    monkeypatch.setenv("MAGICBYTE_CONFIG", "")
    assert run("dump", LOG, "--columns", "offset").stdout.split() == ["offset", "0", "1"]


def test_a_default_format_gives_way_to_a_template(own_config: Path) -> None:
    own_config.parent.mkdir(parents=True)
    own_config.write_text('[dump]\nformat = "ndjson"\nno-pager = true\n')
    assert run("dump", LOG, "-f", "%o", "--limit", 1).stdout == "0\n"
    assert run("dump", LOG, "-x", "--limit", 1).stdout.startswith("-[ headers-0 offset 0 ]---")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[dump]\nformt = "csv"',
            "has 'formt', which is no option of dump; did you mean 'format'?",
        ),
        (
            "[dmp]",
            "'dmp' is not a table of a command; expected tables such as [dump]; did you mean",
        ),
        ("format = 1", "'format' is not a table of a command"),
        ("[dump", "is not TOML"),
        ('[dump]\nlimit = "many"', "'many' is not a valid integer"),
    ],
)
def test_a_wrong_file_is_named(text: str, message: str, own_config: Path) -> None:
    own_config.parent.mkdir(parents=True)
    own_config.write_text(text)
    shown = " ".join(refusal("dump", LOG).split())
    assert message in shown
    if "many" not in text:
        assert str(own_config) in shown


def test_a_file_that_is_named_and_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAGICBYTE_CONFIG", "/nonexistent/config.toml")
    assert "/nonexistent/config.toml: No such file or directory" in refusal("dump", LOG)


def test_the_imports_of_the_command_do_not_grow() -> None:
    """Tar, zip, TOML and the completion of shells are needed by few calls."""
    program = (
        f"import sys; from magicbyte_cli import main\n"
        f"main(['dump', {str(LOG)!r}, '--limit', '1'], standalone_mode=False)\n"
        "names = ('tarfile', 'tomllib', 'difflib', 'click.shell_completion')\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
