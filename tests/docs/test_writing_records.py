"""Tests of docs/writing-records.md: its example is true, and its tables have all columns, arguments and options."""

import inspect
import re
from pathlib import Path

import pytest

import magicbyte as mb
from doc_examples import examples
from magicbyte.spark._options import LEVEL_OPTIONS, SINK_OPTIONS
from magicbyte.writing._record_columns import COLUMN_TYPES
from paths import CHECKOUT

PAGE = "docs/writing-records.md"
TEXT = (CHECKOUT / PAGE).read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """Return the cells of the rows of the table below *heading*."""
    below = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\| (.*) \|$", below, re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines[1:]]


def test_example_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ((example, shown),) = examples(PAGE)
    exec(compile(example, PAGE, "exec"), {})
    assert capsys.readouterr().out == shown


def test_table_of_columns_is_complete() -> None:
    assert {row[0] for row in table("Columns")} == {f"`{name}`" for name in COLUMN_TYPES}


def test_table_of_arguments_has_those_of_the_function_with_their_defaults() -> None:
    shown = {row[0].strip("`"): row[2].strip("`") for row in table("Arguments")}
    parameters = list(inspect.signature(mb.write).parameters.values())[2:]
    assert list(shown) == [parameter.name for parameter in parameters]
    for parameter in parameters:
        if parameter.default is not None:
            assert shown[parameter.name] == str(parameter.default)


def test_table_of_arguments_has_all_options() -> None:
    cells = ", ".join(row[1] for row in table("Arguments"))
    first_level, *_ = LEVEL_OPTIONS.values()
    for option in SINK_OPTIONS:
        is_abbreviated = option in LEVEL_OPTIONS.values() and option != first_level
        assert (
            f"`{option.removeprefix('kafka.compression') if is_abbreviated else option}`" in cells
            or option == "path"
        )
