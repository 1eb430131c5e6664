"""python -m magicbyte_tools.bench.protobuf_values [--seconds N]: Protobuf values into Arrow columns, beside protarrow.

Decodes the same messages by `ProtobufDecoder` and by google.protobuf with protarrow, in one run. Prints values per
second of CPU time, each the best of many passes, and the ratio beside the goal. It needs protarrow.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from magicbyte.decoding.protobuf import ProtobufDecoder, compile_schema
from magicbyte.decoding.schema_text import SchemaText
from magicbyte_tools.bench.values import NUM_FASTAVRO, NUM_VALUES, best_speed

GOAL = 20.0
"""Smallest ratio of our values per second to protarrow's."""

TEXT = """
syntax = "proto3";
package bench;
import "google/protobuf/timestamp.proto";
enum State { NEW = 0; PAID = 1; SENT = 2; }
message Record {
  int64 id = 1; string name = 2; double amount = 3; bool ok = 4; google.protobuf.Timestamp at = 5;
  optional string note = 6; State state = 7; int32 count = 8; bytes raw = 9; repeated string tags = 10;
}
"""


def messages(message_class: Any) -> list[bytes]:
    """Return serialized messages of ten fields, about 60 bytes each."""
    contents = []
    for number in range(NUM_VALUES):
        message = message_class(
            id=number,
            name=f"name {number}",
            amount=number / 3,
            ok=number % 2 == 0,
            state=number % 3,
            count=number % 1000,
            raw=b"abc",
            tags=["x", "yy"][: number % 3],
        )
        message.at.seconds = 1_790_000_000 + number
        if number % 3 == 0:
            message.note = "a note"
        contents.append(message.SerializeToString())
    return contents


def main(arguments: Sequence[str]) -> int:
    import protarrow
    from google.protobuf.message_factory import GetMessageClass

    parser = argparse.ArgumentParser(
        prog="magicbyte_tools.bench.protobuf_values", description=__doc__
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="of each decoder")
    options = parser.parse_args(arguments)
    descriptor = compile_schema(SchemaText(schema_type="PROTOBUF", text=TEXT)).named("Record")
    message_class = GetMessageClass(descriptor)
    contents = messages(message_class)
    frame = b"\0\0\0\0\x07\0"
    values = pa.array([frame + content for content in contents], pa.binary())
    decoder = ProtobufDecoder(descriptor)

    def decode_by_protarrow() -> Any:
        parsed = [message_class.FromString(content) for content in contents[:NUM_FASTAVRO]]
        return protarrow.messages_to_record_batch(parsed, message_class)

    ours = best_speed(lambda: decoder.decode(values, len(frame)), NUM_VALUES, options.seconds)
    theirs = best_speed(decode_by_protarrow, NUM_FASTAVRO, options.seconds)
    print(f"{'values/s':>12} {'protarrow':>10} {'ratio':>6} {'goal':>5}")
    print(f"{ours:12,.0f} {theirs:10,.0f} {ours / theirs:6.1f} {GOAL:5.0f}")
    return int(ours / theirs < GOAL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
