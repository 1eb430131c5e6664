"""Tests of the stream reader: each offset once, though files change and the query restarts."""

import errno
import json
import pickle
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import magicbyte as mb
from extent import part
from file_damage import flip
from io_faults import faulty_disk
from log_reader import spans
from magicbyte.errors import ChangedError, ChecksumError, FormatError, InputError, UnreadableError
from magicbyte.reading import partial_plan, segment_range
from magicbyte.reading._stream_plan import survey_of_ranges
from magicbyte.reading.partial_plan import ReadableRanges, survey_of_range
from magicbyte.reading.planner import Planner
from magicbyte.reading.retry import MAX_TRIES
from magicbyte.reading.segment_range import from_offset, up_to
from magicbyte.reading.split import Split
from magicbyte.spark._replanning import read_replanned
from magicbyte.spark._stream_reader import StreamReader, admission, share_offsets
from magicbyte.spark.data_source import MagicbyteDataSource
from paths import DATA
from surveys import surveys_of

TRANSACTIONS = DATA / "4.3" / "transactions" / "log-0"
LIVES = DATA / "2.8" / "lives" / "log-0"

ALL = admission.ReadAllAvailable() if admission else None
with_limits = pytest.mark.skipif(
    admission is None, reason="before 4.2 Spark's Python sources know no limits of a trigger"
)


class Growing:
    """A partition that is written again byte by byte, in the order of its broker."""

    def __init__(self, source: Path, log_dir: Path) -> None:
        self.source, self.folder = source, log_dir / source.name
        self.folder.mkdir(parents=True)
        self.bases = sorted(file.stem for file in source.glob("*.log"))
        self.number = self.size = 0
        self._begin()

    def _begin(self) -> None:
        base = self.bases[self.number]
        (self.folder / f"{base}.log").touch()
        if (self.source / f"{base}.snapshot").exists():
            shutil.copy(self.source / f"{base}.snapshot", self.folder)

    @property
    def is_done(self) -> bool:
        return self.number == len(self.bases)

    def grow(self, most: int, rng: random.Random) -> None:
        """Append up to *most* bytes, often ending in the middle of a batch."""
        count = rng.randrange(most)
        while count and not self.is_done:
            name = self.bases[self.number]
            data = (self.source / f"{name}.log").read_bytes()
            more = data[self.size : self.size + count]
            with (self.folder / f"{name}.log").open("ab") as file:
                file.write(more)
            self.size += len(more)
            count -= len(more)
            if self.size == len(data):
                for kind in ("index", "timeindex", "txnindex"):
                    if (self.source / f"{name}.{kind}").exists():
                        shutil.copy(self.source / f"{name}.{kind}", self.folder)
                self.number, self.size = self.number + 1, 0
                if not self.is_done:
                    self._begin()


def stream(path: Path, **options: str) -> StreamReader:
    source = MagicbyteDataSource(
        {"path": str(path), "columns": "topic,partition,offset", **options}
    )
    reader = source.streamReader(source.schema())
    assert isinstance(reader, StreamReader)
    return reader


def read(reader: StreamReader, start: Any, end: Any) -> list[tuple[Any, ...]]:
    """Return the rows from *start* to *end*, read by tasks with pickled copies of *reader*."""
    copy = pickle.loads(pickle.dumps(reader))
    return [
        tuple(row.values())
        for part in reader.partitions(start, end)
        for batch in copy.read(pickle.loads(pickle.dumps(part)))
        for row in batch.to_pylist()
    ]


def segments_at(offset: int) -> dict[str, dict[str, int]]:
    """Return the stream's offset value for *offset* of the partition `v2-segments-0`."""
    return {"v2-segments": {"0": offset}}


def expected(path: Path, level: str) -> list[tuple[Any, ...]]:
    rows = mb.open(path, isolation_level=level).records(["topic", "partition", "offset"])
    return [tuple(row.values()) for row in rows.to_pylist()]


each_seed = pytest.mark.parametrize(
    ("seed", "level"), part([*product(range(4), ["read_committed", "read_uncommitted"])], 3)
)


@each_seed
def test_each_offset_comes_once_while_logs_grow_and_queries_restart(
    seed: int, level: str, tmp_path: Path
) -> None:
    check_growing_logs(seed, level, tmp_path)


