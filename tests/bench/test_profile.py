"""The parts of the engine's time: each has what is its own, and together they are all of it."""

import time
from pathlib import Path
from typing import Any

import pytest

from magicbyte.engines.columnar import group, plain_messages
from magicbyte_tools.bench.data import Kind, segments
from magicbyte_tools.bench.profile import PARTS, profile

CALLS = {
    "v2-100B-16k-none": (1, 2, 0, 1),
    "v2-100B-16k-lz4": (1, 1, 2, 1),
    "v2-100B-16k-gzip": (1, 1, 2, 1),
    "v1-100B-16k-none": (1, 1, 0, 0),
    "v1-100B-16k-lz4": (3, 1, 2, 1),
    "v1-100B-16k-gzip": (3, 1, 2, 1),
}
"""Of frames, checksums, the codec and records, for four batches. The last has too few bytes behind
it to be taken with the others. Of what is not compressed the checksums are taken off the records."""

KINDS = [Kind(magic, "100B", "16k", codec) for magic in (2, 1) for codec in ("none", "lz4", "gzip")]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_part_of_the_engine_has_its_time(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(0, 1 << 40, 1000))
    monkeypatch.setattr(time, "thread_time_ns", lambda: next(ticks))
    (segment,) = segments([kind], tmp_path, raw_bytes=60_000)
    assert segment.num_batches == 4
    made = profile(segment, repetitions=2)
    assert made.name == kind.name and list(made.spent) == list(PARTS)
    assert all(len(spent) == 2 and spent[0] == spent[1] for spent in made.spent.values())
    # Each call takes a tick.
    calls = [round(made.spent[part][0] * segment.num_rows / 1000) for part in PARTS]
    assert tuple(calls[:-1]) == CALLS[kind.name] and calls[-1] > 0


def test_clocks_are_taken_away_again(tmp_path: Path) -> None:
    before: list[Any] = [group.kernel, group.decoder, plain_messages.decoder, group.Arena.inflate]
    (segment,) = segments([KINDS[1]], tmp_path, raw_bytes=60_000)
    profile(segment, repetitions=1)
    after: list[Any] = [group.kernel, group.decoder, plain_messages.decoder, group.Arena.inflate]
    assert before == after
