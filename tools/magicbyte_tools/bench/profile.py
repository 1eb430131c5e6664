"""Profiles the columnar engine: CPU time of checksums, decompression, decoding, and Python around kernels.

A kernel handles many entries in one call, so a clock around it cannot separate these parts. Checksums
and decompression are therefore run once more, alone, over the same entries.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from magicbyte.engines.columnar import ColumnarEngine, _entry_run
from magicbyte.engines.columnar._buffers import Descriptors, address, allocate
from magicbyte.engines.columnar._formats import DescriptorEntries
from magicbyte.engines.columnar._fused_kernel import CHUNK_DECOMPRESSED_BYTES
from magicbyte.engines.columnar._libraries import functions
from magicbyte.engines.columnar.kernel_loader import decompressor, fused_kernel, kernel
from magicbyte.engines.protocol import Chunk
from magicbyte.limits import MIB
from magicbyte_tools.bench.data import Kind, Segment
from magicbyte_tools.bench.ours import LIMITS, Ours

CHECKSUMS = "checksums"
CODEC = "codec"
RECORDS = "frames and records"
REST = "Python"

PARTS = (CHECKSUMS, CODEC, RECORDS, REST)

WARM_UP = 2

MOST_PLAIN = 8 * MIB
"""Capacity in bytes for decompressed entries; larger than any entry in the generated files."""


@dataclass(slots=True)
class Profile:
    """CPU time of the parts of a pass over a file, in ns per row; lists have an item per repetition."""

    name: str
    spent: dict[str, list[float]] = field(default_factory=dict)


def modes(kind: Kind) -> Sequence[str]:
    """Return the modes to profile: only `columns` for a compressed file, since all modes copy its bytes."""
    return ("columns", "views", "offsets") if kind.codec == "none" else ("columns",)


def profile(segment: Segment, *, mode: str = "columns", repetitions: int) -> Profile:
    """Profile reading *segment* in *mode*, from memory and in this process."""
    name = segment.kind.name if mode == "columns" else f"{segment.kind.name}, {mode}"
    made = Profile(name, {part: [] for part in PARTS})
    ours, data = Ours(ColumnarEngine.name), memoryview(segment.path.read_bytes())
    ours.load(segment.path, "memory")
    for turn in range(WARM_UP + repetitions):
        in_kernels = _Clock()
        timed_kernel = partial(in_kernels.timed, fused_kernel())
        with patch.object(_entry_run, "fused_kernel", lambda kernel=timed_kernel: kernel):
            whole = _Clock()
            rows = whole.timed(lambda: ours.read(mode, 1))
        if turn < WARM_UP:
            continue
        described = _described(data)
        checksums = _checksums(described, data)
        codec = _codec(described) if segment.kind.codec != "none" else 0
        spent = {
            CHECKSUMS: checksums,
            CODEC: codec,
            RECORDS: in_kernels.ns - checksums - codec,
            REST: whole.ns - in_kernels.ns,
        }
        for part, spent_ns in spent.items():
            made.spent[part].append(spent_ns / rows)
    return made


class _Clock:
    """CPU time of this thread in ns, summed over the timed calls."""

    def __init__(self) -> None:
        self.ns = 0

    def timed(self, function: Callable[..., Any], *arguments: Any) -> Any:
        begun = time.thread_time_ns()
        try:
            return function(*arguments)
        finally:
            self.ns += time.thread_time_ns() - begun


def _described(data: memoryview) -> DescriptorEntries:
    entries = ColumnarEngine().scan(Chunk(data, 0), verify=False, limits=LIMITS).entries
    assert isinstance(entries, DescriptorEntries)
    return entries


def _checksums(entries: DescriptorEntries, data: memoryview) -> int:
    """Verify the checksums of *entries* in *data*; return the CPU time in ns."""
    clock, verify = _Clock(), kernel(entries.format.name, "verify")
    begin = address(np.frombuffer(data, np.uint8))
    clock.timed(verify, begin, entries.desc, 0, len(entries))
    return clock.ns


def _codec(entries: DescriptorEntries) -> int:
    """Decompress *entries*; return the CPU time in ns."""
    chosen, desc = entries.format, entries.desc.copy()
    if chosen.kernels.IS_STREAM:
        kernel(chosen.name, "sections")(desc, np.arange(len(desc)))
    clock, place = _Clock(), allocate(MOST_PLAIN)
    clock.timed(_inflate, chosen.fields, chosen.kernels.SLACK, desc, address(place))
    return clock.ns


def _inflate(places: Any, slack: int, desc: Descriptors, to: int) -> None:
    run, most = decompressor(), LIMITS.max_batch_bytes
    done = 0
    while done < len(desc):
        for room in (CHUNK_DECOMPRESSED_BYTES, MOST_PLAIN):
            stop = run(desc, done, len(desc), places, to, room, slack, most, functions())[0]
            if stop > done:
                break
        else:
            raise ValueError(f"entry {done} is not decompressed")
        done = stop
