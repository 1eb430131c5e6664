"""python -m magicbyte_tools.bench.values [--seconds N]: Avro values into Arrow columns, beside fastavro.

Decodes the same values by `AvroDecoder` and by fastavro into Python objects that `pyarrow.array` turns into
columns, in one run; of unions of several types, which `pyarrow.array` does not take, into objects alone. Prints values per second of CPU time, each the best of many passes, and the ratio beside the
goal. It needs fastavro.
"""

import argparse
import io
import json
import sys
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa

from magicbyte.decoding.avro import AvroDecoder, parse_schema
from magicbyte_tools.fuzz.avro_cases import AvroCases

GOAL = 20.0
"""Smallest ratio of our values per second to fastavro's."""
NUM_VALUES = 50_000
NUM_FASTAVRO = 5_000
"""Values of a pass of ours, and of fastavro."""


def record(**fields: Any) -> Any:
    """Return a record named after its fields."""
    listed = [{"name": name, "type": kind} for name, kind in fields.items()]
    return {"type": "record", "name": "_".join(fields)[:60], "fields": listed}


TIMESTAMP = {"type": "long", "logicalType": "timestamp-millis"}
MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
STATE = {"type": "enum", "name": "State", "symbols": ["A", "B", "C"]}
SHAPES = {
    "ten fields": record(
        id="long",
        name="string",
        amount="double",
        ok="boolean",
        at=TIMESTAMP,
        note=["null", "string"],
        state=STATE,
        count="int",
        raw="bytes",
        tags={"type": "array", "items": "string"},
    ),
    "nested": record(
        order="long",
        customer=record(name="string", city=["null", "string"], since=TIMESTAMP),
        lines={"type": "array", "items": record(sku="string", amount="int", price=MONEY)},
        labels={"type": "map", "values": "string"},
    ),
    "unions": record(
        one=["null", "long", "string"],
        two=["null", record(x="int", y="double"), record(z="string")],
    ),
    "forty nullable": record(**{f"field{number}": ["null", "double"] for number in range(40)}),
}
"""Schemas by a title."""


class Speeds(NamedTuple):
    """Values per second of CPU time."""

    ours: float
    fastavro: float


def best_speed(decode: Callable[[], Any], count: int, seconds: float) -> float:
    """Return *count* divided by the CPU time of the fastest of the passes that *seconds* allow."""
    fastest, until = float("inf"), time.monotonic() + seconds
    while fastest == float("inf") or time.monotonic() < until:
        begin = time.process_time()
        decode()
        fastest = min(fastest, time.process_time() - begin)
    return count / fastest


def measure(shape: Any, seconds: float) -> Speeds:
    """Measure both decoders on values of the schema *shape*."""
    import fastavro

    cases = AvroCases(Random(1))
    contents = [cases.value(shape) for _ in range(NUM_VALUES)]
    decoder = AvroDecoder(parse_schema(json.dumps(shape)))
    values = pa.array(contents, pa.binary())
    ours = best_speed(lambda: decoder.decode(values, 0), NUM_VALUES, seconds)
    parsed_shape = fastavro.parse_schema(json.loads(json.dumps(shape)))

    def decode_by_fastavro() -> Any:
        read = fastavro.schemaless_reader
        objects = [
            read(io.BytesIO(content), parsed_shape, None) for content in contents[:NUM_FASTAVRO]
        ]
        return objects if shape is SHAPES["unions"] else pa.array(objects)

    return Speeds(ours, best_speed(decode_by_fastavro, NUM_FASTAVRO, seconds))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="magicbyte_tools.bench.values", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each decoder and schema")
    options = parser.parse_args(arguments)
    is_slow = False
    print(f"{'schema':16} {'values/s':>12} {'fastavro':>10} {'ratio':>6} {'goal':>5}")
    for title, shape in SHAPES.items():
        speeds = measure(shape, options.seconds)
        ratio = speeds.ours / speeds.fastavro
        is_slow = is_slow or ratio < GOAL
        print(f"{title:16} {speeds.ours:12,.0f} {speeds.fastavro:10,.0f} {ratio:6.1f} {GOAL:5.0f}")
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
