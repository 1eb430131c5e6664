"""Tests of docs/findings.md: it has every code, with the texts of the code."""

from pathlib import Path

import pytest

from magicbyte.findings import CODES
from magicbyte_tools.reference.__main__ import check_findings
from magicbyte_tools.reference.findings_page import findings_page
from paths import CHECKOUT

PAGE = CHECKOUT / "docs" / "findings.md"


def test_page_is_what_the_codes_say() -> None:
    assert PAGE.read_text("utf-8") == findings_page(), "run `make docs`"


def test_page_has_each_code_with_its_texts() -> None:
    page = findings_page()
    for code in CODES.values():
        section = page.partition(f"\n### {code.name}\n")[2].partition("\n### ")[0]
        for text in (code.sentence, code.cause, code.consequence, code.remedy, code.source):
            assert text in section
        assert f"](#{code.name})" in page


def test_outdated_page_is_named_with_the_command_that_fixes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "findings.md"
    assert check_findings(page) == 1
    page.write_text(findings_page(), "utf-8")
    assert check_findings(page) == 0
    page.write_text("old", "utf-8")
    assert check_findings(page) == 1
    assert capsys.readouterr().out.count("run `make docs`") == 2
