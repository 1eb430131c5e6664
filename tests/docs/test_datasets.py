"""Tests of docs/datasets.md: its examples print what it shows, and its tables are true."""

import contextlib
import io
import re
from collections.abc import Iterator
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

import magicbyte as mb
from doc_examples import examples
from magicbyte.tables.schemas import TABLES
from paths import CHECKOUT

PAGE = "docs/datasets.md"
TEXT = (CHECKOUT / PAGE).read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """Return the rows of the table below *heading*, as cells of Markdown text."""
    _, below = TEXT.split(f"\n## {heading}\n")
    lines = re.findall(r"^\|(.*)\|$", below.split("\n## ")[0], re.MULTILINE)
    return [line.split("|") for line in lines[2:]]


def codes(cell: str) -> list[str]:
    return re.findall(r"`(.*?)`", cell)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Run the page's examples in order in a new folder; provide the names that they define.

    The name `printed` is the list of the examples' outputs.
    """
    folder = tmp_path_factory.mktemp("page")
    (folder / "tests").symlink_to(CHECKOUT / "tests")
    left: dict[str, Any] = {}
    printed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for example, _ in examples(PAGE):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(example, PAGE, "exec"), left)
            printed.append(out.getvalue())
        yield {**left, "printed": printed}


def test_the_examples_print_what_is_shown(page: dict[str, Any]) -> None:
    assert page["printed"] == [shown for _, shown in examples(PAGE)]
    assert len(page["printed"]) == 9


@pytest.mark.parametrize(
    ("read", "raised", "begins"),
    [(read, *row[1:]) for row in table("Damage") for read in codes(row[0])],
)
def test_damage_raises_what_is_shown_with_our_sentence(
    page: dict[str, Any], read: str, raised: str, begins: str
) -> None:
    names = {**page, "damaged": mb.open("v2-transactions-0").records(["offset", "value"])}
    (kind,) = codes(raised)
    sentence = str(page["damaged"].error)
    with pytest.raises(eval(kind, names), match=re.escape(sentence)) as caught:
        exec(f"{read}: pass" if read.startswith("for ") else read, names)
    assert type(caught.value) is eval(kind, names)
    assert str(caught.value).startswith("".join(codes(begins)) + sentence)


TYPES = {codes(here)[0]: others for here, *others in table("Types")}


def test_every_type_of_our_tables_is_shown() -> None:
    ours = {str(column.type) for table in TABLES.values() for column in table.columns}
    assert TYPES.keys() == ours


@pytest.mark.parametrize("name", TABLES)
def test_each_library_has_the_types_that_are_shown(page: dict[str, Any], name: str) -> None:
    rows = getattr(page["log"], name)(TABLES[name].names)
    in_duckdb = duckdb.sql("FROM rows").types
    in_polars = pl.DataFrame(rows).dtypes
    held = rows.to_table()
    in_pandas = pd.DataFrame.from_arrow(rows).dtypes
    for number, field in enumerate(rows.schema):
        of_duckdb, of_polars, of_pandas = TYPES[str(field.type)]
        assert codes(of_duckdb) == [str(in_duckdb[number])]
        assert codes(of_polars) == [str(in_polars[number])]
        with_nulls = "with nulls" in of_pandas and held.column(number).null_count > 0
        assert codes(of_pandas)[with_nulls] == str(in_pandas.iloc[number])
