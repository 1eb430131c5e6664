"""Tests of records that are written from Arrow data: what a reader finds, and what is refused."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import magicbyte as mb
from clusters import Cluster, each_cluster
from encoded_records import drawn_records
from kafka_partitions import NUM_PARTITIONS, drawn_keys, recorded_partitions
from magicbyte.logdir.file_names import OUTPUT_MANIFEST
from magicbyte.storage.output_folder import LocalFolder
from magicbyte.writing import record_runs
from magicbyte.writing._output_log_dir import DRAFTS
from magicbyte.writing._partitioner import Partitioner, murmur2
from magicbyte.writing.record_runs import _OpenRun

TIME = 1_714_000_000_000
COLUMNS = ["topic", "partition", "offset", "timestamp", "key", "value", "headers"]


def records_in(folder: Path, columns: list[str] = COLUMNS) -> pa.Table:
    """Return all records below *folder*, partition by partition."""
    dataset = mb.open(folder, include_internal=True, isolation_level="read_uncommitted")
    return dataset.records(columns).to_table()


def numbered_rows(count: int, num_partitions: int = 1, **columns: Any) -> pa.Table:
    """Return rows of *num_partitions* partitions in turn, whose values are their numbers."""
    return pa.table(
        {
            "partition": pa.array([number % num_partitions for number in range(count)], pa.int32()),
            "value": [str(number) for number in range(count)],
            **columns,
        }
    )


def listing(folder: Path) -> list[str]:
    """Return the paths of all files and folders below *folder*."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@each_cluster
def test_records_of_real_logs_are_the_same_after_they_were_written(
    cluster: Cluster, tmp_path: Path
) -> None:
    source = cluster.open()
    expected = source.records(COLUMNS).to_table().to_pylist()
    report = mb.write(source.records(COLUMNS), tmp_path / "out", codec="zstd", segment_bytes=4096)
    rows = records_in(tmp_path / "out").to_pylist()
    for row, record in zip(rows, expected, strict=True):
        # A v0 or v1 message has no headers, and a v0 message no time: the time of the write is the default.
        record["headers"] = record["headers"] or []
        record["timestamp"] = record["timestamp"] or row["timestamp"]
    assert rows == expected
    assert sum(row["records"] for row in report.partitions) == len(expected)
    errors = [each for each in mb.verify(tmp_path / "out").findings if each.severity == "error"]
    assert not errors


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_drawn_at_random_are_read_back_with_each_codec(codec: str, tmp_path: Path) -> None:
    drawn = drawn_records(7, 400)
    times = np.maximum(np.array(drawn["timestamp"].to_pylist(), np.int64), 0) % (1 << 42)
    index = drawn.schema.get_field_index("timestamp")
    records = drawn.set_column(index, "timestamp", pa.array(times))
    mb.write(records, tmp_path / "out", topic="t", codec=codec, batch_bytes=2000)
    rows = records_in(tmp_path / "out").to_pylist()
    assert [(row["offset"], row["key"], row["value"]) for row in rows] == [
        (row["offset"], row["key"], row["value"]) for row in records.to_pylist()
    ]
    for row, expected in zip(rows, records.to_pylist(), strict=True):
        assert (row["headers"] or []) == expected["headers"]
        assert row["timestamp"].timestamp() == pytest.approx(expected["timestamp"] / 1000)


def test_hash_of_keys_is_the_one_of_kafka() -> None:
    """The answers of Kafka's own test, UtilsTest.testMurmur2."""
    answers = {
        b"21": -973932308,
        b"foobar": -790332482,
        b"a-little-bit-long-string": -985981536,
        b"a-little-bit-longer-string": -1486304829,
        b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
        b"abc": 479470107,
    }
    keys = pa.array([*answers, None], pa.binary())
    assert murmur2(keys).astype(np.int32).tolist()[:-1] == list(answers.values())


def test_keys_of_all_lengths_go_where_the_producer_sends_them() -> None:
    """Together, in slices and alone."""
    partitioner = Partitioner(NUM_PARTITIONS, batch_bytes=100)
    keys, expected = pa.array(drawn_keys()), recorded_partitions()
    for first in (0, 1, 5):
        part = keys.slice(first)
        assert partitioner.partitions(part, part).tolist() == expected[first:]
    for number, partition in enumerate(expected):
        key = keys.slice(number, 1)
        assert partitioner.partitions(key, key).tolist() == [partition]


