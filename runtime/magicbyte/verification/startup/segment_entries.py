"""The entries of a segment as recovery goes through them: many at a time where all are sound."""

from collections.abc import Iterator
from dataclasses import dataclass

from magicbyte.engines.protocol import Engine, Entries, Entry
from magicbyte.limits import Limits
from magicbyte.logdir.frames import CHUNK, Frame, frames
from magicbyte.storage import File


@dataclass(frozen=True, slots=True)
class Run:
    """Entries back to back, whose checksums are right."""

    entries: Entries
    data: memoryview
    """Where they lie; it may hold more."""
    origin: int
    """The byte of the file at which that begins."""

    def frame(self, entry: Entry) -> Frame:
        """Return the bytes of one of them."""
        begin = entry.position - self.origin
        return Frame(entry.position, self.data[begin : begin + entry.size_bytes], entry.magic)


def parts(
    file: File, *, begin: int, end: int, engine: Engine, limits: Limits
) -> Iterator[Run | Frame]:
    """Yield what lies between *begin* and *end* of *file*, up to what is not whole.

    That is runs as far as *engine* finds them, and frames where it does not: at damage, where the
    format changes, at what Kafka takes for an entry and no engine does. Raises as `frames` does.
    """
    position = begin
    while position < end:
        data = memoryview(file.read_at(position, min(CHUNK, end - position)))
        scan = engine.scan(data, origin=position, verify=True, limits=limits)
        if scan.entries:
            yield Run(scan.entries, data, position)
            position += scan.end
        if scan.end > len(data) // 2:
            continue
        # A chunk at a time: where formats alternate, no byte is read again and again.
        stop = position + CHUNK
        for frame in frames(file, begin=position, end=end, limits=limits):
            if frame.position >= stop:
                break
            yield frame
            position = frame.end
        else:
            return
