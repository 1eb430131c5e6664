"""Tests that the options of Spark's Kafka source follow the rules of that source."""

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from data_source import offsets_by_partition, places, planned, rows
from magicbyte.errors import InputError
from magicbyte.spark._option_values import duration, size_in_bytes, to_json
from magicbyte.spark._options import parse
from magicbyte.tables import schemas
from paths import DATA

TRANSACTIONS = str(DATA / "4.3" / "transactions" / "log-0")
LIVES = str(DATA / "2.8" / "lives" / "log-0")


def by_partition(**arguments: Any) -> dict[str, list[int]]:
    """Return the offsets of the records that the Python API delivers, by partition."""
    records = mb.open(TRANSACTIONS, **arguments).records(["topic", "partition", "offset"])
    return offsets_by_partition(records.to_pylist())


def of_open(first: int, second: int) -> str:
    """Return the JSON of offsets of the two partitions of the topic `open`."""
    return json.dumps({"open": {"0": first, "1": second}})


def refused(path: str, **options: str) -> str:
    with pytest.raises(InputError) as error:
        planned(path, **options)
    return str(error.value)


# Which paths


def test_patterns_of_local_paths_are_expanded() -> None:
    some = by_partition(topics=["interleaved"])
    assert places(f"{TRANSACTIONS}/interleaved-[01]") == some
    assert refused(f"{TRANSACTIONS}/nothing-*").endswith(
        "nothing-*: no path matches the pattern; expected a pattern that some match"
    )
    message = "s3://bucket/logs/*: patterns are not expanded in a store; expected a folder"
    assert refused("s3://bucket/logs/*").startswith(message)


def test_path_that_exists_is_no_pattern(tmp_path: Path) -> None:
    shutil.copytree(Path(TRANSACTIONS) / "open-0", tmp_path / "in[0]" / "open-0")
    assert places(str(tmp_path / "in[0]")) != {}


# Which partitions


def test_partitions_are_assigned_subscribed_to_or_matched_by_a_part_of_their_topics_names() -> None:
    interleaved = by_partition(topics=["interleaved"])
    assert places(TRANSACTIONS, subscribe=" interleaved ,,") == interleaved
    assert places(TRANSACTIONS, assign='{"interleaved": [1, 7]}') == {
        "interleaved-1": interleaved["interleaved-1"]
    }
    matched = by_partition(topics=["interleaved", "interleaved-one-segment"])
    assert places(TRANSACTIONS, subscribePattern="erleav") == matched
    assert places(TRANSACTIONS, subscribePattern="^erleav") == {}
    assert places(TRANSACTIONS) == by_partition()


