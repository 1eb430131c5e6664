"""Tests of docs/typed-values.md: its examples print what the page shows, and its tables are complete."""

from pathlib import Path

import pytest

from doc_examples import blocks, example_output, examples, shell_transcript
from magicbyte.decoding.decode_option import COMPOSED_FORMS, FORMS
from paths import CHECKOUT
from registry_data import REGISTRY

PAGE = "docs/typed-values.md"
TEXT = (CHECKOUT / PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize(("example", "shown"), examples(PAGE))
def test_an_example_prints_what_the_page_shows(example: str, shown: str, tmp_path: Path) -> None:
    (tmp_path / "log-0").symlink_to(REGISTRY / "log-0")
    assert example_output(example, tmp_path) == shown


@pytest.mark.parametrize("block", blocks(PAGE, "shell"))
def test_a_command_prints_what_the_page_shows(block: str) -> None:
    assert shell_transcript(block, REGISTRY) == block


def test_the_table_of_forms_is_complete() -> None:
    for form in (
        *FORMS,
        *(f"{name}:FORM" for name in COMPOSED_FORMS),
        "registry",
        "connect",
        "json",
    ):
        assert f"`{form}`" in TEXT
