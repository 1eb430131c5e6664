"""Tests of docs/differences.md, the table of differences from Kafka's Java reader."""

import re

import magicbyte as mb
from paths import CHECKOUT

TABLE = CHECKOUT / "docs" / "differences.md"


def rows() -> dict[str, list[str]]:
    found = {}
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.fullmatch(r"D\d+", cells[0]):
            assert cells[0] not in found, cells[0]
            found[cells[0]] = cells[1:]
    return found


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_code_in_the_table_of_differences_exists() -> None:
    for number, cells in rows().items():
        assert len(cells) == 4, number
        for code in codes(cells[-1]):
            assert code in mb.CODES, (number, code)


def test_numbers_are_without_a_gap_and_the_first_23_are_those_of_the_vectors() -> None:
    assert sorted(int(number[1:]) for number in rows()) == list(range(1, len(rows()) + 1))
    assert len(rows()) >= 23


def test_every_warning_has_a_code_and_only_sameness_has_none() -> None:
    for number, (_, _, here, finding) in rows().items():
        if not codes(finding):
            assert here.startswith("same"), number
        if "and a warning" in here:
            assert "warning" in {mb.CODES[code].severity for code in codes(finding)}, number
        if "refused" in here:
            assert "error" in {mb.CODES[code].severity for code in codes(finding)}, number
