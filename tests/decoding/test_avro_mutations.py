"""Tests that mutated values are values or faults, and that the kernel stays within its memory."""

import os
import subprocess
import sys
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from magicbyte.decoding.avro import AvroDecoder, AvroJsonDecoder
from magicbyte.errors import SchemaError
from magicbyte_tools.fuzz.avro_cases import AvroCases, parsed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no mprotect")

NUM_VALUES = 1_000_000 if os.environ.get("MAGICBYTE_WIDE") else 10_000


def run(code: str, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_mutated_values_are_values_or_faults_in_bounded_memory() -> None:
    """In a process of its own, which a byte too far would end, and whose memory is limited."""
    code = f"""
import resource
from magicbyte_tools.fuzz.avro_values import fuzz
import pyarrow, numpy
with open("/proc/self/status") as status:
    (size,) = (int(line.split()[1]) for line in status if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, ((size << 10) + (1 << 30),) * 2)
counts = fuzz({NUM_VALUES}, seed=5)
print(sum(counts.values()) - counts["compared"], counts["NONE"], counts["compared"], len(counts))
"""
    total, sound, compared, kinds = map(int, run(code).split())
    assert total >= NUM_VALUES
    assert sound > total // 5
    assert compared
    assert kinds > 10


def test_the_fuzzer_finds_a_difference() -> None:
    """A kernel that takes 24 hours for a time of day would be noticed."""
    code = """
from magicbyte.decoding.avro import _values
from magicbyte_tools.fuzz.avro_values import Differences, fuzz
_values.DAY_LENGTHS = {}
try:
    fuzz(60_000, seed=5)
except Differences as difference:
    print(difference)
"""
    assert run(code).strip() in ("error_codes", "values")


def test_the_kernel_as_ordinary_python_gives_the_same() -> None:
    """A debugger can follow it; and it is how coverage sees it."""
    code = """
import warnings
warnings.simplefilter("error")
from magicbyte.decoding.avro import _decoder
from magicbyte.engines.columnar.kernel_loader import is_plain_python
from magicbyte_tools.fuzz import avro_values
assert is_plain_python()
_decoder.is_library_built = lambda: True
avro_values.COMPARED_SHARE, avro_values.GROUP_VALUES = 1, 20
print(avro_values.fuzz(1500, seed=3)["compared"])
"""
    assert int(run(code, NUMBA_DISABLE_JIT="1")) > 1000


def test_without_a_library_ordinary_python_decodes() -> None:
    code = """
import pyarrow as pa
from magicbyte.decoding.avro import AvroDecoder, _decoder, parse_schema
_decoder.is_library_built = lambda: False
_decoder.fill_columns = None
outcome = AvroDecoder(parse_schema('["null", "int"]')).decode(pa.array([b"\\2\\6", b"\\0", b"\\4"]), 0)
print(outcome.array.to_pylist(), outcome.error_codes.tolist())
"""
    assert run(code).strip() == "[3, None, None] [0, 0, 8]"


NOISE: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        1 << 70,
        1.5,
        float("inf"),
        "",
        "int",
        "null",
        "a.N1",
        "\ud800",
        "x" * 5000,
    ),
    *(
        [],
        {},
        [[]],
        [None],
        {"type": None},
        {"type": "record"},
        ["null", "null"],
        {"type": ["int"]},
    ),
    *("record", "array", "map", "decimal", "duration", {"type": {"type": "int"}}),
)


def changed_json(definition: Any, random: Random) -> Any:
    """Return *definition* with one part of it replaced, renamed, left out or repeated."""
    if random.random() < 0.2 or not isinstance(definition, dict | list) or not definition:
        return random.choice(NOISE)
    if isinstance(definition, list):
        position = random.randrange(len(definition))
        part = changed_json(definition[position], random)
        return [*definition[:position], part, *definition[position + random.randint(0, 1) :]]
    key = random.choice(list(definition))
    if random.random() < 0.3:
        return {name: member for name, member in definition.items() if name != key}
    return {**definition, key: changed_json(definition[key], random)}


def test_changed_schemas_are_schemas_or_our_errors() -> None:
    random = Random(9)
    num_sound = num_errors = 0
    for _ in range(3000):
        cases = AvroCases(random)
        schema = cases.schema()
        writer = changed_json(schema, random)
        reader = random.choice((writer, schema, changed_json(schema, random)))
        value = pa.array([cases.value(schema)], pa.binary())
        try:
            decoder = AvroDecoder(parsed(writer), parsed(reader))
            outcome = decoder.decode(value, 0)
            outcome.array.validate(full=True)
            AvroJsonDecoder(parsed(writer), parsed(reader)).decode(value, 0)
            num_sound += 1
        except SchemaError as error:
            assert len(str(error)) < 2000
            num_errors += 1
    assert num_sound > 200
    assert num_errors > 1000
