"""Tests that the twin parses the files of real brokers and builds the same bytes again."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import magicbyte_construct as twin

VALUES = {
    0: twin.EndTransactionMarker,
    1: twin.EndTransactionMarker,
    2: twin.LeaderChangeMessage,
    3: twin.SnapshotHeaderRecord,
    4: twin.SnapshotFooterRecord,
}


def test_every_file_builds_again_byte_for_byte(brokers_files: list[tuple[Path, Any]]) -> None:
    seen: Counter[Any] = Counter()
    for path, construct in brokers_files:
        data = path.read_bytes()
        parsed = construct.parse(data)
        assert construct.build(parsed) == data, path
        seen[construct] += 1
        if construct is twin.Log:
            for entry in parsed.entries:
                seen[entry.magic] += 1
                read_payload(entry, "__cluster_metadata-0" in path.parts, seen)
    assert len(seen) > 8 + 3, seen
    assert min(seen[magic] for magic in (0, 1, 2)) > 100, seen
    assert seen["decompressed"] > 100, seen
    assert {kind for kind in VALUES if not seen["control", kind]} == set(), seen
    assert seen["metadata"] > 100, seen


def read_payload(entry: Any, is_metadata: bool, seen: Counter[Any]) -> None:
    """Parse and rebuild the payload of *entry*: compressed records, control records, metadata."""
    if entry.attributes.codec == 1:
        content, payload = (
            (twin.Records, entry.records) if entry.magic == 2 else (twin.MessageSet, entry.value)
        )
        data = gzip.decompress(payload)
        parsed = content.parse(data)
        assert content.build(parsed) == data
        seen["decompressed"] += len(parsed)
    elif entry.magic == 2 and entry.attributes.is_control:
        for record in entry.records:
            key = twin.ControlRecordKey.parse(record.key)
            value = VALUES[key.control_type].parse(record.value)
            assert value.trailing == b""
            assert VALUES[key.control_type].build(value) == record.value
            seen["control", key.control_type] += 1
    elif is_metadata:
        for record in entry.records:
            frame = twin.MetadataRecord.parse(record.value)
            assert frame.frame_version == 1
            assert twin.MetadataRecord.build(frame) == record.value
            seen["metadata"] += 1


def test_files_of_killed_brokers_end_in_zeros(killed_brokers_files: list[tuple[Path, Any]]) -> None:
    tails: Counter[Any] = Counter()
    for path, construct in killed_brokers_files:
        data = path.read_bytes()
        parsed = construct.parse(data)
        assert construct.build(parsed) == data, path
        if parsed.get("zero_tail"):
            tails[construct] += 1
    assert set(tails) == {twin.Log, twin.OffsetIndex, twin.TimeIndex}
