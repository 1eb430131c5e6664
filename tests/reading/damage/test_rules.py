"""Tests of the rules of reading damaged logs, each on the smallest log that shows the rule.

The tests build the bytes, with right checksums, so that the expected rows are known.
"""

import struct
from itertools import pairwise
from typing import Any

import pytest

import magicbyte as mb
from log_builder import HORIZON, batch_of, control, message, producer_snapshot, transaction_index
from log_reader import Read
from magicbyte.engines import header_scan
from magicbyte.engines._auto import AutoEngine

COMMITTED, UNCOMMITTED = "read_committed", "read_uncommitted"
CHECKPOINT = "cleaner-offset-checkpoint"


def name(base: int, kind: str = "log") -> str:
    return f"{base:020}.{kind}"


def marker(offset: int, producer: int, *, commits: bool, epoch: int = 0) -> bytes:
    return control(int(commits), offset, producer, epoch=epoch)


def end_offsets(dataset: mb.Dataset) -> tuple[int, int]:
    """Return the last stable offset and the log end offset."""
    (row,) = dataset.partitions().to_pylist()
    return row["last_stable_offset"], row["log_end_offset"]


def flip(data: bytes, at: int, bits: int = 0xFF) -> bytes:
    return data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :]


@pytest.fixture
def read(workshop) -> Any:
    """A function that reads a partition's files, alone or in a log.dir with the files *log_dir*."""

    def read(files: Any, log_dir: Any = None, *, level: str = UNCOMMITTED) -> Read:
        return Read(workshop.open(workshop.put(files, log_dir), level))

    return read


@pytest.fixture
def log_dir() -> dict[str, bytes]:
    """The files at the root of a log.dir in which the log cleaner never ran."""
    return {"meta.properties": b"version=0\n", CHECKPOINT: b"0\n0\n"}


@pytest.fixture
def plain() -> list[bytes]:
    """Twelve batches of two records, offsets 0 to 23."""
    return [batch_of(2 * n, b"a%d" % n, b"b%d" % n) for n in range(12)]


# Entries inside of payloads


@pytest.mark.parametrize("what", ["checksum", "size", "offset and checksum", "magic"])
@pytest.mark.parametrize("form", [0, 1, 2])
def test_entries_inside_of_a_damaged_payload_are_not_taken_for_the_logs(read, form, what) -> None:
    """A record's value holds a whole segment, with offsets that the log could continue with."""
    inner = b"".join(batch_of(1 + n, b"inner") for n in range(100))
    outer = batch_of(1, inner) if form == 2 else message(inner, 1, magic=form)
    damaged = bytearray(outer)
    if what.endswith("checksum"):
        damaged[-1] ^= 1
    if what == "size":
        struct.pack_into(">i", damaged, 8, len(outer) - 12 + 5)
    if what.startswith("offset"):
        struct.pack_into(">q", damaged, 0, 1 << 40)
    if what == "magic":
        damaged[16] = 7
    log = (
        batch_of(0, b"zero")
        + bytes(damaged)
        + b"".join(batch_of(2 + n, b"two%d" % n) for n in range(5))
    )
    for is_last in (True, False):
        files = {name(0): log} | ({} if is_last else {name(50): batch_of(50, b"fifty")})
        result = read(files)
        values = result.values
        assert b"inner" not in values
        whole = [inner] if what == "size" and inner in values else []
        assert [v for v in values if v != inner] == [
            b"zero",
            *(b"two%d" % n for n in range(5)),
            *([] if is_last else [b"fifty"]),
        ]
        assert [v for v in values if v == inner] == whole
        assert result.errors


# Where the damage is


