"""Tests of searching a file of any kind for batches: what is sound comes out, with the byte where it was found."""

import random
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.limits import Limits
from magicbyte.logdir._batch_search import SoundRun, entry_runs, has_sound_entry
from magicbyte.storage import MemoryFile

NOISE = random.Random(1).randbytes(5000)


def batches(*bases: int, count: int = 2) -> bytes:
    return b"".join(build.batch(build.records(count), base) for base in bases)


def runs(data: bytes) -> list[SoundRun]:
    return list(entry_runs(MemoryFile(data, "x"), Limits().max_entry_bytes))


def image(folder: Any, *parts: bytes) -> Path:
    path: Path = folder.path / "disk.img"
    path.write_bytes(b"".join(parts))
    return path


def searched(path: object, **options: Any) -> list[int]:
    options.setdefault("isolation_level", "read_uncommitted")
    return [
        row["offset"]
        for row in mb.open(str(path), search=True, **options).records(["offset"]).to_pylist()
    ]


def test_batches_with_increasing_offsets_are_one_run() -> None:
    data = batches(0, 2, 9)
    assert runs(data) == [SoundRun(0, len(data), 3, 0, 10)]


def test_lower_offsets_begin_another_run() -> None:
    first, second = batches(50, 52), batches(10)
    (a, b) = runs(first + second)
    assert (a.first_offset, a.last_offset, a.end) == (50, 53, len(first))
    assert (b.first_offset, b.last_offset, b.start) == (10, 11, len(first))


def test_runs_between_garbage_are_found_wherever_they_are() -> None:
    parts = [NOISE[:777], batches(50, 52), NOISE, batches(10), bytes(3000), batches(7, 9), b"\x01"]
    found = runs(b"".join(parts))
    starts = [sum(map(len, parts[:number])) for number in (1, 3, 5)]
    assert [run.start for run in found] == starts
    assert [run.end - run.start for run in found] == [len(parts[n]) for n in (1, 3, 5)]


def test_old_messages_are_found_too() -> None:
    data = build.message(magic=0) + build.message(offset=1)
    assert runs(NOISE + data) == [SoundRun(len(NOISE), len(NOISE + data), 2, 0, 1)]


def test_batch_with_a_wrong_checksum_is_not_found() -> None:
    assert runs(NOISE + build.batch(crc=0) + NOISE) == []


def test_search_is_linear_in_the_bytes() -> None:
    """Each position begins a header whose size leads far away: no checksum may be computed for each."""

    class Counting(MemoryFile):
        read = 0

        def read_at(self, position: int, length: int) -> bytes:
            self.read += length
            return super().read_at(position, length)

    file = Counting(b"\0\0\0\1" * 100_000, "x")
    assert list(entry_runs(file, Limits().max_entry_bytes)) == []
    assert file.read < 100 * file.size_bytes


@pytest.mark.parametrize("engine", ["reference", "columnar"])
def test_records_of_all_runs_are_delivered(engine: str, folder: Any) -> None:
    path = image(folder, NOISE, batches(50, 52), NOISE, batches(10), NOISE)
    assert sorted(searched(path, engine=engine, on_damage="skip")) == [10, 11, 50, 51, 52, 53]


def test_each_run_is_a_finding_with_its_byte_and_the_rest_is_unread(folder: Any) -> None:
    first, second = batches(50, 52), batches(10)
    path = image(folder, NOISE, first, NOISE, second)
    dataset = mb.open(str(path), search=True, on_damage="skip")
    found = {row["file"]: row for row in dataset.problems().to_pylist()}
    at = [len(NOISE), 2 * len(NOISE) + len(first)]
    assert sorted(found) == sorted(f"disk.img@{start}" for start in at)
    assert {row["code"] for row in found.values()} == {"found-by-search"}
    assert "2 batches" in found[f"disk.img@{at[0]}"]["message"]
    assert "offsets 50 to 53" in found[f"disk.img@{at[0]}"]["message"]
    (rest,) = dataset.unread
    assert (rest.path, rest.kind, rest.size_bytes) == (str(path), "searched", 2 * len(NOISE))
    assert {file.name: file.size_bytes for log in dataset.logs for file in log.files} == {
        f"disk.img@{at[0]}": len(first),
        f"disk.img@{at[1]}": len(second),
    }


def test_file_without_a_sound_batch_is_refused(folder: Any) -> None:
    with pytest.raises(mb.InputError, match="without a sound batch"):
        mb.open(str(image(folder, NOISE)), search=True)


def test_verify_searches_too(folder: Any) -> None:
    verification = mb.verify(str(image(folder, NOISE, batches(0))), search=True)
    assert verification.records["delivered"] == 2
    assert [each.kind for each in verification.unread] == ["searched"]


def test_folder_is_read_as_without_a_search(folder: Any) -> None:
    folder.segment("t-0", build.batch())
    assert searched(folder.path) == [0]


def test_transaction_whose_marker_is_in_another_run_is_withheld(folder: Any) -> None:
    data = build.batch(build.records(2), 0, producer=7, flags=build.TRANSACTIONAL)
    marker = build.control(build.COMMIT, 2, 7)
    options = {"isolation_level": "read_committed", "on_damage": "skip"}
    assert searched(image(folder, NOISE, data, marker), **options) == [0, 1]
    assert searched(image(folder, NOISE, data, NOISE, marker), **options) == []


def test_look_at_a_file_is_bounded() -> None:
    far = bytes(2 << 20) + batches(0)
    assert not has_sound_entry(MemoryFile(far, "x"))
    assert has_sound_entry(MemoryFile(NOISE + batches(0), "x"))
    assert not has_sound_entry(MemoryFile(NOISE, "x"))
