"""python -m magicbyte_tools.bench.protobuf_values [--seconds N]: Protobuf values into Arrow columns, beside protarrow.

Decodes the same messages by `ProtobufDecoder`, and by google.protobuf with protarrow, in turns and in one run. Prints
values per second of CPU time, each the best of many passes, and the ratio beside the goal. It needs protarrow.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from magicbyte.decoding.protobuf import ProtobufDecoder, compile_schema
from magicbyte.decoding.schema_text import SchemaText
from magicbyte_tools.bench.values import NUM_FASTAVRO, NUM_VALUES

GOAL = 20.0
"""Smallest ratio of our values per second to protarrow's."""
FRAME = b"\0\0\0\0\x07\0"

TEXT = """
syntax = "proto3";
package bench;
import "google/protobuf/timestamp.proto";
enum State { NEW = 0; PAID = 1; SENT = 2; }
message Record {
  int64 id = 1; string name = 2; double amount = 3; bool ok = 4; google.protobuf.Timestamp at = 5;
  optional string note = 6; State state = 7; int32 count = 8; bytes raw = 9; repeated string tags = 10;
}
message Order {
  message Line { string sku = 1; int32 amount = 2; int64 price = 3; }
  int64 order = 1; Customer customer = 2; repeated Line lines = 3; map<string, string> labels = 4;
}
message Customer { string name = 1; optional string city = 2; google.protobuf.Timestamp since = 3; }
message Samples { repeated double values = 1; repeated int32 counts = 2; repeated sint64 deltas = 3; string sensor = 4; }
"""


def fill_record(proto: Any, number: int) -> None:
    """Fill ten fields, about 60 bytes."""
    proto.id, proto.name, proto.amount = number, f"name {number}", number / 3
    proto.ok, proto.state, proto.count, proto.raw = (
        number % 2 == 0,
        number % 3,
        number % 1000,
        b"abc",
    )
    proto.tags.extend(["x", "yy"][: number % 3])
    proto.at.seconds = 1_790_000_000 + number
    if number % 3 == 0:
        proto.note = "a note"


def fill_order(proto: Any, number: int) -> None:
    """Fill an order of up to three lines."""
    proto.order, proto.customer.name = number, f"name {number}"
    proto.customer.since.seconds = 1_790_000_000 + number
    for line in range(number % 4):
        proto.lines.add(sku=f"sku{line}", amount=line, price=number * 100)
    proto.labels["channel"] = "web"


def fill_samples(proto: Any, number: int) -> None:
    """Fill three lists of ten numbers."""
    proto.values.extend(number / (place + 1) for place in range(10))
    proto.counts.extend(range(number % 100, number % 100 + 10))
    proto.deltas.extend(range(-5, 5))
    proto.sensor = f"sensor {number % 50}"


SHAPES: dict[str, tuple[str, Callable[[Any, int], None]]] = {
    "ten fields": ("Record", fill_record),
    "nested": ("Order", fill_order),
    "repeated": ("Samples", fill_samples),
}
"""Messages by a title, and the functions that fill them."""


def best_seconds(passes: Sequence[Callable[[], Any]], seconds: float) -> list[float]:
    """Return the CPU time of the fastest run of each of *passes*, which take turns."""
    fastest, until = [float("inf")] * len(passes), time.monotonic() + seconds
    while fastest[0] == float("inf") or time.monotonic() < until:
        for place, decode in enumerate(passes):
            begin = time.process_time()
            decode()
            fastest[place] = min(fastest[place], time.process_time() - begin)
    return fastest


def measure(descriptor: Any, fill: Callable[[Any, int], None], seconds: float) -> list[float]:
    """Return values per second of `ProtobufDecoder`, and of protarrow."""
    import protarrow
    from google.protobuf.message_factory import GetMessageClass

    message_class = GetMessageClass(descriptor)
    contents = []
    for number in range(NUM_VALUES):
        proto = message_class()
        fill(proto, number)
        contents.append(proto.SerializeToString())
    values = pa.array([FRAME + content for content in contents], pa.binary())
    decoder = ProtobufDecoder(descriptor)

    def decode_by_protarrow() -> Any:
        parsed = [message_class.FromString(content) for content in contents[:NUM_FASTAVRO]]
        return protarrow.messages_to_record_batch(parsed, message_class)

    ours, theirs = best_seconds(
        (lambda: decoder.decode(values, len(FRAME)), decode_by_protarrow), seconds
    )
    return [NUM_VALUES / ours, NUM_FASTAVRO / theirs]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="magicbyte_tools.bench.protobuf_values", description=__doc__
    )
    parser.add_argument("--seconds", type=float, default=6.0, help="of each shape")
    options = parser.parse_args(arguments)
    files = compile_schema(SchemaText(schema_type="PROTOBUF", text=TEXT))
    is_slow = False
    print(f"{'message':12} {'values/s':>12} {'protarrow':>10} {'ratio':>6} {'goal':>5}")
    for title, (name, fill) in SHAPES.items():
        ours, theirs = measure(files.named(f"bench.{name}"), fill, options.seconds)
        is_slow = is_slow or ours / theirs < GOAL
        print(f"{title:12} {ours:12,.0f} {theirs:10,.0f} {ours / theirs:6.1f} {GOAL:5.0f}")
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
