"""Tests that the search after a damaged entry takes few passes and reads few bytes."""

import struct
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.logdir import entry_candidates
from magicbyte.reading import _resynchronize, _walk


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("is_first", [True, False])
def test_where_a_damaged_size_leads_far_the_right_one_is_found_without_reading_that_far(
    is_first: bool,
    magic: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ranges_read: list[tuple[int, int]],
) -> None:
    count = 200
    values = [b"%099d" % offset for offset in range(count)]
    if magic == 2:
        entries = [build.batch([build.record(value)], n) for n, value in enumerate(values)]
    else:
        entries = [build.message(value, n, magic=magic) for n, value in enumerate(values)]
    damaged = 0 if is_first else 5
    far = 24_001  # in the middle of an entry
    entries[damaged] = entries[damaged][:8] + struct.pack(">i", far) + entries[damaged][12:]
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(b"".join(entries))

    def read() -> Any:
        rows = mb.open(path, on_damage="skip").records(["offset"])
        return rows.to_table().column("offset").to_pylist(), rows.report

    whole = read()
    position = sum(map(len, entries[:damaged]))
    (finding,) = (finding for finding in whole[1].findings if finding.code == "bad-size")
    assert (finding.position, finding.field, finding.found) == (position, "size", str(far))
    assert finding.expected == str(len(entries[damaged]) - 12)
    monkeypatch.setattr(_walk, "CHUNK", 1000)
    for module in (_resynchronize, entry_candidates):
        monkeypatch.setattr(module, "MAX_STEP", 700)
    monkeypatch.setattr(_walk, "BLOCK_BYTES", 700)
    ranges_read.clear()
    assert read() == whole
    assert whole[0] == [offset for offset in range(count) if offset != damaged]
    lengths = [length for _, length in ranges_read]
    assert max(lengths) < 5000, "more than a search asks for at first"
    assert sum(lengths) < 2.8 * path.stat().st_size, "two passes and a search"


@pytest.mark.parametrize("is_sound", [True, False])
def test_a_large_entry_in_front_of_garbage_is_judged_by_all_of_its_bytes(
    is_sound: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = build.batch([build.record(bytes(9000))], 1)
    entries = [build.batch(base=0), large, bytes(range(1, 99)), build.batch(base=2)]
    if not is_sound:
        entries[1] = large[:-1] + b"\1"
    path = tmp_path / "t.log"
    path.write_bytes(b"".join(entries))
    monkeypatch.setattr(_walk, "CHUNK", 1000)
    rows = mb.open(path, on_damage="skip").records(["offset"])
    offsets = rows.to_table().column("offset").to_pylist()
    assert offsets == ([0, 1, 2] if is_sound else [0, 2])
    codes = [one.code for one in rows.report.findings if one.severity == "error"]
    assert ("checksum-mismatch" in codes) != is_sound
