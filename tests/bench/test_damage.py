"""Tests of the benchmark of damaged logs: one bit is flipped in every hundredth log entry."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from magicbyte.engines.entry import read_entry
from magicbyte_formats.wire import RecordBatchHeader
from magicbyte_tools.bench import damage as module
from magicbyte_tools.bench import data
from magicbyte_tools.bench.damage import damage, flip
from magicbyte_tools.bench.data import Kind, Segment, segments
from magicbyte_tools.bench.measure import Disagreement
from magicbyte_tools.bench.ours import Ours


@pytest.fixture(scope="module")
def segment(tmp_path_factory: pytest.TempPathFactory) -> Segment:
    """Provide a segment of 400 to 500 small batches, compressed with LZ4."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(data.BATCHES, "16k", 300)
        folder = tmp_path_factory.mktemp("made")
        (one,) = segments([Kind(2, "100B", "16k", "lz4")], folder, raw_bytes=120_000)
    assert 400 < one.num_batches < 500
    return one


def begins(segment: Segment) -> list[int]:
    stored = segment.path.read_bytes()
    positions = [0]
    while positions[-1] < len(stored):
        positions.append(read_entry(stored, positions[-1]).end)
    return positions


def test_one_bit_is_flipped_in_every_hundredth_entry(segment: Segment, tmp_path: Path) -> None:
    copy = Path(shutil.copyfile(segment.path, tmp_path / "copy.log"))
    places = flip(copy, 1)
    altered = zip(segment.path.read_bytes(), copy.read_bytes(), strict=True)
    changes = {place: a ^ b for place, (a, b) in enumerate(altered) if a != b}
    assert list(changes) == places
    assert {bits.bit_count() for bits in changes.values()} == {1}
    hundredths = [*pairwise(begins(segment))][99::100]
    assert len(hundredths) == 4
    for place, (begin, end) in zip(places, hundredths, strict=True):
        assert begin <= place < end


def test_bits_are_flipped_in_headers_and_behind_them_by_the_seed(
    segment: Segment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EVERY", 4)

    def flipped(seed: int) -> list[int]:
        return flip(Path(shutil.copyfile(segment.path, tmp_path / "copy.log")), seed)

    places = flipped(1)
    assert flipped(1) == places != flipped(2)
    inside = [place - begin for place, begin in zip(places, begins(segment)[3::4], strict=False)]
    headers = [place for place in inside if place < RecordBatchHeader.SIZE]
    assert 40 < len(headers) < 72  # of 112
    assert len(set(headers)) > 20
    assert max(inside) > RecordBatchHeader.SIZE + 50


def test_damage_is_skipped_by_ours(segment: Segment, tmp_path: Path) -> None:
    copy = Path(shutil.copyfile(segment.path, tmp_path / "copy.log"))
    flip(copy, 1)
    ours = Ours("reference")
    ours.load(copy, "skip")
    assert 0.98 * segment.num_rows <= ours.read("columns", 1) < segment.num_rows


def test_damage_benchmark_reads_the_sound_and_the_damaged_file(
    segment: Segment, tmp_path: Path
) -> None:
    cell, profiles = damage(segment, tmp_path, engine="reference", seed=1, repetitions=1)
    assert [profile.name for profile in profiles] == ["sound", "damaged"]
    assert {name: len(times) for name, times in cell.cpu_ns.items()} == {"sound": 1, "damaged": 1}
    assert list(cell.wall_ns) == list(cell.peak_bytes) == ["sound", "damaged"]
    assert not list(tmp_path.iterdir())


def half(path: Path, seed: int) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("wrong", [lambda path, seed: None, half])
def test_damage_that_costs_no_rows_or_many_ends_the_run(
    segment: Segment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: object
) -> None:
    monkeypatch.setattr(module, "flip", wrong)
    with pytest.raises(Disagreement, match=r"damaged: .* rows of"):
        damage(segment, tmp_path, engine="reference", seed=1, repetitions=1)
