"""Tests that salvage writes what a read with `on_damage="skip"` delivers, as a log without damage."""

from pathlib import Path

import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from cli.conftest import run
from extent import part
from magicbyte.writing.salvage import salvage
from paths import shared

DAMAGED = shared() / "logs-damage"
COLUMNS = ["offset", "timestamp", "key", "value", "producer_id"]


def delivered(path: Path, isolation_level: str, on_damage: str = "fail") -> pa.Table:
    dataset = mb.open(
        path, isolation_level=isolation_level, on_damage=on_damage, include_internal=True
    )
    return dataset.records(COLUMNS).to_table()


def damaged_folders() -> list[Path]:
    return sorted(path for path in DAMAGED.glob("*/*") if path.is_dir())


@pytest.mark.skipif(not DAMAGED.is_dir(), reason="the damaged log.dirs are not in the repository")
def test_salvaged_logs_have_the_rows_of_a_read_that_skips_damage(tmp_path: Path) -> None:
    folders, compared = part(damaged_folders(), 25), 0
    for number, folder in enumerate(folders):
        dataset = mb.open(folder, include_internal=True, on_damage="skip")
        report = salvage(dataset, tmp_path / str(number))
        assert not report.failures, folder
        findings = mb.verify(tmp_path / str(number)).findings
        codes = {finding.code for finding in findings if finding.severity == "error"}
        assert codes <= {"offset-gap"}, folder
        changes = report.summary["changed_entries"]
        for level in ("read_committed", "read_uncommitted"):
            expected = delivered(folder, level, "skip")
            found = delivered(tmp_path / str(number), level)
            if "out-of-order-left-out" in changes:
                # A broker cannot hold these: they repeat offsets, or go back.
                expected_rows = expected.to_pylist()
                assert all(row in expected_rows for row in found.to_pylist())
            else:
                assert found.equals(expected), folder
                compared += 1
    assert compared > 1.6 * len(folders)


def write_log(path: Path, *batches: bytes) -> None:
    build.Folder(path).segment("t-0", b"".join(batches))


def salvaged_outcomes(path: Path, out: Path) -> list[tuple[int, str | None]]:
    """Salvage the log *path*, and return the offset and outcome of each record of the output."""
    report = salvage(mb.open(path, on_damage="skip"), out)
    assert not report.failures, report.failures
    rows = mb.open(out, isolation_level="read_uncommitted").records(["offset", "outcome"])
    return [(row["offset"], row["outcome"]) for row in rows.to_pylist()]


def damaged(batch: bytes) -> bytes:
    """Return *batch* with a wrong checksum."""
    return batch[:-1] + bytes([batch[-1] ^ 1])


def test_abort_marker_that_is_lost_is_not_replaced_by_a_later_commit(tmp_path: Path) -> None:
    index = build.transaction_index((7, 0, 1))
    write_log(
        tmp_path / "in",
        build.transactional(0, 7, epoch=3),
        damaged(build.control(build.ABORT, 1, 7, epoch=3)),
        build.transactional(2, 7, epoch=3),
        build.control(build.COMMIT, 3, 7, epoch=3),
    )
    build.Folder(tmp_path / "in").segment("t-0", index, kind="txnindex")
    outcomes = dict(salvaged_outcomes(tmp_path / "in", tmp_path / "out"))
    assert outcomes[0] in ("aborted", "undecided")
    assert outcomes[2] == "committed"
    batches = mb.open(tmp_path / "out").batches(["base_offset", "is_control"]).to_pylist()
    assert {"base_offset": 1, "is_control": True} in batches


def test_offsets_of_damage_stay_free(tmp_path: Path) -> None:
    write_log(
        tmp_path / "in",
        build.batch_of(0, b"a"),
        damaged(build.batch_of(1, b"b")),
        build.batch_of(2, b"c"),
    )
    assert [offset for offset, _ in salvaged_outcomes(tmp_path / "in", tmp_path / "out")] == [0, 2]


def test_salvaged_partition_has_its_gaps_and_no_other_fault(tmp_path: Path) -> None:
    write_log(
        tmp_path / "in",
        build.batch_of(0, b"a"),
        damaged(build.batch_of(1, b"b")),
        build.batch_of(2, b"c"),
    )
    salvage(mb.open(tmp_path / "in", on_damage="skip"), tmp_path / "out")
    result = run("verify", tmp_path / "out")
    assert result.exit_code == 1  # a record is missing
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "t-0 [unchanged-damaged]: on startup the broker would serve this partition as it is, although something in it "
        "is damaged or missing"
    )
    assert lines[1].startswith("  error offset-gap: ")
    assert "consumers would" not in result.stdout
    assert "magicbyte-manifest.json" in result.stdout
    assert lines[-2].endswith("1 error")


def test_log_end_offset_is_kept_where_the_last_batch_is_lost(tmp_path: Path) -> None:
    write_log(tmp_path / "in", build.batch_of(0, b"a"), damaged(build.batch_of(1, b"b", b"c")))
    log_dir = build.Folder(tmp_path / "in").log_dir()
    log_dir.checkpoint("replication-offset-checkpoint", {("t", 0): 3})
    log_dir.checkpoint("recovery-point-offset-checkpoint", {("t", 0): 3})
    salvage(mb.open(tmp_path / "in", on_damage="skip"), tmp_path / "out")
    (row,) = mb.open(tmp_path / "out").partitions(["log_end_offset"]).to_pylist()
    assert row["log_end_offset"] == 3


