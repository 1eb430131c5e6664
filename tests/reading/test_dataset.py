"""Tests of a dataset's offset ranges, time ranges, dispositions, tables and errors."""

import json
import pickle
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from extent import part
from magicbyte.errors import MissingError
from magicbyte.reading._times import milliseconds
from magicbyte.reading.planner import Planner
from magicbyte.tables.schemas import DISPOSITIONS
from paths import DATA
from surveys import splits_of


def log(folder: Any, *segments: bytes, bases: tuple[int, ...] = (0,)) -> str:
    folder.log_dir()
    for data, base in zip(segments, bases, strict=True):
        folder.segment("t-0", data, base)
    return str(folder)


# Ranges of offsets


@pytest.mark.parametrize(
    ("bounds", "wanted"),
    [
        ((None, None), [0, 1, 2, 3, 4, 5]),
        ((0, 6), [0, 1, 2, 3, 4, 5]),
        ((1, 5), [1, 2, 3, 4]),
        ((2, 2), []),
        ((None, 1), [0]),
        ((5, None), [5]),
        ((6, None), []),
        ((-9, 1), [0]),
        ((100, 200), []),
    ],
)
@pytest.mark.parametrize("codec", [0, 1])
def test_range_of_offsets_is_half_open(
    bounds: tuple[int | None, int | None],
    wanted: list[int],
    codec: int,
    folder: Any,
    read: Any,
) -> None:
    data = build.batch(build.records(4), codec=codec) + build.batch(build.records(2), 4)
    got = read(mb.open(log(folder, data), offsets=bounds))
    assert got.offsets == wanted
    assert got.report.records == {
        name: count
        for name, count in (("delivered", len(wanted)), ("outside_range", 6 - len(wanted)))
        if count
    }
    assert read(data, offsets=bounds).offsets == wanted


def test_entry_is_outside_the_range_only_if_all_its_records_are(read: Any) -> None:
    first = build.batch(build.records(4))
    data = first + build.batch(build.records(2), 4)
    assert read(data, offsets=(3, 5)).report.bytes["outside_range"] == 0
    assert read(data, offsets=(4, 5)).report.bytes["outside_range"] == len(first)


def test_range_applies_to_the_messages_inside_a_wrapper(read: Any) -> None:
    inner = [build.message(b"%d" % n, n) for n in range(4)]
    assert read(build.wrapper(inner, 13), offsets=(11, 13)).values == [b"1", b"2"]


@pytest.mark.parametrize(
    "options",
    [
        {"offsets": (5, 4)},
        {"times": (5, 4)},
        {"isolation_level": "serializable"},
        {"on_damage": "ignore"},
        {"engine": "steam"},
        {"times": ("yesterday", None)},
    ],
)
def test_argument_that_cannot_be_is_refused(options: Any, folder: Any) -> None:
    path = log(folder, build.batch())
    with pytest.raises(mb.InputError) as caught:
        mb.open(path, **options)
    assert caught.value.found and caught.value.expected


def test_column_or_disposition_that_does_not_exist_is_refused() -> None:
    dataset = mb.from_bytes(build.batch())
    with pytest.raises(mb.InputError, match="lost") as caught:
        dataset.records(dispositions=["lost"])
    assert caught.value.expected
    for table in ("records", "batches", "segments", "transactions", "partitions", "problems"):
        with pytest.raises(mb.InputError, match="colour") as caught:
            getattr(dataset, table)(["topic", "colour"])
        assert caught.value.expected


# Ranges of times: offsetsForTimes


REAL_TIMES = [
    ("4.3/plain", "log-1", "old-times-0"),
    ("4.3/plain", "log-0", "segments-0"),
    ("4.3/plain", "log-1", "append-time-none-0"),
    ("4.3/plain", "log-0", "deleted-records-0"),
    ("2.8/lives", "log-0", "v1-segments-0"),
    ("2.8/lives", "log-0", "v1-append-time-gzip-0"),
    ("2.8/lives", "log-0", "upgraded-segments-0"),
    ("2.8/lives", "log-0", "v0-segments-0"),
]


