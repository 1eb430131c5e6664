"""Two engines on the same bytes: what they tell differently."""

from collections.abc import Sequence

from magicbyte.engines import Decoded, Engine, Entry, Scan
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.errors import FormatError
from magicbyte.limits import Limits
from magicbyte.tables.schemas import WIRE_COLUMNS
from magicbyte.tables.views import copied

REFERENCE = ReferenceEngine()


def differences(
    other: Engine,
    data: bytes,
    *,
    columns: Sequence[str] = WIRE_COLUMNS,
    limits: Limits | None = None,
) -> list[str]:
    """Return what the reference and *other* tell differently of the entries in *data*.

    Behind what is no entry, both go on at the next byte.
    """
    found: list[str] = []
    limits = limits or Limits()
    position = 0
    while position < len(data):
        view = memoryview(data)[position:]
        found += scanned(other, view, origin=position, verify=True, limits=limits)[2]
        # Whatever the checksums: what an altered entry holds is judged too.
        entries, end = entries_of(REFERENCE, view, origin=position, verify=False, limits=limits)[:2]
        if entries:
            found += decoded(other, view, entries, columns, origin=position, limits=limits)[1]
        position += max(end, 1)
    return found


def scanned(
    other: Engine, view: memoryview, *, origin: int, verify: bool, limits: Limits
) -> tuple[list[Entry], int, list[str]]:
    """Return the entries that *other* scans, the byte behind them, and what the reference tells
    differently.
    """
    expected, made = (
        entries_of(one, view, origin=origin, verify=verify, limits=limits)
        for one in (REFERENCE, other)
    )
    said, says = told(*expected), told(*made)
    return made[0], made[1], [] if said == says else [f"scan at {origin}: {said}, {says}"]


def entries_of(
    one: Engine, view: memoryview, *, origin: int, verify: bool, limits: Limits
) -> tuple[list[Entry], int, Scan]:
    """Return the entries of *view*, the byte behind them, and the scan that says what is there."""
    entries: list[Entry] = []
    end = 0
    while True:
        scan = one.scan(view[end:], origin=origin + end, verify=verify, limits=limits)
        entries += scan.entries
        end += scan.end
        if not scan.entries or end == len(view):
            return entries, end, scan


def told(entries: list[Entry], end: int, scan: Scan) -> tuple[object, ...]:
    stopped = scan.stopped_by
    why = (type(stopped), stopped.message) if isinstance(stopped, FormatError) else stopped
    return entries, end, scan.unsound, scan.computed, why


def decoded(
    other: Engine,
    view: memoryview,
    entries: Sequence[Entry],
    columns: Sequence[str],
    *,
    origin: int,
    limits: Limits,
    verify: bool = False,
) -> tuple[Decoded, list[str]]:
    """Return what *other* decodes of *entries*, and what the reference tells differently."""
    expected, made = (
        one.decode(view, entries, columns, origin=origin, limits=limits, verify=verify)
        for one in (REFERENCE, other)
    )
    made.rows.validate(full=True)
    ends = [(len(one.headers), one.computed) for one in (expected, made)]
    if ends[0] != ends[1]:
        return made, [f"entries at {origin} are verified up to {ends[0]}, {ends[1]}"]
    found = []
    for entry, said, says in zip(expected.headers, expected.entries, made.entries, strict=True):
        if said != says:
            found.append(f"entry at {entry.position}: {said}, {says}")
    rows = copied(made.rows)
    if not expected.rows.equals(rows):
        wrong = [
            name for name in columns if not expected.rows[name].equals(rows[name])
        ] or "their number"
        found.append(f"rows of the entries at {origin}: {wrong}")
    return made, found
