"""Tests of dispositions against a second version of the rule that takes one record at a time."""

import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from entry_headers import header
from magicbyte.engines.protocol import Decoded, DecodedEntry, Entries, Entry
from magicbyte.findings import Finding
from magicbyte.reading.dispositions import DISPOSITION_CODES, DeliveryBounds, classify, totals
from magicbyte.reading.outcomes import NO_OUTCOME, OUTCOME_CODES
from magicbyte.reading.split import ChunkResult, select_rows
from magicbyte.tables.schemas import DISPOSITIONS

OUTCOMES = (None, "committed", "aborted", "open", "undecided")


@dataclass
class Case:
    """A batch: the offsets of its records, its last offset, transaction outcome and problem."""

    offsets: list[int]
    last: int
    is_control: bool
    outcome: str | None
    problem: str | None

    def header(self, position: int) -> Entry:
        return header(
            position=position,
            size_bytes=100 + position,
            base_offset=self.last - 5,
            last_offset=self.last,
            producer_id=1,
            record_count=len(self.offsets),
            is_transactional=self.outcome is not None,
            is_control=self.is_control,
        )

    def rows(self) -> list[int]:
        return [] if self.problem else self.offsets

    def told(self) -> DecodedEntry:
        findings = () if self.problem is None else (Finding(code=self.problem, message="m"),)
        return DecodedEntry(len(self.rows()), self.last - 5, len(self.offsets), findings=findings)


def applying(offset: int, case: Case, wanted: DeliveryBounds, committed: bool) -> list[str]:
    """Return the dispositions that apply to a record at *offset*, highest precedence first."""
    found = []
    if wanted.log_start_offset is not None and offset < wanted.log_start_offset:
        found.append("below_log_start")
    is_early = wanted.first is not None and offset < wanted.first
    if is_early or (wanted.end is not None and offset >= wanted.end):
        found.append("outside_range")
    is_late = wanted.last_stable_offset is not None and offset >= wanted.last_stable_offset
    if is_late or (committed and case.outcome in ("open", "undecided")):
        found.append("withheld")
    if committed and case.outcome == "aborted" and not case.is_control:
        found.append("aborted")
    found.append("control" if case.is_control else "delivered")
    return found


def expected(case: Case, wanted: DeliveryBounds, committed: bool) -> tuple[str, list[str]]:
    """Return the disposition of the batch *case*, and of each of its records."""
    if case.problem is not None:
        return "over_limit" if case.problem == "batch-over-limit" else "damaged", []
    places = [applying(o, case, wanted, committed) for o in case.offsets or [case.last]]
    shared = [name for name in places[0] if all(name in place for place in places)]
    records = [place[0] for place in places] if case.offsets else []
    return shared[0], records


def made(rng: random.Random) -> list[Case]:
    cases, offset = [], 0
    for _ in range(rng.randrange(1, 8)):
        offsets = sorted(rng.sample(range(offset, offset + 8), rng.randrange(0, 5)))
        offset += 8
        problem = rng.choice([None] * 6 + ["batch-over-limit", "bad-record"])
        outcome = rng.choice(OUTCOMES)
        cases.append(Case(offsets, offset - 1, rng.random() < 0.2, outcome, problem))
    return cases