@pytest.mark.parametrize("place", REAL_TIMES, ids=[name for _, _, name in REAL_TIMES])
def test_range_of_times_is_the_range_between_the_offsets_for_these_times(
    place: tuple[str, str, str], real: Path, oracle: Callable[..., list[dict[str, Any]]]
) -> None:
    cluster, log_dir, name = place
    rows = oracle(cluster, name)

    def offset_for(time: int | None) -> float:
        """Return the offset of the first record of *time* or later; infinity where there is none."""
        return next(
            (row["offset"] for row in rows if time is not None and row["timestamp"] >= time), inf
        )

    times = sorted({row["timestamp"] for row in rows if row["timestamp"] >= 0})
    chosen = [times[i] for i in {0, len(times) // 3, len(times) // 2, -1} if times]
    asked = sorted({t for time in chosen for t in (time - 1, time, time + 1)} | {0, 1 << 52})
    path = str(real / cluster / log_dir / name)
    for begin in asked:
        for end in (None, asked[len(asked) // 2], asked[-2]):
            if end is not None and end < begin:
                continue
            got = mb.open(path, times=(begin, end)).records(["offset"]).to_pylist()
            low, high = offset_for(begin), offset_for(end)
            expected = [row["offset"] for row in rows if low <= row["offset"] < high]
            assert [row["offset"] for row in got] == expected, (begin, end)


def test_a_time_opens_only_the_segment_that_its_index_says(
    real: Path, names_opened: list[str]
) -> None:
    dataset = mb.open(real / "2.8/lives/log-0/v2-segments-0")
    planner, log = Planner(dataset.options), dataset.logs[0]
    found = planner.survey(log)
    rows = dataset.records(["offset", "timestamp"]).to_pylist()
    assert len(found.segments) > 5
    late = rows[-40]["timestamp"]
    first = next(row["offset"] for row in rows if row["timestamp"] >= late)
    names_opened.clear()
    assert planner.offset_at(found, milliseconds(late)) == first
    assert sum(name.endswith(".log") for name in names_opened) == 1


@pytest.mark.parametrize("is_swapped", [False, True])
def test_an_index_that_does_not_go_up_is_not_believed(
    is_swapped: bool, real: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(real / "2.8/lives/log-0/v2-segments-0", tmp_path / "t-0"))
    rows = mb.open(folder).records(["offset", "timestamp"]).to_pylist()
    late = rows[len(rows) // 2]["timestamp"]
    index = sorted(folder.glob("*.timeindex"))[0]
    entries = [index.read_bytes()[at : at + 12] for at in range(0, index.stat().st_size, 12)]
    assert len(entries) > 1
    early = struct.pack(">qi", 1, 1)
    index.write_bytes(b"".join([*entries, early] if is_swapped else [early]))
    dataset = mb.open(folder)
    planner, log = Planner(dataset.options), dataset.logs[0]
    found = planner.survey(log)
    first = next(row["offset"] for row in rows if row["timestamp"] >= rows[3]["timestamp"])
    asked = milliseconds(rows[3]["timestamp"])
    # One that goes up, and says that all of its segment is too early, is as good as Kafka's.
    assert (planner.offset_at(found, asked) == first) == is_swapped
    assert planner.offset_at(found, milliseconds(late)) is not None


def test_first_record_of_the_time_decides_even_if_later_ones_are_older(folder: Any) -> None:
    times = [10, 50, 20, 30, 60, 40]
    data = b"".join(build.batch(base=n, time=time) for n, time in enumerate(times))
    path = log(folder, data)

    def got(*times: int | None) -> list[int]:
        rows = mb.open(path, times=times).records(["offset"]).to_pylist()
        return [row["offset"] for row in rows]

    assert got(30, None) == [1, 2, 3, 4, 5]
    assert got(51, None) == [4, 5]
    assert got(30, 55) == [1, 2, 3]
    assert got(61, None) == [] and got(None, 10) == [] and got(None, 61) == [0, 1, 2, 3, 4, 5]


def test_record_below_the_log_start_answers_no_time(folder: Any) -> None:
    times = [50, 10, 20, 60]
    path = log(folder, b"".join(build.batch(base=n, time=t) for n, t in enumerate(times)))
    folder.checkpoint("log-start-offset-checkpoint", {("t", 0): 1})
    rows = mb.open(path, times=(40, None)).records(["offset"]).to_pylist()
    assert [row["offset"] for row in rows] == [3]


def test_transaction_marker_answers_a_time_as_in_kafka(folder: Any) -> None:
    data = build.transactional(0, 7, time=10) + build.control(build.COMMIT, 1, 7, time=50)
    data += build.batch(base=2, time=20) + build.batch(base=3, time=60)
    rows = mb.open(log(folder, data), times=(45, None)).records(["offset"]).to_pylist()
    assert [row["offset"] for row in rows] == [2, 3]


def test_datetimes_are_times_and_naive_ones_are_utc(folder: Any) -> None:
    path = log(folder, build.batch() + build.batch(base=1, time=build.TIME + 1))
    moment = datetime.fromtimestamp(build.TIME / 1000, UTC).replace(microsecond=1000)
    for time in (moment, moment.replace(tzinfo=None), build.TIME + 1):
        rows = mb.open(path, times=(time, None)).records(["offset"]).to_pylist()
        assert [row["offset"] for row in rows] == [1]


def test_times_and_offsets_bound_together(folder: Any) -> None:
    data = b"".join(build.batch(base=n, time=n * 10) for n in range(6))
    rows = mb.open(log(folder, data), times=(10, 50), offsets=(3, 9)).records(["offset"])
    assert [row["offset"] for row in rows.to_pylist()] == [3, 4]


# Dispositions


MIXED = (
    build.batch(build.records(2))
    + build.transactional(2, 7, count=2)
    + build.control(build.ABORT, 4, 7)
    + build.batch(build.records(2), 5, codec=1, section=b"not gzip at all")
    + build.transactional(7, 8),
    build.transactional(8, 9)
    + build.control(build.COMMIT, 9, 9)
    + build.batch(build.records(3), 10, codec=4)
    + build.transactional(13, 5)
    + build.batch(base=14),
)
"""Two segments with something of every disposition that read_committed knows."""


def mixed_log(folder: Any) -> str:
    path = log(folder, *MIXED, bases=(0, 8))
    folder.checkpoint("log-start-offset-checkpoint", {("t", 0): 1})
    return path


def test_each_record_has_one_disposition_and_they_add_up(folder: Any, read: Any) -> None:
    limits = mb.Limits(max_batch_bytes=1000)
    dataset = mb.open(mixed_log(folder), on_damage="skip", offsets=(None, 12), limits=limits)
    offsets = {
        "below_log_start": [0],
        "delivered": [1],
        "aborted": [2, 3],
        "control": [4],
        "withheld": [7, 8, 9, 10, 11],
        "outside_range": [12, 13, 14],
    }
    got = read(dataset)
    assert [(row["offset"], row["disposition"]) for row in got.rows] == [
        (offset, name) for name, some in offsets.items() for offset in some
    ]
    assert got.report.records == {name: len(some) for name, some in offsets.items()}
    assert sum(got.report.bytes.values()) == sum(map(len, MIXED))
    for name in DISPOSITIONS:
        rows = dataset.records(["offset"], dispositions=[name]).to_pylist()
        assert [row["offset"] for row in rows] == offsets.get(name, [])
    counted: Counter[str] = Counter()
    for row in dataset.segments().to_pylist():
        if row["file_kind"] == "log":
            counted.update({name: row[f"records_{name}"] for name in DISPOSITIONS})
            assert (
                sum(row[f"bytes_{name}"] for name in [*DISPOSITIONS, "tail"]) == row["size_bytes"]
            )
    assert +counted == got.report.records
    (partition,) = dataset.partitions().to_pylist()
    assert {
        n: partition[f"records_{n}"] for n in DISPOSITIONS if partition[f"records_{n}"]
    } == dict(got.report.records)


def test_read_uncommitted_knows_neither_aborted_nor_withheld(folder: Any, read: Any) -> None:
    dataset = mb.open(mixed_log(folder), on_damage="skip", isolation_level="read_uncommitted")
    got = read(dataset)
    assert set(got.report.records) == {"below_log_start", "delivered", "control"}
    outcomes = {row["offset"]: row["outcome"] for row in got.rows}
    assert outcomes[2] == outcomes[3] == "aborted" and outcomes[8] == "committed"
    assert outcomes[0] is None and outcomes[14] is None
    # A damaged batch between may have been a marker; it is behind that hole.
    assert outcomes[7] == outcomes[13] == "open"


def test_batches_list_every_entry_with_its_disposition(folder: Any) -> None:
    rows = mb.open(mixed_log(folder), on_damage="skip").batches().to_pylist()
    assert sum(row["size_bytes"] for row in rows) == sum(map(len, MIXED))
    dispositions = [row["disposition"] for row in rows]
    assert dispositions == ["delivered", "aborted", "control", "damaged"] + ["withheld"] * 6
    assert [row["control_type"] for row in rows if row["is_control"]] == ["ABORT", "COMMIT"]
    assert [row["record_count"] for row in rows] == [2, 2, 1, 2, 1, 1, 1, 3, 1, 1]


def test_quick_batches_leave_null_what_only_payloads_tell(folder: Any) -> None:
    data = (
        build.wrapper([build.message(b"%d" % n, n) for n in range(2)], 1)
        + build.control(build.COMMIT, 2, 7)
        + build.batch(build.records(2), 3, codec=1, section=b"rubbish")
        + build.batch(base=5, crc=1)
        + build.message(b"x", 6)
    )
    dataset = mb.open(log(folder, data))
    quick = dataset.batches(quick=True).to_pylist()
    assert [row["base_offset"] for row in quick] == [None, 2, 3, 5, 6]
    assert [row["last_offset"] for row in quick] == [1, 2, 4, 5, 6]
    assert [row["record_count"] for row in quick] == [None, 1, 2, 1, 1]
    for name in ("crc_valid", "control_type", "disposition"):
        assert {row[name] for row in quick} == {None}
    whole = mb.open(str(folder), on_damage="skip").batches().to_pylist()
    assert [row["crc_valid"] for row in whole] == [True, True, True, False, True]
    assert [row["base_offset"] for row in whole] == [0, 2, 3, 5, 6]
    unknown = {"base_offset", "record_count", "crc_valid", "control_type", "disposition"}
    known = whole[0].keys() - unknown
    assert [[row[n] for n in known] for row in quick] == [[row[n] for n in known] for row in whole]


# Rows


def test_rows_can_be_gone_through_again() -> None:
    rows = mb.from_bytes(build.batch(build.records(3))).records(["offset"])
    assert rows.to_pylist() == rows.to_pylist() == [{"offset": n} for n in range(3)]
    assert sum(batch.num_rows for batch in rows) == sum(batch.num_rows for batch in rows) == 3


def test_rows_are_an_arrow_stream_more_than_once(folder: Any) -> None:
    dataset = mb.open(log(folder, build.batch(build.records(3)) + build.batch(base=3)))
    tables = ("records", "batches", "segments", "transactions", "partitions", "problems")
    for rows in (dataset.records([]), *(getattr(dataset, table)() for table in tables)):
        table = pa.table(rows)
        assert table.schema == rows.schema
        reader = pa.RecordBatchReader.from_stream(rows)
        assert reader.schema == rows.schema
        assert reader.read_all().equals(table) and rows.to_reader().read_all().equals(table)
        assert table.to_pylist() == rows.to_pylist()
        table.validate(full=True)


def test_report_is_there_only_after_a_whole_pass() -> None:
    rows = mb.from_bytes(build.batch()).records(["offset"])
    with pytest.raises(RuntimeError):
        _ = rows.report
    iterator = iter(rows)
    next(iterator)
    with pytest.raises(RuntimeError):
        _ = rows.report
    list(iterator)
    assert rows.report.records == {"delivered": 1}


def test_no_columns_still_count_rows(folder: Any) -> None:
    dataset = mb.open(mixed_log(folder), on_damage="skip", offsets=(None, 12))
    rows = dataset.records(())
    assert rows.schema == pa.schema([])
    assert sum(batch.num_rows for batch in rows) == 1
    assert sum(b.num_rows for b in dataset.records((), dispositions=("withheld", "aborted"))) == 7
    twice = dataset.records((), dispositions=("withheld", "aborted", "withheld"))
    assert sum(b.num_rows for b in twice) == 7
    assert rows.report.records["delivered"] == 1


def test_default_columns_of_records_are_eight() -> None:
    assert mb.from_bytes(build.batch()).records().schema.names == list(COLUMNS)[:8]


def test_columns_come_in_the_order_they_are_asked_for() -> None:
    dataset = mb.from_bytes(build.batch(), topic="t", partition=3)
    rows = dataset.records(["value", "partition", "offset", "topic"])
    assert rows.schema.names == ["value", "partition", "offset", "topic"]
    assert rows.to_pylist() == [{"value": b"v0", "partition": 3, "offset": 0, "topic": "t"}]


def test_types_of_the_tables_are_those_of_the_design() -> None:
    schema = mb.from_bytes(build.batch()).records(list(COLUMNS)).schema
    assert {field.name: str(field.type) for field in schema} == COLUMNS


COLUMNS = {
    "topic": "string",
    "partition": "int32",
    "offset": "int64",
    "timestamp": "timestamp[ms, tz=UTC]",
    "timestamp_type": "string",
    "key": "binary",
    "value": "binary",
    "headers": str(pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    "leader_epoch": "int32",
    "producer_id": "int64",
    "producer_epoch": "int16",
    "sequence": "int32",
    "is_transactional": "bool",
    "codec": "string",
    "magic": "int8",
    "file": "string",
    "position": "int64",
    "disposition": "string",
    "outcome": "string",
}


@pytest.mark.parametrize("engine", ["reference", "columnar"])
@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_views_are_the_same_rows(engine: str, level: str) -> None:
    """The logs hold transactions of many producers, and each disposition leaves some rows out."""
    paths = sorted(DATA.glob("*/*/log-0"))
    # `views` changes only the Arrow type of the reference engine's rows: half of the paths will do.
    paths = paths if engine == "columnar" else paths[::2]
    assert len(paths) >= 4
    for path in part(paths, 3, f"views/{engine}/{level}"):
        dataset = mb.open(path, engine=engine, isolation_level=level, on_damage="skip")
        for dispositions in (("delivered",), ("aborted", "control")):
            rows = dataset.records(dispositions=dispositions)
            views = dataset.records(dispositions=dispositions, binary_view=True)
            assert {views.schema.field(name).type for name in ("key", "value")} == {
                pa.binary_view()
            }
            table = views.to_table()
            table.validate(full=True)
            assert table.schema == views.schema
            assert table.cast(rows.schema).equals(rows.to_table())
            assert views.report == rows.report


def test_any_columns_give_the_same_rows_and_findings(folder: Any) -> None:
    dataset = mb.open(mixed_log(folder), on_damage="skip")
    rows = dataset.records(list(COLUMNS))
    whole = rows.to_table()
    for name in COLUMNS:
        one = dataset.records([name])
        assert one.to_table().column(name).equals(whole.column(name)), name
        assert one.report.findings == rows.report.findings != []


@pytest.mark.parametrize("size", [1, 100, 10_000])
def test_any_split_gives_the_same_rows_and_can_be_pickled(size: int, folder: Any) -> None:
    dataset = mb.open(mixed_log(folder), on_damage="skip")
    whole = dataset.records(list(COLUMNS)).to_pylist()
    splits = mb.plan(dataset, size)
    got = []
    for split in splits:
        again = pickle.loads(pickle.dumps(split))
        assert len(pickle.dumps(split)) < 10_000
        for batch in mb.read_split(again, tuple(COLUMNS)):
            got.extend(batch.to_pylist())
    assert got == whole
    assert len(splits) > 2 or size > 1000


# Errors


def errors(folder: Any) -> list[mb.MagicbyteError]:
    """Return an error for each kind of fault in a batch, a limit, and paths without a log."""
    bad = [
        build.batch(base=1, crc=1),
        build.batch(base=1, magic=9),
        build.batch(base=1, count=9),
        build.batch(base=1, codec=1, section=b"rubbish"),
        build.batch(base=1, length=1),
        build.wrapper([build.message(crc=1)], 1),
    ]
    logs = [mb.from_bytes(build.batch() + entry + build.batch(base=2)) for entry in bad]
    large = build.batch([build.record(bytes(99))], codec=1)
    logs.append(mb.from_bytes(large, limits=mb.Limits(max_batch_bytes=10)))
    calls: list[Callable[[], object]] = [log.records([]).to_table for log in logs]
    calls += [partial(mb.open, path) for path in (folder.path / "nothing", folder.path)]
    errors = []
    for call in calls:
        with pytest.raises(mb.MagicbyteError) as caught:
            call()
        errors.append(caught.value)
    return errors


def assert_survives_pickling(error: mb.MagicbyteError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and vars(again) == vars(error)


def test_errors_survive_pickling_with_their_attributes(folder: Any) -> None:
    found = errors(folder)
    assert {type(error) for error in found} >= {
        mb.ChecksumError,
        mb.FormatError,
        mb.CodecError,
        mb.LimitError,
        MissingError,
        mb.InputError,
    }
    for error in found:
        assert_survives_pickling(error)


@pytest.mark.parametrize(
    "error",
    [
        mb.TruncatedError(mb.Finding(code="incomplete-entry", message="short", position=3)),
        mb.ChecksumError(
            mb.Finding(code="snapshot-invalid", message="m", found="0x1", expected="0x2")
        ),
        mb.CodecError.of("gzip", "no", position=4, code="unknown-codec"),
        mb.LimitError.of("max_entry_bytes", 5, limit=4, position=9),
        mb.ChangedError("gone", "there", path="/x"),
        mb.FormatError(mb.Finding(code="bad-size", message="m", file="f", found="1")),
        MissingError(FileNotFoundError(2, "x"), "/x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_error_survives_pickling(error: mb.MagicbyteError) -> None:
    assert_survives_pickling(error)


def test_findings_survive_pickling(read: Any) -> None:
    findings = read(build.batch(crc=1)).findings
    assert findings and pickle.loads(pickle.dumps(findings)) == findings


def test_error_of_damage_says_what_was_found_expected_and_where(folder: Any) -> None:
    path = log(folder, build.batch() + build.batch(base=1, crc=0x1D2C3B4A))
    with pytest.raises(mb.ChecksumError) as caught:
        mb.open(path).records().to_table()
    error = caught.value
    assert error.stored == 0x1D2C3B4A and error.computed != error.stored
    assert error.position == len(build.batch()) and error.code == "checksum-mismatch"
    for text in ("t-0", f"{0:020}.log", "0x1d2c3b4a", f"byte {error.position}"):
        assert text in str(error)
    with pytest.raises(mb.CodecError) as codec:
        mb.from_bytes(build.batch(codec=1, section=b"rubbish")).records().to_table()
    assert codec.value.codec == "gzip" and codec.value.code == "codec-error"


def test_importing_needs_neither_numba_nor_spark() -> None:
    code = (
        "import sys, json, magicbyte;"
        "print(json.dumps([n for n in ('numba', 'pyspark', 'py4j', 'construct', 'yaml', 'click')"
        " if n in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_all_public_names_are_there() -> None:
    assert [name for name in mb.__all__ if not hasattr(mb, name)] == []


# Files that change


def test_file_that_shrank_since_the_plan_is_a_changed_error(folder: Any) -> None:
    path = folder.segment("t-0", build.batch(build.records(2)) + build.batch(base=2))
    dataset = mb.open(str(path.parent))
    splits = mb.plan(dataset)
    path.write_bytes(path.read_bytes()[:-1])
    for read in (
        dataset.records().to_table,
        lambda: list(mb.read_split(splits[0])),
        dataset.segments().to_table,
    ):
        with pytest.raises(mb.ChangedError) as caught:
            read()
        assert caught.value.path == str(path) and isinstance(caught.value, mb.InputError)


@pytest.mark.parametrize("is_planned", [True, False])
def test_file_that_is_gone_when_it_is_read_is_a_changed_error(
    is_planned: bool, folder: Any
) -> None:
    path = folder.segment("t-0", build.batch())
    dataset = mb.open(str(path.parent))
    if is_planned:
        mb.plan(dataset)
    path.unlink()
    with pytest.raises(mb.ChangedError) as caught:
        dataset.records().to_table()
    assert caught.value.path == str(path)


def test_file_that_shrinks_while_it_is_read_is_a_changed_error(folder: Any) -> None:
    large = [build.batch([build.record(bytes(1 << 20))], n) for n in range(12)]
    path = folder.segment("t-0", b"".join(large))
    rows = iter(mb.open(str(path.parent)).records(["offset"]))
    assert next(rows).column("offset").to_pylist()[0] == 0
    with path.open("r+b") as file:
        file.truncate(len(large[0]))
    with pytest.raises(mb.ChangedError):
        list(rows)


def test_file_that_grows_gives_the_rows_of_the_plan(folder: Any) -> None:
    path = folder.segment("t-0", build.batch(build.records(2)))
    dataset = mb.open(str(path.parent))
    splits = mb.plan(dataset)
    with path.open("ab") as file:
        file.write(build.batch(base=2) + build.batch(base=3)[:40])
    assert [row["offset"] for row in dataset.records().to_pylist()] == [0, 1]
    assert [n for b in mb.read_split(splits[0]) for n in b.column("offset").to_pylist()] == [0, 1]
    assert dataset.problems().to_pylist() == []
    again = mb.open(str(path.parent)).records(["offset"]).to_pylist()
    assert [row["offset"] for row in again] == [0, 1, 2]


@pytest.mark.parametrize("on_damage", ["fail", "skip"])
def test_closed_segment_that_the_cleaner_has_replaced_by_a_larger_one_is_a_changed_error(
    on_damage: str, folder: Any
) -> None:
    """The cleaner merges small segments. The old end may be inside of an entry of the new file."""
    file = folder.segment("t-0", build.batch(build.records(2)))
    last = folder.segment("t-0", build.batch(base=2), 2)
    dataset, planned = (mb.open(str(file.parent), on_damage=on_damage) for _ in range(2))
    splits = mb.plan(planned)
    before = file.stat().st_size
    file.write_bytes(build.batch([build.record(b"merged" * 9), build.record(delta=1)]))
    for read in (
        dataset.records().to_table,
        planned.records().to_table,
        lambda: list(mb.read_split(splits[0])),
    ):
        with pytest.raises(mb.ChangedError, match=f"expected the {before} it had when planned"):
            read()
    file.write_bytes(build.batch(build.records(2)))
    last.write_bytes(build.batch(base=2) + build.batch(base=3))  # the last one may grow
    assert [row["offset"] for row in planned.records().to_pylist()] == [0, 1, 2]


def test_segment_that_appears_since_the_plan_is_not_read(folder: Any) -> None:
    path = folder.segment("t-0", build.batch())
    dataset = mb.open(str(path.parent))
    folder.segment("t-0", build.batch(base=1), 1)
    assert [row["offset"] for row in dataset.records().to_pylist()] == [0]


def test_file_rewritten_since_its_checksums_were_checked_is_never_wrong_rows(folder: Any) -> None:
    data = build.transactional(0, 7) + build.control(build.ABORT, 1, 7) + build.batch(base=2)
    path = folder.segment("t-0", data)
    dataset = mb.open(str(path.parent))
    splits = mb.plan(dataset)
    path.write_bytes(bytes(len(data)))
    with pytest.raises((mb.ChangedError, mb.FormatError)):
        dataset.records().to_table()
    with pytest.raises((mb.ChangedError, mb.FormatError)):
        list(mb.read_split(splits[0]))


def test_a_segment_that_the_cleaner_has_replaced_since_the_plan_is_an_error_and_no_lost_row(
    folder: Any,
) -> None:
    """All batches have the same size, so that each split still starts at a batch."""
    batches = [build.batch([build.record(b"v%02d" % n)], base=n) for n in range(20)]
    file = folder.segment("t-0", b"".join(batches[:10]))
    behind = folder.segment("t-0", b"".join(batches[10:]), base=10)
    size = 2 * len(batches[0])
    splits = splits_of(mb.open(str(folder)), size, (6, 10))
    assert [split.start // size for split in splits] == [3, 4]
    file.write_bytes(b"".join(batches[2:12]))
    behind.write_bytes(b"".join(batches[12:]))
    for split in splits:
        with pytest.raises(mb.ChangedError, match=r"no entry of offset [68] at byte"):
            list(mb.read_split(split, ("offset",)))
    again = splits_of(mb.open(str(folder)), size, (6, 10))
    rows = [row for split in again for batch in mb.read_split(split) for row in batch.to_pylist()]
    assert [row["offset"] for row in rows] == [6, 7, 8, 9]


def test_a_dataset_gives_other_topics_below_its_paths() -> None:
    dataset = mb.open(DATA / "4.3" / "transactions" / "log-0", topics=["fenced"])
    others = dataset.of_topics(["__transaction_state", "no-such-topic"])
    assert {log.topic for log in others.logs} == {"__transaction_state"}
    assert others.of_topics(["fenced"]).records(["offset"]).to_table().num_rows == 4
    assert "__transaction_state" in dataset.all_topics
    assert not dataset.of_topics(["no-such-topic"]).logs


def test_a_table_is_read_by_its_name() -> None:
    dataset = mb.open(DATA / "4.3" / "transactions" / "log-0", topics=["fenced"])
    assert dataset.table("gaps").to_pylist() == dataset.gaps().to_pylist()
    with pytest.raises(mb.InputError, match="no table 'nothing'"):
        dataset.table("nothing")
