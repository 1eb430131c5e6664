"""Tests that the viewer finds damage by itself, at the byte where the runtime finds it."""

import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import zstandard
from crc32c import crc32c

import log_builder as build
import magicbyte as mb
from paths import DATA

from .conftest import File, vectors

UNSEEN = {
    "entry-over-limit": "a limit of the runtime's, not the page's",
    "v2-gzip-over-limit": "a limit of the runtime's, not the page's",
    "v2-lz4-over-limit": "a limit of the runtime's, not the page's",
    "v2-snappy-over-limit": "a limit of the runtime's, not the page's",
    "v2-zstd-over-limit": "a limit of the runtime's, not the page's",
}
"""Invalid vectors in which the page itself finds nothing at the right byte, with the reason."""


def errors(findings: Sequence[dict[str, Any]]) -> set[tuple[str, int]]:
    return {(one["code"], one["position"]) for one in findings if one["severity"] == "error"}


def test_each_invalid_vector_has_its_finding_at_its_byte(
    shown: dict[str, dict[str, Any]],
) -> None:
    unseen = set()
    for name, case in vectors("invalid").items():
        found = errors(shown[f"invalid/{name}"]["findings"])
        expected = [one for one in case["findings"] if one["severity"] == "error"]
        if not expected:
            assert case["verdict"] == "either", name
            continue
        code, position = expected[0]["code"], expected[0]["position"]
        if (code, position) not in found:
            unseen.add(name)
    assert unseen == UNSEEN.keys()


def test_no_error_is_found_in_valid_vectors(shown: dict[str, dict[str, Any]]) -> None:
    """The runtime's own errors in valid vectors are about bytes that Kafka does not look at."""
    for name, case in vectors("valid").items():
        expected = errors(case["findings"])
        assert errors(shown[f"valid/{name}"]["findings"]) <= expected, name


def test_right_checksum_and_size_of_a_zstd_frame_are_no_finding(
    inspect: Callable[[Sequence[File]], list[dict[str, Any]]], tmp_path: Path
) -> None:
    """XXH64 takes 32 bytes at a time, then 8, 4 and 1: each count of bytes left over is tried."""
    batches = []
    for offset in range(40):
        data = build.record(b"v" * (60 + offset), b"k")
        frame = zstandard.ZstdCompressor(write_checksum=True).compress(data)
        batches.append(build.batch([data], offset, codec=4, section=frame))
    path = tmp_path / "checksums.log"
    path.write_bytes(b"".join(batches))
    [found] = inspect([("kafka_log", path)])
    assert found["findings"] == []
    assert len(found["payloads"]) == 40


def test_findings_inside_a_payload_have_a_position_in_it(shown: dict[str, dict[str, Any]]) -> None:
    (finding,) = shown["invalid/v1-wrapper-inner-crc"]["findings"]
    case = vectors("invalid")["v1-wrapper-inner-crc"]
    assert finding["payloadPosition"] == case["payload_position"]


def test_transactions_have_the_outcomes_of_the_runtime(
    inspect: Callable[[Sequence[File]], list[dict[str, Any]]],
) -> None:
    folder = DATA / "4.3" / "transactions" / "log-0" / "interleaved-one-segment-0"
    [found] = inspect([("kafka_log", folder / "00000000000000000012.log")])
    outcomes = found["outcomes"]
    assert {"committed", "aborted", "marker"} <= {*outcomes}
    rows = mb.open(str(folder)).batches(["file", "disposition", "is_transactional"]).to_pylist()
    expected = {"aborted": "aborted", "delivered": "committed", "control": "marker"}
    assert outcomes == [
        expected[row["disposition"]] if row["is_transactional"] else ""
        for row in rows
        if row["file"] == "00000000000000000012.log"
    ]


def test_companion_files_are_parsed_as_wholes(
    inspect: Callable[[Sequence[File]], list[dict[str, Any]]],
) -> None:
    folder = DATA / "4.3" / "transactions" / "log-0" / "aborted-0"
    paths = {
        "kafka_offset_index": DATA / "4.3/plain/log-0/segments-0/00000000000000000229.index",
        "kafka_time_index": DATA / "4.3/plain/log-0/segments-0/00000000000000000229.timeindex",
        "kafka_transaction_index": folder / "00000000000000000006.txnindex",
        "kafka_producer_snapshot": folder / "00000000000000000055.snapshot",
        "kafka_leader_epoch_checkpoint": folder / "leader-epoch-checkpoint",
        "kafka_partition_metadata": folder / "partition.metadata",
        "kafka_offset_checkpoint": folder.parent / "replication-offset-checkpoint",
    }
    for (name, path), found in zip(paths.items(), inspect([*paths.items()]), strict=True):
        assert found["findings"] == [], name
        spans = sorted((start, end) for _, start, end, _ in found["fields"] if start < end)
        assert spans[0][0] == 0 and spans[-1][1] == path.stat().st_size, name
        assert all(one[1] == other[0] for one, other in pairwise(spans)), name


def test_damaged_snapshot_has_a_finding(
    inspect: Callable[[Sequence[File]], list[dict[str, Any]]], tmp_path: Path
) -> None:
    path = DATA / "4.3/transactions/log-0/aborted-0/00000000000000000055.snapshot"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    (tmp_path / "damaged").write_bytes(data)
    (tmp_path / "cut").write_bytes(path.read_bytes()[:-4])
    damaged, cut = inspect(
        [("kafka_producer_snapshot", tmp_path / name) for name in ("damaged", "cut")]
    )
    stored = struct.unpack_from(">I", data, 2)[0]
    [finding] = damaged["findings"]
    assert finding["code"] == "snapshot-invalid"
    assert (
        f"{stored:#010x}" in finding["message"]
        and f"{crc32c(data[6:]):#010x}" in finding["message"]
    )
    assert {one["code"] for one in cut["findings"]} == {"parse-error", "snapshot-invalid"}