@each_seed
def test_each_offset_comes_once_while_only_appended_headers_are_planned(
    seed: int, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_range, "MIN_SAVED_BYTES", 0)
    monkeypatch.setattr(segment_range, "MIN_SAVED_PART", 0)
    plans = []

    def survey(*arguments: Any) -> Any:
        plans.append(survey_of_ranges(*arguments))
        return plans[-1]

    monkeypatch.setattr(partial_plan, "survey_of_ranges", survey)
    check_growing_logs(seed, level, tmp_path)
    assert len(plans) >= 20
    assert None not in plans


def check_growing_logs(seed: int, level: str, tmp_path: Path) -> None:
    """Check the rows of a stream that reads logs while they grow, and is restarted now and then."""
    rng = random.Random(seed)
    names = [
        "interleaved-0",
        "interleaved-1",
        "large-aborted-0",
        "open-0",
        "open-1",
        "many-epochs-0",
    ]
    logs = [Growing(TRANSACTIONS / name, tmp_path) for name in names]
    options = {"startingOffsets": "earliest", "isolationLevel": level}
    if seed % 3:
        options["maxOffsetsPerTrigger"] = str(rng.choice([60, 500]))
    if seed % 2:
        options["maxPartitionBytes"] = "300"
    reader = stream(tmp_path, **options)
    offset = reader.initialOffset()
    rows: list[tuple[Any, ...]] = []
    for _ in range(2000):
        for log in rng.sample(logs, 3):
            log.grow(9000, rng)
        limit = reader.getDefaultReadLimit() if admission else None
        end = json.loads(json.dumps(reader.latestOffset(offset, limit)))
        if rng.random() < 0.3:  # killed after the write of the offset log: replan the batch
            read(reader, offset, end)
            reader = stream(tmp_path, **options)
        rows += read(reader, offset, end)
        is_idle = offset == end
        offset = end
        if is_idle and all(log.is_done for log in logs):
            break
    else:
        raise AssertionError("it did not come to an end")
    assert sorted(rows) == sorted(expected(tmp_path, level))
    assert len(rows) > 600


def test_segments_that_go_are_a_loss_that_fails_or_is_borne(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(LIVES / "v2-segments-0", tmp_path / "v2-segments-0"))
    bases = [int(file.stem) for file in sorted(folder.glob("*.log"))]
    reader = stream(tmp_path, startingOffsets="earliest")
    start = reader.initialOffset()
    end = reader.latestOffset(start, ALL)
    assert start == segments_at(0)
    for file in [*folder.glob(f"{0:020}.*"), *folder.glob(f"{bases[1]:020}.*")]:
        if file.suffix != ".snapshot":
            file.unlink()
    with pytest.raises(
        InputError, match="offsets from 0 to below 404 of v2-segments-0; expected some of"
    ):
        read(reader, start, end)
    bearing = stream(tmp_path, failOnDataLoss="false")
    assert [row[2] for row in read(bearing, start, end)] == [
        row[2] for row in expected(folder, "read_committed")
    ]
    shutil.rmtree(folder)
    shutil.copytree(LIVES / "v2-segments-1", tmp_path / "v2-segments-1")
    with pytest.raises(InputError, match="partition v2-segments-0 is gone"):
        read(reader, start, end)
    assert read(bearing, start, end) == []


def test_a_partition_that_is_new_is_read_from_its_beginning(tmp_path: Path) -> None:
    shutil.copytree(LIVES / "v2-segments-0", tmp_path / "v2-segments-0")
    reader = stream(tmp_path)
    start = reader.initialOffset()
    assert start == segments_at(404), "latest is where a stream begins"
    assert reader.latestOffset(start, ALL) == start
    shutil.copytree(LIVES / "v2-segments-1", tmp_path / "v2-segments-1")
    end = reader.latestOffset(start, ALL)
    assert read(reader, start, end) == expected(tmp_path / "v2-segments-1", "read_committed")
    # A partition that begins above offset 0 has lost its earlier records.
    shutil.copytree(LIVES / "v2-retention-0", tmp_path / "v2-retention-0")
    later = reader.latestOffset(end, ALL)
    with pytest.raises(InputError, match="new partition v2-retention-0 begins at offset 38"):
        read(reader, end, later)
    bearing = stream(tmp_path, failOnDataLoss="false")
    assert read(bearing, end, later) == expected(tmp_path / "v2-retention-0", "read_committed")


