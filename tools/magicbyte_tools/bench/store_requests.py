"""python -m magicbyte_tools.bench.store_requests [--segments N] [--mib N]: what reads of a log in S3 cost.

A log is written as a broker writes it, with its indexes and producer snapshots: once without transactions,
once with each batch in a transaction of its own. Moto's server holds it. Requests and bytes are those that
the server was asked for; they depend on the log and not on the machine.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyarrow import fs

from magicbyte.limits import MIB
from magicbyte_tools.bench.kafka_source import CACHE
from magicbyte_tools.bench.log_writer import write_log

SPLIT_BYTES = 128 * MIB
"""The default of `maxPartitionBytes` in Spark."""

OPTIONS = {"access_key": "any", "secret_key": "any", "region": "us-east-1"}
BUCKET = "logs"

MEASURED = """
import json, sys
import magicbyte as mb
what, url, options, split_bytes = *sys.argv[1:3], json.loads(sys.argv[3]), int(sys.argv[4])
range_of_offsets = tuple(options.pop("offsets")) if "offsets" in options else None
dataset = mb.open(url, offsets=range_of_offsets, **options)
before = mb.store_requests().get("s3://logs")
start = (before.total, before.requested_bytes)
if what == "plan":
    found = len(dataset.plan(split_bytes))
else:
    found = sum(batch.num_rows for batch in dataset.records())
after = mb.store_requests()["s3://logs"]
print(json.dumps([found, after.total - start[0], after.requested_bytes - start[1]]))
"""


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """Run moto's S3 server on the loopback interface; yield its URL."""
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
            stdout=subprocess.DEVNULL,
            stderr=output,
            env={name: text for name, text in os.environ.items() if "proxy" not in name.lower()},
        )
    try:
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())):
            time.sleep(0.1)
        yield found[0]
    finally:
        process.terminate()
        process.wait()


def upload(folder: Path, url: str, name: str) -> str:
    """Put the files of *folder* into the server at *url*, below *name*; return their S3 URL."""
    store = fs.S3FileSystem(endpoint_override=url, allow_bucket_creation=True, **OPTIONS)
    store.create_dir(BUCKET)
    for path in sorted(folder.iterdir()):
        with store.open_output_stream(f"{BUCKET}/{name}/{path.name}") as stream:
            stream.write(path.read_bytes())
    return f"s3://{BUCKET}/{name}"


def measured(what: str, url: str, server: str, **options: Any) -> tuple[int, int, int]:
    """Return what a new process found at *url*, its requests, and the bytes that it requested.

    *what* is `plan`, whose splits are counted, or `records`.
    """
    options["storage_options"] = {**OPTIONS, "endpoint_override": server}
    command = [sys.executable, "-c", MEASURED, what, url, json.dumps(options), str(SPLIT_BYTES)]
    found, requests, num_bytes = json.loads(subprocess.check_output(command, text=True))
    return found, requests, num_bytes


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.bench.store_requests")
    parser.add_argument("--segments", type=int, default=16)
    parser.add_argument("--mib", type=int, default=64, help="mebibytes of a segment")
    options = parser.parse_args(arguments)
    total = options.segments * options.mib * MIB
    CACHE.mkdir(parents=True, exist_ok=True)
    print("| log | read | requests | per segment | bytes requested | of the log |")
    print("|---|---|---:|---:|---:|---:|")
    with TemporaryDirectory(dir=CACHE) as temporary, s3_server(Path(temporary)) as server:
        for transactions in (False, True):
            name = f"{'with' if transactions else 'without'}-transactions-0"
            folder = Path(temporary) / name
            end = write_log(folder, options.segments, options.mib * MIB, transactions=transactions)
            url = upload(folder, server, name)
            middle = end // 2 + end // options.segments // 2
            for read, what, more in (
                ("a plan", "plan", {}),
                (
                    "ten offsets in the middle of a segment",
                    "records",
                    {"offsets": (middle, middle + 10)},
                ),
                ("all records", "records", {}),
            ):
                _, requests, num_bytes = measured(what, url, server, **more)
                print(
                    f"| {name} | {read} | {requests:,} | {requests / options.segments:.1f} "
                    f"| {num_bytes:,} | {num_bytes / total:.2%} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
