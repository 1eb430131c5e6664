"""python -m magicbyte_tools.bench.store_requests [--segments N] [--mib N]: what reads of a log in S3 cost.

A log is written as a broker writes it, with its indexes and producer snapshots: once without transactions,
once with each batch in a transaction of its own. Moto's server holds it. Requests and bytes are those that
the server was asked for; they depend on the log and not on the machine.
"""

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyarrow import fs

from magicbyte.limits import MIB
from magicbyte_construct import ProducerSnapshot, RecordBatch
from magicbyte_tools.bench import encode
from magicbyte_tools.bench.kafka_source import CACHE
from magicbyte_tools.bench.record_data import SHAPES, rows
from magicbyte_tools.costs.codecs import COMPRESSORS
from magicbyte_tools.vectors import entry_parts

INDEX_INTERVAL_BYTES = 4096
"""Kafka's default of `index.interval.bytes`."""

ROWS_PER_BATCH = 128
"""Records of a batch, which are 16 KiB uncompressed."""

NUM_TEMPLATES = 200
"""Different batches, which are repeated with other offsets."""

SPLIT_BYTES = 128 * MIB
"""The default of `maxPartitionBytes` in Spark."""

PRODUCER = 1
TRANSACTIONAL = 1 << 4
INDEX_ENTRY = struct.Struct(">ii")
OFFSET = struct.Struct(">q")
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


@dataclass(slots=True)
class LogWriter:
    """Writes the segments of a partition, with their offset indexes and producer snapshots."""

    folder: Path
    segment_bytes: int
    base: int = 0
    segment: bytearray = field(default_factory=bytearray)
    index_entries: bytearray = field(default_factory=bytearray)
    bytes_since_entry: int = 0

    def append(self, entry: bytes, last_offset: int) -> None:
        """Append *entry*, and an entry to the index for each INDEX_INTERVAL_BYTES."""
        if self.bytes_since_entry > INDEX_INTERVAL_BYTES:
            self.index_entries += INDEX_ENTRY.pack(last_offset - self.base, len(self.segment))
            self.bytes_since_entry = 0
        self.segment += entry
        self.bytes_since_entry += len(entry)

    def roll(self, end: int, last_offset: int) -> None:
        """End the segment before offset *end*; *last_offset* is the last one of the producer's data, or -1."""
        self._write("log", bytes(self.segment))
        self._write("index", bytes(self.index_entries))
        self.base, self.bytes_since_entry = end, 0
        self.segment.clear()
        self.index_entries.clear()
        producer = {
            "producer_id": PRODUCER,
            "epoch": 0,
            "last_sequence": 0,
            "last_offset": last_offset,
            "timestamp": 0,
            "coordinator_epoch": 0,
            "current_txn_first_offset": -1,
        }
        entries = [] if last_offset < 0 else [producer]
        self._write("snapshot", ProducerSnapshot.build({"version": 1, "producer_entries": entries}))

    def _write(self, kind: str, data: bytes) -> None:
        (self.folder / f"{self.base:020}.{kind}").write_bytes(data)


def write_log(folder: Path, num_segments: int, segment_bytes: int, *, transactions: bool) -> int:
    """Write a partition of lz4 batches into *folder*; return the offset after its last record."""
    folder.mkdir(parents=True)
    templates = [_batch(number, transactions=transactions) for number in range(NUM_TEMPLATES)]
    commit = entry_parts.marker(entry_parts.COMMIT, 0, producer=PRODUCER).data
    writer, offset, entries = LogWriter(folder, segment_bytes), 0, cycle(templates)
    for _ in range(num_segments):
        last_offset = -1
        while len(writer.segment) < segment_bytes:
            last_offset = offset + ROWS_PER_BATCH - 1
            writer.append(_at(next(entries), offset), last_offset)
            offset += ROWS_PER_BATCH
            if transactions:
                writer.append(_at(commit, offset), offset)
                offset += 1
        writer.roll(offset, last_offset if transactions else -1)
    return offset


def _batch(number: int, *, transactions: bool) -> bytes:
    """Return an lz4 batch of records of about 100 bytes, the one with *number* of NUM_TEMPLATES."""
    data = list(islice(rows(SHAPES["100B"], number), ROWS_PER_BATCH))
    payload = b"".join(encode.record(row, 0, data[0].timestamp) for row in data)
    codec, compress = COMPRESSORS["lz4"]
    built: bytes = RecordBatch.build(
        {
            "base_offset": 0,
            "partition_leader_epoch": 0,
            "attributes": codec | (TRANSACTIONAL if transactions else 0),
            "last_offset_delta": ROWS_PER_BATCH - 1,
            "base_timestamp": data[0].timestamp,
            "max_timestamp": data[-1].timestamp,
            "producer_id": PRODUCER if transactions else -1,
            "producer_epoch": 0 if transactions else -1,
            "base_sequence": 0 if transactions else -1,
            "records_count": ROWS_PER_BATCH,
            "records": compress(payload),
        }
    )
    return built


def _at(entry: bytes, offset: int) -> bytes:
    """Return the batch *entry* with the base offset *offset*, which its checksum does not cover."""
    return OFFSET.pack(offset) + entry[OFFSET.size :]


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
