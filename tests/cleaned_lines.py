"""What a round of compaction leaves, as lines that Kafka's cleaner gives, too (tests/brokers/java/KafkaCleaner.java)."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import magicbyte as mb
from magicbyte.engines.protocol import Entry
from magicbyte.errors import InputError
from magicbyte.reading.planner import Planner
from magicbyte.writing._cleaned_bytes import CleanedBytes
from magicbyte.writing._cleaner_round import CleanerRound, plan_round, read_entries
from magicbyte.writing._cleaner_settings import CleanerSettings

STUCK = ["X"]
"""Lines of a round that ends with an error."""


def comparable(rounds: Iterable[list[str]]) -> list[list[str]]:
    """Return the lines of *rounds* without facts in which libraries of codecs differ.

    Sizes of segments are left out after the first round, as compressed batches that the cleaners wrote differ in size.
    The lines of a round that ends with an error are the error alone.
    """
    compared = []
    for number, lines in enumerate(rounds):
        if any(line.startswith("X") for line in lines):
            compared.append(STUCK)
            break
        words = lines[0].split(" ")
        bounds = " ".join([*words[:3], *words[5:]]) if number else lines[0]
        compared.append([bounds, *lines[1:]])
    return compared


def digest(rounds: Iterable[Iterable[str]]) -> str:
    """Return a digest of the lines of several rounds."""
    text = "\n".join(line for lines in rounds for line in lines)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def clean(folder: Path, settings: dict[str, Any], *, engine: str = "auto") -> CleanerRound:
    """Return a round over the only partition in *folder*, with its map of keys."""
    planner, log = _opened(folder, engine)
    cleaned = plan_round(planner, log, CleanerSettings(**settings))
    cleaned.build_map()
    return cleaned


def clean_folder(folder: Path, settings: dict[str, Any], *, engine: str = "auto") -> list[str]:
    """Replace the partition in *folder* by what a round leaves; return the lines of that."""
    cleaned = clean(folder, settings, engine=engine)
    times = [os.stat(segment.file.path).st_mtime for segment in cleaned.survey.segments]
    groups = cleaned.groups()
    groups += [[number] for number in range(cleaned.num_segments, len(times))]
    output = folder.with_name(f"{folder.name}.cleaned")
    output.mkdir()
    try:
        for part in CleanedBytes(cleaned):
            with (output / f"{part.base_offset:020}.log").open("ab") as file:
                file.write(part.data)
    except InputError:
        shutil.rmtree(output)
        return STUCK
    for path, group in zip(sorted(output.iterdir()), groups, strict=False):
        os.utime(path, (times[group[-1]],) * 2)
    shutil.rmtree(folder)
    output.rename(folder)
    return list(_round_lines(cleaned, folder))


def _opened(folder: Path, engine: str = "auto") -> tuple[Planner, Any]:
    dataset = mb.open(str(folder), engine=engine)
    (log,) = dataset.all_logs
    return Planner(dataset.options), log


def _round_lines(cleaned: CleanerRound, folder: Path) -> Iterator[str]:
    total = cleaned.clean_bytes + cleaned.dirty_bytes
    bounds = cleaned.bounds.first_dirty_offset, cleaned.upper_bound
    is_overdue = str(cleaned.is_overdue).lower()
    yield f"C {bounds[0]} {bounds[1]} {cleaned.dirty_bytes} {total} {is_overdue}"
    yield f"E {cleaned.latest_offset + 1}"
    yield from folder_lines(folder)


def folder_lines(folder: Path) -> Iterator[str]:
    """Yield the lines of the segments in *folder*, and of their entries."""
    planner, log = _opened(folder)
    survey = planner.survey(log)
    lines: list[list[str]] = [[] for _ in survey.segments]
    for read in read_entries(planner, survey, ("timestamp", "key", "value", "headers")):
        times = read.decoded.rows.column("timestamp").cast("int64").fill_null(-1).to_pylist()
        rows = iter(
            zip(times, read.decoded.rows.drop_columns("timestamp").to_pylist(), strict=True)
        )
        for entry, count in zip(read.entries, read.decoded.num_rows.tolist(), strict=True):
            of_entry = [
                {"timestamp": time} | row for time, row in (next(rows) for _ in range(count))
            ]
            lines[read.segment] += _entry_lines(entry, of_entry)
    for segment, segment_lines in zip(survey.segments, lines, strict=True):
        yield f"S {segment.file.base_offset}"
        yield from segment_lines


def _entry_lines(entry: Entry, rows: list[dict[str, Any]]) -> Iterator[str]:
    base, base_time, checksum = entry.base_offset, "-", "-"
    horizon = entry.base_timestamp if entry.has_delete_horizon else -1
    if entry.magic < 2:
        base = rows[0]["offset"]
    else:
        base_time = str(entry.base_timestamp)
        checksum = str(entry.crc) if entry.codec == 0 else "-"
    kind = -1 if entry.timestamp_type is None else entry.timestamp_type
    latest = -1 if entry.max_timestamp is None else entry.max_timestamp
    words = [base, entry.last_offset, entry.magic, entry.codec, kind, base_time, latest, horizon]
    words += [entry.producer_id, entry.producer_epoch, entry.base_sequence, entry.leader_epoch]
    flags = [str(bool(flag)).lower() for flag in (entry.is_transactional, entry.is_control)]
    yield " ".join(["B", *map(str, words), *flags, str(len(rows)), checksum])
    for row in rows:
        headers = "".join(f"{one['key']}={_hex(one['value'])};" for one in row["headers"] or ())
        yield f"R {row['offset']} {row['timestamp']} {_hex(row['key'])} {_hex(row['value'])} {headers}"


def _hex(data: bytes | None) -> str:
    return "-" if data is None else "x" + data.hex()
