"""Tests of docs/avro-values.md: its examples are true, and its tables have all faults and types."""

import json
import re

import pytest

from doc_examples import example_output, examples
from magicbyte.decoding.avro import AvroDecoder, fault_sentence, parse_schema
from magicbyte.decoding.avro._logical_types import PLAIN
from magicbyte.decoding.avro._types import PRIMITIVES
from magicbyte.engines.columnar.avro_program import MAX_EMPTY_ITEMS, Fault
from paths import CHECKOUT

PAGE = "docs/avro-values.md"
TEXT = (CHECKOUT / PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize(("example", "shown"), examples(PAGE))
def test_an_example_prints_what_the_page_shows(example: str, shown: str) -> None:
    assert example_output(example) == shown


def test_the_page_has_two_examples() -> None:
    assert len(examples(PAGE)) == 2


def test_the_table_of_faults_is_complete() -> None:
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", TEXT, re.MULTILINE)
    assert [(int(number), sentence) for number, sentence in rows] == [
        (reason, fault_sentence(reason)) for reason in Fault if reason
    ]


def test_the_table_of_types_has_all_types() -> None:
    table = TEXT.split("\n## Types\n")[1].split("\n\n")[0]
    for kind in (*PRIMITIVES, "fixed", "enum", "array", "map", "record", "decimal", "duration"):
        assert f"`{kind}`" in table
    for name in (name for names in PLAIN.values() for name in names):
        assert f"`{name}`" in table or f"`{re.sub('.*-', '-', name)}`" in table, name


def test_the_primitive_types_are_as_the_table_shows() -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith("| `null`, `boolean`"))
    kinds, arrow_names = (
        cell.replace("`", "").split(", ") for cell in row.strip("| ").split(" | ")
    )
    aliases = {"float32": "float", "float64": "double"}
    for kind, arrow_name in zip(kinds, arrow_names, strict=True):
        shown = str(AvroDecoder(parse_schema(json.dumps(kind))).type)
        assert shown == aliases.get(arrow_name, arrow_name)


def test_the_limit_of_items_without_bytes_is_as_the_page_says() -> None:
    assert f"A value may have {MAX_EMPTY_ITEMS:,}." in TEXT
