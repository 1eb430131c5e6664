"""Tests of the checks of batch headers against records."""

from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.findings import Finding

HIGH, LOW = build.TIME + 9, build.TIME - 9


def times(*deltas: int) -> list[bytes]:
    return [build.record(delta=i, time_delta=delta) for i, delta in enumerate(deltas)]


@pytest.fixture(params=["reference", "columnar"])
def check(request: pytest.FixtureRequest, folder: Any) -> Any:
    """A function that returns the findings of a log, but notes."""

    def findings(*entries: bytes) -> list[Finding]:
        path: Path = folder.segment("t-0", b"".join(entries))
        found = mb.verify(path.parent, engine=request.param).findings
        return [finding for finding in found if finding.severity != "note"]

    return findings


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


def test_sound_batches_of_all_kinds_have_no_finding(check: Any) -> None:
    assert not check(
        build.batch(times(0, 9, 3), max_time=HIGH),
        build.batch(times(0, 0), 3, flags=build.APPEND_TIME, max_time=HIGH),
        build.batch(times(0), 5, time=-1, max_time=-1),
        build.batch([], 6, last_delta=3, max_time=HIGH),
        build.message(offset=10),
        build.message(offset=11, magic=0),
        build.transactional(12, 7),
        build.control(build.COMMIT, 13, 7),
        build.batch(times(0, 9), 14, codec=build.GZIP, max_time=HIGH),
    )


def test_records_beyond_the_last_offset_of_the_header_are_no_gap(check: Any) -> None:
    (finding,) = check(
        build.batch(build.records(10), 0, last_delta=5), build.batch(build.records(2), 10)
    )
    assert finding.code == "record-offset-mismatch"
    assert (finding.field, finding.found, finding.expected) == ("last_offset_delta", "5", "9")
    assert finding.message == "the header ends at offset 5, its records at 9"


def test_a_gap_after_records_beyond_the_header_is_still_one(check: Any) -> None:
    entries = build.batch(build.records(10), 0, last_delta=5), build.batch(build.records(2), 12)
    gap, mismatch = check(*entries)
    assert (gap.code, gap.message) == ("offset-gap", "offsets 10 to 11 are missing")
    assert mismatch.code == "record-offset-mismatch"


BEYOND = build.batch(build.records(10), 0, last_delta=5)


@pytest.mark.parametrize(
    ("data", "gaps"),
    [
        ([BEYOND + build.batch(base=10)], []),
        ([build.batch(base=0) + build.batch(build.records(9), 1, last_delta=0, codec=build.GZIP)
          + build.batch(base=10)], []),
        ([BEYOND, build.batch(base=10)], []),
        ([BEYOND, build.batch(build.records(10), 10, last_delta=1), build.batch(base=20)], []),
        ([BEYOND, b""], []),
        ([BEYOND + build.batch(base=12)], [("10", "12")]),
        ([BEYOND, build.batch(base=12)], [("10", "12")]),
        ([BEYOND + build.batch(base=10) + build.batch(base=12)], [("11", "12")]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("engine", ["reference", "columnar"])
def test_every_output_knows_the_offsets_of_records_beyond_their_header(
    folder: Any, data: list[bytes], gaps: list[tuple[str, str]], engine: str
) -> None:
    for number, content in enumerate(data):
        folder.segment("t-0", content, base=10 * number if number else 0)
    path = folder.path / "t-0"
    dataset = mb.open(path, engine=engine)
    records = dataset.records()
    list(records)
    outputs = [
        records.report.findings,
        mb.verify(path, engine=engine).findings,
        mb.stats(path, engine=engine).findings,
        *(
            _findings_of(getattr(dataset, name)())
            for name in ("transactions", "partitions", "gaps")
        ),
    ]
    for findings in outputs:
        found = [(one.expected, one.found) for one in findings if one.code.startswith("offset-gap")]
        assert found == gaps
    problems = dataset.problems(["code", "expected", "found"]).to_pylist()
    assert [
        (row["expected"], row["found"]) for row in problems if row["code"].startswith("offset-gap")
    ] == gaps
    missing = [row for row in dataset.gaps().to_pylist() if row["reason"] == "missing"]
    assert [(str(row["first_offset"]), str(row["end_offset"])) for row in missing] == gaps


def _findings_of(rows: mb.Rows) -> list[Finding]:
    list(rows)
    return rows.report.findings


def test_a_transaction_is_not_undecided_for_offsets_that_records_have(folder: Any) -> None:
    data = build.transactional(0, 7) + build.batch(build.records(9), 1, last_delta=0)
    path = folder.segment("t-0", data + build.control(build.COMMIT, 10, 7)).parent
    (row,) = mb.open(path).transactions(["outcome"]).to_pylist()
    assert row["outcome"] == "committed"


@pytest.mark.parametrize("deltas", [(0, 2, 1), (0, 1, 1), (-1, 0, 1)])
def test_offsets_of_records_increase_within_their_batch(check: Any, deltas: Any) -> None:
    content = [build.record(delta=delta) for delta in deltas]
    (finding,) = check(build.batch(base=0), build.batch(content, 1, last_delta=2))
    assert (finding.code, finding.field) == ("record-offset-mismatch", "offset_delta")


@pytest.mark.parametrize("max_time", [LOW, HIGH])
def test_the_max_timestamp_is_the_latest_of_the_records(check: Any, max_time: int) -> None:
    (finding,) = check(build.batch(times(0, 3), max_time=max_time))
    assert (finding.code, finding.position) == ("max-timestamp-mismatch", 0)
    assert (finding.found, finding.expected) == (str(max_time), str(build.TIME + 3))


def test_compaction_may_keep_a_later_max_timestamp_and_no_earlier_one(check: Any) -> None:
    assert not check(build.batch(times(0, 3), last_delta=5, max_time=HIGH))
    assert codes(check(build.batch(times(0, 3), last_delta=5, max_time=LOW))) == [
        "max-timestamp-mismatch"
    ]


def test_further_faults_in_a_segment_are_counted(check: Any) -> None:
    (finding,) = check(*(build.batch(base=n, max_time=HIGH) for n in range(4)))
    assert finding.message.endswith("; 3 more in this segment")


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (build.batch(flags=0x80), 1),
        (build.batch(flags=0x8000), 0x100),
        (build.message(attributes=0x10), 1),
        (build.message(magic=0, attributes=0x80), 8),
    ],
)
def test_reserved_attribute_bits_are_reported(check: Any, entry: bytes, found: int) -> None:
    (finding,) = check(entry)
    assert (finding.code, finding.field) == ("reserved-bits", "attributes.reserved")
    assert finding.found == str(found)
