"""Tests of splits: a split's bytes are read once where possible, and give the same rows."""

import random
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.reading import split
from magicbyte.tables import schemas
from random_log import write_random_log


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("isolation_level", ["read_committed", "read_uncommitted"])
def test_a_split_that_is_read_once_gives_the_same(
    seed: int, isolation_level: str, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_random_log(random.Random(seed), folder.log_dir())

    def read() -> tuple[list[Any], mb.Report]:
        dataset = mb.open(folder.path, on_damage="skip", isolation_level=isolation_level)
        rows = dataset.records(schemas.RECORDS.names, dispositions=schemas.DISPOSITIONS)
        return rows.to_pylist(), rows.report

    rows = read()
    monkeypatch.setattr(split, "CHUNK", 0)
    assert rows == read()


def test_a_split_with_transactions_is_read_once(
    folder: Any, ranges_read: list[tuple[int, int]]
) -> None:
    data = build.transactional(0, 7, count=9) + build.control(build.ABORT, 9, 7)
    folder.log_dir().segment("t-0", data)
    dataset = mb.open(folder.path, isolation_level="read_uncommitted")
    assert dataset.plan()[0].is_verified
    assert dataset.records(["outcome"]).to_table().num_rows == 9
    ranges_read.clear()
    assert dataset.records(["outcome"]).to_pylist() == [{"outcome": "aborted"}] * 9
    assert [one for one in ranges_read if one[1] == len(data)] == [(0, len(data))]
