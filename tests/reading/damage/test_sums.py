"""Tests that the byte counts add up and that every entry which the damage misses is delivered.

The undamaged file gives the expected rows: an entry with all of its bytes in sequence and
unaltered is sound, also where deleted or inserted bytes have moved it.
"""

import random
from collections import Counter
from typing import Any

import pytest

from extent import part
from magicbyte.tables.schemas import DISPOSITIONS

LEVELS = ("read_committed", "read_uncommitted")


def damage(data: bytes, seed: str) -> tuple[str, bytes, int, int, int]:
    """Damage *data*: return kind, new bytes, and start, end, new length of the range replaced."""
    chosen = random.Random(seed)
    at, length = chosen.randrange(len(data)), chosen.choice((1, 2, 17, 100, 1000))
    end = min(at + length, len(data))
    match chosen.choice(("flip", "flip", "zeros", "noise", "delete", "insert", "insert zeros")):
        case "flip":
            new, end = bytes([data[at] ^ 1 << chosen.randrange(8)]), at + 1
        case "zeros":
            new = bytes(end - at)
        case "noise":
            new = chosen.randbytes(end - at)
        case "delete":
            new = b""
        case "insert":
            new, end = chosen.randbytes(length), at
        case _:
            new, end = bytes(length), at
    return (
        f"[{at}, {end}) is {len(new)} bytes, {new[:4].hex()}",
        data[:at] + new + data[end:],
        at,
        end,
        len(new),
    )


def untouched(frames: Any, sound: bytes, damaged: bytes, start: int, end: int, new: int) -> Any:
    """Yield (position in *damaged*, entry) of each entry of *sound* that *damaged* still holds."""
    for frame in frames(sound):
        for moved in {0, new - (end - start)}:
            is_there = frame.end <= start if moved == 0 and new != end - start else True
            if moved and frame.position < end:
                is_there = False
            at = frame.position + moved
            if is_there and damaged[at : at + frame.size] == sound[frame.position : frame.end]:
                yield at, frame
                break


def complaints(rows: list[dict[str, Any]], sizes: dict[str, int]) -> list[str]:
    """Return a line for each live .log whose bytes in `segments` do not add up to its size."""
    out = []
    for row in rows:
        if row["file_kind"] == "log" and row["live"]:
            total = row["bytes_tail"] + sum(row[f"bytes_{name}"] for name in DISPOSITIONS)
            if total != row["size_bytes"] or total != sizes[row["file"]]:
                out.append(f"{row['file']}: {total} of {row['size_bytes']} bytes")
    return out


@pytest.mark.parametrize("level", LEVELS)
def test_the_bytes_of_all_sound_logs_add_up(partitions, frames, workshop, level) -> None:
    wrong = []
    for partition in part(partitions, len(partitions) // 4, level):
        path = workshop.put(partition.files, partition.log_dir, partition.name)
        sizes = {name: len(data) for name, data in partition.files.items()}
        rows = workshop.open(path, level).segments().to_pylist()
        wrong += [f"{partition} {complaint}" for complaint in complaints(rows, sizes)]
        for row in rows:
            if row["file_kind"] != "log" or not row["live"]:
                continue
            framed = sum(frame.size for frame in frames(partition.files[row["file"]]))
            entries = sum(row[f"bytes_{name}"] for name in DISPOSITIONS[4:])
            if (entries, row["bytes_tail"]) != (framed, row["size_bytes"] - framed):
                wrong.append(f"{partition} {row['file']}: {entries} in entries, not {framed}")
    assert not wrong, "\n".join(wrong[:40])


def test_damage_at_any_byte_costs_no_entry_that_it_does_not_touch(
    partitions, frames, workshop
) -> None:
    """1,000 random damages, by a seed, among the bytes of all live segments."""
    places = [(p, n) for p in partitions for n in p.logs if p.files[n] and not p.is_internal]
    weights = [len(partition.files[name]) ** 0.5 for partition, name in places]
    chosen = random.Random("sums").choices(places, weights, k=1000)
    wrong = []
    for number, (partition, name) in part(list(enumerate(chosen)), 30, "sums"):
        # The segment's neighbours are enough, except where transactions cross segments.
        logs = partition.logs
        near = logs[max(0, logs.index(name) - 1) : logs.index(name) + 2]
        kept = {
            file: data
            for file, data in partition.files.items()
            if partition.has_markers or not file.endswith(".log") or file in near
        }
        sound = partition.files[name]
        what, data, start, end, new = damage(sound, f"{number}/{partition}/{name}")
        where = f"{number} {partition} {name} {what}"
        kept[name] = data
        path = workshop.put(kept, partition.log_dir, partition.name)
        sizes = {file: len(bytes_) for file, bytes_ in kept.items()}
        for level in LEVELS:
            rows = workshop.open(path, level).segments().to_pylist()
            wrong += [f"{where}: {complaint}" for complaint in complaints(rows, sizes)]
        expected = dict(untouched(frames, sound, data, start, end, new))
        entries = {
            row["position"]: (row["size_bytes"], row["last_offset"], row["disposition"])
            for row in workshop.open(path).batches().to_pylist()
            if row["file"] == name
        }
        both = ("delivered", "below_log_start")
        records = Counter(
            row[1]
            for row in workshop.read(path, columns=("file", "position"), dispositions=both)[0]
            if row[0] == name
        )
        for at, frame in expected.items():
            size, last, disposition = entries.get(at, (None, None, "absent"))
            if (size, last) != (frame.size, frame.last) or disposition in ("damaged", "absent"):
                wrong.append(f"{where}: the entry at {at} is {disposition}")
                break
            wanted = "control" if frame.is_control else "delivered"
            if disposition not in (wanted, "below_log_start"):
                wrong.append(f"{where}: the entry at {at} is {disposition}")
                break
            if not frame.is_control and frame.count and records[at] != frame.count:
                wrong.append(f"{where}: {records[at]} records of {frame.count} at {at}")
                break
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:40])
