"""Tests of damaged, foreign and absent companion files: no row changes, a finding names the file.

The markers in the log decide a transaction's outcome; `.txnindex` and `.snapshot` are compared
with them. An absent file is a note, any other difference a warning; none is an error.
"""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from extent import part

KINDS = (".txnindex", ".snapshot")
LEVELS = ("read_committed", "read_uncommitted")


def damage(name: str, data: bytes, seed: str) -> Iterator[tuple[str, bytes]]:
    chosen = random.Random(seed)

    def altered(at: int) -> tuple[str, bytes]:
        byte = bytes([data[at] ^ 1 << chosen.randrange(8)])
        return f"byte {at} altered", data[:at] + byte + data[at + 1 :]

    yield "cut by a byte", data[:-1]
    yield "cut in half", data[: len(data) // 2 + 1]
    yield "garbage", chosen.randbytes(max(len(data), 34))
    yield "zeros", bytes(len(data))
    if name.endswith(".snapshot"):
        yield "empty", b""
        for _ in range(4):
            yield altered(chosen.randrange(len(data)))
    else:
        # version, producer id, first, last and last stable offset
        for start, end in ((0, 2), (2, 10), (10, 18), (18, 26), (26, 34)):
            entry = chosen.randrange(len(data) // 34) * 34
            yield altered(entry + chosen.randrange(start, end))


@pytest.fixture
def compare(workshop) -> Any:
    """A function that reads a partition with one companion file replaced or absent.

    It returns how the rows differ from those of the undamaged partition, and (code, severity) of
    each finding that names the companion.
    """
    sound: dict[Any, Any] = {}

    def read(
        partition: Any, name: str, data: bytes | None, alone: bool
    ) -> tuple[str, set[tuple[str, str]]]:
        log_dir = None if alone else partition.log_dir
        key = str(partition), alone
        if key not in sound:
            path = workshop.put(partition.files, log_dir, partition.name)
            sound[key] = [workshop.read(path, level)[0] for level in LEVELS]
        files = {**partition.files, name: data}
        present = {file: content for file, content in files.items() if content is not None}
        path = workshop.put(present, log_dir, partition.name)
        difference = ""
        for level, expected in zip(LEVELS, sound[key], strict=True):
            rows, findings = workshop.read(path, level)
            if rows != expected:
                difference = f"{len(set(rows) ^ set(expected))} other rows under {level}"
                break
        return difference, {(f.code, f.severity) for f in findings if f.file == name}

    return read


def companions(
    partitions: Any, kind: str = "", *, of_segments: bool = False
) -> list[tuple[Any, str]]:
    """Return (partition, file name) of the companions that are not empty.

    *of_segments* leaves out those without a segment of the same base offset.
    """
    return [
        (partition, name)
        for partition in partitions
        for name, data in partition.files.items()
        if name.endswith(kind or KINDS)
        and data
        # A broker that stops cleanly writes a snapshot at the log end offset, without a segment.
        and (not of_segments or name[:20] + ".log" in partition.files)
    ]


@pytest.mark.parametrize("alone", [False, True], ids=["log-dir", "folder-alone"])
def test_a_damaged_companion_changes_no_row_and_is_named_in_a_warning(
    with_markers, compare, alone
) -> None:
    wrong = []
    for partition, name in part(companions(with_markers), 3, f"damage/{alone}"):
        for what, data in damage(name, partition.files[name], f"{partition}/{name}"):
            difference, findings = compare(partition, name, data, alone)
            if difference or {severity for _, severity in findings} != {"warning"}:
                wrong.append(f"{partition} {name}: {what}: {difference} {findings}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:60])


@pytest.mark.parametrize("alone", [False, True], ids=["log-dir", "folder-alone"])
def test_an_absent_companion_changes_no_row_and_is_named_in_a_note(
    with_markers, compare, alone
) -> None:
    wrong = []
    for partition, name in part(companions(with_markers, of_segments=True), 4, f"absent/{alone}"):
        difference, findings = compare(partition, name, None, alone)
        if difference or findings != {(f"{name[21:]}-missing", "note")}:
            wrong.append(f"{partition} {name}: absent: {difference} {findings}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:60])


@pytest.mark.parametrize("alone", [False, True], ids=["log-dir", "folder-alone"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_companion_of_another_partition_changes_no_row_and_is_named(
    with_markers, compare, alone, kind
) -> None:
    """The finding is a warning, or a note where expired producers may explain the difference."""
    wrong = []
    all_of_kind = companions(with_markers, kind)
    chosen = random.Random(f"foreign/{kind}")
    for partition, name in part(all_of_kind, 3, f"foreign/{alone}/{kind}"):
        others = [
            (other, its)
            for other, its in all_of_kind
            if other.name != partition.name and other.files[its] != partition.files[name]
        ]
        for other, its in chosen.sample(others, 2):
            difference, findings = compare(partition, name, other.files[its], alone)
            is_named = {severity for _, severity in findings} == {"warning"}
            is_named |= findings == {("snapshot-unconfirmed", "note")}
            if difference or not is_named:
                wrong.append(f"{partition} {name}: from {other} {its}: {difference} {findings}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:60])
