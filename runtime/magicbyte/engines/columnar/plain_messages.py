"""Plain messages that lie one after another: decoded as if one entry held them all.

A message is an entry and a row at once. What a group does for each of its entries costs some times
as much as a kernel takes for a row, and kernels go through the messages of a wrapper anyway.
"""

import numpy as np

from magicbyte.engines.columnar import buffers
from magicbyte.engines.columnar.buffers import address
from magicbyte.engines.columnar.compiled import decoder
from magicbyte.engines.columnar.described import Described
from magicbyte.engines.columnar.layout import layout
from magicbyte.engines.columnar.made import record_batch
from magicbyte.engines.columnar.output import MOST_BYTES, Output
from magicbyte.engines.columnar.plain_batches import Plain
from magicbyte_formats.columnar import FULL, SOURCE, WHY

FEWEST = 64
"""With fewer of them a group is as good."""


def decode_plain_messages(
    buffer: memoryview,
    entries: Described,
    columns: tuple[str, ...],
    *,
    origin: int,
    verify: bool,
    views: bool,
) -> Plain | None:
    """Return the rows of the plain messages that *entries* begin with, a row for each.

    None where there are few, or anything is wrong with one: a group tells at which.
    """
    chosen, desc = entries.format, entries.desc
    if len(entries) < FEWEST:
        return None
    names, slack = chosen.kernels.NAMES, chosen.kernels.SLACK
    view = np.frombuffer(buffer, np.uint8)
    begin = address(view)
    if (entries.address, entries.origin) != (begin, origin) or (views and len(buffer) > MOST_BYTES):
        return None
    others = np.flatnonzero(desc[:, names["codec"]])
    desc = desc[: int(others[0])] if len(others) else desc
    starts, ends = desc[:, names["start"]], desc[:, names["end"]]
    # Behind the last ones there may be too few bytes: they are read from where there are more.
    num_here = int(np.searchsorted(ends, begin + len(view) - slack, "right"))
    count = num_here if views else len(desc)
    if num_here < FEWEST:
        return None
    desc, start, end = desc[:count], int(starts[0]), int(ends[count - 1])
    parts = [(start, int(ends[num_here - 1]))]
    if num_here < count:
        tail = view[int(starts[num_here]) - begin : end - begin]
        copied = buffers.fresh(len(tail) + slack)
        copied[: len(tail)] = tail
        parts.append((address(copied), address(copied) + len(tail)))
    whole = np.zeros((len(parts), chosen.kernels.WIDTH), np.int64)
    whole[:, [names["start"], names["end"]]] = parts

    output = Output(layout(chosen.name, columns, views), buffer)
    output.make_room(count, end - start, end - start)
    output.state[SOURCE] = begin if verify else 0
    kernel, done = decoder(chosen.name, columns, views), 0
    while (done := kernel(whole, done, len(parts), output.state)) < len(parts):
        if output.state[WHY] != FULL or not output.more_room(count, end - start):
            break
    if done < len(parts) or output.num_rows != count:
        output.drop()
        return None
    num_rows = np.ones(count, np.int64)
    rows = record_batch(chosen, output, columns, desc, num_rows, origin=origin, views=views)
    return Plain(rows, num_rows)
