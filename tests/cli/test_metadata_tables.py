"""Tests of `dump --table` and `export --table` with tables of a cluster."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import magicbyte as mb
from cli.conftest import run
from kraft_builder import KraftBroker
from magicbyte.tables._metadata_tables import TABLES
from metadata_records import metadata_record as record
from metadata_records import topic_id


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    """Return a log.dir whose metadata has a row for each table."""
    broker = KraftBroker(tmp_path)
    broker.append(
        record(
            "ConfigRecord", resourceType=2, resourceName="alpha", name="retention.ms", value="1"
        ),
        record("AccessControlEntryRecord", id=topic_id(5), resourceType=2, resourceName="alpha"),
        record(
            "ClientQuotaRecord", entity=[{"entityType": "ip", "entityName": None}], key="x", value=1
        ),
        record("UserScramCredentialRecord", name="bob", mechanism=1, iterations=4096),
        record("DelegationTokenRecord", tokenId="abcdefg", owner="User:a", renewers=["User:b"]),
        record(
            "RegisterControllerRecord",
            controllerId=1,
            endPoints=[{"name": "CONTROLLER", "host": "h", "port": 9093, "securityProtocol": 3}],
            features=[
                {"name": "group.version", "minSupportedVersion": 0, "maxSupportedVersion": 1}
            ],
        ),
        record("ProducerIdsRecord", brokerId=1, nextProducerId=1000),
    )
    broker.write_metadata()
    return broker.log_dirs[0]


@pytest.mark.parametrize("name", [table.name for table in TABLES])
def test_every_table_is_printed_and_exported(log_dir: Path, tmp_path: Path, name: str) -> None:
    (definition,) = (table for table in TABLES if table.name == name)
    rows = mb.open(log_dir).table(name).to_pylist()
    assert rows
    text = run("dump", log_dir, "--table", name, "--columns", ",".join(definition.names))
    assert (text.exit_code, text.stderr) == (0, "")
    lines = text.stdout.splitlines()
    assert lines[0].split() == list(definition.names)
    assert len(lines) == len(rows) + 1
    objects = run("dump", log_dir, "--table", name, "--format", "ndjson").stdout.splitlines()
    assert [list(json.loads(line)) for line in objects] == [list(definition.names)] * len(rows)
    out = tmp_path / "out.parquet"
    assert run("export", log_dir, "--table", name, "-o", out).exit_code == 0
    assert pq.read_table(out).to_pylist() == rows


def test_lists_are_printed_as_json(log_dir: Path) -> None:
    text = run("dump", log_dir, "--table", "controllers", "--columns", "listeners").stdout
    (listener,) = json.loads(text.splitlines()[1])
    expected = {"name": "CONTROLLER", "host": "h", "port": 9093, "security_protocol": "SASL_SSL"}
    assert listener == expected
    text = run("dump", log_dir, "--table", "topic_partitions", "--columns", "replicas").stdout
    assert text.splitlines()[1] == "[1]"