def test_two_damaged_neighbours_cost_nothing_else(plain, read) -> None:
    for first, second in pairwise(range(12)):
        for at, bits in ((70, 0xFF), (10, 0x01), (11, 0x02), (16, 0x08), (0, 0x7F)):
            broken = [flip(b, at, bits) if n in (first, second) else b for n, b in enumerate(plain)]
            result = read({name(0): b"".join(broken)})
            expected = [n for n in range(24) if n // 2 not in (first, second)]
            assert [o for o in result.offsets if o in expected] == expected, (first, at)
            assert result.errors or second == 11


@pytest.mark.parametrize("damaged", [0, 11])
@pytest.mark.parametrize("at", [8, 11, 16, 17, 21, 57, 61, -1])
def test_damage_of_the_first_or_last_entry_costs_that_entry_alone(plain, read, damaged, at) -> None:
    data = plain[damaged]
    broken = [*plain]
    broken[damaged] = flip(data, at % len(data), 0x81)
    result = read({name(0): b"".join(broken)})
    assert result.offsets == [n for n in range(24) if n // 2 != damaged]
    assert any(f.severity in ("error", "warning") for f in result.findings)


def test_garbage_around_the_entries_costs_none_of_them(plain, read) -> None:
    log = b"".join(plain)
    for before, behind in ((b"\xff" * 40, b""), (b"", b"\xff" * 40), (bytes(40), b"\xfe" * 5)):
        result = read({name(0): before + log + behind})
        assert result.offsets == list(range(24))
        assert result.errors


def test_zeros_are_a_tail_at_the_end_of_the_log_and_damage_anywhere_else(plain, read) -> None:
    first, second = b"".join(plain[:6]), b"".join(plain[6:])
    for zeros in (1, 11, 12, 17, 61, 5000):
        result = read({name(0): first, name(12): second + bytes(zeros)})
        assert result.offsets == list(range(24))
        assert set(result.codes) == {"zero-tail"}
        for files in (
            {name(0): first + bytes(zeros), name(12): second},
            {name(0): first + bytes(zeros) + second},
            {name(0): bytes(zeros) + first + second},
        ):
            result = read(files)
            assert result.offsets == list(range(24)), (zeros, list(files))
            assert result.errors, (zeros, list(files))


@pytest.mark.parametrize("cut", [1, 12, 17, 61, -2])
def test_an_incomplete_end_is_a_tail_only_where_no_entry_follows(plain, read, cut) -> None:
    piece = plain[5][:cut]
    first, second = b"".join(plain[:5]), b"".join(plain[6:])
    expected = [n for n in range(24) if n // 2 != 5]
    # The offset's own first bytes are zeros, and so is the first byte of the next one's.
    tail = "zero-tail" if not any(piece) else "incomplete-tail"
    result = read({name(0): first + piece})
    assert result.offsets == list(range(10))
    assert set(result.codes) == {tail}
    for files in (
        {name(0): first + piece, name(12): second},
        {name(0): first + piece + second},
    ):
        result = read(files)
        assert result.offsets == expected, list(files)
        assert result.errors
        assert not set(result.codes) & {"incomplete-tail", "zero-tail"}


# Offsets


def test_a_wild_offset_costs_no_entry_behind_it(plain, read) -> None:
    """The checksum does not cover the offset; the next two offsets in sequence are believed."""
    for wild in (1 << 40, -5, 0):
        broken = [*plain]
        broken[4] = struct.pack(">q", wild) + plain[4][8:]
        # A second damaged entry makes the reader search for entries after the wild offset too.
        broken[8] = flip(plain[8], 16)
        result = read({name(0): b"".join(broken)})
        expected = [n for n in range(24) if n // 2 not in (4, 8)]
        assert [o for o in result.offsets if o in expected and o not in (wild, wild + 1)] == [
            o for o in expected if o not in (wild, wild + 1)
        ], wild
        assert result.errors


def test_a_marker_whose_offset_goes_back_withholds_nothing_before_it(read) -> None:
    data = batch_of(0, b"a", b"b", producer=7)
    for offset in (1, 0, -(1 << 62)):
        result = read({name(0): data + marker(offset, 7, commits=True)}, level=COMMITTED)
        assert result.offsets == [0, 1], offset


def test_a_record_of_a_wild_offset_is_delivered_where_no_transaction_is_open(read) -> None:
    data = batch_of(0, b"a") + batch_of(1 << 40, b"b") + batch_of(2, b"c") + batch_of(3, b"d")
    for level in (COMMITTED, UNCOMMITTED):
        result = read({name(0): data}, level=level)
        assert result.offsets == [0, 1 << 40, 2, 3]
        assert "offset-out-of-order" in result.codes
    (partition,) = result.dataset.partitions().to_pylist()
    assert partition["log_end_offset"] == 4


def test_an_entry_that_goes_back_leaves_no_gap_where_the_log_goes_on(read, log_dir) -> None:
    entries = batch_of(0, b"a"), batch_of(1, b"b"), batch_of(0, b"x"), batch_of(2, b"c")
    log = b"".join(entries)
    assert set(read({name(0): log}, log_dir).codes) == {"offset-out-of-order"}
    codes = read({name(0): log + batch_of(4, b"e")}, log_dir).codes
    assert set(codes) == {"offset-out-of-order", "offset-gap"}


# Gaps


def log_with_gap(between: int) -> dict[str, bytes]:
    """Return a log in which an open transaction meets a gap [2, *between*) before its COMMIT."""
    return {
        name(0): batch_of(0, b"t0", b"t1", producer=7)
        + marker(between, 7, commits=True)
        + batch_of(between + 1, b"p")
    }


def test_a_gap_is_a_hole_in_a_log_that_was_never_cleaned(read, log_dir) -> None:
    result = read(log_with_gap(5), log_dir, level=COMMITTED)
    assert result.values == [b"p"]
    assert {"offset-gap", "transaction-undecided"} <= set(result.codes)
    assert read(log_with_gap(5), log_dir).offsets == [0, 1, 6]


@pytest.mark.parametrize(("cleaned", "is_hole"), [(0, True), (4, True), (5, False), (9, False)])
def test_a_gap_is_cleaning_up_to_the_cleaners_checkpoint(read, log_dir, cleaned, is_hole) -> None:
    log_dir[CHECKPOINT] = f"0\n1\ntopic 0 {cleaned}\n".encode()
    result = read(log_with_gap(5), log_dir, level=COMMITTED)
    assert result.values == ([b"p"] if is_hole else [b"t0", b"t1", b"p"])
    assert ("offset-gap" in result.codes) == is_hole


def test_a_gap_in_a_folder_alone_is_cleaning_only_if_the_segment_shows_it(read) -> None:
    result = read(log_with_gap(5), level=COMMITTED)
    assert result.values == [b"p"]
    assert "offset-gap" in result.codes
    for shown in (
        batch_of(7, b"x", last_delta=2),  # a gap inside
        batch_of(7, last_delta=1),  # emptied
        batch_of(7, b"x", flags=HORIZON),  # a delete horizon
    ):
        files = log_with_gap(5)
        files[name(0)] += shown
        result = read(files, level=COMMITTED)
        assert result.values[:3] == [b"t0", b"t1", b"p"]
        assert "offset-gap-cleaned" in result.codes
        assert "transaction-undecided" not in result.codes


def test_a_gap_has_headers_read_up_to_what_shows_cleaning(read, monkeypatch) -> None:
    def counted(*args: Any) -> Any:
        headers = read_headers(*args)
        counts.append(len(headers))
        return headers

    counts: list[int] = []
    read_headers = AutoEngine.read_headers
    monkeypatch.setattr(header_scan, "MAX_HEADERS", 4)
    monkeypatch.setattr(AutoEngine, "read_headers", counted)
    plain = b"".join(batch_of(offset, b"p") for offset in range(8, 108))
    at_first = batch_of(0, b"x", last_delta=1) + batch_of(2, b"t", producer=7)
    result = read({name(0): at_first + marker(7, 7, commits=True) + plain})
    assert "offset-gap-cleaned" in result.codes
    assert counts == [4, 4]  # up to the transaction, and then up to the first batch


def test_a_missing_segment_is_a_hole(read, log_dir) -> None:
    files = {
        name(0): batch_of(0, b"t", producer=7),
        # The segment at 1 is gone: with it an ABORT of 7, and the beginning of another.
        name(5): batch_of(5, b"u", producer=7) + marker(6, 7, commits=True),
    }
    result = read(files, log_dir, level=COMMITTED)
    assert b"t" not in result.values
    assert {"offset-gap", "transaction-undecided"} <= set(result.codes)


# Transactions across holes


def with_damaged_batch(*behind: bytes, before: bytes = b"", epoch: int = 0) -> bytes:
    """Return a transaction of producer 7 at offset 10, a damaged batch at 11, and then *behind*."""
    return (
        (before or batch_of(0, *[b"x"] * 10))
        + batch_of(10, b"t", producer=7, epoch=epoch)
        + flip(batch_of(11, b"lost"), 70)
        + b"".join(behind)
    )


@pytest.mark.parametrize(
    ("ends", "is_delivered"),
    [
        ([marker(12, 7, commits=True, epoch=3)], False),
        ([marker(12, 7, commits=False, epoch=3)], False),
        ([marker(12, 7, commits=True, epoch=4)], True),
        ([marker(12, 7, commits=True, epoch=5)], False),
        ([marker(12, 7, commits=False, epoch=4)], False),
        ([], False),
    ],
    ids=["commit", "abort", "commit +1", "commit +2", "abort +1", "no marker"],
)
def test_only_a_commit_of_the_next_epoch_proves_what_a_hole_hides(
    read, log_dir, ends, is_delivered
) -> None:
    log = with_damaged_batch(*ends, batch_of(13, b"p"), epoch=3)
    result = read({name(0): log}, log_dir, level=COMMITTED)
    assert (10 in result.offsets) == is_delivered
    assert 13 in result.offsets
    assert ("transaction-undecided" in result.codes) != is_delivered


def test_a_commit_of_the_next_epoch_proves_nothing_where_markers_keep_their_datas_epoch(
    read, log_dir
) -> None:
    before = batch_of(0, *[b"x"] * 8) + batch_of(8, b"t", producer=7, epoch=3)
    before += marker(9, 7, commits=False, epoch=3)
    log = with_damaged_batch(marker(12, 7, commits=True, epoch=4), before=before, epoch=3)
    result = read({name(0): log}, log_dir, level=COMMITTED)
    assert 10 not in result.offsets
    assert "transaction-undecided" in result.codes


@pytest.mark.parametrize(("epoch", "is_delivered"), [(5, False), (6, True)])
def test_a_marker_with_its_datas_epoch_of_any_producer_spoils_the_proof(
    read, log_dir, epoch, is_delivered
) -> None:
    before = batch_of(0, *[b"x"] * 8) + batch_of(8, b"t", producer=8, epoch=5)
    before += marker(9, 8, commits=True, epoch=epoch)
    log = with_damaged_batch(marker(12, 7, commits=True, epoch=4), before=before, epoch=3)
    result = read({name(0): log}, log_dir, level=COMMITTED)
    assert (10 in result.offsets) == is_delivered


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ((7, 10, 11), "aborted"),
        ((7, 9, 11), "undecided"),
        ((8, 10, 11), "undecided"),
        (None, "undecided"),
    ],
)
def test_a_transaction_index_decides_what_a_hole_hides_only_if_it_fits(
    read, log_dir, entry, outcome
) -> None:
    files = {name(0): with_damaged_batch(batch_of(12, b"p"))}
    if entry:
        files[name(0, "txnindex")] = transaction_index(entry)
    result = read(files, log_dir, level=COMMITTED)
    assert result.offsets == [*range(10), 12]
    found = result.dataset.transactions(["producer_id", "outcome", "evidence"]).to_pylist()
    evidence = "txnindex" if outcome == "aborted" else None
    assert found == [{"producer_id": 7, "outcome": outcome, "evidence": evidence}]


def test_an_undecided_transaction_withholds_itself_alone_and_an_open_one_all_behind_it(
    read, log_dir
) -> None:
    log = with_damaged_batch(batch_of(12, b"p"), batch_of(13, b"o", producer=8), batch_of(14, b"q"))
    result = read({name(0): log}, log_dir, level=COMMITTED)
    assert result.offsets == [*range(10), 12]
    assert {"transaction-undecided", "transaction-open"} <= set(result.codes)
    assert end_offsets(result.dataset) == (13, 15)
    withheld = [row["offset"] for row in result.rows if row["disposition"] == "withheld"]
    assert withheld == [10, 13, 14]


# Snapshots, and logs that begin above 0


def log_from_100(*behind: bytes, last: int = 99) -> dict[str, bytes]:
    """Return a log from offset 100; in its snapshot, producer 7 has a transaction open from 90."""
    return {
        name(100, "snapshot"): producer_snapshot((7, 0, last, 90)),
        name(100): batch_of(100, b"x", b"y") + b"".join(behind),
    }


def test_a_transaction_that_only_the_first_snapshot_knows_withholds_the_log(read, log_dir) -> None:
    result = read(log_from_100(), log_dir, level=COMMITTED)
    assert result.values == []
    assert "transaction-open" in result.codes
    assert end_offsets(result.dataset) == (100, 102)
    found = result.dataset.transactions().to_pylist()
    transactions = [(t["first_offset"], t["begun_before_log"], t["outcome"]) for t in found]
    assert transactions == [(90, True, "open")]


@pytest.mark.parametrize("commits", [False, True])
def test_a_transaction_begun_before_the_log_is_ended_by_its_marker(read, log_dir, commits) -> None:
    data = batch_of(102, b"t", producer=7)
    for behind in ((), (data,)):
        last = 102 + len(behind)
        end = marker(last, 7, commits=commits)
        result = read(log_from_100(*behind, end), log_dir, level=COMMITTED)
        assert result.offsets == [100, 101, *([102] if behind and commits else [])]
        assert end_offsets(result.dataset) == (last + 1, last + 1)


@pytest.mark.parametrize(
    ("later", "counts"),
    [((7, 0, 99, 90), True), ((7, 0, 99, -1), False), ((8, 0, 99, -1), False)],
)
def test_a_transaction_of_the_first_snapshot_counts_only_if_every_later_one_names_it(
    read, log_dir, later, counts
) -> None:
    files = log_from_100() | {
        name(102, "snapshot"): producer_snapshot(later),
        name(102): batch_of(102, b"z"),
    }
    result = read(files, log_dir, level=COMMITTED)
    assert result.offsets == ([] if counts else [100, 101, 102])
    assert ("transaction-open" in result.codes) == counts
    assert ("snapshot-transaction-ignored" in result.codes) != counts


def test_a_snapshot_names_no_more_what_a_marker_before_it_has_ended(read, log_dir) -> None:
    files = log_from_100(marker(102, 7, commits=True)) | {
        name(103, "snapshot"): producer_snapshot((7, 0, -1, -1)),
        name(103): batch_of(103, b"z"),
    }
    result = read(files, log_dir, level=COMMITTED)
    assert result.offsets == [100, 101, 103]
    assert result.codes == []


MISMATCH, UNKNOWN = {"snapshot-mismatch"}, {"snapshot-unconfirmed"}


@pytest.mark.parametrize(
    ("stated", "epoch", "sequence", "said"),
    [
        ((7, 1, 90, -1), 1, 1, set()),
        ((7, 1, 90, -1), 2, 5, set()),  # a new epoch begins its own sequences
        ((7, 1, 90, -1), 1, 0, set()),  # as producers before KIP-360 started again
        ((7, 1, 90, -1), 0, 1, MISMATCH),
        ((7, 1, 90, -1), 1, 2, MISMATCH),
        ((8, 1, 90, -1), 1, 1, UNKNOWN),
    ],
)
def test_a_producer_goes_on_from_what_the_first_snapshot_states(
    read, log_dir, stated, epoch, sequence, said
) -> None:
    data = batch_of(100, b"x", producer=7, epoch=epoch, sequence=sequence)
    files = {
        name(100, "snapshot"): producer_snapshot(stated),
        name(100): data + marker(101, 7, commits=True, epoch=epoch),
    }
    result = read(files, log_dir, level=COMMITTED)
    assert result.offsets == [100]
    assert set(result.codes) == said
    assert {f.file for f in result.findings} <= {name(100, "snapshot")}


def test_a_marker_before_the_data_does_not_hide_the_sequence(read, log_dir) -> None:
    files = {
        name(100, "snapshot"): producer_snapshot((7, 0, 90, 90)),
        name(100): marker(100, 7, commits=True)
        + batch_of(101, b"x", producer=7, sequence=4)
        + marker(102, 7, commits=True),
    }
    result = read(files, log_dir, level=COMMITTED)
    assert set(result.codes) == MISMATCH


@pytest.mark.parametrize(
    ("later", "said"),
    [
        ([(7, 1, 95, -1)], set()),
        ([(7, 2, -1, -1)], set()),
        ([(7, 1, -1, -1)], set()),  # forgotten, and known again by a marker
        ([(7, 1, 94, -1)], MISMATCH),
        ([(7, 0, 96, -1)], MISMATCH),
        ([], UNKNOWN),
    ],
)
def test_later_snapshots_go_on_from_the_first(read, log_dir, later, said) -> None:
    files = {
        name(100, "snapshot"): producer_snapshot((7, 1, 95, -1)),
        name(100): batch_of(100, b"x"),
        name(101, "snapshot"): producer_snapshot(*later),
        name(101): batch_of(101, b"y", producer=9) + marker(102, 9, commits=True),
    }
    result = read(files, log_dir, level=COMMITTED)
    assert set(result.codes) == said


def test_a_first_snapshot_that_is_wrong_withholds_nothing(read, log_dir) -> None:
    files = {
        name(100, "snapshot"): producer_snapshot((7, 0, 90, -1), (8, 3, 95, 94)),
        name(100): batch_of(100, b"x", producer=7, sequence=4) + marker(101, 7, commits=True),
    }
    result = read(files, log_dir, level=COMMITTED)
    assert result.offsets == [100]
    assert set(result.codes) == {"snapshot-mismatch", "snapshot-transaction-ignored"}


@pytest.mark.parametrize(("epoch", "said"), [(0, MISMATCH), (1, set()), (2, MISMATCH)])
def test_a_snapshot_has_the_epoch_of_the_last_marker(read, log_dir, epoch, said) -> None:
    files = {
        name(0): batch_of(0, b"x", producer=7) + marker(1, 7, commits=True, epoch=1),
        name(2, "snapshot"): producer_snapshot((7, epoch, -1, -1)),
        name(2): batch_of(2, b"y"),
    }
    result = read(files, log_dir, level=COMMITTED)
    assert set(result.codes) == said


def test_at_offset_0_nothing_is_open_whatever_a_snapshot_says(read, log_dir) -> None:
    files = {
        name(0, "snapshot"): producer_snapshot((7, 0, -1, 0)),
        name(0): batch_of(0, b"x"),
    }
    result = read(files, log_dir, level=COMMITTED)
    assert result.offsets == [0]


def test_a_log_that_begins_above_0_is_searched_in_its_own_window(read) -> None:
    """The value of a damaged record holds a sound segment with offsets below the log's first."""
    inner = b"".join(batch_of(n, b"old") for n in range(10))
    outer = bytearray(batch_of(101, inner))
    struct.pack_into(">i", outer, 8, 0)
    log = batch_of(100, b"x") + bytes(outer) + batch_of(102, b"y") + batch_of(103, b"z")
    result = read({name(100): log})
    assert result.values == [b"x", b"y", b"z"]


# The live set


@pytest.mark.parametrize("suffix", ["deleted", "cleaned"])
def test_deleted_and_unfinished_files_are_not_read(workshop, suffix) -> None:
    files = {
        name(0): batch_of(0, b"live"),
        f"{name(0)}.{suffix}": batch_of(0, b"dead"),
        f"{name(5)}.{suffix}": batch_of(5, b"dead"),
    }
    path = workshop.put(files)
    assert [row[3] for row in workshop.read(path)[0]] == [b"live"]
    listed = {
        row["file"]: (row["live"], row["why_not"])
        for row in workshop.open(path).segments().to_pylist()
    }
    assert listed[f"{name(0)}.{suffix}"] == (False, suffix)
    named = mb.open(f"{path}/{name(0)}.{suffix}", isolation_level=UNCOMMITTED)
    assert [row["value"] for row in named.records(["value"]).to_pylist()] == [b"dead"]


def test_a_swapped_log_supersedes_the_segments_that_it_spans(workshop) -> None:
    files = {
        name(0): batch_of(0, b"a0", b"a1"),
        name(2): batch_of(2, b"b0", b"b1"),
        name(4): batch_of(4, b"c0", b"c1"),
        f"{name(0)}.swap": batch_of(0, b"s0", last_delta=1) + batch_of(2, b"s2", last_delta=1),
    }
    path = workshop.put(files)
    assert [row[3] for row in workshop.read(path)[0]] == [b"s0", b"s2", b"c0", b"c1"]
    rows = {row["file"]: row for row in workshop.open(path).segments().to_pylist()}
    assert rows[name(0)]["why_not"] == rows[name(2)]["why_not"] == "superseded"
    assert rows[name(4)]["live"]
    assert rows[f"{name(0)}.swap"]["live"]


def test_a_swapped_log_at_or_above_an_unfinished_one_is_not_read(workshop) -> None:
    for cleaned, is_read in ((0, False), (2, False), (4, True)):
        files = {
            name(0): batch_of(0, b"a0", b"a1"),
            name(2): batch_of(2, b"b0", b"b1"),
            name(4): batch_of(4, b"c0"),
            f"{name(2)}.swap": batch_of(2, b"s2", last_delta=1),
            f"{name(cleaned)}.cleaned": b"",
        }
        values = [row[3] for row in workshop.read(workshop.put(files))[0]]
        middle = [b"s2"] if is_read else [b"b0", b"b1"]
        assert values == [b"a0", b"a1", *middle, b"c0"], cleaned