def test_internal_topics_are_read_only_if_named() -> None:
    assert places(TRANSACTIONS, subscribePattern="__consumer") == {}
    named = places(TRANSACTIONS, subscribe="__consumer_offsets")
    assert named == by_partition(topics=["__consumer_offsets"]) != {}
    both = places(TRANSACTIONS, subscribePattern="__consumer", includeInternal="true")
    assert both == named


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subscribe": "a", "assign": '{"a":[0]}'}, "assign and subscribe; expected one of them"),
        ({"subscribe": "nowhere"}, "no topic 'nowhere'; expected one of"),
        ({"assign": '{"nowhere":[0]}'}, "no topic 'nowhere'"),
        ({"subscribe": " , "}, "subscribe ' , '; expected topics, separated by commas"),
        ({"subscribePattern": " "}, "subscribePattern ' '; expected a regular expression"),
        ({"subscribePattern": "("}, "subscribePattern '(': missing )"),
        ({"assign": "open"}, "assign 'open'; expected e.g. {\"topicA\":[0,1]"),
        ({"assign": '{"open":["x"]}'}, "assign"),
        ({"assign": '{"open":0}'}, "assign"),
        ({"assign": '{"open":[-1]}'}, "assign"),
        ({"minPartitions": "0"}, "minPartitions '0'; expected a number, at least 1"),
        ({"maxRecordsPerPartition": "-3"}, "maxRecordsPerPartition '-3'"),
        ({"includeHeaders": "1"}, "includeHeaders '1'; expected true or false"),
        ({"failOnDataLoss": ""}, "failOnDataLoss ''; expected true or false"),
        ({"maxTriggerDelay": "soon"}, "maxTriggerDelay 'soon'; expected a time such as"),
        (
            {"minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"},
            "minOffsetsPerTrigger 9; expected 8 or less",
        ),
        ({"columns": "key,,value"}, "columns 'key,,value'; expected names, separated by commas"),
        ({"minPartitions": "1" * 19}, "expected a number, at least 1"),
        ({"maxPartitionBytes": "0"}, "maxPartitionBytes '0'; expected bytes, at least 1"),
        ({"maxPartitionBytes": "64q"}, "maxPartitionBytes '64q'"),
        ({"topic": "t"}, "no option 'topic'"),
        ({"onDamage": "ignore"}, "onDamage 'ignore'; expected fail, skip or stop"),
        ({"includeInternal": "yes"}, "includeInternal 'yes'; expected true or false"),
        (
            {"isolationLevel": "read_committed", "kafka.isolation.level": "read_uncommitted"},
            "expected the 'read_committed' of isolationLevel",
        ),
        ({"table": "rows"}, "table 'rows'; expected records, batches, "),
        (
            {"table": "batches", "startingOffsets": "earliest"},
            "startingOffsets with the table batches; expected the table records",
        ),
        ({"table": "segments", "minPartitions": "3"}, "minPartitions with the table segments"),
        ({"startingOffsets": "now"}, "startingOffsets 'now'; expected e.g. earliest, latest or {"),
        ({"endingTimestamp": "now"}, "endingTimestamp 'now'; expected milliseconds since"),
    ],
)
def test_contradictory_options_are_refused(options: dict[str, str], message: str) -> None:
    assert message in refused(TRANSACTIONS, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no path; expected load(path), or the option path"),
        ({"path": ""}, "no path; expected"),
        ({"paths": "[]"}, "no path; expected"),
        ({"paths": '["/", ""]'}, "no path; expected"),
        ({"path": "/", "paths": '["/"]'}, "both path and paths; expected one of them"),
        ({"paths": '{"a": 1}'}, "expected a JSON list of strings"),
        ({"paths": "[1]"}, "paths '[1]'; expected a JSON list of strings"),
        ({"path": "/no/such/place"}, "/no/such/place: No such file or directory"),
        (
            {"path": "s3a://u:p@bucket/logs"},
            "s3a://...@bucket/logs: the URL seems to contain a pass",
        ),
        ({"path": "s3a://bucket/logs", "storage.zone": "x"}, "no storage option 'zone' for s3:"),
        ({"path": "/", "storage.region": "x"}, "storage options region, but all paths are local"),
    ],
)
def test_path_that_is_missing_or_contradicted_is_refused(
    options: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError) as error:
        parse(options)
    assert message in str(error.value)


def test_options_about_a_broker_are_ignored_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    options = {"kafka.bootstrap.servers": "localhost:9092", "groupidprefix": "a"}
    options |= {
        "fetchOffset.numRetries": "3",
        "kafkaConsumer.pollTimeoutMs": "1",
        "KAFKA.group.id": "g",
    }
    with caplog.at_level(logging.WARNING):
        offsets = places(TRANSACTIONS, **options, **{"kafka.isolation.level": "read_uncommitted"})
    assert offsets == by_partition(isolation_level="read_uncommitted")
    (warning,) = (one.getMessage() for one in caplog.records)
    assert warning == (
        "kafka.bootstrap.servers, groupIdPrefix, fetchOffset.numRetries, kafkaConsumer.pollTimeoutMs, "
        "KAFKA.group.id: no meaning without a broker, ignored"
    )
    assert set(parse({"path": "/", **options}).raw) == {"path"}


