"""Tests of --color, NO_COLOR and FORCE_COLOR."""

import click
import pytest

from magicbyte_cli import COMMANDS, main
from magicbyte_cli.painter import Painter

from .conftest import TRANSACTIONS, run

RED = "\x1b[31m"
CALL = ("dump", TRANSACTIONS / "aborted-0", "--isolation-level", "read_uncommitted", "--limit", 2)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def test_every_command_has_the_option() -> None:
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert [each.name for each in command.params].count("color") == 1, name


@pytest.mark.parametrize(
    ("variables", "option", "is_colored"),
    [
        ({}, None, False),
        ({}, "always", True),
        ({"NO_COLOR": "1"}, "always", True),
        ({"FORCE_COLOR": "1"}, None, True),
        ({"FORCE_COLOR": "0"}, None, False),
        ({"FORCE_COLOR": "1"}, "never", False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, None, False),
        ({"FORCE_COLOR": "1"}, "auto", True),
    ],
)
def test_the_option_comes_before_the_environment(
    variables: dict[str, str], option: str | None, is_colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    options = () if option is None else ("--color", option)
    result = run(*CALL, *options)
    assert result.exit_code == 0
    assert (RED in result.stdout) == is_colored
    assert ("\x1b" in run("verify", TRANSACTIONS / "open-0", *options).stdout) == is_colored


def test_colors_add_no_column_and_change_no_text() -> None:
    plain, colored = run(*CALL).stdout, run(*CALL, "--color", "always").stdout
    for code in (RED, "\x1b[1m", "\x1b[0m"):
        colored = colored.replace(code, "")
    assert colored == plain


def test_a_terminal_has_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert Painter.for_stdout().is_on
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Painter.for_stdout().is_on
