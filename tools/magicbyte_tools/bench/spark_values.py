"""python -m magicbyte_tools.bench.spark_values [--rows N]: Avro values in Spark, beside the Kafka source with `from_avro`.

Spark reads two partitions of records with ten fields, framed as for a schema registry: from a broker on loopback, decoded
by `from_avro`, and from the log, decoded by the data source. It writes Parquet once, whose rows are compared, and then
nothing, which is measured. Prints seconds of CPU and of time, and the ratio without the start of Spark, beside the goal.
It needs fastavro, confluent-kafka, Java and Maven.
"""

import argparse
import io
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.dataset

import magicbyte as mb
from magicbyte_tools.bench import jobs, kafka_source
from magicbyte_tools.bench.broker import TOPIC, serving
from magicbyte_tools.bench.kafka_source import CACHE
from magicbyte_tools.bench.spark_job import NOWHERE
from magicbyte_tools.bench.values import SHAPES

GOAL = 2.0
"""Smallest ratio of the Kafka source's time to ours."""

PARTITIONS = 2
SCHEMA_ID = 7
SCHEMA = json.dumps(SHAPES["ten fields"])
NUM_DIFFERENT = 50_000
"""Values that are encoded; they are repeated."""

KAFKA, OURS = "Kafka source, from_avro", "magicbyte, decode"
KAFKA_START, OUR_START = "Kafka source, two records", "magicbyte, two records"
"""Jobs that cost little more than the start of Spark."""


def contents(count: int) -> Iterator[bytes]:
    """Yield *count* framed values of the schema."""
    import fastavro

    schema = fastavro.parse_schema(json.loads(SCHEMA))
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(count):
        value: dict[str, Any] = {
            "id": number * 1001,
            "name": f"customer {number}",
            "amount": number / 8,
            "ok": number % 3 == 0,
            "at": begin + timedelta(milliseconds=number * 1717),
            "note": None if number % 4 else f"note of {number}",
            "state": "AB"[number % 2],
            "count": -number,
            "raw": number.to_bytes(8),
            "tags": [f"tag {number % 7}"] * (number % 3),
        }
        content = io.BytesIO(b"\0" + SCHEMA_ID.to_bytes(4))
        content.seek(0, io.SEEK_END)
        fastavro.schemaless_writer(content, schema, value)
        yield content.getvalue()


def write_segment(folder: Path, num_rows: int) -> Path:
    """Write *num_rows* records below *folder*; return the segment."""
    values = pa.array(contents(NUM_DIFFERENT), pa.binary())
    batches = (
        pa.record_batch([values[: min(NUM_DIFFERENT, num_rows - first)]], ["value"])
        for first in range(0, num_rows, NUM_DIFFERENT)
    )
    schema = pa.schema([("value", pa.binary())])
    mb.write(pa.RecordBatchReader.from_batches(schema, batches), folder, topic=TOPIC, codec="lz4")
    return folder / f"{TOPIC}-0" / f"{0:020}.log"


def rows_of(path: Path) -> pa.Table:
    table = pyarrow.dataset.dataset(path, format="parquet").to_table(
        ["partition", "offset", "value"]
    )
    return table.sort_by([("partition", "ascending"), ("offset", "ascending")]).combine_chunks()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="magicbyte_tools.bench.spark_values", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000, help="records of each partition")
    parser.add_argument("--repetitions", type=int, default=2)
    options = parser.parse_args(arguments)
    python = kafka_source.python()
    CACHE.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=CACHE) as name:
        folder = Path(name)
        segment = write_segment(folder / "written", options.rows)
        for number in range(PARTITIONS):
            partition = folder / "logs" / f"{TOPIC}-{number}"
            partition.mkdir(parents=True)
            (partition / segment.name).hardlink_to(segment)
        schemas = folder / "schemas.json"
        registered = {"subject": f"{TOPIC}-value", "version": 1, "id": SCHEMA_ID, "schema": SCHEMA}
        schemas.write_text(json.dumps([registered]))
        (folder / "broker").mkdir()
        job = [sys.executable, "-m", "magicbyte_tools.bench.process_reaper", python]
        job += ["-m", "magicbyte_tools.bench.spark_job"]
        with serving(
            segment, options.rows, folder / "broker", CACHE, num_partitions=PARTITIONS
        ) as address:
            of_kafka = [f"kafka.bootstrap.servers={address}", f"subscribe={TOPIC}"]
            of_kafka += [f"spark.jars={kafka_source.jars()}", f"from_avro={SCHEMA}"]
            of_ours = [f"path={folder / 'logs'}", f"subscribe={TOPIC}", "decode=value=registry"]
            of_ours += [f"schemas={schemas}", "columns=partition,offset,value"]
            written = {
                KAFKA: [*job, "kafka", str(folder / "kafka"), "zstd", *of_kafka],
                OURS: [*job, "magicbyte", str(folder / "ours"), "zstd", *of_ours],
            }
            jobs.run(written, repetitions=1, has_first_run=False)
            ends = {TOPIC: {str(number): 1 for number in range(PARTITIONS)}}
            start = f"endingOffsets={json.dumps(ends)}"
            read = {
                KAFKA: [*job, "kafka", NOWHERE, "none", *of_kafka],
                OURS: [*job, "magicbyte", NOWHERE, "none", *of_ours],
                KAFKA_START: [*job, "kafka", NOWHERE, "none", *of_kafka, start],
                OUR_START: [*job, "magicbyte", NOWHERE, "none", *of_ours, start],
            }
            done = jobs.run(read, repetitions=options.repetitions, has_first_run=False)
        theirs, ours = rows_of(folder / "kafka"), rows_of(folder / "ours")
    if theirs.num_rows != PARTITIONS * options.rows or not ours.cast(theirs.schema).equals(theirs):
        raise SystemExit(
            f"rows differ: {theirs.num_rows} of Kafka's source, {ours.num_rows} of ours"
        )
    for each in done:
        print(f"{each.name:26} {each.cpu:7.1f} s of CPU {each.wall:7.1f} s")
    kafka, mine, kafka_start, our_start = done
    wall = (kafka.wall - kafka_start.wall) / (mine.wall - our_start.wall)
    cpu = (kafka.cpu - kafka_start.cpu) / (mine.cpu - our_start.cpu)
    print(
        f"{theirs.num_rows:,} equal rows; without start: time {wall:.2f}, CPU {cpu:.2f}; goal {GOAL}"
    )
    return int(wall < GOAL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
