"""Tests that a plain log is read in one pass, with the rows and the report of a planned read."""

import random
from functools import partial
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
import plain_log
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.reading import _walk, planner
from magicbyte.reading._one_pass import PlainPass
from magicbyte.reading.read_options import ISOLATION_LEVELS
from magicbyte.tables import schemas

Result = tuple[pa.Table, str | None, mb.Report | None]
"""Rows, the error that ended them, and the report if there was none."""

COLUMNS = (
    None,
    (),
    ("offset", "timestamp", "key", "value", "headers"),
    ("topic", "file", "offset", "disposition", "outcome", "value", "position"),
)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[PlainPass]:
    """The passes over plain entries that the test makes."""
    made: list[PlainPass] = []
    create = PlainPass.__init__

    def watched(plain: PlainPass, *args: Any) -> None:
        create(plain, *args)
        made.append(plain)

    monkeypatch.setattr(PlainPass, "__init__", watched)
    return made


def in_one_pass(rows: mb.Rows) -> Result:
    batches, error = [], None
    try:
        batches.extend(rows)
    except mb.MagicbyteError as raised:
        error = str(raised)
    return pa.Table.from_batches(batches, rows.schema), error, None if error else rows.report


def planned(rows: mb.Rows) -> Result:
    """Read *rows* with a report that is complete before the first one, so that a plan comes first."""
    batches, error, report = [], None, mb.Report()
    try:
        batches.extend(rows.read_into(report))
    except mb.MagicbyteError as raised:
        error = str(raised)
    return pa.Table.from_batches(batches, rows.schema), error, None if error else report


