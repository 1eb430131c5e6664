"""Tests that a wrong size field loses its own entry alone.

The size of each entry of ten logs is altered in turn; under read_uncommitted with `skip` all
rows of all other entries are delivered, in order. The checksum does not cover the size.
"""

import struct
from collections.abc import Iterator
from typing import Any

import pytest

from extent import part

LOGS = {
    "v0": "2.8/formats/v0-kafkapython-none-0",
    "v1": "2.8/lives/v1-append-time-none-0",
    "v2": "4.3/plain/java-none-0",
    "mixed": "2.8/lives/upgraded-one-segment-0",
    "v0 wrappers": "2.8/formats/v0-kafkapython-gzip-0",
    "v1 wrappers": "2.8/formats/v1-java-lz4-0",
    "compressed": "4.3/plain/broker-zstd-0",
    "many segments": "4.3/plain/segments-0",
    "preallocated": "4.3/killed/preallocated-0",
    "transactions": "4.3/transactions/interleaved-0",
    "compacted": "4.3/compacted/transactional-0",
}
LEAST = {0: 14, 1: 22, 2: 49}


def sizes(frame: Any, following: Any) -> Iterator[tuple[str, int]]:
    size = frame.size - 12
    for what, altered in {
        "one more": size + 1,
        "seven more": size + 7,
        "a hundred more": size + 100,
        "doubled": size * 2,
        "the next entry swallowed": size + (following.size if following else 12),
        "the greatest": 0x7FFFFFFF,
        "one less": size - 1,
        "seven less": size - 7,
        "halved": size // 2,
        "the least": LEAST[frame.magic],
        "zero": 0,
        "negative": -size,
    }.items():
        if altered != size:
            yield what, altered


@pytest.mark.parametrize("log", LOGS)
def test_a_wrong_size_field_costs_no_other_entry(partition, frames, workshop, log) -> None:
    source = partition(LOGS[log])
    path = workshop.put(source.files, source.log_dir, source.name)
    sound, _ = workshop.read(path)
    wrong, cases = [], []
    for name in source.logs:
        entries = frames(source.files[name])
        for entry, following in zip(entries, [*entries[1:], None], strict=True):
            cases += [(name, entry, *altered) for altered in sizes(entry, following)]
    for name, entry, what, size in part(cases, 10, f"sizes/{log}"):
        data = bytearray(source.files[name])
        struct.pack_into(">i", data, entry.position + 8, size)
        path = workshop.put({**source.files, name: bytes(data)}, source.log_dir, source.name)
        rows, findings = workshop.read(path)
        others = [row for row in sound if row[5:] != (name, entry.position)]
        found = [row for row in rows if row[5:] != (name, entry.position)]
        where = f"{source} {name} {entry.position}: {what} ({entry.size - 12} to {size})"
        if found != others:
            lost = [row[0] for row in others if row not in set(found)]
            more = [row[0] for row in found if row not in set(others)]
            wrong.append(f"{where}: lost {lost[:3]}, {len(lost)} in all; invented {more[:3]}")
        elif not any(f.severity == "error" or f.code == "incomplete-tail" for f in findings):
            wrong.append(f"{where}: nothing is said of it")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:40])
