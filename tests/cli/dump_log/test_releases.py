"""Tests of what kafka-dump-log prints since Kafka 4.4, as Kafka's own tool of 4.4.0 printed it."""

from pathlib import Path

import pytest

from cli.conftest import run
from log_builder import transaction_index, uvarint

from .cases import METADATA, NO_TAGS, OFFSETS, Case, i16, i32, i64, tags, text
from .told import dump_log, tail

UNREGISTERED = b"\1\x1d\0" + i32(3000) + NO_TAGS
GROUP_KEY = i16(17) + text("g")
GROUP = i16(0) + i32(5) + i64(6)


def printed(case: Case, folder: Path, release: str) -> str | None:
    result = dump_log(case, folder, case.flag, release=release)
    return tail(result.stdout, result.exit_code)


def test_an_unregistered_controller_is_printed(tmp_path: Path) -> None:
    case = Case("", METADATA, None, UNREGISTERED)
    assert printed(case, tmp_path, "4.4") == (
        ' payload: {"type":"UNREGISTER_CONTROLLER_RECORD","version":0,"data":{"controllerId":3000}}'
    )
    assert (
        printed(case, tmp_path, "4.3") == " payload: Error at 0, skipping. "
        "org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id 29"
    )


def test_epochs_of_topology_descriptions_are_printed(tmp_path: Path) -> None:
    case = Case("", OFFSETS, GROUP_KEY, GROUP + tags((2, i32(7)), (3, i32(-2))))
    key = ' key: {"type":"17","data":{"groupId":"g"}}'
    fields = '"storedDescriptionTopologyEpoch":7,"failedDescriptionTopologyEpoch":-2'
    for release, more in (("4.4", f",{fields}"), ("4.3", "")):
        data = f'{{"version":"0","data":{{"epoch":5,"metadataHash":6{more}}}}}'
        assert printed(case, tmp_path, release) == f"{key} payload: {data}"


@pytest.mark.parametrize(
    ("count", "size", "reason"),
    [
        (-1, 0, "Invalid negative number of tagged fields -1."),
        (3, 2, "Tried to read 3 tagged fields, but there are only 2 bytes remaining.."),
        (
            10_001,
            10_001,
            "Tried to read 10001 tagged fields, which exceeds the maximum allowed count of 10000..",
        ),
    ],
)
def test_a_count_of_tagged_fields_is_bounded(
    count: int, size: int, reason: str, tmp_path: Path
) -> None:
    case = Case("", OFFSETS, GROUP_KEY, GROUP + uvarint(count) + bytes(size))
    assert printed(case, tmp_path, "4.4") == (
        f" key: Error at offset 0, skipping. Could not read record with version 0 from value's "
        f"buffer due to: {reason}"
    )
    assert printed(case, tmp_path, "4.3") != printed(case, tmp_path, "4.4")


def test_a_count_of_elements_is_bounded(tmp_path: Path) -> None:
    configs = uvarint(1_000_002) + bytes(1_000_001)
    value = GROUP + b"\1\1" + uvarint(len(configs)) + configs
    case = Case("", OFFSETS, GROUP_KEY, value)
    assert printed(case, tmp_path, "4.4") == (
        " key: Error at offset 0, skipping. Could not read record with version 0 from value's buffer "
        "due to: Tried to read a collection of size 1000001, which exceeds the maximum allowed size "
        "of 1000000.."
    )


@pytest.mark.parametrize("version", [1, 0x100, -1])
def test_a_version_of_an_aborted_transaction_has_two_bytes(version: int, tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.txnindex"
    path.write_bytes(transaction_index((4000, 20, 30), version=version))
    result = run("kafka-dump-log", "--kafka-version", "4.4", "--files", path)
    assert (result.stdout, result.exit_code) == (f"Dumping {path}\n", 1)
    assert f"Unexpected aborted transaction version {version} in transaction index" in result.stderr
    before = run("kafka-dump-log", "--kafka-version", "4.3", "--files", path)
    assert before.exit_code == (1 if version == 0x100 else 0)
