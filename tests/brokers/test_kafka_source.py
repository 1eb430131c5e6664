"""Tests that options give the rows of Spark's own Kafka source, and fail where it fails.

The answers of that source are recorded. `make test-brokers` runs it again, on a real broker that
serves the same logs; this needs Maven.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from data_source import planned
from kafka_cases import CASES, LATE, MIDDLE, TRANSACTIONS, Case, options_of
from magicbyte.errors import InputError
from magicbyte_tools.bench import kafka_source
from paths import DATA, shared

HERE = Path(__file__).parent
RECORDED = HERE / "kafka_source.json"

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))


def times() -> dict[str, str]:
    # Markers have the time of the broker that wrote them, years after those of the records.
    rows = mb.open(DATA / TRANSACTIONS / "log-0" / "interleaved-0").records(["timestamp"])
    found = rows.to_table().column(0).cast(pa.int64()).to_pylist()
    return {MIDDLE: str(found[len(found) // 2]), LATE: str(max(found) + 10**12)}


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """Summarize an answer: first and last offset and count by partition, and a digest of all rows."""
    if "error" in found:
        return {"fails": True}
    names = found["columns"]
    places = [names.index(name) for name in ("topic", "partition", "offset")]
    rows = sorted(found["rows"], key=lambda row: [row[place] for place in places])
    offsets: dict[str, list[int]] = {}
    for row in rows:
        topic, partition, offset = (row[place] for place in places)
        first, _, count = offsets.get(f"{topic}-{partition}", (offset, offset, 0))
        offsets[f"{topic}-{partition}"] = [first, offset, count + 1]
    digest = hashlib.sha256(json.dumps([names, rows]).encode()).hexdigest()[:16]
    return {"columns": names, "offsets": offsets, "digest": digest}


def ours(case: Case, times: dict[str, str]) -> dict[str, Any]:
    try:
        reader, tasks = planned(str(DATA / case.cluster), **options_of(case, times))
    except InputError as error:
        return {"error": str(error)}
    batches = [batch for task in tasks for batch in reader.read(task)]
    table = pa.Table.from_batches(batches, reader.schema)
    at = table.schema.names.index("timestamp")
    table = table.set_column(at, "timestamp", table.column(at).cast(pa.int64()))
    return {
        "columns": table.schema.names,
        "rows": [[plain(cell) for cell in row.values()] for row in table.to_pylist()],
    }


def plain(cell: Any) -> Any:
    if isinstance(cell, bytes):
        return cell.hex()
    if isinstance(cell, list):
        return [[one["key"], plain(one["value"])] for one in cell]
    return cell


def recorded() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(RECORDED.read_text())
    return made


@pytest.mark.parametrize("name", CASES)
def test_we_give_what_the_kafka_source_gave(name: str) -> None:
    assert summary(ours(CASES[name], times())) == recorded()[name]


def test_recording_has_an_answer_of_kafkas_source_for_every_case() -> None:
    assert list(recorded()) == sorted(CASES)
    counts = [sum(n for *_, n in one.get("offsets", {}).values()) for one in recorded().values()]
    assert sum(count > 100 for count in counts) > 20
    assert sum(one.get("fails", False) for one in recorded().values()) > 15


# Asked again


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    if not RUN:
        pytest.skip("it takes Maven, Java and some minutes: make test-brokers")
    sys.path.insert(0, str(shared() / "brokers"))
    from brokers import Cluster

    python, jars = kafka_source.python(), kafka_source.jars()
    answers: dict[str, Any] = {}
    for cluster in sorted({case.cluster for case in CASES.values()}):
        folder = tmp_path_factory.mktemp("served")
        log_dirs = sorted((DATA / cluster).glob("log-*"))
        for log_dir in log_dirs:
            shutil.copytree(log_dir, folder / log_dir.name)
        properties = {"log.retention.ms": -1, "log.cleaner.enable": "false"}
        release = cluster.split("/")[0]
        with Cluster(release, folder, log_dirs=len(log_dirs), properties=properties) as serving:
            more = {
                "kafka.bootstrap.servers": serving.bootstrap,
                "kafkaConsumer.pollTimeoutMs": "8000",
                "fetchOffset.numRetries": "1",
            }
            cases = [
                json.dumps({"name": name, "options": {**options_of(case, times()), **more}})
                for name, case in CASES.items()
                if case.cluster == cluster
            ]
            done = subprocess.run(
                [python, HERE / "kafka_source.py", jars],
                input="".join(f"{case}\n" for case in cases),
                env={**os.environ, "PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"},
                capture_output=True,
                text=True,
            )
        assert done.returncode == 0, done.stderr[-2000:]
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                answer = json.loads(line)
                answers[answer.pop("name")] = answer
    if os.environ.get("MAGICBYTE_RECORD"):
        made = {name: summary(answers[name]) for name in sorted(answers)}
        RECORDED.write_text(json.dumps(made, indent=1) + "\n")
    yield answers


@pytest.mark.parametrize("name", CASES)
def test_the_kafka_source_says_what_was_recorded(name: str, asked: dict[str, Any]) -> None:
    assert summary(asked[name]) == recorded()[name], asked[name].get("error")
