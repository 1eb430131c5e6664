"""Tests of ranges of offsets and times that a log does not have: a finding names where it ends."""

from typing import Any

import pytest

import log_builder as build
import magicbyte as mb


@pytest.fixture
def path(folder: Any) -> Any:
    """A log.dir whose only log has offsets 5 to 10, at the default time."""
    log_dir = folder.log_dir()
    data = b"".join(build.batch(build.records(3), base) for base in (5, 8))
    log_dir.segment("t-0", data, 5)
    return log_dir.path


def messages(path: Any, **range_options: Any) -> list[str]:
    rows = mb.open(path, **range_options).records(["offset"])
    rows.to_table()
    return [f.message for f in rows.report.findings if f.code == "range-outside-log"]


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ((11, None), "the log ends at offset 11: there is no record from offset 11 on"),
        ((99, 200), "the log ends at offset 11: there is no record from offset 99 on"),
        ((None, 5), "the log begins at offset 5: there is no record before offset 5"),
        ((1, 3), "the log begins at offset 5: there is no record before offset 3"),
        ((10, None), None),
        ((None, 6), None),
        ((0, 99), None),
        (None, None),
    ],
)
def test_range_of_offsets_that_the_log_lacks_is_named(
    offsets: Any, message: str | None, path: Any
) -> None:
    assert messages(path, offsets=offsets) == ([message] if message else [])


def test_time_after_the_last_record_is_named(path: Any) -> None:
    assert messages(path, times=(build.TIME, None)) == []
    assert messages(path, times=(1_893_456_000_000, None)) == [
        "no record has the timestamp 2030-01-01T00:00:00.000Z or a later one"
    ]


def test_range_of_times_that_ends_before_it_begins_is_named_with_the_start_of_the_whole_log(
    folder: Any,
) -> None:
    """The times are not in order: the record at offset 7, which is too late, comes before those of the range."""
    log_dir = folder.log_dir()
    first, late, wanted = build.TIME, build.TIME + 9_000, build.TIME + 2_000
    for base, time in ((5, first), (7, late), (9, wanted)):
        log_dir.segment("t-0", build.batch(build.records(2), base, time=time), base)
    times = (build.TIME + 1_000, build.TIME + 5_000)
    (message,) = messages(log_dir.path, times=times)
    assert message.startswith("offset 7 is the first with the timestamp 20")
    assert "no record is between; a condition on timestamp finds records by their own" in message
    assert messages(log_dir.path, offsets=(7, 7)) == []
    (begin,) = messages(log_dir.path, times=(None, first))
    assert begin == "the log begins at offset 5: there is no record before offset 5"


def test_partition_that_is_not_there_is_an_error_that_names_those_that_are(path: Any) -> None:
    with pytest.raises(mb.InputError, match="no partition 7; expected one of 0"):
        mb.open(path, partitions=[0, 7])
    assert len(mb.open(path, partitions=[0]).logs) == 1


def test_topic_that_is_not_there_is_compared_with_many_others(folder: Any) -> None:
    log_dir = folder.log_dir()
    for number in range(30):
        log_dir.segment(f"orders-{number:02}-0", build.batch(build.records(1), 0))
    with pytest.raises(mb.InputError) as caught:
        mb.open(log_dir.path, topics=["order-07"])
    text = str(caught.value)
    assert text.startswith("no topic 'order-07'; expected one of orders-07, orders-")
    assert text.endswith(" and 25 more (did you mean orders-07 or orders-27?)")
