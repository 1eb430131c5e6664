"""Tests that a range of offsets costs an object store about what it returns."""

import pickle
from typing import Any

import pytest

import magicbyte as mb
from indexed_log import indexed_files
from log_builder import TIME, batch_of, producer_snapshot
from magicbyte.reading.partial_plan import survey_of_range
from magicbyte.reading.planner import Planner
from magicbyte_tools.vectors.companion_cases import time_index
from s3_server import BUCKET, S3Server

COUNT = 20 << 10
"""Batches of a kilobyte in a segment of 20 MiB, with an offset each."""

FIRST = COUNT // 2


@pytest.fixture(scope="module")
def partition(s3: S3Server) -> str:
    """The URL of a partition of one segment of 20 MiB, with its offset index."""
    data = [batch_of(n, bytes([n % 251]) * 950, time=TIME + n) for n in range(COUNT)]
    log, index = indexed_files(data)
    for folder in ("one", "followed", "closed"):
        s3.put(f"ranges/{folder}/t-0/{0:020}.log", log)
        s3.put(f"ranges/{folder}/t-0/{0:020}.index", index)
    times = time_index(*((TIME + n, n) for n in range(4, COUNT, 5)))
    s3.put(f"ranges/followed/t-0/{0:020}.timeindex", times)
    s3.put(f"ranges/followed/t-0/{COUNT:020}.log", batch_of(COUNT, b"next"))
    for folder in ("followed", "closed"):
        s3.put(f"ranges/{folder}/t-0/{COUNT:020}.snapshot", producer_snapshot())
    return f"s3://{BUCKET}/ranges"


@pytest.mark.parametrize(
    ("folder", "level", "requests"),
    [
        ("one", "read_uncommitted", {"HEAD": 2, "GET": 2}),
        ("followed", "read_committed", {"HEAD": 3, "GET": 3}),
        # Whether the snapshot at the end is the log's is known from the last batch.
        ("closed", "read_committed", {"HEAD": 3, "GET": 4}),
    ],
)
def test_ten_offsets_in_the_middle_of_a_segment_take_few_requests(
    s3: S3Server, partition: str, folder: str, level: str, requests: dict[str, int]
) -> None:
    dataset = s3.open(
        f"{partition}/{folder}/t-0", offsets=(FIRST, FIRST + 10), isolation_level=level
    )
    before = mb.store_requests()[f"s3://{BUCKET}"].requested_bytes
    with s3.counted() as asked:
        rows = dataset.records(["offset"]).to_pylist()
    assert [row["offset"] for row in rows] == list(range(FIRST, FIRST + 10))
    assert asked == requests
    num_bytes = mb.store_requests()[f"s3://{BUCKET}"].requested_bytes - before
    assert num_bytes < 10 * 1100 + (256 << 10)


def test_task_of_another_machine_requests_the_range_alone(s3: S3Server, partition: str) -> None:
    options: dict[str, Any] = {"isolation_level": "read_committed", "offsets": (FIRST, FIRST + 10)}
    dataset = s3.open(f"{partition}/followed/t-0", **options)
    (log,) = dataset.logs
    planner = Planner(dataset.options)
    survey = survey_of_range(planner, log, (FIRST, FIRST + 10))
    splits = list(planner.splits(survey, (FIRST, FIRST + 10), only_wanted=True))
    before = mb.store_requests()[f"s3://{BUCKET}"].requested_bytes
    with s3.counted() as asked:
        (split,) = pickle.loads(pickle.dumps(splits))
        (batch,) = mb.read_split(split, ("offset",))
    assert batch.num_rows == 10
    assert asked == {"HEAD": 1, "GET": 1}
    assert mb.store_requests()[f"s3://{BUCKET}"].requested_bytes - before < 32 << 10


def test_ten_milliseconds_in_the_middle_of_a_segment_take_few_requests(
    s3: S3Server, partition: str
) -> None:
    times = TIME + FIRST, TIME + FIRST + 10
    dataset = s3.open(f"{partition}/followed/t-0", times=times)
    before = mb.store_requests()[f"s3://{BUCKET}"].requested_bytes
    with s3.counted() as asked:
        rows = dataset.records(["offset"]).to_pylist()
    assert [row["offset"] for row in rows] == list(range(FIRST, FIRST + 10))
    assert asked.total() <= 10
    assert mb.store_requests()[f"s3://{BUCKET}"].requested_bytes - before < 400 << 10
