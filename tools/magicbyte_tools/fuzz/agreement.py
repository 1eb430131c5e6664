"""Compares what two engines read from the same bytes."""

from collections.abc import Iterator, Sequence

from magicbyte.engines.protocol import Decoded, Engine, Entry, Scan
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import Limits
from magicbyte.tables.binary_views import without_binary_views
from magicbyte.tables.schemas import WIRE_COLUMNS

REFERENCE = ReferenceEngine()

RUNS = ((False, None), (True, None), (True, 2048))
"""Whether a run verifies checksums, and its `max_bytes`: few, since fuzzed entries are small."""


def differences(
    other: Engine,
    data: bytes,
    *,
    columns: Sequence[str] = WIRE_COLUMNS,
    limits: Limits | None = None,
) -> list[str]:
    """Return the differences between the reference engine and *other* on the entries in *data*.

    After bytes that are not an entry, both go on at the next byte.
    """
    messages: list[str] = []
    limits = limits or Limits()
    position = 0
    while position < len(data):
        view = memoryview(data)[position:]
        messages += scan_differences(other, view, origin=position, verify=True, limits=limits)
        # Checksums are ignored, so that the contents of altered entries are compared too.
        _, end, _ = entries_of(REFERENCE, view, origin=position, verify=False, limits=limits)
        for verify, max_bytes in RUNS:
            messages += run_differences(
                other,
                view[:end],
                columns,
                origin=position,
                limits=limits,
                verify=verify,
                max_bytes=max_bytes,
            )
        position += max(end, 1)
    return messages


def scan_differences(
    other: Engine, view: memoryview, *, origin: int, verify: bool, limits: Limits
) -> list[str]:
    """Return the differences between the scans of the reference engine and of *other*."""
    expected, actual = (
        entries_of(engine, view, origin=origin, verify=verify, limits=limits)
        for engine in (REFERENCE, other)
    )
    expected_text, actual_text = (str((*scan[:2], _rest(scan[2]))) for scan in (expected, actual))
    is_equal = expected_text == actual_text
    return [] if is_equal else [f"scan at {origin}: {expected_text}, {actual_text}"]


def entries_of(
    engine: Engine, view: memoryview, *, origin: int, verify: bool, limits: Limits
) -> tuple[list[Entry], int, Scan]:
    """Return the entries of *view*, their end position, and the last scan, which found no entry."""
    entries: list[Entry] = []
    end = 0
    while True:
        scan = engine.scan(view[end:], origin=origin + end, verify=verify, limits=limits)
        entries += scan.entries
        end += scan.end
        if not scan.entries or end == len(view):
            return entries, end, scan


def run_differences(
    other: Engine,
    view: memoryview,
    columns: Sequence[str],
    *,
    origin: int,
    limits: Limits,
    verify: bool,
    max_bytes: int | None,
) -> list[str]:
    """Return the differences from the reference engine in all that *other* decodes of *view*."""
    messages = []
    for decoded, here, begin in decoded_runs(
        other, view, columns, origin=origin, limits=limits, verify=verify, max_bytes=max_bytes
    ):
        expected = REFERENCE.decode(
            here,
            columns,
            origin=begin,
            limits=limits,
            verify=verify,
            stop=len(decoded.entries),
        )
        messages += result_differences(expected, decoded, columns, origin=begin)
        end = decoded.end
        rest = REFERENCE.scan(here[end:], origin=begin + end, verify=verify, limits=limits, stop=1)
        is_explained = decoded.unsound is not None or decoded.stopped_by is not None
        if is_explained and _rest(rest) != _rest(decoded):
            messages.append(f"end at {begin + end}: {_rest(rest)}, {_rest(decoded)}")
        if not decoded.entries and not is_explained:
            messages.append(f"nothing is decoded at {begin}")
    return messages


def decoded_runs(
    engine: Engine,
    view: memoryview,
    columns: Sequence[str],
    *,
    origin: int,
    limits: Limits,
    verify: bool,
    max_bytes: int | None,
) -> Iterator[tuple[Decoded, memoryview, int]]:
    """Yield all that *engine* decodes of *view*, with the bytes from there on and their position.

    An entry with a wrong checksum is skipped.
    """
    end = 0
    while end < len(view):
        here = view[end:]
        decoded = engine.decode(
            here,
            columns,
            origin=origin + end,
            limits=limits,
            max_bytes=max_bytes,
            verify=verify,
        )
        yield decoded, here, origin + end
        end += decoded.end
        if decoded.unsound is not None:
            end += decoded.unsound.size_bytes
        elif not decoded.entries:
            return


def _rest(scan: Scan) -> tuple[object, ...]:
    """Return why *scan* ended."""
    finding = scan.stopped_by
    why = None if finding is None else (finding.code, finding.message)
    return scan.unsound, scan.computed, why


def result_differences(
    reference_result: Decoded, actual: Decoded, columns: Sequence[str], *, origin: int
) -> list[str]:
    """Return the differences between two results of decoding the same entries."""
    actual.rows.validate(full=True)
    if list(reference_result.entries) != list(actual.entries):
        return [f"entries at {origin}: {list(reference_result.entries)}, {list(actual.entries)}"]
    messages = []
    results = zip(
        reference_result.entries, reference_result.all_results(), actual.all_results(), strict=True
    )
    for entry, expected_result, actual_result in results:
        if expected_result != actual_result:
            messages.append(f"entry at {entry.position}: {expected_result}, {actual_result}")
    sizes = [decoded.decompressed.tolist() for decoded in (reference_result, actual)]
    if sizes[0] != sizes[1]:
        messages.append(f"entries at {origin} decompress to {sizes[0]}, {sizes[1]}")
    rows = without_binary_views(actual.rows)
    if not reference_result.rows.equals(rows):
        wrong = [
            name for name in columns if not reference_result.rows[name].equals(rows[name])
        ] or "their number"
        messages.append(f"rows of the entries at {origin}: {wrong}")
    return messages