def test_options_have_no_case() -> None:
    read = parse({"PATHS": '["file:///", "/"]', "KAFKA.isolation.LEVEL": "read_uncommitted"})
    assert read.paths == ("/", "/")
    assert read.read.isolation_level == "read_uncommitted"


def test_sizes_are_spark_s() -> None:
    texts = ("1", "1b", "2k", "2kb", "3m", "64MB", "1G", "1t", "1p")
    units = (1, 1, 2 << 10, 2 << 10, 3 << 20, 64 << 20, 1 << 30, 1 << 40, 1 << 50)
    assert tuple(size_in_bytes("", text) for text in texts) == units
    assert parse({"path": TRANSACTIONS}).max_partition_bytes == 128 << 20
    assert parse({"path": TRANSACTIONS}).max_trigger_delay_ms == 15 * 60 * 1000


def test_a_number_may_have_eighteen_digits_and_triggers_one_number_for_both() -> None:
    limits = {"minOffsetsPerTrigger": "7", "maxOffsetsPerTrigger": "7"}
    read = parse({"path": TRANSACTIONS, "minPartitions": "9" * 18, **limits})
    assert (read.min_partitions, read.min_offsets, read.max_offsets) == (10**18 - 1, 7, 7)


def test_a_duration_is_written_as_spark_writes_it() -> None:
    texts = ("500", "500ms", "10s", "15m", "2min", "1h", "1d", "5000us")
    milliseconds = (500, 500, 10_000, 900_000, 120_000, 3_600_000, 86_400_000, 5)
    assert tuple(duration("", text) for text in texts) == milliseconds


# From where to where


def test_offsets_are_given_for_all_or_for_each() -> None:
    there = by_partition(topics=["interleaved"])
    words = {"startingOffsets": "Earliest", "endingOffsets": "latest"}
    assert places(TRANSACTIONS, subscribe="interleaved", **words) == there
    found = places(
        TRANSACTIONS,
        subscribe="interleaved",
        startingOffsets='{"interleaved":{"0":300,"1":-2}}',
        endingOffsets='{"interleaved":{"0":-1,"1":200}}',
    )
    assert found == {
        "interleaved-0": [offset for offset in there["interleaved-0"] if offset >= 300],
        "interleaved-1": [offset for offset in there["interleaved-1"] if offset < 200],
    }
    assert all(len(found[name]) < len(there[name]) for name in there)