def test_records_without_a_key_fill_one_partition_after_another() -> None:
    partitioner = Partitioner(3, batch_bytes=100, first_partition=1)
    keys, values = pa.nulls(10, pa.binary()), pa.array([bytes(40)] * 10)
    assert partitioner.partitions(keys, values).tolist() == [1, 1, 2, 2, 0, 0, 1, 1, 2, 2]
    assert partitioner.partitions(keys.slice(8), values.slice(8)).tolist() == [0, 0]


def test_records_with_a_key_go_where_the_producer_sends_them(tmp_path: Path) -> None:
    keys = ["21", "foobar", "abc"]
    mb.write(pa.table({"key": keys, "value": keys}), tmp_path / "out", topic="t", partitions=7)
    rows = records_in(tmp_path / "out").to_pylist()
    positive = [number & 0x7FFFFFFF for number in (-973932308, -790332482, 479470107)]
    expected = {key.encode(): number % 7 for key, number in zip(keys, positive, strict=True)}
    assert {row["key"]: row["partition"] for row in rows} == expected


def test_offsets_count_from_the_starting_offset_over_all_arrow_batches(tmp_path: Path) -> None:
    batches = numbered_rows(1000, 2).to_batches(max_chunksize=77)
    report = mb.write(
        iter(batches), tmp_path / "out", topic="t", starting_offset={("t", 1): 500}, batch_bytes=300
    )
    rows = records_in(tmp_path / "out", ["partition", "offset", "value"]).to_pylist()
    for partition, start in ((0, 0), (1, 500)):
        own = [row for row in rows if row["partition"] == partition]
        assert [row["offset"] for row in own] == list(range(start, start + 500))
        assert [int(row["value"]) for row in own] == list(range(partition, 1000, 2))
    assert [row["first_offset"] for row in report.partitions] == [0, 500]
    assert [row["log_end_offset"] for row in report.partitions] == [500, 1000]


def test_gaps_between_given_offsets_stay(tmp_path: Path) -> None:
    offsets = [3, 4, 9, 1 << 40]
    mb.write(numbered_rows(4, offset=offsets), tmp_path / "out", topic="t")
    assert records_in(tmp_path / "out")["offset"].to_pylist() == offsets
    assert (tmp_path / "out" / "t-0" / f"{3:020}.log").exists()


def test_topic_argument_takes_precedence_over_the_column(tmp_path: Path) -> None:
    rows = numbered_rows(2, topic=["a", "b"])
    mb.write(rows, tmp_path / "columns")
    mb.write(rows, tmp_path / "argument", topic="t")
    assert records_in(tmp_path / "columns")["topic"].to_pylist() == ["a", "b"]
    assert records_in(tmp_path / "argument")["topic"].to_pylist() == ["t", "t"]


@pytest.mark.parametrize("timestamp_type", ["CreateTime", "LogAppendTime"])
def test_record_without_a_timestamp_has_the_time_of_the_write(
    timestamp_type: str, tmp_path: Path
) -> None:
    before = time.time() - 0.001
    mb.write(numbered_rows(2), tmp_path / "out", topic="t", timestamp_type=timestamp_type)
    rows = records_in(tmp_path / "out", ["timestamp", "timestamp_type"]).to_pylist()
    for row in rows:
        assert before <= row["timestamp"].timestamp() <= time.time()
        assert row["timestamp_type"] == timestamp_type


def test_batches_are_written_early_where_much_waits_in_many_partitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_runs, "MAX_WAITING_BYTES", 20_000)
    waiting: list[int] = []
    limit = record_runs.RunWriter._limit_waiting_bytes

    def observed(writer: record_runs.RunWriter) -> None:
        limit(writer)
        waiting.append(sum(run.group.num_waiting_bytes for run in writer._open_runs.values()))

    monkeypatch.setattr(record_runs.RunWriter, "_limit_waiting_bytes", observed)
    batches = numbered_rows(20_000, 50).to_batches(max_chunksize=500)
    mb.write(iter(batches), tmp_path / "out", topic="t")
    assert max(waiting) <= 20_000
    values = records_in(tmp_path / "out", ["partition", "value"]).to_pylist()
    assert [int(row["value"]) for row in values if row["partition"] == 7] == list(
        range(7, 20_000, 50)
    )


