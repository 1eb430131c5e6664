"""Tests of docs/findings.md: it has every code, with the texts of the code."""

from magicbyte.findings import CODES
from magicbyte_tools.reference.findings_page import findings_page


def test_page_has_each_code_with_its_texts() -> None:
    page = findings_page()
    for code in CODES.values():
        section = page.partition(f"\n### {code.name}\n")[2].partition("\n### ")[0]
        for text in (code.sentence, code.cause, code.consequence, code.remedy, code.source):
            assert text in section
        assert f"](#{code.name})" in page
