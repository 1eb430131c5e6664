"""Measure memory and CPU time of commands on batches that are built to be expensive.

    python -m magicbyte_tools.bench.bombs [--mib N] [--bomb NAME ...] [--command NAME ...] [--engine NAME]

Each command runs in a process of its own, with a limit of its address space. The cost of the same command on
a batch of one record is subtracted. Exits with 1 if a command takes more than 64 bytes of memory or 2
microseconds of CPU per byte of the payload.
"""

import argparse
import gzip
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import zstandard

from magicbyte_construct import Message, RecordBatch
from magicbyte_formats.wire import Codec
from magicbyte_tools.fuzz.numbers import varint

MAX_BYTES_PER_BYTE = 64
MAX_MICROSECONDS_PER_BYTE = 2.0

TIME = 1_714_000_000_000

ADDRESS_SPACE = 20 << 30
"""Limit of the address space of a command: Arrow and Numba reserve some of it without using it."""


@dataclass(frozen=True, slots=True)
class Bomb:
    """A log entry, and the size of its payload in bytes."""

    data: bytes
    payload_bytes: int


def batch(
    payload: bytes, count: int, *, is_control: bool = False, is_compressed: bool = True
) -> Bomb:
    """Return a v2 batch of *count* records with this *payload*, compressed by zstd."""
    codec = Codec.ZSTD if is_compressed else Codec.NONE
    built: bytes = RecordBatch.build(
        {
            "base_offset": 0,
            "partition_leader_epoch": 0,
            "attributes": {"codec": codec, "is_control": is_control},
            "last_offset_delta": count - 1,
            "base_timestamp": TIME,
            "max_timestamp": TIME,
            "producer_id": -1,
            "producer_epoch": -1,
            "base_sequence": -1,
            "num_records": count,
            "records": zstandard.compress(payload) if is_compressed else payload,
        }
    )
    return Bomb(built, len(payload))


SMALLEST_RECORD = varint(6) + bytes(3) + varint(-1) + varint(-1) + varint(0)
"""A record of 7 bytes: no key, no value, no headers."""
SMALLEST_HEADER = varint(0) + varint(-1)


def record_of_headers(size: int, *, more: int = 0) -> bytes:
    """Return a record of *size* bytes of empty headers, whose count is *more* too high."""
    count = size // len(SMALLEST_HEADER)
    body = bytes(3) + varint(-1) + varint(-1) + varint(count + more) + SMALLEST_HEADER * count
    return varint(len(body)) + body


def small_records(
    size: int, *, more: int = 0, ending: bytes = b"", is_compressed: bool = True
) -> Bomb:
    count = size // len(SMALLEST_RECORD)
    payload = SMALLEST_RECORD * count + ending
    return batch(payload, count + more + bool(ending), is_compressed=is_compressed)


