"""Where the columnar engine's time goes: its kernels, its codecs, and the Python around them.

Clocks are put around what it calls. They cost some tenths of a microsecond a call, of which there
are a hundred or so to a megabyte.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from magicbyte.engines.columnar import ColumnarEngine, plain_batches, plain_messages
from magicbyte.engines.columnar import engine as scanning
from magicbyte.engines.columnar import group as grouping
from magicbyte.engines.columnar.compiled import decoder, kernel
from magicbyte.engines.columnar.described import Described
from magicbyte.engines.columnar.payloads import Arena
from magicbyte_tools.bench.data import Segment
from magicbyte_tools.bench.ours import LIMITS, Ours

FRAMES = "frames"
CHECKSUMS = "checksums"
CODEC = "codec"
RECORDS = "records"
REST = "groups and batches"

PARTS = (FRAMES, CHECKSUMS, CODEC, RECORDS, REST)

WARM_UP = 2


@dataclass(slots=True)
class Profile:
    """What the parts of a pass took: CPU, in ns per row, with an item per repetition."""

    name: str
    spent: dict[str, list[float]] = field(default_factory=dict)


def profile(segment: Segment, *, repetitions: int) -> Profile:
    """Return where the time goes that `columns` of *segment* take, from memory, in this process."""
    made = Profile(segment.kind.name, {part: [] for part in PARTS})
    ours, data = Ours(ColumnarEngine.name), memoryview(segment.path.read_bytes())
    ours.load(segment.path, "memory")
    for turn in range(WARM_UP + repetitions):
        with _clocks() as spent:
            begun = time.thread_time_ns()
            rows = ours.read("columns", 1)
            whole = time.thread_time_ns() - begun
        if turn >= WARM_UP:
            # A kernel verifies uncompressed entries as it decodes them: alone that takes as long.
            checksums = _checksums_alone(data) if segment.kind.codec == "none" else 0
            spent[CHECKSUMS] += checksums
            spent[RECORDS] -= checksums
            spent[REST] = whole - sum(spent[part] for part in PARTS[:-1])
            for part in PARTS:
                made.spent[part].append(spent[part] / rows)
    return made


OF_KERNELS = {"scan": FRAMES, "describe": FRAMES, "sections": FRAMES, "verify": CHECKSUMS}


@contextmanager
def _clocks() -> Iterator[dict[str, int]]:
    """Have the engine's parts count what they take, in ns of CPU, while this lasts."""
    spent: dict[str, int] = defaultdict(int)

    def timed(function: Callable[..., Any], part: str) -> Callable[..., Any]:
        def measured(*args: Any, **keys: Any) -> Any:
            begun = time.thread_time_ns()
            try:
                return function(*args, **keys)
            finally:
                spent[part] += time.thread_time_ns() - begun

        return measured

    def timed_kernel(name: str, of: str) -> Any:
        return timed(kernel(name, of), OF_KERNELS[of])

    def timed_decoder(*made: Any) -> Any:
        return timed(decoder(*made), RECORDS)

    with (
        patch.object(scanning, "kernel", timed_kernel),
        patch.object(grouping, "kernel", timed_kernel),
        patch.object(grouping, "decoder", timed_decoder),
        # What is done by turns is one call: for this it is done part by part.
        patch.object(grouping, "take_turns", lambda *_, **__: None),
        patch.object(plain_batches, "decoder", timed_decoder),
        patch.object(plain_batches, "kernel", timed_kernel),
        patch.object(plain_messages, "decoder", timed_decoder),
        patch.object(Arena, "inflate", timed(Arena.inflate, CODEC)),
        patch.object(Arena, "decompress", timed(Arena.decompress, CODEC)),
    ):
        yield spent


def _checksums_alone(data: memoryview) -> int:
    """Return what it takes to verify the checksums of all entries and do nothing else with them."""
    entries = ColumnarEngine().scan(data, origin=0, verify=False, limits=LIMITS).entries
    assert isinstance(entries, Described)
    verify = kernel(entries.format.name, "verify")
    begun = time.thread_time_ns()
    verify(entries.address, entries.desc, 0, len(entries))
    return time.thread_time_ns() - begun
