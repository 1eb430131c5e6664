"""python -m magicbyte_tools.bench.encoders [--seconds N] [--codecs NAME...]: our encoder beside Kafka's.

Encodes the same records, of Arrow columns, with the columnar encoder, and, of byte arrays, with the
producer's MemoryRecordsBuilder, in one run. Prints records per second of CPU time, each the best of many
passes, and the ratio beside the goal. A pass of Java counts its thread alone, not the compiler or the
collector; a pass of ours counts the whole process. It needs Java and Maven.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar.encoder import ColumnarEncoder
from magicbyte.engines.encoding import BatchFields
from magicbyte.tables.arrays import number_array
from magicbyte_tools.bench import java_reader
from magicbyte_tools.bench.kafka_source import CACHE

ByteRows = np.ndarray[tuple[int, int], np.dtype[np.uint8]]
"""A row of bytes for each record."""

CODECS = {"none": 0, "lz4": 3, "zstd": 4}
BATCH_BYTES = (16 << 10, 1 << 20)
KEY_BYTES = 16
RECORDS = {100: 400_000, 1000: 60_000}
"""Records to encode, by the bytes of their values."""
GOALS = {
    **dict(zip(((100, codec) for codec in CODECS), (1.5, 1.5, 1.2), strict=True)),
    **dict(zip(((1000, codec) for codec in CODECS), (1.0, 1.1, 1.0), strict=True)),
}
"""Smallest ratio of our records per second to Kafka's, by the bytes of a value and the codec."""

WORDS = b"alpha   beta    gamma   delta   {'id':  'name': true,   null,   12345678false}  status: "
WORD_BYTES = 8


class EncoderPass(NamedTuple):
    """The fastest pass over all records."""

    seconds: float
    num_bytes: int
    num_batches: int


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="magicbyte_tools.bench.encoders", description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each encoder in each cell")
    parser.add_argument("--codecs", nargs="*", default=list(CODECS), choices=list(CODECS))
    options = parser.parse_args(arguments)
    java = java_reader.program("BatchEncoder", CACHE)
    is_slow = False
    with TemporaryDirectory() as folder:
        for value_bytes, count in RECORDS.items():
            path = Path(folder, f"{value_bytes}")
            byte_rows = record_bytes(count, value_bytes)
            path.write_bytes(byte_rows.tobytes())
            records = record_batch(byte_rows)
            for batch_bytes in BATCH_BYTES:
                for codec in options.codecs:
                    sizes = (KEY_BYTES, value_bytes, batch_bytes, 1.5 * options.seconds)
                    command = [*java, codec, str(path), *map(str, sizes)]
                    kafkas = kafka_pass(command)
                    own = our_pass(records, CODECS[codec], batch_bytes, options.seconds)
                    is_same = own[1:] == kafkas[1:] if codec == "none" else own[2] == kafkas[2]
                    ratio, goal = kafkas.seconds / own.seconds, GOALS[value_bytes, codec]
                    is_slow |= ratio < goal
                    print(
                        f"{value_bytes} B, batches of {batch_bytes >> 10} KiB, {codec}: "
                        f"{count / own.seconds / 1e6:.2f} M records/s, "
                        f"Kafka {count / kafkas.seconds / 1e6:.2f}, ratio {ratio:.2f} "
                        f"(goal {goal}); {own.num_bytes / kafkas.num_bytes:.3f} of its bytes"
                        + ("" if is_same else f"; batches differ: {own[1:]}, {kafkas[1:]}"),
                        flush=True,
                    )
    return int(is_slow)


def record_bytes(count: int, value_bytes: int) -> ByteRows:
    """Return key and value of *count* records: a number, then words drawn at random."""
    chance = np.random.default_rng(1)
    words = np.frombuffer(WORDS, np.uint8).reshape(-1, WORD_BYTES)
    size = KEY_BYTES + value_bytes
    drawn = words[chance.integers(0, len(words), (count, -(-size // WORD_BYTES)))]
    byte_rows = np.ascontiguousarray(drawn.reshape(count, -1)[:, :size])
    digits = np.arange(count)[:, None] // 10 ** np.arange(WORD_BYTES)[::-1] % 10 + ord("0")
    byte_rows[:, :WORD_BYTES] = digits
    return byte_rows


def record_batch(byte_rows: ByteRows) -> pa.RecordBatch:
    """Return the records whose keys and values are *byte_rows* as Arrow data."""
    count = len(byte_rows)

    def column(field_rows: ByteRows) -> pa.Array:
        offsets = np.arange(count + 1, dtype=np.int32) * field_rows.shape[1]
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(field_rows))]
        return pa.Array.from_buffers(pa.binary(), count, buffers)

    numbers = number_array(pa.int64(), np.arange(count))
    return pa.record_batch(
        {
            "key": column(byte_rows[:, :KEY_BYTES]),
            "value": column(byte_rows[:, KEY_BYTES:]),
            "offset": numbers,
            "timestamp": numbers,
        }
    )


def our_pass(records: pa.RecordBatch, codec: int, batch_bytes: int, seconds: float) -> EncoderPass:
    """Return the fastest pass of the columnar encoder within *seconds*."""
    encoder, fields = ColumnarEncoder(), BatchFields(codec=codec)
    end, fastest = time.monotonic() + seconds, EncoderPass(float("inf"), 0, 0)
    while time.monotonic() < end:
        begun = time.process_time_ns()
        num_bytes = num_batches = 0
        for piece in encoder.batches(records, fields, batch_bytes=batch_bytes):
            num_bytes += len(piece.data)
            num_batches += len(piece.sizes)
        spent = (time.process_time_ns() - begun) / 1e9
        fastest = min(fastest, EncoderPass(spent, num_bytes, num_batches))
    return fastest


def kafka_pass(command: Sequence[str]) -> EncoderPass:
    """Return the fastest pass that the Java program *command* prints."""
    nanoseconds, num_bytes, num_batches = map(int, subprocess.check_output(command).split())
    return EncoderPass(nanoseconds / 1e9, num_bytes, num_batches)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
