"""Two engines on the same bytes: what they tell differently."""

from collections.abc import Iterator, Sequence

from magicbyte.engines.protocol import Decoded, Engine, Entry, Scan, Taken
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import Limits
from magicbyte.tables.binary_views import without_binary_views
from magicbyte.tables.schemas import WIRE_COLUMNS

REFERENCE = ReferenceEngine()

MOST_TAKEN = 2048
"""Bytes decoded in one fused call: few, since fuzzed entries are small."""


def differences(
    engine: Engine,
    data: bytes,
    *,
    columns: Sequence[str] = WIRE_COLUMNS,
    limits: Limits | None = None,
) -> list[str]:
    """Return the differences between the reference engine and *engine* on the entries in *data*.

    After bytes that are not an entry, both go on at the next byte.
    """
    messages: list[str] = []
    limits = limits or Limits()
    position = 0
    while position < len(data):
        view = memoryview(data)[position:]
        messages += scanned(engine, view, origin=position, verify=True, limits=limits)[2]
        # Checksums are ignored, so that the contents of altered entries are compared too.
        entries, end = entries_of(REFERENCE, view, origin=position, verify=False, limits=limits)[:2]
        if entries:
            messages += decoded(engine, view, entries, columns, origin=position, limits=limits)[1]
            messages += decoded_runs(engine, view[:end], columns, origin=position, limits=limits)
            messages += taken_runs(engine, view[:end], columns, origin=position, limits=limits)
        position += max(end, 1)
    return messages


def scanned(
    engine: Engine, view: memoryview, *, origin: int, verify: bool, limits: Limits
) -> tuple[list[Entry], int, list[str]]:
    """Return the entries that *engine* scans, their end position, and the differences from the reference
    engine.
    """
    expected, made = (
        entries_of(one, view, origin=origin, verify=verify, limits=limits)
        for one in (REFERENCE, engine)
    )
    said, says = told(*expected), told(*made)
    return made[0], made[1], [] if said == says else [f"scan at {origin}: {said}, {says}"]


def entries_of(
    engine: Engine, view: memoryview, *, origin: int, verify: bool, limits: Limits
) -> tuple[list[Entry], int, Scan]:
    """Return the entries of *view*, their end position, and the scan that ends there."""
    entries: list[Entry] = []
    scans = runs_of(engine, view, origin=origin, verify=verify, limits=limits)
    for scan, _, begin in scans:
        entries += scan.entries
        end = begin + scan.end - origin
    return entries, end, scan


def runs_of(
    engine: Engine, view: memoryview, *, origin: int, verify: bool, limits: Limits
) -> Iterator[tuple[Scan, memoryview, int]]:
    """Yield scans of *view*, one at least, where they are made, and the byte of the file there.

    The last one ends where *view* does, or finds no entry.
    """
    end = 0
    while True:
        here = view[end:]
        scan = engine.scan(here, origin=origin + end, verify=verify, limits=limits)
        yield scan, here, origin + end
        end += scan.end
        if not scan.entries or end == len(view):
            return


def decoded_runs(
    engine: Engine, view: memoryview, columns: Sequence[str], *, origin: int, limits: Limits
) -> list[str]:
    """Return the differences from the reference engine on entries that *engine* scans and verifies."""
    found = []
    for scan, here, begin in runs_of(engine, view, origin=origin, verify=False, limits=limits):
        if scan.entries:
            found += decoded(
                engine, here, scan.entries, columns, origin=begin, limits=limits, verify=True
            )[1]
    return found


def taken_runs(
    engine: Engine, view: memoryview, columns: Sequence[str], *, origin: int, limits: Limits
) -> list[str]:
    """Return the differences from the reference engine on entries that *engine* decodes in fused calls."""
    found = []
    for made, here, begin in runs_at_once(engine, view, columns, origin=origin, limits=limits):
        found += _taken(made, here, columns, origin=begin, limits=limits)
    return found


def runs_at_once(
    engine: Engine, view: memoryview, columns: Sequence[str], *, origin: int, limits: Limits
) -> Iterator[tuple[Taken, memoryview, int]]:
    """Yield the results of fused calls of the engine on *view*, their bytes, and their file positions.

    An entry that the fused kernel refuses, or whose checksum is wrong, is skipped.
    """
    end = 0
    while end < len(view):
        here = view[end:]
        made = engine.take(here, columns, origin=origin + end, limits=limits, most_bytes=MOST_TAKEN)
        if made is not None:
            yield made, here, origin + end
            end += made.end
        if made is None or made.unsound is not None:
            scan = REFERENCE.scan(
                view[end:], origin=origin + end, verify=False, limits=limits, stop=1
            )
            if not scan.entries:
                return
            end += scan.end


def _taken(
    made: Taken, view: memoryview, columns: Sequence[str], *, origin: int, limits: Limits
) -> list[str]:
    """Return the differences between the reference engine and the fused result at the start of *view*."""
    whole = view[: made.end]
    entries = entries_of(REFERENCE, whole, origin=origin, verify=True, limits=limits)[0]
    if list(made.entries) != entries:
        return [f"entries taken at {origin}: {entries}, {list(made.entries)}"]
    behind = REFERENCE.scan(
        view[made.end :], origin=origin + made.end, verify=True, limits=limits, stop=1
    )
    if made.unsound is not None and (made.unsound, made.decoded.computed) != (
        behind.unsound,
        behind.computed,
    ):
        return [f"behind what was taken at {origin}: {behind.unsound}, {made.unsound}"]
    if made.is_cut and behind.entries:
        return [f"what was taken at {origin} ends in an entry that is whole"]
    expected = REFERENCE.decode(view, entries, columns, origin=origin, limits=limits)
    return compared(expected, made.decoded, columns, origin=origin)


def told(entries: list[Entry], end: int, scan: Scan) -> tuple[object, ...]:
    return entries, end, scan.unsound, scan.computed, scan.stopped_by and scan.stopped_by.message


def decoded(
    engine: Engine,
    view: memoryview,
    entries: Sequence[Entry],
    columns: Sequence[str],
    *,
    origin: int,
    limits: Limits,
    verify: bool = False,
) -> tuple[Decoded, list[str]]:
    """Return what *engine* decodes from *entries*, and the differences from the reference engine."""
    expected, made = (
        one.decode(view, entries, columns, origin=origin, limits=limits, verify=verify)
        for one in (REFERENCE, engine)
    )
    ends = [(len(one.headers), one.computed) for one in (expected, made)]
    if ends[0] != ends[1]:
        return made, [f"entries at {origin} are verified up to {ends[0]}, {ends[1]}"]
    return made, compared(expected, made, columns, origin=origin)


def compared(expected: Decoded, made: Decoded, columns: Sequence[str], *, origin: int) -> list[str]:
    """Return what differs between what two engines decode of the same entries."""
    made.rows.validate(full=True)
    found = []
    for entry, said, says in zip(expected.headers, expected.entries, made.entries, strict=True):
        if said != says:
            found.append(f"entry at {entry.position}: {said}, {says}")
    sizes = [one.decompressed.tolist() for one in (expected, made)]
    if sizes[0] != sizes[1]:
        found.append(f"entries at {origin} decompress to {sizes[0]}, {sizes[1]}")
    rows = without_binary_views(made.rows)
    if not expected.rows.equals(rows):
        wrong = [
            name for name in columns if not expected.rows[name].equals(rows[name])
        ] or "their number"
        found.append(f"rows of the entries at {origin}: {wrong}")
    return found
