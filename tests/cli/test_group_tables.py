"""Tests of `dump --table` and `export --table` with tables of groups, transactional ids and producers."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import magicbyte as mb
from cli.conftest import run
from magicbyte.tables._group_tables import TABLES
from paths import shared

INTERNALS = sorted((shared() / "meaning-data").glob("internals-*/log-0"))


@pytest.mark.skipif(not INTERNALS, reason="no meaning-data/internals-* in the folder `shared`")
@pytest.mark.parametrize("name", [table.name for table in TABLES])
def test_every_table_is_printed_and_exported(tmp_path: Path, name: str) -> None:
    log_dir = INTERNALS[0]
    (definition,) = (table for table in TABLES if table.name == name)
    rows = mb.open(log_dir).table(name).to_pylist()
    assert rows
    text = run("dump", log_dir, "--table", name)
    assert text.exit_code == 0
    lines = text.stdout.splitlines()
    assert lines[0].split() == list(definition.default)
    assert len(lines) == len(rows) + 1
    objects = run("dump", log_dir, "--table", name, "--format", "ndjson").stdout.splitlines()
    assert [list(json.loads(line)) for line in objects] == [list(definition.names)] * len(rows)
    out = tmp_path / "out.parquet"
    assert run("export", log_dir, "--table", name, "-o", out).exit_code == 0
    assert pq.read_table(out).to_pylist() == rows
