"""Tests of the pipeline: its tables are those of the Python API, and OUT is complete or absent."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

import magicbyte as mb
from file_damage import flip
from magicbyte.errors import InputError
from magicbyte.reading.split import Split
from magicbyte.reading.table_rows import transaction_rows
from magicbyte.spark._pipeline_plan import decode, encode, make_plan, text_of
from magicbyte.tables.schemas import TABLES
from magicbyte.tables.stored_types import stored_schema
from magicbyte_cli import main
from magicbyte_tools.bench import planning
from paths import DATA
from spark_environment import QUICK_START

CLUSTER = DATA / "4.3" / "transactions"


def pipeline(*arguments: str | Path) -> Result:
    """Run the command `pipeline` in this process, with the current Spark session."""
    return CliRunner().invoke(main, ["pipeline", *map(str, arguments)])


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def table_of(out: Path, name: str) -> pa.Table:
    return pyarrow.dataset.dataset(out / name, format="parquet").to_table()


def plain(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of *table* in a fixed order, with times in microseconds."""
    for number, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            whole = table.column(number).cast(pa.timestamp("us", tz="UTC")).cast("int64")
            table = table.set_column(number, field.name, whole)
    return sorted(table.to_pylist(), key=repr)


@pytest.fixture(scope="module")
def output(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a pipeline over the cluster; its path has spaces."""
    out = tmp_path_factory.mktemp("a folder") / "with spaces" / "out"
    result = pipeline(CLUSTER, out)
    assert result.exit_code == 0, result.output
    assert "report: " in result.stderr
    assert re.search("^not delivered: .*966 aborted records", result.stderr, re.MULTILINE)
    assert "3 partitions of internal topics left out" in result.stderr
    assert os.listdir(out.parent) == ["out"]
    return out


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_those_of_the_api(output: Path, name: str) -> None:
    rows = getattr(mb.open(CLUSTER, on_damage="skip"), name)(TABLES[name].names)
    assert plain(table_of(output, name)) == plain(rows.to_table())
    for file in (output / name).glob("*.parquet"):
        schema = pq.read_schema(file)
        assert schema.equals(stored_schema(TABLES[name]))
        assert schema.metadata[b"magicbyte.schema"].decode() == f"{name} 1"
        assert schema.metadata[b"magicbyte.version"].decode() == mb.__version__


def test_files_of_records_are_in_order_and_say_what_they_hold(output: Path) -> None:
    """So a reader skips row groups and pages by their statistics."""
    names = ["topic", "partition", "offset", "timestamp"]
    ranges: dict[tuple[str, int, str], tuple[int, int]] = {}
    for path in (output / "records").glob("*.parquet"):
        rows = pq.read_table(path, columns=names)
        places = list(zip(*(rows.column(name).to_pylist() for name in names[:3]), strict=True))
        assert places == sorted(places)
        for topic, partition, offset in places:
            first, last = ranges.setdefault((topic, partition, str(path)), (offset, offset))
            ranges[topic, partition, str(path)] = min(first, offset), max(last, offset)
        footer = pq.read_metadata(path)
        columns = {
            footer.schema.column(number).name: number for number in range(len(footer.schema))
        }
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            for name in names:
                chunk = group.column(columns[name])
                assert chunk.statistics.has_min_max and chunk.has_column_index, name
    by_partition: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for (topic, partition, _), bounds in ranges.items():
        by_partition.setdefault((topic, partition), []).append(bounds)
    for bounds in by_partition.values():
        ordered = sorted(bounds)
        assert all(here[1] < there[0] for here, there in pairwise(ordered))


def test_verdicts_and_findings_of_verify_are_in_the_report_and_the_tables(
    spark: SparkSession, tmp_path: Path
) -> None:
    log_dir = tmp_path / "log-0"
    for name in ("aborted-0", "append-time-0"):
        shutil.copytree(CLUSTER / "log-0" / name, log_dir / name)
    shutil.copy(CLUSTER / "log-0" / "meta.properties", log_dir)
    log = log_dir / "append-time-0" / "00000000000000000000.log"
    flip(log, 900)
    log.with_suffix(".index").write_bytes(b"\xff" * 16)
    result = pipeline(log_dir, tmp_path / "out", "--verify")
    assert result.exit_code == 1, result.output
    verification = mb.verify(log_dir)
    codes = [finding.code for finding in verification.findings]
    assert sorted(table_of(tmp_path / "out", "problems").column("code").to_pylist()) == sorted(
        codes
    )
    assert "index-invalid" in codes
    rows = table_of(tmp_path / "out", "partitions").select(["topic", "verdict"]).to_pylist()
    assert {row["topic"]: row["verdict"] for row in rows} == {
        row["topic"]: row["verdict"] for row in verification.partitions
    }
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "truncated" in report and "index-invalid" in report and "not checked" not in report
    (broker,) = verification.brokers
    assert f"{broker.verdict}" in report and f"Kafka {broker.kafka_version}" in report
    uncommitted = pipeline(log_dir, tmp_path / "plain", "--isolation-level", "read_uncommitted")
    assert "records of aborted transactions included" in uncommitted.stderr
    report = (tmp_path / "plain" / "report.html").read_text("utf-8")
    assert "replicas were not checked" in report and "Not predicted" in report


@pytest.mark.parametrize("name", TABLES)
def test_export_writes_the_schema_and_the_rows_of_the_pipeline(
    output: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "one.parquet"
    export = ["export", str(CLUSTER), "--table", name, "-o", str(out)]
    result = CliRunner().invoke(main, export)
    assert result.exit_code == 0, result.output
    assert plain(pq.read_table(out)) == plain(table_of(output, name))
    for file in (output / name).glob("*.parquet"):
        assert columns_of(out) == columns_of(file)


def columns_of(path: Path) -> list[tuple[Any, ...]]:
    """Return the columns in *path*'s Parquet footer, without fields that depend on the writer."""
    schema = pq.read_metadata(path).schema
    fields = attrgetter("path", "physical_type", "max_definition_level", "max_repetition_level")
    columns = map(schema.column, range(len(schema)))
    return [(*fields(one), json.loads(one.logical_type.to_json())) for one in columns]


def test_bytes_add_up_to_the_sizes_of_the_files(output: Path) -> None:
    logs = [r for r in table_of(output, "segments").to_pylist() if r["file_kind"] == "log"]
    for row in logs:
        parts = sum(row[n] for n in row if n.startswith("bytes_"))
        assert parts == row["size_bytes"] or not row["live"], row["file"]
    whole = sum(file.stat().st_size for file in CLUSTER.rglob("*.log"))
    assert sum(row["size_bytes"] for row in logs) == whole


def test_second_run_replaces_the_first_only_with_overwrite(output: Path) -> None:
    before = tree(output)
    refused = pipeline(CLUSTER, output)
    assert refused.exit_code == 2
    assert "the output exists; expected a new name, or --overwrite" in refused.stderr
    assert tree(output) == before
    again = pipeline(
        CLUSTER, output, "--overwrite", "--topic", "open", "--isolation-level", "read_uncommitted"
    )
    assert again.exit_code == 0, again.output
    assert os.listdir(output.parent) == ["out"]
    rows = mb.open(CLUSTER, topics=["open"], isolation_level="read_uncommitted").records()
    assert table_of(output, "records").num_rows == rows.to_table().num_rows > 0


@pytest.mark.parametrize("on_damage", ["skip", "fail", "stop"])
def test_damage_is_told_and_does_not_leave_half_of_an_output(
    spark: SparkSession, tmp_path: Path, on_damage: str
) -> None:
    folder = tmp_path / "in" / "interleaved-0"
    shutil.copytree(CLUSTER / "log-0" / "interleaved-0", folder)
    log = sorted(file for file in folder.glob("*.log") if file.stat().st_size)[0]
    flip(log, log.stat().st_size // 2, 1)
    out = tmp_path / "deep" / "out"
    result = pipeline(folder, out, "--on-damage", on_damage)
    assert result.exit_code == 1, result.output
    if on_damage == "fail":
        assert result.stderr.splitlines()[-1].startswith("Error: interleaved-0/")
        assert os.listdir(tmp_path) == ["in"]
        return
    dataset = mb.open(str(folder), on_damage=on_damage)
    for name in ("records", "segments", "partitions", "problems"):
        rows = getattr(dataset, name)(TABLES[name].names).to_table()
        assert plain(table_of(out, name)) == plain(rows), name
    assert "checksum-mismatch" in (out / "report.html").read_text()


def refusals(tmp_path: Path) -> dict[str, tuple[Sequence[str | Path], str]]:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis.txt").write_text("years of work")
    (tmp_path / "file").write_text("")
    inside = Path(shutil.copytree(CLUSTER / "log-0" / "open-0", tmp_path / "above" / "open-0"))
    (tmp_path / "above" / "meta.properties").write_text("version=1\n")
    (tmp_path / "link").symlink_to(tmp_path / "above", target_is_directory=True)
    segment = min(inside.glob("*.log"))
    return {
        "theirs": ([CLUSTER, tmp_path / "theirs"], "the folder was not written by pipeline"),
        "theirs, overwrite": (
            [CLUSTER, tmp_path / "theirs", "--overwrite"],
            "was not written by pipeline",
        ),
        "a file": ([CLUSTER, tmp_path / "file", "--overwrite"], "file: this is a file; expected"),
        "the input itself": ([inside, inside, "--overwrite"], "inside of the input"),
        "in the input": ([inside, inside / "out"], "inside of the input"),
        "in the log.dir of the input": (
            [inside, tmp_path / "above" / "out"],
            "inside of the input",
        ),
        "beside a segment": ([segment, inside / "out"], "inside of the input"),
        "in the input by a link": (
            [inside, tmp_path / "link" / "open-0" / "o"],
            "inside of the input",
        ),
        "the log.dir of the input": ([inside, tmp_path / "above"], "the output is an input"),
        "above the input": ([inside, tmp_path, "--overwrite"], "contains the input"),
        "no log": ([tmp_path / "theirs", tmp_path / "out"], "with no log in it"),
        "no path": ([tmp_path / "nowhere", tmp_path / "out"], "No such file or directory"),
        "no topic": ([inside, tmp_path / "out", "--topic", "x"], "no topic 'x'"),
        "no setting": ([inside, tmp_path / "out", "--conf", "x"], "expected NAME=VALUE"),
        "one path": ([inside], "Missing argument"),
    }


def test_refused_arguments_are_one_line_and_leave_no_files(tmp_path: Path) -> None:
    cases = refusals(tmp_path)
    before = tree(tmp_path)
    for name, (arguments, message) in cases.items():
        result = pipeline(*arguments)
        assert result.exit_code == 2, f"{name}: {result.output}"
        assert message in result.stderr, f"{name}: {result.output}"
        assert tree(tmp_path) == before, name


def test_an_empty_folder_may_become_the_output_and_a_foreign_one_may_not(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    result = pipeline(CLUSTER / "log-0" / "open-1", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert sorted(os.listdir(tmp_path / "out")) == sorted([*TABLES, "_magicbyte", "report.html"])


def test_pipeline_needs_no_java_and_writes_only_into_its_output(tmp_path: Path) -> None:
    tools, home, here = tmp_path / "bin", tmp_path / "home", tmp_path / "current folder"
    for folder in (tools, home, here):
        folder.mkdir()
    for tool in ("bash", "sh", "env", "dirname", "basename", "uname", "ps", "nice", "cat", "chmod"):
        if found := shutil.which(tool):
            (tools / tool).symlink_to(found)
    # The path of the interpreter has a space, as a checkout's path may.
    python = tmp_path / "an environment" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    run = (
        "import sys; sys.executable = sys.argv.pop(1);"
        "from magicbyte_cli import main; main(prog_name='magicbyte')"
    )
    source, out = CLUSTER / "log-0" / "open-0", tmp_path / "o u t"
    conf = f"spark.driver.extraJavaOptions={QUICK_START}"
    environment = {
        "PATH": str(tools),
        "HOME": str(home),
        "TMPDIR": str(tmp_path / "bin"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", run, python, "pipeline", source, out, "--conf", conf],
        cwd=here,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) <= 8, done.stderr
    assert "WARN" not in done.stderr
    assert os.listdir(here) == []
    assert os.listdir(home) == []
    rows = mb.open(str(source)).records().to_table().num_rows
    assert table_of(out, "records").num_rows == rows > 0


def test_a_plan_comes_back_from_json_as_it_was() -> None:
    dataset = mb.open(CLUSTER, include_internal=True, on_damage="skip")
    splits = dataset.plan(1000)
    assert [decode(Split, encode(split)) for split in splits] == splits


def test_spark_passes_over_headers_as_the_driver_does(spark: SparkSession) -> None:
    here, there = (mb.open(CLUSTER, include_internal=True, on_damage="skip") for _ in "12")
    expected = make_plan(here, 20_000)
    asked: list[SparkSession] = []

    def session() -> SparkSession:
        asked.append(spark)
        return spark

    assert text_of(make_plan(there, 20_000, spark=session), about={}) == text_of(expected, about={})
    assert not asked, "that little the driver does by itself"
    there = mb.open(CLUSTER, include_internal=True, on_damage="skip")
    made = make_plan(there, 20_000, spark=session, parallel_bytes=1)
    assert text_of(made, about={}) == text_of(expected, about={})
    assert asked
    for mine, theirs in zip(made.surveys, expected.surveys, strict=True):
        assert mine.log is not theirs.log and mine.findings == theirs.findings
        rows = [list(transaction_rows(found)) for found in (mine, theirs)]
        assert rows[0] == rows[1]


def test_error_of_a_planning_task_is_our_error(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(2):
        planning.write_batches(tmp_path / f"one-{number}", 3)
    dataset = mb.open(str(tmp_path))
    segment = tmp_path / "one-1" / f"{0:020}.log"
    segment.write_bytes(segment.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"one-1/0+\.log"):
        make_plan(dataset, 20_000, spark=lambda: spark, parallel_bytes=1)
