"""Export a log of MIB mebibytes, and print by how much this process's memory grew, as JSON.

Run as ``python spend_export.py MIB THREADS OUT``, where OUT does not exist; needs Linux's /proc.
"""

import json
import random
import sys
from pathlib import Path

from log_builder import batch_of
from magicbyte.engines import _auto
from magicbyte_cli import main
from memory_growth import measured

MIB = 1 << 20
VALUE_BYTES = 64 << 10


def write_log(path: Path, size: int) -> int:
    """Write a segment of at least *size* bytes; return its number of records."""
    value, base = random.Random(0).randbytes(VALUE_BYTES), 0
    with path.open("wb") as log:
        while log.tell() < size:
            log.write(batch_of(base, value))
            base += 1
    return base


def export(log: Path, out: str, threads: str) -> None:
    main(
        ["export", str(log), "-o", out, "--overwrite", "--threads", threads], standalone_mode=False
    )


def run(mib: int, threads: str, out: str) -> None:
    _auto.ROWS_BEFORE_COMPILING = 0  # the first export loads machine code, if any does
    log = Path(out).with_name("log") / f"{0:020}.log"
    log.parent.mkdir()
    write_log(log, MIB)
    export(log, out, threads)  # pays for imports and Arrow's memory pool before measuring
    num_records = write_log(log, mib * MIB)
    _, cost = measured(lambda: export(log, out, threads))
    print(json.dumps({"records": num_records, **cost}))


if __name__ == "__main__":
    run(int(sys.argv[1]), sys.argv[2], sys.argv[3])
