"""Tests of the engine's profile: each part has its own time, and the parts add up to the total."""

import time
from pathlib import Path

import pytest

from magicbyte.engines.columnar import _buffers, _entry_run, _output
from magicbyte_tools.bench.data import Kind, segments
from magicbyte_tools.bench.profile import CHECKSUMS, CODEC, PARTS, RECORDS, REST, modes, profile

KINDS = [Kind(magic, "100B", "16k", codec) for magic in (2, 1) for codec in ("none", "lz4", "gzip")]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_part_of_the_engine_has_its_time(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Buffers that earlier tests enlarged would change how often a buffer is too small at first.
    monkeypatch.setattr(_output, "POOL", _buffers.MemoryPool())
    _buffers.reset()
    ticks = iter(range(0, 1 << 40, 1000))
    monkeypatch.setattr(time, "thread_time_ns", lambda: next(ticks))
    (segment,) = segments([kind], tmp_path, raw_bytes=60_000)
    assert segment.num_batches == 4
    made = profile(segment, repetitions=4)
    assert made.name == kind.name and list(made.spent) == list(PARTS)
    assert all(len(spent) == 4 and spent[2] == spent[3] for spent in made.spent.values())
    # Each timed call takes one tick, and each timed call inside it one more.
    ticks_of = {part: round(made.spent[part][-1] * segment.num_rows / 1000) for part in PARTS}
    codec = int(kind.codec != "none")
    assert ticks_of[CHECKSUMS] == 1 and ticks_of[CODEC] == codec
    calls = ticks_of[RECORDS] + 1 + codec
    assert calls == 2  # too few bytes follow the last entry: it is decoded in a call of its own
    assert ticks_of[REST] == calls + 1


def test_each_mode_has_its_profile(tmp_path: Path) -> None:
    (segment,) = segments([KINDS[0]], tmp_path, raw_bytes=60_000)
    names = [profile(segment, mode=mode, repetitions=1).name for mode in modes(segment.kind)]
    name = segment.kind.name
    assert names == [name, f"{name}, views", f"{name}, offsets"]
    assert modes(KINDS[1]) == ("columns",)  # compressed: one mode


def test_clocks_are_taken_away_again(tmp_path: Path) -> None:
    before = _entry_run.fused_kernel
    (segment,) = segments([KINDS[1]], tmp_path, raw_bytes=60_000)
    profile(segment, repetitions=1)
    assert _entry_run.fused_kernel is before
