"""A damaged, foreign or absent companion changes no row, and a finding names it.

The markers in the log decide; `.txnindex` and `.snapshot` are witnesses. Absent is a note, all
else a warning; an error is none of it.
"""

import random
from collections.abc import Iterator
from typing import Any

import pytest

KINDS = (".txnindex", ".snapshot")


def damage(name: str, data: bytes, seed: str) -> Iterator[tuple[str, bytes]]:
    chosen = random.Random(seed)
    yield "cut by a byte", data[:-1]
    yield "cut in half", data[: len(data) // 2 + 1]
    yield "garbage", chosen.randbytes(max(len(data), 34))
    yield "zeros", bytes(len(data))
    if name.endswith(".snapshot"):
        yield "empty", b""
        for _ in range(4):
            flipped = bytearray(data)
            at = chosen.randrange(len(data))
            flipped[at] ^= 1 << chosen.randrange(8)
            yield f"byte {at} altered", bytes(flipped)
    else:
        # version, producer id, first, last and last stable offset
        for start, end in ((0, 2), (2, 10), (10, 18), (18, 26), (26, 34)):
            entry = chosen.randrange(len(data) // 34) * 34
            flipped = bytearray(data)
            at = entry + chosen.randrange(start, end)
            flipped[at] ^= 1 << chosen.randrange(8)
            yield f"byte {at} altered", bytes(flipped)


@pytest.fixture
def judged(workshop, partitions) -> Any:
    """Return what is wrong with the read of some files, compared with that of the sound ones."""
    sound: dict[Any, Any] = {}

    def judge(partition: Any, files: dict[str, bytes], alone: bool) -> tuple[str, list[Any]]:
        log_dir = None if alone else partition.log_dir
        key = str(partition), alone
        if key not in sound:
            path = workshop.put(partition.files, log_dir, partition.name)
            sound[key] = [
                workshop.read(path, level)[0] for level in ("read_committed", "read_uncommitted")
            ]
        path = workshop.put(files, log_dir, partition.name)
        for level, expected in zip(("read_committed", "read_uncommitted"), sound[key], strict=True):
            rows, findings = workshop.read(path, level)
            if rows != expected:
                return f"{len(set(rows) ^ set(expected))} other rows under {level}", findings
        return "", findings

    return judge


def companions(
    partitions: Any, kind: str = "", *, of_segments: bool = False
) -> list[tuple[Any, str]]:
    """Return the companions, their bytes not empty; all of them or those *of_segments*."""
    return [
        (partition, name)
        for partition in partitions
        for name, data in partition.files.items()
        if name.endswith(kind or KINDS)
        and data
        # The snapshot behind the last segment is of a broker's clean stop.
        and (not of_segments or name[:20] + ".log" in partition.files)
    ]


@pytest.mark.parametrize("alone", [False, True], ids=["log-dir", "folder-alone"])
def test_a_damaged_companion_changes_no_row_and_is_named_in_a_warning(
    with_markers, some, judged, alone
) -> None:
    wrong = []
    for partition, name in some(companions(with_markers), 9, f"damage/{alone}"):
        for what, data in damage(name, partition.files[name], f"{partition}/{name}"):
            difference, findings = judged(partition, {**partition.files, name: data}, alone)
            severities = {f.severity for f in findings if f.file == name}
            if difference or severities != {"warning"}:
                wrong.append(f"{partition} {name}: {what}: {difference} {severities}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:60])


@pytest.mark.parametrize("alone", [False, True], ids=["log-dir", "folder-alone"])
def test_an_absent_companion_changes_no_row_and_is_named_in_a_note(
    with_markers, some, judged, alone
) -> None:
    wrong = []
    for partition, name in some(companions(with_markers, of_segments=True), 20, f"absent/{alone}"):
        files = {other: data for other, data in partition.files.items() if other != name}
        difference, findings = judged(partition, files, alone)
        said = {(f.code, f.severity) for f in findings if f.file == name}
        if difference or said != {(f"{name[21:]}-missing", "note")}:
            wrong.append(f"{partition} {name}: absent: {difference} {said}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:60])


@pytest.mark.parametrize("alone", [False, True], ids=["log-dir", "folder-alone"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_companion_of_another_partition_changes_no_row_and_is_named(
    with_markers, some, judged, alone, kind
) -> None:
    """Warnings, or notes where expired producers may explain the difference."""
    wrong = []
    all_of_kind = companions(with_markers, kind)
    chosen = random.Random(f"foreign/{kind}")
    for partition, name in some(all_of_kind, 12, f"foreign/{alone}/{kind}"):
        others = [
            (other, its)
            for other, its in all_of_kind
            if other.name != partition.name and other.files[its] != partition.files[name]
        ]
        for other, its in chosen.sample(others, 2):
            files = {**partition.files, name: other.files[its]}
            difference, findings = judged(partition, files, alone)
            said = {(f.code, f.severity) for f in findings if f.file == name}
            is_named = {severity for _, severity in said} == {"warning"}
            is_named |= said == {("snapshot-unconfirmed", "note")}
            if difference or not is_named:
                wrong.append(f"{partition} {name}: from {other} {its}: {difference} {said}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:60])
