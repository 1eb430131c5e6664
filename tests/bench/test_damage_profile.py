"""Tests of the profile of a read with damage: each nanosecond is charged to exactly one part."""

import shutil
import time
from pathlib import Path

import pytest

from magicbyte.engines.reference import ReferenceEngine
from magicbyte.reading._resynchronize import EntrySearch
from magicbyte.storage._local import LocalFile
from magicbyte_tools.bench.damage_profile import PARTS, damage_profile
from magicbyte_tools.bench.data import Kind, Segment, segments
from magicbyte_tools.bench.profile import Profile


@pytest.fixture(scope="module")
def segment(tmp_path_factory: pytest.TempPathFactory) -> Segment:
    folder = tmp_path_factory.mktemp("made")
    (one,) = segments([Kind(2, "100B", "16k", "lz4")], folder, raw_bytes=120_000)
    assert one.num_batches == 8
    return one


def profiled(path: Path, num_rows: int) -> Profile:
    return damage_profile("it", path, engine_name="reference", num_rows=num_rows, repetitions=2)


def ticks_by_part(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Return the ticks charged to each part of a read; the clock advances whenever it is read."""
    ticks = iter(range(1 << 40))
    monkeypatch.setattr(time, "thread_time_ns", lambda: next(ticks))
    made = profiled(path, 1)
    assert list(made.spent) == list(PARTS)
    assert all(len(spent) == 2 and spent[0] == spent[1] for spent in made.spent.values())
    return {part: int(spent[0]) for part, spent in made.spent.items()}


def test_time_of_a_sound_file_is_charged_once(
    segment: Segment, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = ticks_by_part(segment.path, monkeypatch)
    # Decoding frames the entries, too, and surveys a plain log.
    assert spent["survey"] == spent["search"] == 0 and spent["records"] == 1
    assert min(spent["reads"], spent["runs and batches"]) > 0


def test_a_damaged_size_is_searched_for_and_surveyed_with_checksums(
    segment: Segment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copyfile(segment.path, tmp_path / segment.path.name))
    with copy.open("r+b") as file:
        file.seek(8)  # the size of the first batch
        file.write(b"\x7f")
    sound, damaged = ticks_by_part(segment.path, monkeypatch), ticks_by_part(copy, monkeypatch)
    assert damaged["search"] > 0
    assert damaged["survey"] > sound["survey"]


def test_clocks_are_taken_away_again(segment: Segment) -> None:
    def methods() -> list[object]:
        search = [EntrySearch.next_entry, EntrySearch.true_end]
        return [*search, LocalFile.read_at, ReferenceEngine.scan, ReferenceEngine.decode]

    before = methods()
    profiled(segment.path, segment.num_rows)
    assert methods() == before