def test_arrow_batches_of_few_records_are_joined_while_they_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes kilobytes besides its records, which are thousands of times as much in many partitions."""
    counts: list[int] = []
    add = _OpenRun.add

    def observed(run: _OpenRun, records: pa.RecordBatch) -> None:
        add(run, records)
        counts.append(len(run.group._waiting))

    monkeypatch.setattr(_OpenRun, "add", observed)
    mb.write(numbered_rows(300).to_batches(max_chunksize=1), tmp_path / "out", topic="t")
    assert len(counts) == 300
    assert max(counts) < 10
    assert records_in(tmp_path / "out")["offset"].to_pylist() == list(range(300))


def test_later_writes_add_partitions_and_replace_none(tmp_path: Path) -> None:
    out = tmp_path / "out"
    mb.write(numbered_rows(4, 2), out, topic="a", codec="lz4")
    mb.write(numbered_rows(4, 2), out, topic="b")
    before = listing(out)
    with pytest.raises(mb.InputError, match="the partition b-0 exists"):
        mb.write(numbered_rows(4, 2), out, topic="b")
    assert listing(out) == before
    assert {row["topic"] for row in records_in(out).to_pylist()} == {"a", "b"}


def test_partition_that_another_write_adds_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def batches() -> Iterator[pa.RecordBatch]:
        yield from numbered_rows(3).to_batches()
        mb.write(numbered_rows(7), out, topic="t")

    with pytest.raises(mb.InputError, match="the partition t-0 exists"):
        mb.write(batches(), out, topic="t")
    assert records_in(out).num_rows == 7
    assert {path.name for path in out.iterdir()} == {"t-0", OUTPUT_MANIFEST}


def test_folder_of_others_is_refused_and_not_touched(tmp_path: Path) -> None:
    source = tmp_path / "source"
    mb.write(numbered_rows(4), source, topic="t")
    mb.rewrite(mb.open(source), tmp_path / "copy")
    for name, path in (("a file", tmp_path / "file"), ("a folder", tmp_path / "folder" / "x")):
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    (tmp_path / "log.dir").mkdir()
    (tmp_path / "log.dir" / "meta.properties").write_text("version=1\n")
    before = listing(tmp_path)
    for folder, reason in (
        ("file", "this is a file"),
        ("folder", "the folder holds x and no magicbyte-manifest.json"),
        ("log.dir/out", "inside of the log.dir"),
        ("copy", "the folder was written by `magicbyte rewrite"),
    ):
        with pytest.raises(mb.InputError, match=reason):
            mb.write(numbered_rows(1), tmp_path / folder, topic="u")
    assert listing(tmp_path) == before


def test_partition_folder_of_others_beside_ours_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    mb.write(numbered_rows(1), out, topic="t")
    (out / "u-0").mkdir()
    with pytest.raises(mb.InputError, match="the folder holds u-0, which no write has written"):
        mb.write(numbered_rows(1), out, topic="u")


def failing_batches() -> Iterator[pa.RecordBatch]:
    """Yield some rows of two partitions, then raise an error."""
    yield from numbered_rows(100_000, 2).to_batches(max_chunksize=50_000)
    raise OSError(5, "Input/output error")


def test_nothing_is_left_of_a_write_whose_rows_end_in_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Input/output error"):
        mb.write(failing_batches(), tmp_path / "out", topic="t")
    assert listing(tmp_path) == []


def test_nothing_appears_if_a_partition_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = LocalFolder.create

    def full_disk(folder: Any, name: str) -> Any:
        if folder.path.endswith("t-1"):
            raise OSError(28, "No space left on device")
        return create(folder, name)

    monkeypatch.setattr("magicbyte.storage.output_folder.LocalFolder.create", full_disk)
    with pytest.raises(OSError, match="No space left"):
        mb.write(numbered_rows(10, 3), tmp_path / "out", topic="t")
    assert listing(tmp_path) == []


def test_run_that_was_killed_while_it_published_leaves_listed_partitions_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next write of the same rows is refused for those that are there, and adds the others."""
    out, replace = tmp_path / "out", Path.replace

    def killed(path: Path, target: Path) -> Any:
        if path.name == "t-1":
            os._exit(9)
        return replace(path, target)

    child = os.fork()
    if not child:
        monkeypatch.setattr(Path, "replace", killed)
        mb.write(numbered_rows(10, 3), out, topic="t")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert {path.name for path in out.iterdir() if not path.name.startswith(DRAFTS)} == {
        "t-0",
        OUTPUT_MANIFEST,
    }
    rows = numbered_rows(10, 3)
    mb.write(rows.filter(pa.compute.not_equal(rows["partition"], 0)), out, topic="t")
    assert (out / "t-1").is_dir() and (out / "t-2").is_dir()