@pytest.mark.parametrize("seed", range(400))
def test_records_and_entries_are_judged_by_the_rule(seed: int) -> None:
    rng = random.Random(seed)
    cases, committed = made(rng), rng.random() < 0.7
    most = 8 * len(cases) + 2

    def bound() -> int | None:
        return rng.choice([None, None, rng.randrange(-1, most)])

    bounds = {name: bound() for name in ("log_start_offset", "first", "end")}
    wanted = DeliveryBounds(**bounds, last_stable_offset=bound() if committed else None)
    headers = Entries([case.header(n) for n, case in enumerate(cases)])
    offsets = [offset for case in cases for offset in case.rows()]
    decoded = Decoded(
        rows=pa.record_batch({"offset": pa.array(offsets, pa.int64())}),
        entries=headers,
        end=0,
        num_rows=np.array([len(case.rows()) for case in cases], np.int64),
        decompressed=np.zeros(len(cases), np.int64),
        results={n: case.told() for n, case in enumerate(cases) if case.problem},
    )
    codes = [NO_OUTCOME if case.outcome is None else OUTCOME_CODES[case.outcome] for case in cases]
    outcomes = np.array(codes, np.int8)
    are_told = any(case.outcome for case in cases)
    judged = classify(
        headers, decoded, outcomes if are_told else None, wanted, is_committed_read=committed
    )
    by_rule = [expected(case, wanted, committed) for case in cases]
    assert [DISPOSITIONS[code] for code in judged.entry_codes] == [name for name, _ in by_rule]
    records = [name for _, names in by_rule for name in names]
    assert [DISPOSITIONS[code] for code in judged.row_codes] == records
    assert judged.row_dispositions().to_pylist() == records
    assert totals(judged.row_codes) == {name: records.count(name) for name in records}
    examined = list(judged)
    assert [one.disposition for one in examined] == [name for name, _ in by_rule]
    assert [one.entry for one in examined] == list(headers)
    assert [one.decoded for one in examined] == [case.told() for case in cases]
    num_bytes = totals(judged.entry_codes, headers.column("size_bytes"))
    assert num_bytes.total() == sum(entry.size_bytes for entry in headers)
    for name, size in num_bytes.items():
        named = [e.size_bytes for e, (own, _) in zip(headers, by_rule, strict=True) if own == name]
        assert size == sum(named)


@pytest.mark.parametrize("seed", range(60))
def test_chosen_rows_are_those_of_the_dispositions(seed: int) -> None:
    chance = random.Random(seed)
    num_rows = chance.choice((1, 2, 50, 400))
    share = chance.choice((0, 0.01, 0.1, 0.9, 1))
    codes = [
        DISPOSITION_CODES["control" if chance.random() < share else "delivered"]
        for _ in range(num_rows)
    ]
    if chance.random() < 0.5:
        codes[chance.randrange(num_rows)] = DISPOSITION_CODES["aborted"]
    piece = ChunkResult(
        findings=[],
        records=Counter(DISPOSITIONS[code] for code in codes),
        rows=pa.RecordBatch.from_pydict({"number": list(range(num_rows))}),
        row_codes=np.array(codes, np.int8),
    )
    for wanted in [("delivered",), ("control", "aborted"), ("withheld",), DISPOSITIONS]:
        found = list(select_rows(piece, wanted))
        numbers = [number for rows in found for number in rows.column("number").to_pylist()]
        assert numbers == [n for n, code in enumerate(codes) if DISPOSITIONS[code] in wanted]
        assert all(rows.num_rows for rows in found) and len(found) <= 16


def test_rows_are_not_copied_where_a_few_are_left_out() -> None:
    def chosen(*left_out: int) -> list[int]:
        """Return the number of rows of each record batch that is a slice and no copy; else 0."""
        codes = np.full(100, DISPOSITION_CODES["delivered"], np.int8)
        codes[list(left_out)] = DISPOSITION_CODES["control"]
        rows = pa.RecordBatch.from_pydict({"number": list(range(100))})
        records = Counter({"delivered": 100 - len(left_out), "control": len(left_out)})
        piece = ChunkResult(findings=[], records=records, rows=rows, row_codes=codes)
        whole = rows.column(0).buffers()[1].address
        return [
            found.num_rows if found.column(0).buffers()[1].address == whole else 0
            for found in select_rows(piece, ("delivered",))
        ]

    assert chosen() == [100]
    assert chosen(10, 20, 21) == [10, 9, 78]
    assert chosen(0, 99) == [98]
    assert chosen(*range(0, 100, 4)) == [0], "many short ones are worse than a copy"
    assert chosen(*range(10, 80)) == [0], "a few rows would keep the memory of all"
