"""Measure the CPU time of commands on a damaged log, as a multiple of the same log undamaged.

    python -m magicbyte_tools.bench.damage_cost [--shape NAME ...] [--fault NAME ...] [--share N ...]
                                                [--command NAME ...] [--mib N]

Without --shape, the log has messages of 26 bytes (v0, no key, no value): the smallest entries of all, so that
a finding per message costs most. A share of them, in percent, has a wrong checksum. With --shape, each of the
shapes gets each of the faults of `damaged_logs`. Prints the CPU time, and the multiple twice: with the start
of the process on both sides, and without it. Exits with 1 if the former is above three.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from magicbyte_construct import Message
from magicbyte_tools.bench.bombs import COMMANDS, run
from magicbyte_tools.bench.damaged_logs import SHAPES_OF_LOGS, damaged_log, faults

MAX_RATIO = 3.0

SMALLEST = "smallest"
"""Shape of messages of 26 bytes."""


class MeasuredLog(NamedTuple):
    """A log that is measured."""

    shape: str
    fault: str
    share: int
    data: bytes


def messages(size: int, share: int, seed: int) -> bytes:
    """Return *size* bytes of messages; the checksum of *share* percent of them is wrong."""
    one: bytes = Message.build({"magic": 0, "offset": 0, "key": None, "value": None})
    count = size // len(one)
    data = np.tile(np.frombuffer(one, np.uint8), count).reshape(count, len(one))
    data[:, :8] = np.arange(count, dtype=">i8").view(np.uint8).reshape(count, 8)
    chance = random.Random(seed)
    for number in chance.sample(range(count), count * share // 100):
        data[number, 12] ^= 1  # the first byte of the checksum
    return data.tobytes()


def _cases(options: argparse.Namespace) -> Iterator[MeasuredLog]:
    """Yield the sound log of each shape, followed by the damaged ones."""
    size, seed = options.mib << 20, options.seed
    for name in options.shape:
        if name == SMALLEST:
            for share in (0, *options.share):
                yield MeasuredLog(name, "checksum", share, messages(size, share, seed))
            continue
        shape = SHAPES_OF_LOGS[name]
        yield MeasuredLog(name, "", 0, damaged_log(shape, None, size, 0, seed))
        for fault_name, fault in faults(shape).items():
            if not options.fault or fault_name in options.fault:
                for share in options.share:
                    data = damaged_log(shape, fault, size, share, seed)
                    yield MeasuredLog(name, fault_name, share, data)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mib", type=int, default=4, help="bytes of records, in MiB")
    shapes = [SMALLEST, *SHAPES_OF_LOGS]
    parser.add_argument("--shape", nargs="+", choices=shapes, default=[SMALLEST], metavar="NAME")
    parser.add_argument("--fault", nargs="+", default=[], metavar="NAME", help="default: all")
    parser.add_argument("--share", nargs="+", type=int, default=[1, 10, 50, 100], metavar="N")
    parser.add_argument("--command", nargs="+", choices=COMMANDS, default=["dump", "verify"])
    parser.add_argument("--engine", default="auto", help="engine of `to-table`")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    is_fine = True
    with TemporaryDirectory() as name:
        log = Path(name, "t-0", f"{0:020}.log")
        out = Path(name, "out")
        for folder in (log.parent, out):
            folder.mkdir()
        log.write_bytes(messages(26, 0, 0))
        start = {
            command: run(command, log.parent, out, options.engine).seconds
            for command in options.command
        }
        sound: dict[str, float] = {}
        for case in _cases(options):
            log.write_bytes(case.data)
            for command in options.command:
                seconds = run(command, log.parent, out, options.engine).seconds
                if not case.share:
                    sound[command] = seconds
                ratio = seconds / sound[command]
                net = max(sound[command] - start[command], 0.01)
                is_fine &= ratio <= MAX_RATIO
                print(
                    f"{case.shape:10} {case.fault:18} {case.share:3} %  {command:8} {seconds:7.2f} s  "
                    f"{ratio:6.2f}  {(seconds - start[command]) / net:6.2f}",
                    flush=True,
                )
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
