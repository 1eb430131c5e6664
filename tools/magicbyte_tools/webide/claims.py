"""Finds bytes of a file that no field of its specification claims, or that several fields claim.

The claims are computed twice from the same .ksy: by the compiler's JavaScript, which the Web IDE
runs, and by its Python; the two share no code. Only leaves claim bytes: fields that are not
structures. An instance reads the bytes of other fields again and claims none.
"""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from kaitaistruct import KaitaiStream, KaitaiStruct

from magicbyte_tools.generate.kaitai import INSTALLED, NODE, CompileError, install
from magicbyte_tools.webide.debug_parsers import HERE, Formats


@dataclass(frozen=True, slots=True)
class ClaimFault:
    """Bytes from *start* up to *end* that no field claims, or more than one."""

    start: int
    end: int
    times: int
    """Number of fields that claim the range: 0, or 2 and more."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Coverage of one file: number of leaf fields, and bytes that no field or several fields claim."""

    leaves: int = 0
    faults: tuple[ClaimFault, ...] = ()
    error: str | None = None
    """Reason why the file cannot be parsed, or bits that no field claims."""

    @property
    def whole(self) -> bool:
        """True where every byte is claimed exactly once."""
        return not self.faults and self.error is None


def in_javascript(folder: Path, files: Sequence[tuple[str, Path]]) -> list[Claims]:
    """Parse *files* with the compiler's JavaScript; return which bytes of each the fields claim.

    *files* are pairs of format id and path; *folder* contains the specifications.
    """
    install()
    return claims_of([NODE, HERE / "cover.mjs", INSTALLED, folder], files)


def claims_of(command: Sequence[str | Path], files: Sequence[tuple[str, Path]]) -> list[Claims]:
    """Run *command*, a script of this package, on *files* and return the claims that it prints."""
    jobs = json.dumps([(name, str(path)) for name, path in files])
    done = subprocess.run(command, input=jobs, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise CompileError(done.stderr.strip())
    return [
        Claims(one["leaves"], tuple(ClaimFault(*fault) for fault in one["faults"]))
        if "leaves" in one
        else Claims(error=one["error"])
        for one in json.loads(done.stdout)
    ]


def in_python(formats: Formats, name: str, data: bytes) -> Claims:
    """Parse *data* as the format *name* in debug mode; return which bytes the fields claim."""
    root = formats.new(name, KaitaiStream(BytesIO(data)))
    try:
        root._read()
        leaves = sorted(_leaves(root, 0))
    # Exceptions of Kaitai's runtime and of generated code have no other common base class.
    except Exception as error:
        return Claims(error=f"{type(error).__name__}: {error}")
    return Claims(len(leaves), tuple(_faults(leaves, len(data))))


def _leaves(structure: Any, base: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each leaf of *structure*, whose stream begins at byte *base*."""
    stream, spans = structure._io, structure._debug
    for field in structure.SEQ_FIELDS:
        span = spans.get(field)
        if span is None:
            continue
        value = getattr(structure, field)
        several = "arr" in span
        pairs = zip(value, span["arr"], strict=True) if several else ((value, span),)
        for one, place in pairs:
            if isinstance(one, KaitaiStruct):
                # A field with a size has a stream of its own, which begins at 0.
                inner = base if one._io is stream else base + place["start"]
                yield from _leaves(one, inner)
            else:
                yield base + place["start"], base + place["end"]
    # A bit field claims its whole byte, so the remaining bits of the byte are checked here.
    if stream.bits_left:
        raise ValueError(f"{type(structure).__qualname__}: {stream.bits_left} bits are no field's")


def _faults(leaves: Sequence[tuple[int, int]], size: int) -> Iterator[ClaimFault]:
    """Yield the ranges of a *size*-byte file that the sorted *leaves* do not claim exactly once."""
    chain = pairwise([(0, 0), *leaves, (size, size)])
    if all(end == start for (_, end), (start, _) in chain):
        return
    steps: dict[int, int] = {}
    for start, end in leaves:
        steps[start] = steps.get(start, 0) + 1
        steps[end] = steps.get(end, 0) - 1
    places, times, begin = sorted({*steps, size}), 0, 0
    for place in places:
        if begin < place and times != 1:
            yield ClaimFault(begin, place, times)
        times += steps.get(place, 0)
        begin = place