@pytest.mark.parametrize("most", ["1", "300", "128m"])
def test_any_range_gives_the_rows_in_it_whatever_the_tasks(most: str) -> None:
    there = by_partition(topics=["interleaved"])
    for first, end in ((0, 1), (0, 483), (17, 18), (100, 300), (400, 470), (470, 470)):
        limits = {
            "startingOffsets": json.dumps({"interleaved": {"0": first, "1": first}}),
            "endingOffsets": json.dumps({"interleaved": {"0": min(end, 470), "1": end}}),
        }
        reader, tasks = planned(
            TRANSACTIONS, subscribe="interleaved", maxPartitionBytes=most, **limits
        )
        wanted = [offset for name in there for offset in there[name] if first <= offset < end]
        read = [
            offset
            for task in tasks
            for batch in reader.read(task)
            for offset in batch.column("offset").to_pylist()
        ]
        assert read == wanted
        if most == "1" and end - first == 1:
            assert sum(len(task.splits) for task in tasks) == 2, "one of each partition"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"startingOffsets": "latest"},
            "startingOffsets latest; expected another offset: no batch can begin there",
        ),
        (
            {"endingOffsets": "EARLIEST"},
            "endingOffsets earliest; expected another offset: no batch can end there",
        ),
        ({"startingOffsets": of_open(-1, 0)}, "startingOffsets -1, latest, for open-0"),
        ({"endingOffsets": of_open(5, -2)}, "endingOffsets -2, earliest, for open-1"),
        ({"startingOffsets": of_open(-3, 0)}, "startingOffsets -3 for open-0"),
        ({"startingOffsets": "sometime"}, "startingOffsets 'sometime'; expected e.g. earliest,"),
        ({"startingOffsets": '{"open":{"0":"x"}}'}, "startingOffsets"),
        ({"startingOffsets": '{"open":{"0":true}}'}, "startingOffsets"),
        ({"startingOffsets": '{"open":[0]}'}, "startingOffsets"),
        (
            {"startingOffsets": '{"open":{"0":1}}'},
            "startingOffsets: nothing for open-1; expected every partition that is read",
        ),
        (
            {"endingOffsets": '{"open":{"0":1,"1":1,"2":1},"x":{"0":1}}'},
            "endingOffsets: open-2, x-0, which is not read",
        ),
        (
            {"startingOffsets": of_open(1, 1), "endingOffsets": '{"open":{"0":1}}'},
            "endingOffsets: nothing for open-1",
        ),
        (
            {"startingOffsets": of_open(9, 1), "endingOffsets": of_open(8, 1)},
            "open-0 from 9 to 8; expected the lower bound first",
        ),
        (
            {"startingOffsets": of_open(1, 1), "endingOffsets": of_open(0, 1)},
            "open-0 from 1 to 0; expected the lower bound first",
        ),
        (
            {"endingOffsets": '{"x":{"0":1,"1":1,"2":1,"3":1,"4":1,"5":1,"6":1}}'},
            "nothing for open-0, open-1 and x-0, x-1, x-2, x-3, x-4 and 2 more, which is not read",
        ),
        (
            {"endingOffsets": '{"x":{"0":1,"1":1,"2":1,"3":1,"4":1}}'},
            "nothing for open-0, open-1 and x-0, x-1, x-2, x-3, x-4, which is not read",
        ),
        ({"startingTimestamp": "noon"}, "startingTimestamp 'noon'; expected milliseconds since"),
        ({"startingOffsetsByTimestamp": '{"open":{"0":1}}'}, "nothing for open-1"),
        ({"startingOffsetsByTimestamp": "1"}, "startingOffsetsByTimestamp '1'; expected e.g."),
        ({"startingOffsetsByTimestampStrategy": "first"}, "startingOffsetsByTimestampStrategy"),
    ],
)
def test_a_range_that_cannot_be_is_refused(options: dict[str, str], message: str) -> None:
    assert message in refused(TRANSACTIONS, **{"subscribe": "open", **options})


def test_bounds_that_depend_on_the_log_are_not_compared_before_it_is_read() -> None:
    # A start at a time has nothing to do with the partitions that the end names, and latest is no -1.
    whole = by_partition(topics=["aborted"])
    options = {"subscribe": "aborted", "endingOffsets": '{"aborted":{"0":-1}}'}
    assert places(TRANSACTIONS, startingTimestamp="0", **options) == whole
    assert places(TRANSACTIONS, startingOffsets='{"aborted":{"0":0}}', **options) == whole
    assert places(TRANSACTIONS, startingOffsets='{"aborted":{"0":-2}}', **options) == whole
    nothing = {"subscribe": "aborted", "endingOffsets": '{"aborted":{"0":0}}'}
    assert places(TRANSACTIONS, startingOffsets='{"aborted":{"0":0}}', **nothing) == {}


