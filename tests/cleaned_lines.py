"""What a round of compaction leaves, as lines that Kafka's cleaner gives, too (tests/brokers/java/KafkaCleaner.java)."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import magicbyte as mb
from magicbyte.engines.protocol import Entry
from magicbyte.errors import InputError
from magicbyte.reading.planner import Planner
from magicbyte.writing._cleaner_round import CleanerRound, SegmentEntries, plan_round, read_entries
from magicbyte.writing._cleaner_rules import Action, Decisions
from magicbyte.writing._cleaner_settings import CleanerSettings

STUCK = ["X"]
"""Lines of a round that ends with an error."""


def survivor_lines(answer: Iterable[str]) -> Iterator[str]:
    """Yield the lines of Kafka's cleaner without times and values, which do not tell what survives."""
    lines = list(answer)
    if any(line.startswith("X") for line in lines):
        yield from STUCK
        return
    for line in lines:
        kind, *words = line.split(" ")
        if kind == "B":
            del words[5:7]  # base and largest time
        elif kind == "R":
            offset, _, key, value, *_ = words
            words = [offset, key, "-" if value == "-" else "x"]
        yield " ".join([kind, *words])


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def clean(folder: Path, settings: dict[str, Any]) -> CleanerRound:
    """Return a round over the only partition in *folder*, with its map of keys."""
    dataset = mb.open(str(folder))
    (log,) = dataset.all_logs
    cleaned = plan_round(Planner(dataset.options), log, CleanerSettings(**settings))
    cleaned.build_map()
    return cleaned


def our_lines(cleaned: CleanerRound) -> list[str]:
    """Return the lines of what *cleaned* leaves, as `survivor_lines` does for Kafka's cleaner."""
    try:
        return list(_round_lines(cleaned))
    except InputError:
        return STUCK


def _round_lines(cleaned: CleanerRound) -> Iterator[str]:
    total = cleaned.clean_bytes + cleaned.dirty_bytes
    bounds = cleaned.bounds.first_dirty_offset, cleaned.upper_bound
    is_overdue = str(cleaned.is_overdue).lower()
    yield f"C {bounds[0]} {bounds[1]} {cleaned.dirty_bytes} {total} {is_overdue}"
    yield f"E {cleaned.latest_offset + 1}"
    segments = cleaned.survey.segments
    lines: list[list[str]] = [[] for _ in segments]
    for read, decisions in cleaned.decisions():
        lines[read.segment] += _entries_lines(read, decisions, cleaned)
    for read in read_entries(
        cleaned.planner, cleaned.survey, ("key", "value"), begin=cleaned.num_segments
    ):
        lines[read.segment] += _entries_lines(read, None, cleaned)
    first_of_group = {group[0] for group in cleaned.groups()}
    for number, segment in enumerate(segments):
        if number >= cleaned.num_segments or number in first_of_group:
            yield f"S {segment.file.base_offset}"
        yield from lines[number]
    if cleaned.settings.includes_active_segment and segments[-1].file.size_bytes:
        yield f"S {cleaned.survey.log_end_offset}"


def _entries_lines(
    read: SegmentEntries, decisions: Decisions | None, cleaned: CleanerRound
) -> Iterator[str]:
    """Yield the lines of the entries that stay; without *decisions*, all of them do."""
    rows = iter(enumerate(read.decoded.rows.to_pylist()))
    for index, entry in enumerate(read.entries):
        of_entry = [next(rows) for _ in range(int(read.decoded.num_rows[index]))]
        if decisions is None:
            horizon = entry.base_timestamp if entry.has_delete_horizon else -1
            yield from _entry_lines(entry, Action.COPY, horizon, [row for _, row in of_entry])
            continue
        action = Action(int(decisions.actions[index]))
        if action is not Action.REMOVE:
            retained = [row for number, row in of_entry if decisions.is_retained[number]]
            yield from _entry_lines(entry, action, int(decisions.horizons[index]), retained)


def _entry_lines(
    entry: Entry, action: Action, horizon: int | None, rows: list[dict[str, Any]]
) -> Iterator[str]:
    """Yield the lines of an entry that stays with *rows*."""
    base, last, magic, codec = entry.base_offset, entry.last_offset, entry.magic, entry.codec
    kind = -1 if entry.timestamp_type is None else entry.timestamp_type
    if magic < 2:
        base = rows[0]["offset"]
    if magic < 2 and action is Action.REBUILD:
        magic, last, kind = 2, rows[-1]["offset"], max(kind, 0)
    if action is Action.EMPTY:
        codec, horizon = 0, -1
    words = [base, last, magic, codec, kind, horizon]
    words += [entry.producer_id, entry.producer_epoch, entry.base_sequence, entry.leader_epoch]
    flags = [str(bool(flag)).lower() for flag in (entry.is_transactional, entry.is_control)]
    yield " ".join(["B", *map(str, words), *flags, str(len(rows))])
    for row in rows:
        key = "-" if row["key"] is None else "x" + row["key"].hex()
        yield f"R {row['offset']} {key} {'-' if row['value'] is None else 'x'}"