def test_stream_begins_at_its_starting_offsets(tmp_path: Path) -> None:
    path = LIVES / "v2-segments-0"
    for given, offset in ((-2, 0), (77, 77)):
        reader = stream(path, startingOffsets=json.dumps(segments_at(given)))
        assert reader.initialOffset() == segments_at(offset)
    rows = mb.open(path).records(["offset", "timestamp"]).to_pylist()
    time = rows[200]["timestamp"]
    first = next(row["offset"] for row in rows if row["timestamp"] >= time)
    milliseconds = str(round(time.timestamp() * 1000))
    assert stream(path, startingTimestamp=milliseconds).initialOffset() == segments_at(first)
    latest = {"startingOffsetsByTimestampStrategy": "latest"}
    reader = stream(path, startingTimestamp="9" * 15, **latest)
    assert reader.initialOffset() == segments_at(404)
    with pytest.raises(InputError, match="offset 405 of v2-segments-0; expected 0 to 404"):
        stream(path, startingOffsets=json.dumps(segments_at(405))).initialOffset()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"endingOffsets": "latest"}, "endingOffsets in a stream; expected none"),
        ({"endingTimestamp": "1"}, "endingTimestamp in a stream"),
        ({"table": "batches", "columns": "position"}, "a stream of the table batches"),
    ],
)
def test_a_stream_has_no_end_and_no_other_table(options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as refused:
        stream(LIVES, **options)
    assert message in str(refused.value)


def test_offsets_are_shared_in_proportion_and_nobody_starves() -> None:
    firsts = {("a", 0): 0, ("b", 0): 10, ("c", 0): 5, ("d", 0): 3}
    latest = {("a", 0): 9900, ("b", 0): 100, ("c", 0): 5, ("d", 0): 13}
    assert share_offsets(100, firsts, latest) == {
        ("a", 0): 99,
        ("b", 0): 11,
        ("c", 0): 5,
        ("d", 0): 4,
    }
    assert share_offsets(1 << 40, firsts, latest) == latest
    assert share_offsets(5, latest, latest) == latest


@with_limits
def test_few_offsets_are_waited_for_but_not_for_ever(tmp_path: Path) -> None:
    rng = random.Random(1)
    log = Growing(LIVES / "v2-segments-0", tmp_path)
    while mb.open(tmp_path).records().to_table().num_rows < 5:
        log.grow(600, rng)
    options = {"minOffsetsPerTrigger": "300", "startingOffsets": "earliest"}
    reader = stream(tmp_path, **options)
    assert reader.getDefaultReadLimit() == admission.ReadMinRows(300)
    start = reader.initialOffset()
    first = reader.latestOffset(start, admission.ReadMinRows(300))
    assert first != start, "the first batch waits for nothing"
    log.grow(3000, rng)
    assert reader.latestOffset(first, admission.ReadMinRows(300)) == first
    impatient = stream(tmp_path, maxTriggerDelay="0", **options)
    assert impatient.latestOffset(first, admission.ReadMinRows(300)) != first
    while not log.is_done:
        log.grow(3000, rng)
    assert reader.latestOffset(first, admission.ReadMinRows(300)) == segments_at(404)
    assert reader.latestOffset(first, ALL) == segments_at(404)
    both = stream(tmp_path, maxOffsetsPerTrigger="301", **options)
    assert both.getDefaultReadLimit() == admission.ReadMaxRows(301)


@with_limits
def test_available_now_reads_what_existed_when_the_query_started(tmp_path: Path) -> None:
    rng = random.Random(2)
    log = Growing(LIVES / "v2-segments-0", tmp_path)
    log.grow(9000, rng)
    reader = stream(tmp_path, startingOffsets="earliest", maxOffsetsPerTrigger="7")
    reader.prepareForTriggerAvailableNow()
    there = len(expected(tmp_path, "read_committed"))
    offset, rows = reader.initialOffset(), []
    while not log.is_done:
        log.grow(9000, rng)
    shutil.copytree(LIVES / "v2-segments-1", tmp_path / "v2-segments-1")
    while (end := reader.latestOffset(offset, admission.ReadMaxRows(7))) != offset:
        rows += read(reader, offset, end)
        offset = end
    assert len(rows) == there > 10
    assert reader.reportLatestOffset() == offset


def test_only_the_last_segment_is_looked_at_for_the_end(
    tmp_path: Path, names_opened: list[str]
) -> None:
    folder = Path(shutil.copytree(TRANSACTIONS / "interleaved-0", tmp_path / "interleaved-0"))
    (whole,) = surveys_of(mb.open(folder))
    assert len(whole.segments) == 10
    reader = stream(tmp_path)
    names_opened.clear()
    start = reader.initialOffset()
    assert start == {"interleaved": {"0": whole.last_stable_offset}}
    opened = {name for name in names_opened if name.endswith(".log")}
    assert opened <= {whole.segments[-1].file.name, whole.segments[0].file.name}
    names_opened.clear()
    assert reader.latestOffset(start, ALL) == start
    assert whole.segments[-1].file.name not in names_opened, "nothing changed"


def test_a_part_of_a_log_begins_where_a_sound_snapshot_is(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TRANSACTIONS / "interleaved-0", tmp_path / "interleaved-0"))
    (log,) = mb.open(folder).logs
    bases = [file.base_offset for file in log.logs]
    assert [file.base_offset for file in from_offset(log, bases[4] + 1).logs] == bases[4:]
    assert from_offset(log, 0) is log
    (folder / f"{bases[4]:020}.snapshot").write_bytes(b"\0" * 30)
    (folder / f"{bases[3]:020}.snapshot").unlink()
    (log,) = mb.open(folder).logs
    assert [file.base_offset for file in from_offset(log, bases[4] + 1).logs] == bases[2:]
    assert [file.base_offset for file in up_to(log, bases[4], more=0).logs] == bases[:4]
    assert [file.base_offset for file in up_to(log, bases[4] + 1, more=1).logs] == bases[:6]
    assert up_to(log, 1 << 40, more=0) is log


