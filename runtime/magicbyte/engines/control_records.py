"""What control batches say: the many of a log say few things, each of which is decoded once."""

from collections.abc import Iterator
from typing import NamedTuple

from magicbyte.engines.protocol import Control, Engine, Entries
from magicbyte.limits import Limits
from magicbyte.tables.arrays import Indices
from magicbyte_formats.wire import RecordBatchHeader

MOST_BYTES = 64
"""Of records that are remembered: a marker's are 17, and those of KRaft are rare."""

MOST_KINDS = 1024
"""Control batches of one kind are remembered. A coordinator's epoch makes another kind."""


class Said(NamedTuple):
    """What a control batch says, wherever it stands."""

    control: Control | None
    num_rows: int
    is_sound: bool
    is_plain: bool
    """Whether there is no problem at all."""


class ControlReader:
    """Reads control batches, whose offset, time and producer say nothing of what they hold."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[tuple[int, int, int, bytes], Said] = {}

    def read(
        self,
        buffer: memoryview,
        entries: Entries,
        numbers: Indices,
        *,
        origin: int,
        limits: Limits,
    ) -> Iterator[Said]:
        """Yield what those of *entries* with these *numbers* say.

        They lie in *buffer*, whose first byte is *origin* of the file.
        """
        names = ("codec", "record_count", "position", "size_bytes")
        columns = [entries.column(name)[numbers].tolist() for name in names]
        for number, codec, count, position, size in zip(numbers.tolist(), *columns, strict=True):
            section = buffer[position + RecordBatchHeader.SIZE - origin : position + size - origin]
            if len(section) > MOST_BYTES:
                yield self._decoded(buffer, entries, number, origin, limits)
                continue
            kind = limits.max_batch_bytes, codec, count, bytes(section)
            said = self._known.get(kind)
            if said is None:
                if len(self._known) == MOST_KINDS:
                    self._known.clear()
                said = self._decoded(buffer, entries, number, origin, limits)
                self._known[kind] = said
            yield said

    def _decoded(
        self, buffer: memoryview, entries: Entries, number: int, origin: int, limits: Limits
    ) -> Said:
        one = self._engine.decode(
            buffer, [entries[number]], (), origin=origin, limits=limits
        ).entry(0)
        return Said(one.control, one.num_rows, one.is_sound, not one.findings)
