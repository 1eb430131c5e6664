"""Tests that the generated files beside docs/formats are what the code says, and that others are named."""

from pathlib import Path

import pytest

from magicbyte_tools.reference.__main__ import DOCS, SINGLE_FILES, check_single_files


@pytest.mark.parametrize("name", SINGLE_FILES)
def test_file_is_what_the_code_says(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == SINGLE_FILES[name](), "run `make docs`"


def test_outdated_file_is_named_with_the_command_that_fixes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "magicbyte_tools.reference.__main__.SINGLE_FILES",
        {"page.md": lambda: "new", "same.md": str},
    )
    (tmp_path / "same.md").write_text("")
    page = tmp_path / "page.md"
    assert check_single_files(tmp_path) == 1
    page.write_text("new")
    assert check_single_files(tmp_path) == 0
    page.write_text("old")
    assert check_single_files(tmp_path) == 1
    named = capsys.readouterr().out.splitlines()
    assert named == [f"{page} is not what the code says: run `make docs`."] * 2