@pytest.mark.parametrize("seed", range(100))
def test_rows_and_report_equal_those_of_a_planned_read(
    seed: int, folder: Any, passes: list[PlainPass], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    segments = plain_log.write_log(rng, folder.log_dir())
    for _ in range(seed % 3):
        plain_log.damage(rng, rng.choice(segments))
    monkeypatch.setattr(_walk, "CHUNK", rng.choice([300, 1000, 4096]))
    monkeypatch.setattr(planner, "SPLIT_BYTES", rng.choice([500, 3000]))
    for isolation_level, on_damage in product(ISOLATION_LEVELS, ("fail", "skip")):
        open_log = partial(
            mb.open, folder.path, isolation_level=isolation_level, on_damage=on_damage
        )
        columns = rng.choice(COLUMNS)
        passes.clear()
        rows = in_one_pass(open_log().records(columns))
        assert len(passes) <= 1
        assert rows == planned(open_log().records(columns))


def test_the_logs_of_the_other_tests_are_plain_as_a_whole_in_part_and_not_at_all(
    tmp_path_factory: pytest.TempPathFactory,
    passes: list[PlainPass],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_walk, "CHUNK", 1000)
    kinds = []
    for seed in range(60):
        folder = build.Folder(tmp_path_factory.mktemp("log"))
        rng = random.Random(seed)
        segments = plain_log.write_log(rng, folder.log_dir())
        for _ in range(seed % 3):
            plain_log.damage(rng, rng.choice(segments))
        passes.clear()
        mb.open(folder.path, on_damage="skip").records(["offset"]).to_table()
        for plain in passes:
            end = plain.end
            is_partly = "partly" if end.segment or end.position else "not"
            kinds.append("wholly" if plain.is_log_plain else is_partly)
    assert all(kinds.count(kind) >= 5 for kind in ("wholly", "partly", "not")), kinds


def test_a_plain_log_is_opened_once_and_each_byte_requested_once(
    folder: Any, ranges_read: list[tuple[int, int]], names_opened: list[str]
) -> None:
    data = b"".join(build.batch(base=offset) for offset in range(50))
    folder.log_dir().segment("t-0", data)
    folder.segment("t-0", data[:0], 50)
    rows = mb.open(folder.path).records(["offset"])
    names_opened.clear()
    ranges_read.clear()
    assert rows.to_table().num_rows == 50
    assert names_opened == [f"{0:020}.log", f"{50:020}.log"]
    assert ranges_read == [(0, len(data))]
    assert rows.report.findings == [] and rows.report.bytes["delivered"] == len(data)


def test_only_entries_that_a_chunk_cuts_are_requested_twice(
    folder: Any, ranges_read: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [build.batch(base=offset) for offset in range(500)]
    size = sum(map(len, entries))
    folder.log_dir().segment("t-0", b"".join(entries))
    monkeypatch.setattr(_walk, "CHUNK", 4000)
    rows = mb.open(folder.path).records(["offset"])
    ranges_read.clear()
    assert rows.to_table().num_rows == 500
    num_chunks = -(-size // 3900)
    assert len(ranges_read) <= num_chunks + 2
    assert sum(length for _, length in ranges_read) < size + (num_chunks + 1) * len(entries[0])


def test_the_entries_before_a_transaction_are_decoded_once(
    folder: Any, passes: list[PlainPass], monkeypatch: pytest.MonkeyPatch
) -> None:
    log_dir = folder.log_dir()
    plain = b"".join(build.batch(base=offset) for offset in range(20))
    log_dir.segment("t-0", plain)
    log_dir.segment("t-0", build.transactional(20, 7), 20)
    starts = []
    walk = _walk.PlannedWalk.pieces

    def watched(planned_walk: _walk.PlannedWalk, columns: Any) -> Any:
        starts.append((planned_walk.path[-8:], planned_walk.start))
        return walk(planned_walk, columns)

    monkeypatch.setattr(_walk.PlannedWalk, "pieces", watched)
    rows = mb.open(folder.path).records(["offset"])
    assert rows.to_table().column("offset").to_pylist() == list(range(20))
    assert [(one.end.segment, one.end.position) for one in passes] == [(1, 0)]
    assert set(starts) == {("0020.log", 0)}
    assert [finding.code for finding in rows.report.findings] == ["transaction-open"]
    assert rows.report.records == {"delivered": 20, "withheld": 1}


def test_a_log_that_begins_with_a_transaction_is_decoded_once(
    folder: Any, passes: list[PlainPass], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = build.transactional(0, 7) + build.control(build.COMMIT, 1, 7)
    folder.log_dir().segment("t-0", data)
    num_decoded = []
    decode = ReferenceEngine.decode

    def watched(*args: Any, **how: Any) -> Any:
        num_decoded.append(args)
        return decode(*args, **how)

    monkeypatch.setattr(ReferenceEngine, "decode", watched)
    rows = mb.open(folder.path, engine="reference").records(["offset"])
    assert rows.to_pylist() == [{"offset": 0}]
    assert len(passes) == len(num_decoded) == 1


@pytest.mark.parametrize("isolation_level", ISOLATION_LEVELS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_transaction_does_not_hold_back_entries_before_it_although_its_offset_is_lower(
    threads: int, isolation_level: str, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = [build.batch(base=offset) for offset in range(10)]
    entries = [*plain, build.transactional(4, 7), build.batch(base=10)]
    folder.log_dir().segment("t-0", b"".join(entries))
    monkeypatch.setattr(_walk, "CHUNK", 200)
    dataset = mb.open(folder.path, threads=threads, isolation_level=isolation_level)
    rows = dataset.records(["offset"])
    is_committed = isolation_level == "read_committed"
    offsets = [*range(10), *([] if is_committed else [4, 10])]
    assert rows.to_table().column("offset").to_pylist() == offsets
    codes = {finding.code for finding in rows.report.findings}
    assert {"offset-out-of-order", "transaction-open"} <= codes
    (partition,) = dataset.partitions(["last_stable_offset"]).to_pylist()
    assert partition["last_stable_offset"] == 10


@pytest.mark.parametrize("size", [100, 5000])
def test_an_offset_that_is_too_high_hides_no_entries_after_it(
    size: int, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [build.batch(base=1 << 40)]
    entries += [build.batch([build.record(bytes(size))], base) for base in range(1, 10)]
    folder.log_dir().segment("t-0", b"".join(entries))
    monkeypatch.setattr(_walk, "CHUNK", 1000)
    read = mb.open(folder.path).records(["offset"])
    rows = in_one_pass(read)
    assert rows == planned(read)
    assert rows[0].column("offset").to_pylist() == [1 << 40, *range(1, 10)]


@pytest.mark.parametrize(
    "options",
    [
        {"threads": 2},
        {"offsets": (0, 9)},
        {"times": (0, build.TIME + 9)},
        {"on_damage": "stop"},
        {"transactions": "index"},
    ],
)
def test_other_reads_have_a_plan(
    options: dict[str, Any], folder: Any, passes: list[PlainPass]
) -> None:
    folder.log_dir().segment("t-0", build.batch())
    assert mb.open(folder.path, **options).records(["offset"]).to_table().num_rows == 1
    assert not passes


def test_a_log_that_begins_inside_of_a_transaction_has_a_plan(
    folder: Any, passes: list[PlainPass]
) -> None:
    folder.log_dir().segment("t-0", build.batch(base=9), 9)
    folder.segment("t-0", build.producer_snapshot((7, 0, 8, 5)), 9, "snapshot")
    mb.open(folder.path).records(["offset"]).to_table()
    assert not passes


def test_the_aborted_list_of_a_fetch_response_decides_without_a_pass_over_plain_entries(
    passes: list[PlainPass],
) -> None:
    data = build.batch() + build.transactional(1, 7)
    dataset = mb.from_bytes(data, aborted=[(7, 1)], isolation_level="read_committed")
    assert dataset.records(["offset"]).to_pylist() == [{"offset": 0}]
    assert not passes


def test_the_result_with_all_dispositions_has_the_records_below_the_log_start(folder: Any) -> None:
    log_dir = folder.log_dir()
    log_dir.segment("t-0", b"".join(build.batch(base=offset) for offset in range(9)))
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 4})
    names = ["offset", "disposition"]
    rows = mb.open(folder.path).records(names, dispositions=schemas.DISPOSITIONS)
    dispositions = [row["disposition"] for row in rows.to_pylist()]
    assert dispositions == ["below_log_start"] * 4 + ["delivered"] * 5
    assert in_one_pass(rows) == planned(rows)
