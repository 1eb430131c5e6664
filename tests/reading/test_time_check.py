"""Tests of timestamps in the future, and in other units than milliseconds."""

import time
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb

NOW_S = int(time.time())


@pytest.mark.parametrize(
    ("timestamp", "code", "words"),
    [
        (NOW_S * 1_000_000, "timestamp-ahead", "; the timestamps look like microseconds"),
        (NOW_S * 1_000_000_000, "timestamp-ahead", "; the timestamps look like nanoseconds"),
        ((NOW_S + 90_000) * 1000, "timestamp-ahead", "keeps the segment until then"),
        (NOW_S - 10, "timestamp-in-seconds", "in January 1970, which look like seconds"),
    ],
    ids=["microseconds", "nanoseconds", "tomorrow", "seconds"],
)
def test_the_unit_of_implausible_timestamps_is_named(
    folder: Any, timestamp: int, code: str, words: str
) -> None:
    path = folder.segment("t-0", build.batch(time=timestamp)).parent
    (finding,) = mb.verify(path).findings
    assert (finding.code, finding.severity) == (code, "note")
    assert words in finding.message


def test_ordinary_and_missing_and_small_timestamps_are_no_finding(folder: Any) -> None:
    stamps = (build.TIME, -1, 0, 1000, 900_000_000)
    data = b"".join(build.batch(base=n, time=stamp) for n, stamp in enumerate(stamps))
    assert not mb.verify(folder.segment("t-0", data).parent).findings


def test_entries_in_seconds_are_counted(folder: Any) -> None:
    data = b"".join(build.batch(base=n, time=NOW_S - 10 + n) for n in range(3))
    (finding,) = mb.verify(folder.segment("t-0", data).parent).findings
    assert finding.message.startswith("3 entries have timestamps in January 1970")
    assert (finding.found, finding.expected) == (str(NOW_S - 8), str(1000 * (NOW_S - 8)))
