"""Tests of docs/reference/commands.md: it has every command and every option, each with a sentence."""

import click
import pytest

from magicbyte_cli import COMMANDS, main
from magicbyte_tools.reference.commands_page import (
    commands,
    commands_page,
    option_anchor,
    root_context,
    sentence_of,
)

PAGE = commands_page()

OPTIONS = [
    (name, option)
    for name, command in {"magicbyte": main, **commands()}.items()
    for option in command.get_params(root_context())
    if isinstance(option, click.Option) and not option.hidden
]


def lacking_sentences(options: list[tuple[str, click.Option]], page: str) -> list[str]:
    """Return the options of commands that have no row, or no sentence, on *page*."""
    found = []
    for command_name, option in options:
        anchor = f'<a id="{option_anchor(command_name, option)}">'
        rows = [line for line in page.splitlines() if anchor in line]
        sentence, _ = sentence_of(option)
        if len(rows) != 1 or len(sentence.split()) < 3 or len(rows[0].split("|")) < 4:
            found.append(f"{command_name} {option.opts[-1]}")
    return found


def test_every_command_has_a_section_with_how_to_call_it_and_examples() -> None:
    assert tuple(commands()) == COMMANDS
    for name in COMMANDS:
        section = PAGE.partition(f"\n## magicbyte {name}\n")[2].partition("\n## ")[0]
        assert f"\nmagicbyte {name} " in section, name
        assert f"magicbyte {name}" in section.rpartition("```text\n")[2], name


def test_every_option_of_every_command_has_a_sentence() -> None:
    assert len(OPTIONS) > 250
    assert lacking_sentences(OPTIONS, PAGE) == []


@pytest.mark.parametrize("help_text", [None, "", "A path."])
def test_an_option_without_a_sentence_is_named(help_text: str | None) -> None:
    option = click.Option(["--new"], help=help_text)
    assert lacking_sentences([("dump", option)], f'{PAGE}\n| <a id="dump.--new"></a> | |') == [
        "dump --new"
    ]


def test_choices_defaults_and_repetition_are_shown() -> None:
    rows = {
        line.partition('<a id="')[2].partition('"')[0]: line
        for line in PAGE.splitlines()
        if '<a id="' in line
    }
    levels = rows["dump.--isolation-level"]
    assert "One of `read_committed` `read_uncommitted`. Default: `read_committed`." in levels
    for name in ("dump.--where-key", "dump.--topic"):
        assert rows[name].lower().count("may be repeated") == 1
    assert "[`--limit N`]" in rows["dump.--limit"]
    assert "Default: `256MiB`." in rows["dump.--max-batch-bytes"]
    assert "[default" not in PAGE
