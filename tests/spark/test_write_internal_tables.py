"""Tests that a pipeline writes the tables of internal topics as Python returns them."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

import magicbyte as mb
from magicbyte.spark._write_internal_tables import write_internal_tables
from paths import DATA


def test_tables_with_rows_are_written_as_python_returns_them(tmp_path: Path) -> None:
    dataset = mb.open(DATA / "4.3" / "transactions" / "log-0", topics=["fenced"])
    sentences: list[str] = []
    write_internal_tables(dataset, tmp_path, sentences.append)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"groups", "group_offsets", "transactional_ids", "topics"} <= names
    assert "connectors" not in names
    for name in names:
        table = pq.ParquetFile(tmp_path / name / "part-00000.zstd.parquet").read()
        assert table.to_pylist() == dataset.stored(name).to_table().to_pylist()
        assert f"{name}: {table.num_rows}" in sentences[0]


def test_findings_that_the_read_has_reported_are_not_counted_again(
    copied: Callable[[str], Path], tmp_path: Path
) -> None:
    log_dir = copied("4.3/transactions") / "log-0"
    with (log_dir / "aborted-0" / f"{6:020}.log").open("r+b") as file:
        file.truncate(2000)
    dataset = mb.open(log_dir, on_damage="skip")
    report = mb.Report()
    for _ in dataset.records(["offset"]).read_into(report):
        pass
    all_findings = write_internal_tables(dataset, tmp_path / "all", lambda _: None)
    assert "log-ends-below" in [finding.code for finding in all_findings]
    more = write_internal_tables(dataset, tmp_path / "more", lambda _: None, report.findings)
    assert "log-ends-below" not in [finding.code for finding in more]
    assert set(more) == set(all_findings) - set(report.findings)
