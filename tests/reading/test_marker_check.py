"""Tests of markers of empty transactions, and of markers whose epoch is too low."""

from pathlib import Path
from typing import Any

import log_builder as build
import magicbyte as mb
from magicbyte.findings import Finding


def findings_of(folder: Any, *entries: bytes, base: int = 0) -> list[Finding]:
    path: Path = folder.segment("t-0", b"".join(entries), base)
    return mb.verify(path.parent).findings


def commit(base: int, producer: int = 7, epoch: int = 0) -> bytes:
    return build.control(build.COMMIT, base, producer, epoch=epoch)


def test_markers_without_data_are_counted_in_one_note(folder: Any) -> None:
    entries = build.transactional(0, 7), commit(1), commit(2), commit(3, 8), build.batch(base=4)
    (finding,) = findings_of(folder, *entries)
    assert (finding.code, finding.severity) == ("transactions-empty", "note")
    assert finding.message == (
        "2 markers end transactions that wrote nothing here, the first at offset 2"
    )


def test_a_marker_after_missing_entries_may_have_had_data(folder: Any) -> None:
    entries = build.batch(base=0), build.batch(base=1, crc=1), commit(2)
    assert "transactions-empty" not in [f.code for f in findings_of(folder, *entries)]
    compacted = build.batch([build.record()], last_delta=3), commit(4)
    assert "transactions-empty" not in [f.code for f in findings_of(folder, *compacted)]


def test_a_marker_of_a_lower_epoch_is_stray(folder: Any) -> None:
    data = build.transactional(0, 7, epoch=2) + commit(1, epoch=2)
    again = build.transactional(2, 7, epoch=2) + commit(3, epoch=1)
    findings = findings_of(folder, data, again)
    (finding,) = [one for one in findings if one.code == "marker-stray"]
    assert finding.severity == "warning" and finding.base_offset == 3
    assert (finding.found, finding.expected) == ("1", "2 or more")


def test_epochs_may_rise_with_each_transaction(folder: Any) -> None:
    entries = []
    for epoch in range(3):
        entries += [build.transactional(2 * epoch, 7, epoch=epoch, sequence=0)]
        entries += [commit(2 * epoch + 1, epoch=epoch + 1)]
    assert not findings_of(folder, *entries)