def negative_lengths(size: int) -> Bomb:
    """Return records whose keys and values have the length -2, each a finding."""
    one = varint(6) + bytes(3) + varint(-2) + varint(-2) + varint(0)
    return batch(one * (size // len(one)), size // len(one))


def record_attributes(size: int) -> Bomb:
    """Return records with reserved attributes, each a finding."""
    one = varint(6) + b"\1" + bytes(2) + varint(-1) + varint(-1) + varint(0)
    return batch(one * (size // len(one)), size // len(one))


def control_records(size: int) -> Bomb:
    marker = b"\0\0\0\1"
    body = bytes(3) + varint(4) + marker + varint(6) + bytes(6) + varint(0)
    first = varint(len(body)) + body
    count = size // len(SMALLEST_RECORD)
    return batch(first + SMALLEST_RECORD * count, count + 1, is_control=True)


def wrapper(size: int, *, is_last_wrong: bool) -> Bomb:
    """Return a v1 wrapper message of empty messages with relative offsets."""
    message = _message(0, None)
    count = size // len(message)
    inner = np.tile(np.frombuffer(message, np.uint8), count).reshape(count, len(message))
    inner[:, :8] = np.arange(count, dtype=">i8").view(np.uint8).reshape(count, 8)
    if is_last_wrong:
        inner[-1, 12] ^= 1  # the first byte of its checksum
    section = gzip.compress(inner.tobytes(), 1)
    return Bomb(_message(count - 1, section, codec=Codec.GZIP), inner.size)


def _message(offset: int, value: bytes | None, *, codec: int = Codec.NONE) -> bytes:
    fields = {"magic": 1, "offset": offset, "timestamp": TIME, "key": None, "value": value}
    built: bytes = Message.build({**fields, "attributes": {"codec": codec}})
    return built


BOMBS: dict[str, Callable[[int], Bomb]] = {
    "records": small_records,
    "records-count-too-high": lambda size: small_records(size, more=1),
    "records-count-too-low": lambda size: small_records(size, more=-1),
    "records-count-huge": lambda size: batch(
        SMALLEST_RECORD * (size // len(SMALLEST_RECORD)), (1 << 31) - 1
    ),
    "records-last-invalid": lambda size: small_records(size, ending=varint(9) + bytes(6)),
    "uncompressed-last-invalid": lambda size: small_records(
        size, ending=varint(9) + bytes(6), is_compressed=False
    ),
    "negative-lengths": negative_lengths,
    "record-attributes": record_attributes,
    "control-records": control_records,
    "headers": lambda size: batch(record_of_headers(size), 1),
    "headers-count-too-high": lambda size: batch(record_of_headers(size, more=1), 1),
    "headers-count-too-low": lambda size: batch(record_of_headers(size, more=-1), 1),
    "messages": lambda size: wrapper(size, is_last_wrong=False),
    "messages-last-wrong": lambda size: wrapper(size, is_last_wrong=True),
}

COMMANDS: dict[str, tuple[str, ...]] = {
    "verify": ("verify",),
    "dump": ("dump",),
    "dump-ndjson": ("dump", "--format", "ndjson"),
    "batches": ("dump", "--table", "batches"),
    "stats": ("stats",),
    "export": ("export", "-o", "{out}/rows.parquet"),
    "kafka-dump-log": ("kafka-dump-log", "--deep-iteration", "--files"),
    "to-table": ("-c",),
}
"""Arguments of each command, by name; `to-table` is the Python API."""

SCRIPT = """
import sys
import magicbyte as mb

for rows in mb.open(sys.argv[1], on_damage="skip", engine=sys.argv[2]).records():
    pass
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU time and memory of a process."""

    status: int
    seconds: float
    peak_bytes: int


def run(command: str, folder: Path, out: Path, engine: str) -> Cost:
    """Run *command* on the partition *folder*, and return its cost."""
    if command == "to-table":
        arguments = [sys.executable, "-c", SCRIPT, str(folder), engine]
    else:
        first, *rest = (part.format(out=out) for part in COMMANDS[command])
        path = folder / f"{0:020}.log" if command == "kafka-dump-log" else folder
        arguments = [
            sys.executable,
            "-c",
            "import magicbyte_cli; magicbyte_cli.main()",
            first,
            *rest,
            str(path),
        ]
    for old in out.iterdir():
        old.unlink()
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE)),
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    return Cost(process.returncode, seconds, usage.ru_maxrss << 10)


def measure(options: argparse.Namespace) -> Iterator[bool]:
    """Yield for each command and bomb whether its cost is within the bounds, and print it."""
    with TemporaryDirectory() as name:
        root = Path(name)
        out = root / "out"
        out.mkdir()
        log = root / "t-0" / f"{0:020}.log"
        log.parent.mkdir()
        log.write_bytes(small_records(7).data)
        base = {
            command: run(command, log.parent, out, options.engine) for command in options.command
        }
        for bomb_name in options.bomb:
            bomb = BOMBS[bomb_name](options.mib << 20)
            log.write_bytes(bomb.data)
            num_bytes = bomb.payload_bytes
            del bomb
            for command in options.command:
                cost = run(command, log.parent, out, options.engine)
                memory = (cost.peak_bytes - base[command].peak_bytes) / num_bytes
                cpu = (cost.seconds - base[command].seconds) / num_bytes * 1e6
                is_fine = memory <= MAX_BYTES_PER_BYTE and cpu <= MAX_MICROSECONDS_PER_BYTE
                is_fine &= cost.status in (0, 1)
                print(
                    f"{bomb_name:24} {command:15} status {cost.status:3}  {memory:6.1f} B/B  "
                    f"{cpu:6.3f} us/B  {cost.seconds:7.1f} s  {cost.peak_bytes >> 20:6} MiB"
                    f"{'' if is_fine else '  TOO MUCH'}",
                    flush=True,
                )
                yield is_fine


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mib", type=int, default=250, help="payload of each bomb, in MiB")
    parser.add_argument("--bomb", nargs="+", choices=BOMBS, default=list(BOMBS))
    parser.add_argument("--command", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--engine", default="auto", help="engine of `to-table`")
    return 0 if all([*measure(parser.parse_args())]) else 1


if __name__ == "__main__":
    sys.exit(main())
