"""Uncompressed batches that lie one after another, of which there is nothing to ask but their records.

Most are like that. What a group looks at before its kernel begins takes Python a tenth of a
millisecond, and that for each 4 MiB.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar import buffers
from magicbyte.engines.columnar.buffers import address
from magicbyte.engines.columnar.compiled import decoder, kernel
from magicbyte.engines.columnar.described import Described
from magicbyte.engines.columnar.layout import layout
from magicbyte.engines.columnar.made import record_batch
from magicbyte.engines.columnar.output import MOST_BYTES, Output
from magicbyte.engines.entries import Numbers
from magicbyte.engines.entry import checksum_of
from magicbyte_formats.columnar import FULL, SOURCE, UNSOUND, WHY

FEWEST = 8
"""With fewer of them a group is as good."""


@dataclass(frozen=True, slots=True)
class Plain:
    """The rows of the entries that others begin with."""

    rows: pa.RecordBatch
    num_rows: Numbers
    """Of each entry."""
    computed: int | None = None
    """The checksum of the entry behind them, where that is wrong."""


def decode_plain_batches(
    buffer: memoryview,
    entries: Described,
    columns: tuple[str, ...],
    *,
    origin: int,
    verify: bool,
    views: bool,
) -> Plain | None:
    """Return the rows of the plain batches that *entries* begin with, up to one that is odd.

    None where there are few: those, and what follows, are for a group.
    """
    chosen, desc = entries.format, entries.desc
    if len(entries) < FEWEST:
        return None
    names, slack = chosen.kernels.NAMES, chosen.kernels.SLACK
    view = np.frombuffer(buffer, np.uint8)
    begin = address(view)
    if (entries.address, entries.origin) != (begin, origin) or (views and len(buffer) > MOST_BYTES):
        return None
    is_odd = desc[:, names["codec"]] | desc[:, names["is_control"]]
    others = np.flatnonzero(is_odd | (desc[:, names["num_records"]] <= 0))
    desc = desc[: int(others[0])] if len(others) else desc
    # Behind the last ones there may be too few bytes: they are read from where there are more.
    ends = desc[:, names["end"]]
    num_here = int(np.searchsorted(ends, begin + len(view) - slack, "right"))
    if num_here < FEWEST:
        return None
    if num_here < len(desc):
        desc = desc[:num_here] if views else desc.copy()
        places = desc[num_here:, [names["start"], names["end"]]]
        if len(places):
            first, end = int(places[0, 0]), int(places[-1, 1])
            copied = buffers.fresh(end - first + slack)
            copied[: end - first] = view[first - begin : end - begin]
            desc[num_here:, [names["start"], names["end"]]] = places + (address(copied) - first)

    output = Output(layout(chosen.name, columns, views), buffer)
    sizes = desc[:, names["end"]] - desc[:, names["start"]]
    output.make_room(chosen.most_rows(desc), int(sizes.sum()), int(sizes.max()))
    decode = decoder(chosen.name, columns, views)

    def decoded(first: int, end: int) -> int:
        """Decode entries from *first* to before *end*, and return where that ended."""
        while (first := decode(desc, first, end, output.state)) < end:
            most_rows = chosen.most_rows(desc[first : first + 1])
            if output.state[WHY] != FULL or not output.more_room(most_rows, int(sizes[first])):
                break
        return first

    output.state[SOURCE] = begin if verify else 0
    done = decoded(0, num_here)
    is_unsound = done < num_here and output.state[WHY] == UNSOUND
    if num_here == done < len(desc):
        # The checksums of these are those of other bytes than are decoded.
        end = len(desc)
        if verify:
            end = kernel(chosen.name, "verify")(begin, entries.desc, done, end)
        output.state[SOURCE] = 0
        done = decoded(done, end)
        is_unsound = done == end < len(desc)
    if not done and not is_unsound:
        output.drop()
        return None
    desc = desc[:done]
    num_rows = desc[:, names["rows"]].copy()
    return Plain(
        record_batch(chosen, output, columns, desc, num_rows, origin=origin, views=views),
        num_rows,
        checksum_of(buffer, entries[done], origin=origin) if is_unsound else None,
    )