def test_offsets_that_are_not_there_fail_unless_loss_is_to_be_borne(
    caplog: pytest.LogCaptureFixture,
) -> None:
    whole = by_partition(topics=["deleted-records"])
    low = {"subscribe": "deleted-records", "startingOffsets": '{"deleted-records":{"0":24}}'}
    assert (
        "offsets from 24 to below 176 of deleted-records-0; expected some of 25 to 175, which exist; "
        "failOnDataLoss false reads what is left" in refused(TRANSACTIONS, **low)
    )
    high = {"subscribe": "deleted-records", "endingOffsets": '{"deleted-records":{"0":177}}'}
    assert "offsets from 25 to below 177 of deleted-records-0" in refused(TRANSACTIONS, **high)
    for given in (low, high):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "magicbyte.spark"):
            assert places(TRANSACTIONS, failOnDataLoss="false", **given) == whole
        assert "data loss: " in caplog.text
    # Under read_committed, records above the last stable offset do not exist.
    end = {"subscribe": "open", "endingOffsets": of_open(34, 80)}
    assert "offsets from 0 to below 34 of open-0" in refused(TRANSACTIONS, **end)
    assert places(TRANSACTIONS, **{"kafka.isolation.level": "read_uncommitted"}, **end)
    beyond = {"subscribe": "deleted-records", "startingOffsets": '{"deleted-records":{"0":999}}'}
    for fails in ("true", "false"):
        assert "deleted-records-0 from 999 to 176; expected the lower bound first" in refused(
            TRANSACTIONS, failOnDataLoss=fails, **beyond
        )
    # Nothing is asked for where a range is empty.
    empty = {"subscribe": "deleted-records", "startingOffsets": '{"deleted-records":{"0":176}}'}
    assert places(TRANSACTIONS, **empty) == {}


# From when to when


def times_of(topic: str) -> list[tuple[int, int]]:
    """Return (time, offset) of all records of *topic* that are not below the log start offset."""
    table = mb.open(LIVES, topics=[topic]).records(["offset", "timestamp"]).to_table()
    return list(
        zip(
            table.column("timestamp").cast("int64").to_pylist(),
            table.column("offset").to_pylist(),
            strict=True,
        )
    )


def test_a_time_is_the_first_offset_of_a_record_of_it_or_later() -> None:
    records = times_of("v2-retention")
    for time in {*(time for time, _ in records[::9]), records[0][0] - 1, records[40][0] + 1}:
        first = next(offset for at, offset in records if at >= time)
        wanted = [offset for _, offset in records if offset >= first]
        given = {"startingTimestamp": str(time)}
        assert places(LIVES, subscribe="v2-retention", **given) == {"v2-retention-0": wanted}
        each = {"startingOffsetsByTimestamp": json.dumps({"v2-retention": {"0": time}})}
        assert places(LIVES, subscribe="v2-retention", **each) == {"v2-retention-0": wanted}
        ending = {"endingTimestamp": f" {time} "}
        before = [offset for _, offset in records if offset < first]
        found = places(LIVES, subscribe="v2-retention", **ending)
        assert found == ({"v2-retention-0": before} if before else {})


def test_a_time_that_no_record_has_reached_is_an_error_or_the_end() -> None:
    records = times_of("v2-retention")
    late = str(max(time for time, _ in records) + 1)
    one = {"subscribe": "v2-retention"}
    assert (
        f"startingTimestamp {late}: no record of v2-retention-0 has that time or a later one"
        in (refused(LIVES, startingTimestamp=late, **one))
    )
    latest = {"startingOffsetsByTimestampStrategy": "LATEST"}
    assert places(LIVES, startingTimestamp=late, **latest, **one) == {}
    whole = {"v2-retention-0": [offset for _, offset in records]}
    assert places(LIVES, endingTimestamp=late, **one) == whole


def test_a_time_for_all_counts_before_times_and_those_before_offsets() -> None:
    records = times_of("v2-retention")
    time, first = records[50]
    first = next(offset for at, offset in records if at >= time)
    wanted = {"v2-retention-0": [offset for _, offset in records if offset >= first]}
    given = {
        "startingTimestamp": str(time),
        "startingOffsetsByTimestamp": '{"v2-retention":{"0":0}}',
        "startingOffsets": '{"v2-retention":{"0":100}}',
    }
    assert places(LIVES, subscribe="v2-retention", **given) == wanted
    del given["startingTimestamp"]
    found = places(LIVES, subscribe="v2-retention", **given)
    assert found == {"v2-retention-0": [offset for _, offset in records]}


# Tasks


