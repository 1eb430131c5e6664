"""Two engines on the same bytes."""

from collections.abc import Sequence

from magicbyte.engines import Engine, Entry, Scan, engine
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
        scans = [
            one.scan(view, origin=position, verify=True, limits=limits)
            for one in (REFERENCE, other)
        ]
        if told(scans[0]) != told(scans[1]):
            found.append(f"scan at {position}: {told(scans[0])}, {told(scans[1])}")
        entries = scans[0].entries
        if entries:
            found += decoded(other, view, entries, columns, position, limits)
        position += max(scans[0].end, 1)
    return found


def told(scan: Scan) -> tuple[object, ...]:
    stopped = scan.stopped_by
    return scan.entries, scan.computed, scan.end, type(stopped), str(stopped)


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
