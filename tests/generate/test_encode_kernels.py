"""Tests that encode kernels follow the specification: inverted formulas, new fields, what is refused."""

from pathlib import Path

import pytest

from generate.test_generate import lines_of, run
from magicbyte_tools.generate.columnar.arithmetic import Expression, inverse

FIELD = """\
      - id: flags
        -orig-id: flags
        type: s2
{key}
        doc: Flags.
"""
AFTER = "      - id: num_headers\n"

WRITE_AND_READ = """
import pyarrow as pa
import magicbyte as mb
from magicbyte.engines.columnar.encoder import ColumnarEncoder
from magicbyte.engines.encoding import BatchFields

values = pa.array([b"a", None, b"c"], pa.binary())
data = ColumnarEncoder().batch(BatchFields(base_offset=7), pa.record_batch({"value": values}))
for engine in ("reference", "columnar"):
    print(mb.from_bytes(data, engine=engine).records(("offset", "value")).to_table().to_pylist())
print(data.count(b"ww"))
"""


def add_field(copy: Path, key: str) -> None:
    """Add a number with the YAML line *key* to the records of the specification in *copy*."""
    spec = copy / "spec" / "kafka_record.ksy"
    spec.write_text(spec.read_text().replace(AFTER, FIELD.format(key=f"        {key}") + AFTER))


def test_a_new_field_of_one_valid_number_is_written_with_no_other_edit(copy: Path) -> None:
    add_field(copy, "-valid: 30583")
    assert run(copy).returncode == 0
    rows = [
        {"offset": 7, "value": b"a"},
        {"offset": 8, "value": None},
        {"offset": 9, "value": b"c"},
    ]
    lines = lines_of(copy, WRITE_AND_READ, NUMBA_DISABLE_JIT="1")
    assert lines == [str(rows), str(rows), "3"]


def test_a_number_that_no_writer_could_know_is_refused_with_its_place(copy: Path) -> None:
    add_field(copy, "-valid: {min: 0}")
    done = run(copy)
    assert done.returncode != 0
    where = "kafka_record.ksy:/types/record_body/seq/7"
    assert f"{where}: a number that no column, length, formula or `valid` determines" in done.stderr


@pytest.mark.parametrize(
    ("formula", "solution"),
    [
        ("base + x", "y - base"),
        ("x + base", "y - base"),
        ("x - 12", "y + 12"),
        ("base - x", "base - y"),
        ("(base + x) - 3", "(y + 3) - base"),
        ("limit if (kind == 1) else (base + x)", "y - base"),
        ("x", "y"),
        ("x * 2", None),
        ("(base + x) % 8", None),
        ("x if x > 0 else base", None),
    ],
)
def test_formulas_are_solved_for_the_number_that_is_written(
    formula: str, solution: str | None
) -> None:
    assert inverse(Expression(formula), "x", "y") == solution
