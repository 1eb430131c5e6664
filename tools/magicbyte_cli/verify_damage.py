"""Offsets that are lost or damaged, in words, and the command that moves a consumer past damage."""

import shlex
from collections.abc import Iterator, Sequence

from magicbyte_cli.verify_groups import MAX_NAMES, Row

MAX_RANGES = 10
"""Damaged ranges that are printed for a partition."""


def damage_lines(row: Row) -> Iterator[str]:
    """Yield the offsets of each damaged range, and the command that moves a consumer group past one."""
    ranges = row["damaged_ranges"]
    for damaged in ranges[:MAX_RANGES]:
        first, end = damaged["first_offset"], damaged["end_offset"]
        noun = "offset" if end == first + 1 else "offsets"
        yield (
            f"  {damaged['file']} bytes {damaged['position']} to "
            f"{damaged['position'] + damaged['length'] - 1} hold {noun} {range_text(first, end)}; "
            f"{_follows(damaged)}"
        )
    if len(ranges) > MAX_RANGES:
        yield f"  and {len(ranges) - MAX_RANGES:,} more damaged ranges: see --format ndjson"
    stuck = [
        damaged
        for damaged in ranges
        if damaged["remains"] is not False and damaged["seek_offset"] is not None
    ]
    if stuck and row["topic"] is not None:
        yield "  to move a consumer group that is stuck there (stop its consumers first):"
        yield f"    {reset_command(row['topic'], row['partition'], stuck[0]['seek_offset'])}"


def reset_command(topic: str, partition: int, offset: int) -> str:
    """Return the command of Kafka that makes a consumer group go on at *offset*."""
    return (
        "kafka-consumer-groups.sh --bootstrap-server HOST:PORT --group GROUP --topic "
        f"{shlex.quote(f'{topic}:{partition}')} --reset-offsets --to-offset {offset} --execute"
    )


def _follows(damaged: Row) -> str:
    """Return in words which sound offset follows a damaged range, and which one a broker finds."""
    next_offset, seek_offset = damaged["next_offset"], damaged["seek_offset"]
    if next_offset is None:
        return "no sound offset follows"
    text = f"the next sound offset is {next_offset}"
    if seek_offset == next_offset:
        return text
    if seek_offset is None:
        return f"{text}, which a broker does not find behind the wrong size"
    return f"{text}; {seek_offset} is the first that a broker finds behind the wrong size"


def removed_ranges(row: Row) -> list[Row]:
    """Return the damaged ranges of a partition that a startup removes, if their offsets are known."""
    return [damaged for damaged in row["damaged_ranges"] if damaged["remains"] is False]


def remaining_ranges(row: Row) -> list[Row]:
    """Return the damaged ranges of a partition that a startup does not remove."""
    return [damaged for damaged in row["damaged_ranges"] if damaged["remains"]]


def stuck_text(row: Row) -> str:
    return ranges_text(remaining_ranges(row))


def ranges_text(damaged_ranges: Sequence[Row]) -> str:
    """Return the offsets of the first of *damaged_ranges*, and how many more there are."""
    ranges = [
        range_text(damaged["first_offset"], damaged["end_offset"]) for damaged in damaged_ranges
    ]
    more = f" and {len(ranges) - MAX_NAMES:,} more" if len(ranges) > MAX_NAMES else ""
    return f"{', '.join(ranges[:MAX_NAMES])}{more}"


def lost_text(row: Row) -> str:
    return ", ".join(range_text(first, end) for first, end in row["lost_ranges"])


def offsets_lost_text(row: Row) -> str:
    """Return the offsets that the partition of *row* loses, such as `offsets 3 to 7`."""
    return f"{'offset' if row['offsets_lost'] == 1 else 'offsets'} {lost_text(row)}"


def range_text(first: int, end: int | None) -> str:
    if end is None:
        return f"{first} and later"
    return str(first) if end == first + 1 else f"{first} to {end - 1}"
