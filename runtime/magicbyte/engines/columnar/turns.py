"""Compressed entries that are verified, decompressed and decoded by turns, in one call."""

from typing import Any, NamedTuple

import numpy as np

from magicbyte.engines.columnar.buffers import address
from magicbyte.engines.columnar.compiled import inflate, kernel, pump
from magicbyte.engines.columnar.formats import Format
from magicbyte.engines.columnar.libraries import functions
from magicbyte.engines.columnar.machine_code import MachineCode
from magicbyte.engines.columnar.payloads import Arena
from magicbyte.engines.columnar.scratch import Numbers


class Taken(NamedTuple):
    """How far the turns went."""

    decoded: int
    """The entry before which all are decoded."""
    plain: int
    """Up to here those from `decoded` on are plain in the arena all the same."""
    verified: int
    """Up to here checksums are right."""
    num_bytes: int
    """Plain bytes of entries up to `plain`."""


def take_turns(
    chosen: Format,
    decode: Any,
    desc: Numbers,
    first: int,
    end: int,
    *,
    begin: int,
    verified: int,
    most_bytes: int,
    max_bytes: int,
    arena: Arena,
    state: Any,
) -> Taken | None:
    """Decode entries from *first* to before *end*, in a buffer at address *begin*, by *decode*.

    Ends where plain bytes come to *most_bytes*, where a checksum behind *verified* is wrong, and where
    a kernel stops. *max_bytes* is what one may come to. None where kernels are plain Python.
    """
    taking, verify, inflating = pump(), kernel(chosen.name, "verify"), inflate()
    if taking is None or not (
        isinstance(decode, MachineCode) and isinstance(inflating, MachineCode)
    ):
        return None
    places, codecs = chosen.places, functions()
    to, room = arena.place
    # Which entries the calls are about, and how much room there is, the kernel fills in.
    calls = (
        (verify, (begin, desc, 0, 0)),
        (inflating, (desc, 0, 0, places, to, 0, arena.slack, max_bytes, codecs)),
        (decode, (desc, 0, 0, state)),
    )
    arguments = [np.array(code.words(*given), np.int64) for code, given in calls]
    results = np.empty(4, np.int64)
    found = taking(
        desc,
        places,
        first,
        end,
        verified,
        most_bytes,
        room,
        np.array(
            [
                *(code.address for code, _ in calls),
                *(address(words) for words in arguments),
                address(results),
            ],
            np.int64,
        ),
    )
    return Taken(*found)