def test_more_tasks_are_made_where_they_are_wanted() -> None:
    few = planned(TRANSACTIONS, subscribe="interleaved")[1]
    more = planned(TRANSACTIONS, subscribe="interleaved", minPartitions="12")[1]
    assert len(few) == 1
    assert 8 <= len(more) <= 20
    one = {"subscribe": "interleaved"}
    assert places(TRANSACTIONS, minPartitions="12", **one) == places(TRANSACTIONS, **one)


def test_no_task_spans_more_offsets_than_allowed() -> None:
    one = {"subscribe": "interleaved,open", "maxRecordsPerPartition": "50"}
    tasks = planned(TRANSACTIONS, **one)[1]
    partitions = mb.open(TRANSACTIONS, topics=["interleaved", "open"]).partitions()
    ends = {
        (row["topic"], row["partition"]): row["last_stable_offset"]
        for row in partitions.to_pylist()
    }
    for task in tasks:
        (span,) = {split.options.offsets for split in task.splits}
        # The last task reads to the end of the log, and what is lost after the last sound record.
        split = task.splits[0]
        end = ends[split.topic, split.partition] if span[1] is None else span[1]
        assert 0 < end - span[0] <= 50
        assert len({(split.topic, split.partition) for split in task.splits}) == 1
    assert len({(task.splits[0].topic, task.splits[0].options.offsets) for task in tasks}) >= 20
    assert places(TRANSACTIONS, **one) == by_partition(topics=["interleaved", "open"])


def test_option_of_streams_in_a_batch_read_is_warned_about(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "magicbyte.spark"):
        planned(TRANSACTIONS, subscribe="fenced", maxOffsetsPerTrigger="5")
    assert "maxOffsetsPerTrigger only applies to streams: this batch read ignores it" in caplog.text


# Other tables


@pytest.mark.parametrize("table", sorted(schemas.TABLES))
def test_every_table_is_what_python_gives(table: str) -> None:
    names = schemas.TABLES[table].names
    dataset = mb.open(TRANSACTIONS, topics=["open", "deleted-records"])
    expected = dataset.stored(table, names).to_pylist()
    columns = ",".join("timestampType" if name == "timestamp_type" else name for name in names)
    found = rows(
        TRANSACTIONS, table=table, subscribe="open,deleted-records",
        columns=columns if table == "records" else ",".join(names),
    )  # fmt: skip
    if table == "records":
        for row in found:
            row["timestamp_type"] = {0: "CreateTime", 1: "LogAppendTime", -1: None}[
                row.pop("timestampType")
            ]
            row["headers"] = row["headers"] or []

    def key(row: dict[str, Any]) -> list[str]:
        return [str(row[name]) for name in sorted(names)]

    assert sorted(found, key=key) == sorted(
        ({name: row[name] for name in names} for row in expected), key=key
    )
    assert found or table == "problems"


def test_a_task_of_a_partition_carries_nothing_of_others() -> None:
    tasks = planned(TRANSACTIONS, table="partitions")[1]
    assert len(tasks) > 10
    for task in tasks:
        for log in task.dataset().all_logs:
            assert set(log.log_dir.recovery_point) <= {(log.topic, log.partition)}


def test_findings_of_log_dirs_come_with_the_problems(tmp_path: Path) -> None:
    log_dir = tmp_path / "log"
    shutil.copytree(Path(TRANSACTIONS) / "fenced-0", log_dir / "fenced-0")
    (log_dir / "recovery-point-offset-checkpoint").write_text("nonsense")
    (row,) = [row for row in rows(str(log_dir), table="problems") if row["topic"] is None]
    assert row["code"] == "checkpoint-invalid"


def test_numbers_of_partitions_are_written_as_the_kafka_source_writes_them() -> None:
    assert to_json({("b", 0): 1, ("a", 10): 2, ("a", 9): 3}) == {
        "a": {"9": 3, "10": 2},
        "b": {"0": 1},
    }
    assert parse({"path": "/", "subscribe": "a"}).fail_on_data_loss
