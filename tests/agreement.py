"""Two engines on the same bytes."""

from collections.abc import Sequence

from magicbyte.engines import Engine, Entry, Scan, engine
from magicbyte.errors import FormatError
from magicbyte.limits import Limits
from magicbyte.tables.schemas import WIRE_COLUMNS

REFERENCE = engine("reference")


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
        said, says = (told(one, view, position, limits) for one in (REFERENCE, other))
        if said != says:
            found.append(f"scan at {position}: {said}, {says}")
        # Whatever the checksums: what an altered entry holds is judged too.
        entries, end, *_ = scanned(REFERENCE, view, position, limits, verify=False)
        if entries:
            found += decoded(other, view, entries, columns, position, limits)
        position += max(end, 1)
    return found


def scanned(
    one: Engine, view: memoryview, origin: int, limits: Limits, *, verify: bool
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


def told(one: Engine, view: memoryview, origin: int, limits: Limits) -> tuple[object, ...]:
    entries, end, scan = scanned(one, view, origin, limits, verify=True)
    stopped = scan.stopped_by
    why = (type(stopped), stopped.message) if isinstance(stopped, FormatError) else stopped
    return entries, end, scan.unsound, scan.computed, why


def decoded(
    other: Engine,
    view: memoryview,
    entries: Sequence[Entry],
    columns: Sequence[str],
    origin: int,
    limits: Limits,
) -> list[str]:
    expected, made = (
        one.decode(view, entries, columns, origin=origin, limits=limits)
        for one in (REFERENCE, other)
    )
    made.rows.validate(full=True)
    found = []
    for entry, said, says in zip(entries, expected.entries, made.entries, strict=True):
        if said != says:
            found.append(f"entry at {entry.position}: {said}, {says}")
    if not expected.rows.equals(made.rows):
        wrong = [
            name for name in columns if not expected.rows[name].equals(made.rows[name])
        ] or "their number"
        found.append(f"rows of the entries at {origin}: {wrong}")
    return found