@pytest.mark.parametrize("seed", range(8))
def test_parts_of_a_log_tell_of_its_ends_and_transactions_what_the_whole_tells(seed: int) -> None:
    rng = random.Random(seed)
    dataset = mb.open(TRANSACTIONS)
    for log in dataset.logs:
        planner = Planner(dataset.options)
        whole = planner.survey(log)
        assert ReadableRanges().of(planner, log) == (
            whole.log_start_offset,
            whole.last_stable_offset,
        )
        first, end = sorted(rng.choices(range(whole.last_stable_offset + 1), k=2))
        part = survey_of_range(planner, log, (first, end), rng.choice([300, 1 << 20]))
        offsets = [
            row["offset"]
            for split in planner.splits_of_ranges(part, [(first, end)])
            for batch in mb.read_split(split, ("offset",))
            for row in batch.to_pylist()
        ]
        wanted = mb.open(log.folder, offsets=(first, end)).records(["offset"]).to_pylist()
        assert offsets == [row["offset"] for row in wanted], (log.name, first, end)


def test_spark_reads_the_stream_from_a_checkpoint_on(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(3)
    logs = tmp_path / "logs"
    log = Growing(TRANSACTIONS / "interleaved-0", logs)
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "checkpoint")
    for _ in range(2):
        log.grow(60_000, rng)
        frame = (
            spark.readStream.format("magicbyte")
            .options(startingOffsets="earliest", maxOffsetsPerTrigger="150", columns="offset")
            .load(str(logs))
        )
        query = (
            frame.writeStream.format("parquet")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start(out)
        )
        assert query.awaitTermination(120)
        sizes = [one["numInputRows"] for one in query.recentProgress]
        assert not admission or all(size <= 151 for size in sizes), sizes
        for one in query.recentProgress if admission else ():
            (source,) = one["sources"]
            behind, end = (json.loads(source[name]) for name in ("latestOffset", "endOffset"))
            assert behind["interleaved"]["0"] >= end["interleaved"]["0"]
        if admission:
            assert behind == end
    offsets = [row.offset for row in spark.read.parquet(out).orderBy("offset").collect()]
    assert offsets == [row[2] for row in expected(logs, "read_committed")]
    assert len(offsets) > 100
    latest = max(Path(checkpoint, "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    told = json.loads(latest.read_text().splitlines()[-1])
    assert set(told) == {"interleaved"} and set(told["interleaved"]) == {"0"}


# Compaction


def compact(folder: Path, rng: random.Random, *, kept: float) -> None:
    """Compact up to three segments into one that keeps a share *kept* of their batches."""
    segments = sorted(folder.glob("*.log"))
    number = rng.randrange(len(segments) - 1)
    group = segments[number : min(number + rng.choice([1, 2, 3]), len(segments) - 1)]
    data = b"".join(file.read_bytes() for file in group)
    cleaned = group[0].with_suffix(".log.swap")
    cleaned.write_bytes(b"".join(data[at:end] for at, end in spans(data) if rng.random() < kept))
    for file in group:
        for kind in ("log", "index", "timeindex"):
            file.with_suffix(f".{kind}").unlink(missing_ok=True)
    cleaned.rename(group[0])


@pytest.mark.parametrize("seed", range(12))
def test_segments_that_are_compacted_after_the_plan_give_what_is_left_of_them_once(
    seed: int, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    folder = Path(shutil.copytree(LIVES / "v2-segments-0", tmp_path / "v2-segments-0"))
    size, most = rng.choice(["300", "1k", "1m"]), rng.choice([{}, {"maxRecordsPerPartition": "9"}])
    reader = stream(tmp_path, startingOffsets="earliest", maxPartitionBytes=size, **most)
    first, end = rng.randrange(100), 404
    before = {row[2] for row in expected(folder, "read_committed")}
    parts = reader.partitions(segments_at(first), segments_at(end))
    rows: list[int] = []
    for one in parts:
        if rng.random() < 0.3 or one is parts[0]:
            compact(folder, rng, kept=0.8)
        rows += [row["offset"] for batch in reader.read(one) for row in batch.to_pylist()]
    left = {row[2] for row in expected(folder, "read_committed")}
    assert len(left) < 404
    assert len(rows) == len(set(rows))
    assert {offset for offset in left if offset >= first} <= set(rows) <= before
    assert min(rows) >= first


@pytest.mark.parametrize("is_read_on", [True, False])
def test_files_may_be_replaced_often_as_long_as_records_are_read_in_between(
    is_read_on: bool,
) -> None:
    dataset = mb.open(LIVES / "v2-segments-0")
    num_tries = 0

    def plan(offsets: tuple[int, int]) -> list[Split]:
        split = mb.plan(dataset)[0]
        return [replace(split, options=replace(split.options, offsets=offsets))]

    def read(split: Split) -> Iterator[pa.RecordBatch]:
        nonlocal num_tries
        num_tries += 1
        first, end = split.options.offsets
        assert first is not None and end is not None
        if is_read_on:
            yield pa.record_batch({"offset": [first]})
        if first + 1 < end:
            raise ChangedError("another file", "the one of the plan")

    (split,) = plan((0, 50))
    batches = read_replanned(split, read, plan)
    if is_read_on:
        assert [batch["offset"][0].as_py() for batch in batches] == list(range(50))
    else:
        with pytest.raises(ChangedError, match="another file"):
            list(batches)
        assert num_tries == MAX_TRIES


def test_damage_is_told_as_it_is_where_the_file_has_not_been_replaced(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(LIVES / "v2-segments-0", tmp_path / "v2-segments-0"))
    file = sorted(folder.glob("*.log"))[1]
    flip(file, -1, 1)
    reader = stream(tmp_path, startingOffsets="earliest")
    start = reader.initialOffset()
    with pytest.raises(ChecksumError, match=f"v2-segments-0/{file.name} byte"):
        read(reader, start, reader.latestOffset(start, ALL))


def test_damage_at_the_end_of_the_log_fails_the_stream_or_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = Path(shutil.copytree(LIVES / "v2-segments-0", tmp_path / "v2-segments-0"))
    file = max(folder.glob("*.log"))
    data = bytearray(file.read_bytes())
    *_, (position, _) = spans(bytes(data))
    data[position + 16] = 77  # the magic byte of the last batch
    file.write_bytes(data)
    with pytest.raises(FormatError, match=f"v2-segments-0/{file.name} byte"):
        stream(tmp_path, startingOffsets="earliest").initialOffset()
    reader = stream(tmp_path, startingOffsets="earliest", onDamage="skip")
    start = reader.initialOffset()
    for _ in range(2):
        end = reader.latestOffset(start, ALL)
    assert start == segments_at(0) and 0 < end["v2-segments"]["0"] < 404
    assert caplog.text.count("unknown-magic") == 1


def test_an_end_that_cannot_be_read_does_not_move_the_stream_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = Path(shutil.copytree(LIVES / "v2-segments-0", tmp_path / "v2-segments-0"))
    last, start = max(folder.glob("*.log")), segments_at(404)
    reader = stream(tmp_path, onDamage="skip")
    with faulty_disk() as disk:
        disk.unopened[str(last)] = errno.EIO
        assert reader.latestOffset(start, ALL) == start
        assert caplog.text.count("unreadable") == 1
        # A batch that was planned before is not called lost.
        assert read(reader, segments_at(403), start) == []
        with pytest.raises(UnreadableError, match=last.name):
            stream(tmp_path).latestOffset(start, ALL)
    assert reader.latestOffset(start, ALL) == start
    assert read(reader, segments_at(403), start) == [("v2-segments", 0, 403)]
