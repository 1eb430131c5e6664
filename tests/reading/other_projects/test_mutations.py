"""Tests on sound vectors with a byte changed or the end cut off: no foreign error, right sums."""

from collections import Counter
from typing import Any

import pytest

import magicbyte as mb
from extent import WIDE
from magicbyte.tables.schemas import DISPOSITIONS

Vector = dict[str, Any]
NAMES = [
    "codecrafters__fetch_v16_2",
    "franz-go__double_abort_marker",
    "franz-go__v1_compacted_gap",
    "kafka-java__v0_gzip_compacted",
    "kafka-java__v0_lz4_compacted",
    "kafka-java__v1_gzip_wrapper_offset_zero",
    "kafka-java__v1_lz4_compacted",
    "kafka-java__v2_compacted_to_empty",
    "kafka-java__v2_control_leader_change",
    "kafka-java__v2_none_compacted_tombstone_horizon",
    "kafka-java__v2_sequence_wraparound",
    "kafka-java__v2_txn_marker_delete_horizon",
    "kafka-protocol-rs__v2_two_batches",
    "kafka-python__run_v0_snappy",
    "kafka-python__run_v1_snappy",
    "kafkajs__fetch_v2_none",
    "perl-kafka__fetch_v0_two",
    "kayrock__v2_null_header_value",
    "perl-kafka__v0_snappy_xerial",
    "rskafka__v2_gzip",
    "rskafka__v2_lz4",
    "rskafka__v2_snappy_java",
    "rskafka__v2_zstd",
    "tansu__txn_data_and_commit",
]

MASKS = (0x01, 0x80, 0xFF)
"""Bits of a byte that are changed."""


def check(data: bytes, *, all_tables: bool) -> list[int]:
    """Read *data*, check the report's sums, and return the position of each record's batch."""
    dataset = mb.from_bytes(data, topic="t", partition=0, on_damage="skip")
    rows = dataset.records(
        ["position", "value", "headers", "disposition"], dispositions=DISPOSITIONS
    )
    positions: list[int] = rows.to_table().column("position").to_pylist()
    report = rows.report
    assert sum(report.bytes.values()) == len(data), report.bytes
    assert sum(report.records.values()) == len(positions)
    for finding in report.findings:
        assert finding.position is None or 0 <= finding.position <= len(data)
        assert finding.length is None or 0 <= finding.length <= len(data) - (finding.position or 0)
        assert str(finding)
    if all_tables:
        (segment,) = dataset.segments().to_pylist()
        sizes = {name: segment[f"bytes_{name}"] for name in (*DISPOSITIONS, "tail")}
        assert sizes == {name: report.bytes[name] for name in sizes}
        assert segment["size_bytes"] == len(data)
        problems = dataset.problems(["code"]).to_pylist()
        assert Counter(f.code for f in report.findings) == Counter(p["code"] for p in problems)
    return positions


def raises_ours(data: bytes, isolation_level: str) -> None:
    dataset = mb.from_bytes(data, isolation_level=isolation_level)
    try:
        dataset.records(["offset"]).to_table()
    except (mb.FormatError, mb.LimitError) as error:
        assert 0 <= error.position < len(data)
        assert str(error)


def spans(vector: Vector) -> list[tuple[int, int, int, int]]:
    """Return (begin, end, first byte under the checksum, number of records) of each batch."""
    position, out = 0, []
    for batch in vector["peers"]["kafka-java"]["batches"]:
        checked = position + (17 if batch["magic"] == 2 else 12)
        out.append((position, position + batch["size"], checked, len(batch["records"])))
        position += batch["size"]
    return out


@pytest.mark.vectors(names=NAMES)
def test_any_changed_byte_is_found_and_costs_no_other_entry(vector: Vector, data: bytes) -> None:
    """Change each byte in one of three ways; with MAGICBYTE_WIDE=1, in all of them."""
    whole = {begin: count for begin, _, _, count in spans(vector) if count}
    for begin, end, checked, _ in spans(vector):
        others = {place: count for place, count in whole.items() if place != begin}
        for position in range(begin, end):
            for mask in MASKS if WIDE else (MASKS[position % len(MASKS)],):
                changed = bytearray(data)
                changed[position] ^= mask
                found = Counter(check(bytes(changed), all_tables=mask == 0x01))
                if position >= checked:
                    assert found == others, (position, mask)
                elif not begin + 8 <= position < begin + 12:
                    assert {**others, **found} in (others, whole), (position, mask)


@pytest.mark.vectors(names=NAMES)
def test_any_changed_byte_raises_nothing_but_our_errors(vector: Vector, data: bytes) -> None:
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 0x81
        raises_ours(bytes(changed), "read_committed")
        mb.from_bytes(bytes(changed), on_damage="stop").records(["offset"]).to_table()


# Their codecs store the first message of the wrapper unchanged, so a search can find it.
READABLE = ["kafka-java__v0_snappy", "kafka-java__v0_lz4", "kafka-java__v1_snappy"]


@pytest.mark.vectors(names=[*NAMES, *READABLE])
def test_any_cut_gives_the_whole_entries_and_a_tail(vector: Vector, data: bytes) -> None:
    for length in range(len(data)):
        whole = Counter({begin: n for begin, end, _, n in spans(vector) if end <= length})
        ends = [0, *(end for _, end, _, _ in spans(vector) if end <= length)]
        assert Counter(check(data[:length], all_tables=length % 8 == 0)) == +whole, length
        rows = mb.from_bytes(data[:length], on_damage="skip").records(["position"])
        rows.to_table()
        assert rows.report.bytes["tail"] == length - ends[-1], length
        assert rows.report.bytes["damaged"] == 0, length
