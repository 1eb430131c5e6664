"""Tests of docs/encoding.md: its table has all `produced-` findings, and its examples are true."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import magicbyte as mb
from doc_examples import blocks, examples
from magicbyte_cli import main
from paths import CHECKOUT

PAGE = "docs/encoding.md"
TEXT = (CHECKOUT / PAGE).read_text(encoding="utf-8")


def test_the_table_is_that_of_the_registry() -> None:
    rows = re.findall(
        r"^\| `(produced-[a-z-]+)` \| (error|warning|note) \| (.*) \|$", TEXT, re.MULTILINE
    )
    codes = (code for code in mb.CODES.values() if code.name.startswith("produced-"))
    assert rows == [(code.name, code.severity, code.sentence) for code in codes]


def test_every_code_that_is_named_exists() -> None:
    named = set(re.findall(r"`((?:produced|bad|unknown|codec|bytes|negative)-[a-z-]+)`", TEXT))
    assert len(named) > 30
    assert named <= set(mb.CODES)


def test_the_examples_give_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for example, shown in examples(PAGE):
        exec(compile(example, PAGE, "exec"), {})
        assert capsys.readouterr().out == shown

    (transcript,) = blocks(PAGE, "console")
    command, shown = transcript.removeprefix("$ magicbyte ").split("\n", 1)
    result = CliRunner().invoke(main, command.split())
    assert (result.stdout, result.exit_code) == (shown, 1)
