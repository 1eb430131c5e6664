"""Tests that brokers serve the records that were written from Arrow data, and that keys go where Kafka's producer sends them.

`make test-brokers` runs it; it needs Maven and Java.
"""

import json
import os
import struct
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

import magicbyte as mb
from clusters import clusters_in
from kafka_partitions import NUM_PARTITIONS, RECORDED, drawn_keys, recorded_partitions
from paths import DATA, shared

from .kafka_classes import command
from .served_topics import LEVELS, records_of
from .test_written_logs import (
    DAMAGED_CLUSTERS,
    RELEASES,
    TIERED,
    WrittenLogs,
    check_that_a_broker_takes,
)

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))

pytestmark = pytest.mark.skipif(
    not RUN, reason="it takes Maven, Java and minutes: make test-brokers"
)

CODECS = ("none", "lz4")
COLUMNS = ["topic", "partition", "offset", "timestamp", "key", "value", "headers"]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> WrittenLogs:
    """The records of all sound logs, aborted ones included, written with and without a codec."""
    folder, logs = tmp_path_factory.mktemp("records"), WrittenLogs()
    for cluster in clusters_in(shared() / "logs", DATA):
        if cluster.name.endswith((DAMAGED_CLUSTERS, TIERED)):
            continue
        source = mb.open(*cluster.log_dirs, isolation_level="read_uncommitted")
        for codec in CODECS:
            prefix, output = f"{cluster.name}.{codec}.", folder / cluster.name / codec
            # A v0 message has no timestamp, and would get the time of the write.
            timed = (
                batch.filter(pa.compute.is_valid(batch["timestamp"]))
                for batch in source.records(COLUMNS)
            )
            report = mb.write(timed, output, codec=codec, segment_bytes=100_000)
            logs.outputs[prefix] = output
            expected = records_of(source, prefix)
            for row in report.partitions:
                name = f"{prefix}{row['topic']}-{row['partition']}"
                rows = [each for each in expected[name] if each["timestamp"] != -1]
                for each in rows:
                    each["timestamp_type"] = "CreateTime"
                assert len(rows) == row["records"] > 0
                end = rows[-1]["offset"] + 1
                logs.expected.bounds[name] = rows[0]["offset"], end, end
                for level in LEVELS:
                    logs.expected.records[level][name] = rows
    return logs


@pytest.mark.parametrize("release", RELEASES)
def test_consumers_get_the_records_that_were_written(
    release: str, written: WrittenLogs, tmp_path: Path
) -> None:
    check_that_a_broker_takes(written, release, tmp_path)


def test_keys_go_to_the_recorded_partitions() -> None:
    keys = drawn_keys()
    question = struct.pack(">ii", NUM_PARTITIONS, len(keys))
    question += b"".join(struct.pack(">i", len(key)) + key for key in keys)
    done = subprocess.run(
        command("KafkaPartitions", "4.3.1"), input=question, stdout=subprocess.PIPE, check=True
    )
    partitions = [int(line) for line in done.stdout.split()]
    if os.environ.get("MAGICBYTE_RECORD"):
        RECORDED.write_text(json.dumps(partitions) + "\n", "utf-8")
    assert partitions == recorded_partitions()
