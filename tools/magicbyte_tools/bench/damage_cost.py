"""Measure the CPU time of commands on damaged messages, as a multiple of the same messages undamaged.

    python -m magicbyte_tools.bench.damage_cost [--mib N] [--share N ...] [--command NAME ...]

The messages have 26 bytes (v0, no key, no value): the smallest entries of all, so that a finding per message
costs most. A share of them, in percent, has a wrong checksum. Exits with 1 if a command takes more than three
times as long as for sound messages.
"""

import argparse
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from magicbyte_construct import Message
from magicbyte_tools.bench.bombs import COMMANDS, run

MAX_RATIO = 3.0


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


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mib", type=int, default=4, help="bytes of messages, in MiB")
    parser.add_argument("--share", nargs="+", type=int, default=[1, 10, 50, 100], metavar="N")
    parser.add_argument("--command", nargs="+", choices=COMMANDS, default=["dump", "verify"])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    is_fine = True
    with TemporaryDirectory() as name:
        log = Path(name, "t-0", f"{0:020}.log")
        out = Path(name, "out")
        for folder in (log.parent, out):
            folder.mkdir()
        for command in options.command:
            seconds = {}
            for share in (0, *options.share):
                log.write_bytes(messages(options.mib << 20, share, options.seed))
                seconds[share] = run(command, log.parent, out, "auto").seconds
                ratio = seconds[share] / seconds[0]
                is_fine &= ratio <= MAX_RATIO
                print(
                    f"{command:15} {share:3} %  {seconds[share]:7.2f} s  {ratio:5.2f}", flush=True
                )
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