VALUE = ["v"]
NULL = pa.nulls(1, pa.string())


@pytest.mark.parametrize(
    ("columns", "options", "reason"),
    [
        ({"key": ["k"]}, {}, "no column 'value' among key"),
        ({"value": [1]}, {}, "column 'value' of type int64; expected bytes or text"),
        ({"value": VALUE, "headers": [["h"]]}, {}, "expected a list of structs of key and value"),
        ({"value": VALUE, "partition": ["0"]}, {}, "column 'partition' of type string"),
        ({"value": VALUE, "timestamp": [1.5]}, {}, "column 'timestamp' of type double"),
        ({"value": VALUE, "timestampType": [0]}, {}, "column 'timestampType'; expected only"),
        ({"value": VALUE}, {"topic": None}, "no column 'topic' and no topic"),
        ({"value": VALUE, "topic": NULL}, {"topic": None}, "a null in column 'topic'"),
        ({"value": VALUE, "topic": ["a/b"]}, {"topic": None}, "topic 'a/b'; expected up to 249"),
        ({"value": VALUE}, {"topic": ".."}, "topic '..'"),
        ({"value": VALUE}, {"topic": "t-0.0123456789abcdef0123456789abcdef-delete"}, None),
        ({"value": VALUE, "partition": [-1]}, {}, "partition -1; expected 0 to 2147483647"),
        ({"value": VALUE, "partition": [1 << 31]}, {}, "partition 2147483648"),
        ({"value": VALUE, "timestamp": [-2]}, {}, "timestamp -2, in milliseconds since the epoch"),
        ({"value": VALUE, "offset": [-1]}, {}, "offset -1; expected 0 to"),
        (
            {"value": VALUE, "offset": [1]},
            {"starting_offset": 5},
            "starting_offset with the column",
        ),
        (
            {"value": VALUE * 2, "offset": [7, 7]},
            {},
            "offset 7 of t-0 after offset 7; expected rows",
        ),
        ({"value": VALUE, "headers": [[{"key": None, "value": b""}]]}, {}, "header without a key"),
        (
            {"value": VALUE, "timestamp": [1]},
            {"timestamp_type": "LogAppendTime"},
            "the column 'timestamp' with LogAppendTime",
        ),
        ({"value": VALUE}, {"codec": "lzo"}, "codec 'lzo'; expected none, gzip, snappy, lz4, zstd"),
        ({"value": VALUE}, {"codec": "zstd", "level": 99}, "level 99 of codec zstd"),
        ({"value": VALUE}, {"partitions": 0}, "partitions 0; expected 1 to"),
        ({"value": VALUE}, {"batch_bytes": 0}, "batch_bytes 0"),
        ({"value": VALUE}, {"segment_bytes": 3}, "segment_bytes 3"),
        (
            {"value": VALUE},
            {"timestamp_type": "createtime"},
            "expected CreateTime or LogAppendTime",
        ),
        ({"value": VALUE}, {"leader_epoch": -1}, "leader_epoch -1"),
        ({"value": VALUE}, {"starting_offset": -1}, "starting_offset -1"),
    ],
)
def test_input_that_no_log_can_hold_is_refused(
    columns: dict[str, Any], options: dict[str, Any], reason: str | None, tmp_path: Path
) -> None:
    arguments = {"topic": "t", **options}
    if reason is None:
        mb.write(pa.table(columns), tmp_path / "out", **arguments)
        return
    with pytest.raises(mb.InputError) as caught:
        mb.write(pa.table(columns), tmp_path / "out", **arguments)
    assert reason in str(caught.value)
    assert listing(tmp_path) == []


def test_offset_that_falls_in_a_later_arrow_batch_is_refused(tmp_path: Path) -> None:
    batches = [batch for each in (5, 4) for batch in numbered_rows(1, offset=[each]).to_batches()]
    with pytest.raises(mb.InputError, match="offset 4 of t-0 after offset 5"):
        mb.write(batches, tmp_path / "out", topic="t")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [(7, "rows of int"), ([], "no Arrow batch"), ([{"value": 1}], "an element of dict")],
)
def test_rows_that_are_no_arrow_data_are_refused(rows: Any, reason: str, tmp_path: Path) -> None:
    with pytest.raises(mb.InputError, match=reason):
        mb.write(rows, tmp_path / "out", topic="t")
