"""Tests that a damaged or missing marker never turns aborted rows into committed ones unreported.

Each marker of each transactional log is damaged in turn. The rules, under read_committed:

* A row may be delivered only if the undamaged log's markers, as `outcomes` below follows them,
  end its transaction with COMMIT, or if it belongs to no transaction, or if the read of the
  undamaged log delivers it.
* A row that the undamaged read delivers and this one does not must be covered by a finding:
  `transaction-undecided` or `transaction-open` of its producer, from its offset or from below;
  `transaction-open` of any producer at or below its offset (then the last stable offset); an
  error whose bytes hold its entry; or an `offset-gap` that holds its offset. A row that was cut off
  must be covered by an error at the new end of its segment. No finding is needed where the log's
  first or last segment was cut or deleted, or a compacted log was cut between two entries: its
  files do not show the loss.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from extent import part

COMMITTED = "read_committed"

# Bytes of a marker's batch and record; all markers here have 78 bytes.
FIELDS = {
    "base_offset": (0, 8),
    "size": (8, 12),
    "leader_epoch": (12, 16),
    "magic": (16, 17),
    "crc": (17, 21),
    "attributes": (21, 23),
    "last_offset_delta": (23, 27),
    "base_timestamp": (27, 35),
    "max_timestamp": (35, 43),
    "producer_id": (43, 51),
    "producer_epoch": (51, 53),
    "base_sequence": (53, 57),
    "record_count": (57, 61),
    "record": (61, 66),
    "key": (66, 70),
    "value": (71, 77),
}

Case = tuple[str, dict[str, bytes | None], tuple[str, int] | None]
"""Name of a fault, the files it changes, and the segment and byte after which all is lost."""


def flips(files: dict[str, bytes], name: str, marker: Any, seed: str) -> Iterator[Case]:
    for field, (start, end) in FIELDS.items():
        chosen = random.Random(f"{seed}/{field}")
        at, bit = marker.position + chosen.randrange(start, end), chosen.randrange(8)
        data = bytearray(files[name])
        data[at] ^= 1 << bit
        yield f"bit {bit} of byte {at} ({field})", {name: bytes(data)}, None


def cuts(files: dict[str, bytes], name: str, marker: Any) -> Iterator[Case]:
    for length in (0, 1, 16, 60, marker.size - 1):
        at = marker.position + length
        yield f"cut at {at}, byte {length} of it", {name: files[name][:at]}, (name, at)


def losses(files: dict[str, bytes], name: str) -> Iterator[Case]:
    yield "its segment is gone", {name: None}, (name, 0)
    stem = name.removesuffix(".log")
    every = {other: None for other in files if other.startswith(stem)}
    yield "its segment is gone with its companions", every, (name, 0)


def outcomes(frames: Callable[[bytes], list[Any]], partition: Any) -> dict[tuple[str, int], str]:
    """Return the outcome of each transactional data batch by (file, position), from the markers."""
    found: dict[tuple[str, int], str] = {}
    waiting: dict[int, list[tuple[str, int]]] = {}
    for name in partition.logs:
        for frame in frames(partition.files[name]):
            if frame.marker is not None:
                for place in waiting.pop(frame.producer, ()):
                    found[place] = frame.marker
            elif frame.is_transactional and not frame.is_control:
                waiting.setdefault(frame.producer, []).append((name, frame.position))
                found[name, frame.position] = "open"
    return found


def was_cleaned(frames: Callable[[bytes], list[Any]], partition: Any) -> bool:
    """Return whether a delete horizon or a gap inside a batch shows that the log was compacted."""
    return any(
        frame.attributes & 0x40 or (frame.magic == 2 and frame.count <= frame.last - frame.offset)
        for name in partition.logs
        for frame in frames(partition.files[name])
    )


def is_covered(
    row: Sequence[Any], findings: Sequence[Any], gone: tuple[str, int] | None, logs: Sequence[str]
) -> bool:
    """Return whether one of *findings*, or the cut at *gone*, accounts for the missing *row*."""
    offset, producer, file, position = row[0], row[4], row[5], row[6]
    is_cut = gone is not None and gone[0] == file and position >= gone[1]
    if is_cut and (file == logs[-1] or (file == logs[0] and gone == (file, 0))):
        return True
    for finding in findings:
        base = finding.base_offset
        match finding.code:
            case "transaction-undecided" | "transaction-open":
                if base <= offset and (
                    finding.found == str(producer) or finding.code == "transaction-open"
                ):
                    return True
            case "offset-gap":
                if int(finding.expected) <= offset < int(finding.found):
                    return True
        if finding.severity == "error" and finding.file == file and finding.length is not None:
            end = finding.position + finding.length
            if finding.position <= position < end or (is_cut and gone and end == gone[1]):
                return True
    return False


@pytest.mark.parametrize(
    ("alone", "with_index"),
    part([(False, True), (True, False), (False, False), (True, True)], 2),
    ids=lambda value: str(value),
)
def test_a_lost_marker_lets_no_aborted_row_out_and_hides_no_committed_row_in_silence(
    with_markers, frames, workshop, alone, with_index
) -> None:
    wrong = []
    for partition in with_markers:
        log_dir = None if alone else partition.log_dir
        files = {
            name: data
            for name, data in partition.files.items()
            if with_index or not name.endswith(".txnindex")
        }
        fate, is_cleaned = outcomes(frames, partition), was_cleaned(frames, partition)
        path = workshop.put(files, log_dir, partition.name)
        sound, _ = workshop.read(path, COMMITTED)
        everything, _ = workshop.read(path)
        allowed = {
            row for row in everything if fate.get((row[5], row[6]), "commit") == "commit"
        } | set(sound)
        cases: list[Case] = []
        for name in partition.logs:
            for marker in frames(files[name]):
                if marker.marker is None:
                    continue
                seed = f"{partition}/{name}/{marker.position}"
                cases.extend(flips(files, name, marker, seed))
                cases.extend(cuts(files, name, marker))
                cases.extend(losses(files, name))
        for what, changed, gone in part(cases, 1, f"{partition}/{alone}/{with_index}"):
            if gone is not None and gone[1] == 0 and len(partition.logs) == 1:
                continue
            damaged = {n: d for n, d in {**files, **changed}.items() if d is not None}
            rows, findings = workshop.read(
                workshop.put(damaged, log_dir, partition.name), COMMITTED
            )
            where = f"{partition} {sorted(changed)[0]}: {what}"
            for row in set(rows) - allowed:
                wrong.append(f"{where}: offset {row[0]} comes out")
                break
            if is_cleaned and gone is not None and " byte 0 " in what:
                continue
            for row in set(sound) - set(rows):
                if not is_covered(row, findings, gone, partition.logs):
                    wrong.append(f"{where}: offset {row[0]} is missing in silence")
                    break
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:40])
