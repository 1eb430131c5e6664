"""Read batches that are built to be expensive; print the memory that each takes as JSON.

Run as ``python read_bombs.py ENGINE KIB NAME...`` with names of ``BOMBS``; needs Linux's /proc. The engine
``produced`` stands for the check of produced batches.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import magicbyte as mb
from magicbyte.storage import open_file
from magicbyte_tools.bench.bombs import BOMBS
from memory_growth import measured


def read(path: Path, engine: str) -> tuple[int, list[str]]:
    """Return the number of records (0 of a produced batch), and the codes of the findings."""
    if engine == "produced":
        with open_file(str(path)) as file:
            return 0, [finding.code for finding in mb.check_produced_file(file)]
    count = 0
    rows = mb.open(path, engine=engine, on_damage="skip").records()
    for batch in rows:
        count += batch.num_rows
    return count, [finding.code for finding in rows.report.findings]


def main(engine: str, kib: int, names: list[str]) -> None:
    growth = {}
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{0:020}.log")
        for size in (1 << 13, kib << 10):  # the first turn loads modules and machine code
            for name in names:
                bomb = BOMBS[name](size)
                path.write_bytes(bomb.data)
                (count, codes), cost = measured(lambda: read(path, engine))
                growth[name] = [count, codes, cost["grown_bytes"] / bomb.payload_bytes]
    print(json.dumps(growth))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
