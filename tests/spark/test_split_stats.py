"""Tests of the statistics that a pipeline's tasks write about their splits."""

import pyarrow.compute as pc
import pytest

import magicbyte as mb
from cli.report.report_tables import split_statistics
from magicbyte.spark._split_stats import FormatTotals, add_up
from magicbyte.tables.schemas import DISPOSITIONS
from paths import DATA

DATA_OF_PRODUCERS = tuple(
    name for name in DISPOSITIONS if name not in ("control", "damaged", "over_limit")
)


@pytest.mark.parametrize("engine", ["reference", "columnar"])
@pytest.mark.parametrize(
    ("cluster", "topics"),
    [("2.8/lives", None), ("4.3/transactions", ["aborted", "committed", "interleaved", "open"])],
)
def test_keys_and_values_are_counted_by_format_and_codec(
    cluster: str, topics: list[str] | None, engine: str
) -> None:
    dataset = mb.open(
        DATA / cluster,
        topics=topics,
        isolation_level="read_uncommitted",  # withheld records include markers, which are no data
        engine=engine,
        on_damage="skip",
    )
    found = add_up(one for facts in split_statistics(dataset, 4000) for one in facts.contents)
    columns = ("magic", "codec", "key", "value")
    table = dataset.records(columns, dispositions=DATA_OF_PRODUCERS).to_table()
    lengths = [pc.fill_null(pc.binary_length(table.column(n)), 0) for n in ("key", "value")]
    table = table.append_column("bytes", pc.add(*lengths))
    sums = table.group_by(["magic", "codec"]).aggregate([("bytes", "count"), ("bytes", "sum")])
    expected = {
        (row["magic"], row["codec"]): (row["bytes_count"], row["bytes_sum"])
        for row in sums.to_pylist()
    }
    by_kind = {(one.magic, one.codec): (one.records, one.content_bytes) for one in found}
    assert len(by_kind) > 1
    assert {kind: counts for kind, counts in by_kind.items() if counts != (0, 0)} == expected


def test_bytes_and_entries_are_those_of_data_that_was_read() -> None:
    dataset = mb.open(DATA / "4.3/transactions", on_damage="skip")
    found = add_up(one for facts in split_statistics(dataset, 1 << 30) for one in facts.contents)
    batches = dataset.batches(["size_bytes", "is_control"]).to_table()
    data = batches.filter(pc.invert(pc.fill_null(batches.column("is_control"), False)))
    assert sum(one.stored_bytes for one in found) == pc.sum(data.column("size_bytes")).as_py()
    assert sum(one.entries for one in found) == data.num_rows


def test_contents_of_one_format_and_codec_are_added() -> None:
    one = FormatTotals(2, "gzip", 1, 2, 3, 4, 5)
    other = FormatTotals(2, None, 1, 1, 1, 1, 1)
    assert add_up([one, other, one]) == [other, FormatTotals(2, "gzip", 2, 4, 6, 8, 10)]


def test_sizes_without_compression_are_those_of_stats() -> None:
    path = DATA / "2.8/lives"
    dataset = mb.open(path, include_internal=True, on_damage="skip")
    found = add_up(one for facts in split_statistics(dataset, 4000) for one in facts.contents)
    rows = mb.stats(path).total["contents"]
    expected = {(row["magic"], row["codec"]): row["plain_bytes"] for row in rows}
    assert {(one.magic, one.codec): one.plain_bytes for one in found} == expected
