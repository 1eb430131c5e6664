"""Tests of docs/sql.md: its commands and examples print what it shows."""

import pytest

from doc_examples import blocks, examples, shell_transcript
from magicbyte.tables.schemas import ALL_TABLES
from paths import CHECKOUT

PAGE = "docs/sql.md"
TEXT = (CHECKOUT / PAGE).read_text(encoding="utf-8")
TRANSCRIPTS = [block for block in blocks(PAGE, "console") if "pip install" not in block]


@pytest.mark.parametrize("number", range(len(TRANSCRIPTS)))
def test_commands_print_what_the_page_shows(number: int) -> None:
    assert shell_transcript(TRANSCRIPTS[number], CHECKOUT) == TRANSCRIPTS[number]


def test_examples_print_what_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CHECKOUT)
    names: dict[str, object] = {}
    for code, shown in examples(PAGE):
        exec(compile(code, PAGE, "exec"), names)
        assert capsys.readouterr().out == shown


def test_tables_that_the_page_names_exist() -> None:
    section = TEXT.split("\n## Tables\n")[1].split("```")[0]
    named = {word for word in section.split("`") if word.isidentifier() and word.islower()}
    assert {"records", "gaps", "group_offsets", "configs"} <= named <= set(ALL_TABLES)