def test_gap_before_an_empty_last_segment_is_filled_by_an_empty_batch(tmp_path: Path) -> None:
    # A consumer that has read offset 0 would wait at offset 1 for ever.
    write_log(tmp_path / "in", build.batch_of(0, b"a"))
    build.Folder(tmp_path / "in").segment("t-0", b"", base=9)
    salvage(mb.open(tmp_path / "in", on_damage="skip"), tmp_path / "out")
    columns = ["base_offset", "last_offset", "record_count"]
    _, filler = mb.open(tmp_path / "out").batches(columns).to_pylist()
    assert filler == {"base_offset": 1, "last_offset": 8, "record_count": 0}
    assert (tmp_path / "out" / "t-0" / f"{9:020}.log").read_bytes() == b""


def test_batch_that_repeats_offsets_is_left_out(tmp_path: Path) -> None:
    batch = build.batch_of(1, b"b")
    write_log(tmp_path / "in", build.batch_of(0, b"a"), batch, batch, build.batch_of(2, b"c"))
    assert [offset for offset, _ in salvaged_outcomes(tmp_path / "in", tmp_path / "out")] == [
        0,
        1,
        2,
    ]


def test_batch_with_a_far_too_high_offset_does_not_push_out_those_after_it(tmp_path: Path) -> None:
    write_log(
        tmp_path / "in",
        build.batch_of(0, b"a"),
        build.batch_of(1 << 40, b"b"),
        build.batch_of(2, b"c"),
    )
    assert [offset for offset, _ in salvaged_outcomes(tmp_path / "in", tmp_path / "out")] == [0, 2]


def test_batch_outside_of_the_open_transaction_of_its_producer_is_left_out(tmp_path: Path) -> None:
    # A broker that replays such a log does not start (ProducerAppendInfo: InvalidTxnStateException).
    write_log(
        tmp_path / "in",
        build.transactional(0, 7),
        build.batch(build.records(1, start=1), 1, producer=7, sequence=1),
        build.control(build.COMMIT, 2, 7),
    )
    assert salvaged_outcomes(tmp_path / "in", tmp_path / "out") == [(0, "committed")]


def test_replicas_fill_each_other(tmp_path: Path) -> None:
    whole = [build.batch_of(number, b"v%d" % number) for number in range(6)]
    for name, lost in (("a", 2), ("b", 4)):
        log_dir = build.Folder(tmp_path / "in").log_dir(name)
        batches = [damaged(each) if number == lost else each for number, each in enumerate(whole)]
        log_dir.segment("t-0", b"".join(batches))
    dataset = mb.open(tmp_path / "in" / "a", tmp_path / "in" / "b", on_damage="skip")
    salvage(dataset, tmp_path / "out")
    assert (tmp_path / "out" / "t-0" / f"{0:020}.log").read_bytes() == b"".join(whole)


def test_dataset_that_fails_at_damage_is_refused(tmp_path: Path) -> None:
    write_log(tmp_path / "in", build.batch_of(0, b"a"))
    with pytest.raises(mb.InputError, match="on_damage 'skip'"):
        salvage(mb.open(tmp_path / "in"), tmp_path / "out")


def test_missing_offsets_are_in_the_report(tmp_path: Path) -> None:
    write_log(
        tmp_path / "in",
        damaged(build.batch_of(0, b"a")),
        build.batch_of(1, b"b"),
        damaged(build.batch_of(2, b"c", b"d")),
        build.batch_of(4, b"e"),
        b"\xff" * 90,
    )
    (row,) = salvage(mb.open(tmp_path / "in", on_damage="skip"), None).partitions
    assert row["missing_ranges"] == [(0, 0), (2, 3), (5, None)]
    assert row["missing_range_count"] == 3
    result = run("salvage", tmp_path / "in", "-o", tmp_path / "out")
    assert "  missing offsets: 0, 2 to 3, 5 on\n" in result.stdout
    assert f"next: magicbyte restore {tmp_path / 'out'} -o STAGING" in result.stdout
    assert "out of order" not in result.stdout
    lines = result.stderr.splitlines()
    assert len(lines) == len(set(lines)) > 3


def test_offsets_of_batches_out_of_order_are_in_the_report(tmp_path: Path) -> None:
    order = (0, 4, 5, 6, 1, 2, 3, 9, 8)
    write_log(tmp_path / "in", *(build.batch_of(offset, b"a") for offset in order))
    dataset = mb.open(tmp_path / "in", on_damage="skip")
    assert dataset.records(["offset"]).to_table().num_rows == len(order)
    (row,) = salvage(dataset, tmp_path / "out").partitions
    kept = mb.open(tmp_path / "out").records(["offset"]).to_table()["offset"].to_pylist()
    assert row["changed_entries"]["out-of-order-left-out"] == len(order) - len(kept)
    left_out = [n for first, last in row["out_of_order_ranges"] for n in range(first, last + 1)]
    assert sorted(left_out + kept) == sorted(order)
    assert row["out_of_order_ranges"] == [(1, 3), (9, 9)]
    assert row["out_of_order_range_count"] == 2
    result = run("salvage", tmp_path / "in", "--dry-run")
    assert (
        "  offsets of the batches out of order: 1 to 3, 9; dump prints their records\n"
        in result.stdout
    )


def test_text_has_ten_ranges_of_missing_offsets(tmp_path: Path) -> None:
    batches = (build.batch_of(offset, b"a") for offset in range(25))
    write_log(
        tmp_path / "in",
        *(damaged(each) if number % 2 else each for number, each in enumerate(batches)),
    )
    result = run("salvage", tmp_path / "in", "--dry-run")
    assert "17, 19 and 2 more ranges\n" in result.stdout
    assert "next:" not in result.stdout
