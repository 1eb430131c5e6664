"""Compares the results of the reference engine and of another engine on the same bytes."""

from collections.abc import Iterator, Sequence
from typing import Any

from magicbyte.engines.protocol import Chunk, Decoded, Engine, Entry, Scan
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import Limits
from magicbyte.tables.binary_views import without_binary_views
from magicbyte.tables.schemas import WIRE_COLUMNS

REFERENCE = ReferenceEngine()

RUNS = ((False, None), (True, None), (True, 2048))
"""Options `verify` and `max_bytes` of each decoding; 2048 bytes hold several of the small fuzzed entries."""

ExpectedResults = dict[tuple[int, bool, int], Decoded]
"""The reference engine's results by position, option `verify` and number of entries."""

MAX_BYTES_OF_EXPECTED_RESULTS = 1 << 16
"""Largest chunk whose results are kept: in larger ones, a run with `max_bytes` seldom repeats a run without."""


def differences(
    other: Engine,
    data: bytes,
    *,
    columns: Sequence[str] = WIRE_COLUMNS,
    limits: Limits | None = None,
) -> list[str]:
    """Return the differences between the reference engine and *other* on the entries in *data*.

    After bytes that are not an entry, both engines continue at the next byte.
    """
    messages: list[str] = []
    limits = limits or Limits()
    position = 0
    while position < len(data):
        chunk = Chunk(memoryview(data)[position:], position)
        messages += scan_differences(other, chunk, verify=True, limits=limits)
        # Checksums are ignored, so that the contents of altered entries are compared too.
        _, end, _ = entries_of(REFERENCE, chunk, verify=False, limits=limits)
        entries = Chunk(chunk.data[:end], position)
        expected_results: ExpectedResults | None = (
            {} if end <= MAX_BYTES_OF_EXPECTED_RESULTS else None
        )
        for verify, max_bytes in RUNS:
            messages += run_differences(
                other,
                entries,
                columns,
                limits=limits,
                verify=verify,
                max_bytes=max_bytes,
                expected_results=expected_results,
            )
        position += max(end, 1)
    return messages


def scan_differences(other: Engine, chunk: Chunk, *, verify: bool, limits: Limits) -> list[str]:
    """Return the differences between the scans of *chunk* by the reference engine and by *other*."""
    expected, actual = (
        entries_of(engine, chunk, verify=verify, limits=limits) for engine in (REFERENCE, other)
    )
    texts = [str((*scan[:2], _rest(scan[2]))) for scan in (expected, actual)]
    return [] if texts[0] == texts[1] else [f"scan at {chunk.position}: {texts[0]}, {texts[1]}"]


def entries_of(
    engine: Engine, chunk: Chunk, *, verify: bool, limits: Limits
) -> tuple[list[Entry], int, Scan]:
    """Return the log entries at the beginning of *chunk*, their size in bytes, and the last scan."""
    entries: list[Entry] = []
    end = 0
    while True:
        scan = engine.scan(chunk.after(end), verify=verify, limits=limits)
        entries += scan.entries
        end += scan.end
        if not scan.entries or end == len(chunk.data):
            return entries, end, scan


def run_differences(
    other: Engine,
    chunk: Chunk,
    columns: Sequence[str],
    *,
    limits: Limits,
    verify: bool,
    max_bytes: int | None,
    expected_results: ExpectedResults | None = None,
) -> list[str]:
    """Decode *chunk* by *other*; return the differences from the reference engine's results.

    Results in *expected_results* are of the same chunk, columns and limits; new ones are added.
    """
    messages = []
    known = {} if expected_results is None else expected_results
    for decoded, here in decoded_runs(
        other, chunk, columns, limits=limits, verify=verify, max_bytes=max_bytes
    ):
        num_entries = len(decoded.entries)
        key = here.position, verify, num_entries
        expected = known.get(key)
        if expected is None:
            expected = REFERENCE.decode(
                here, columns, limits=limits, verify=verify, max_entries=num_entries
            )
            if expected_results is not None:
                known[key] = expected
        messages += result_differences(expected, decoded, columns, position=here.position)
        after = here.after(decoded.end)
        rest = REFERENCE.scan(after, verify=verify, limits=limits, max_entries=1)
        is_explained = decoded.unsound is not None or decoded.stopped_by is not None
        if is_explained and _rest(rest) != _rest(decoded):
            messages.append(f"end at {after.position}: {_rest(rest)}, {_rest(decoded)}")
        if not decoded.entries and not is_explained:
            messages.append(f"nothing is decoded at {here.position}")
    return messages


def decoded_runs(
    engine: Engine,
    chunk: Chunk,
    columns: Sequence[str],
    **options: Any,
) -> Iterator[tuple[Decoded, Chunk]]:
    """Yield the result of each call that decodes *chunk*, with the chunk that the call was given.

    *options* are passed to `Engine.decode`. Entries with a wrong checksum are skipped.
    """
    while chunk.data:
        decoded = engine.decode(chunk, columns, **options)
        yield decoded, chunk
        chunk = chunk.after(decoded.end)
        if decoded.unsound is not None:
            chunk = chunk.after(decoded.unsound.size_bytes)
        elif not decoded.entries:
            return


def _rest(scan: Scan) -> tuple[object, ...]:
    """Return why *scan* ended: the unsound entry, its computed checksum, and the finding."""
    finding = scan.stopped_by
    why = None if finding is None else (finding.code, finding.message)
    return scan.unsound, scan.computed, why


def result_differences(
    reference_result: Decoded, actual: Decoded, columns: Sequence[str], *, position: int
) -> list[str]:
    """Return the differences between two results of decoding the same entries, from byte *position* on."""
    actual.rows.validate(full=True)
    if list(reference_result.entries) != list(actual.entries):
        return [f"entries at {position}: {list(reference_result.entries)}, {list(actual.entries)}"]
    results = zip(reference_result.all_results(), actual.all_results(), strict=True)
    messages = [
        f"entry at {entry.position}: {expected}, {other}"
        for entry, (expected, other) in zip(actual.entries, results, strict=True)
        if expected != other
    ]
    sizes = [decoded.decompressed.tolist() for decoded in (reference_result, actual)]
    if sizes[0] != sizes[1]:
        messages.append(f"entries at {position} decompress to {sizes[0]}, {sizes[1]}")
    rows = without_binary_views(actual.rows)
    if not reference_result.rows.equals(rows):
        wrong = [
            name for name in columns if not reference_result.rows[name].equals(rows[name])
        ] or "their number"
        messages.append(f"rows of the entries at {position}: {wrong}")
    return messages
