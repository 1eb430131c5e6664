"""The entries of a segment as recovery reads them: many at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

from magicbyte.engines.protocol import Chunk, Engine, Entries, Entry
from magicbyte.errors import FormatError, LimitError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.frames import CHUNK, Frame, frames
from magicbyte.storage import File


@dataclass(frozen=True, slots=True)
class VerifiedRun:
    """Consecutive entries whose checksums are right."""

    entries: Entries
    data: memoryview
    """Bytes that contain all entries of the run."""
    origin: int
    """The byte of the file at which *data* begins."""

    def data_of(self, entry: Entry) -> memoryview:
        """Return the bytes of *entry*, which is one of the run."""
        begin = entry.position - self.origin
        return self.data[begin : begin + entry.size_bytes]


def entry_runs(
    file: File, *, begin: int, end: int, engine: Engine, limits: Limits
) -> Iterator[VerifiedRun]:
    """Yield the entries between *begin* and *end* of *file*, up to the first partial one.

    *engine* finds most entries. Where it finds none, because the format changes or because only
    Kafka takes the bytes for an entry, their size fields are followed. Raises FormatError at the
    first entry that is wrong, LimitError at one that is larger than *limits* allow.
    """
    position = begin
    while position < end:
        data = memoryview(file.read_at(position, min(CHUNK, end - position)))
        scan = engine.scan(Chunk(data, position), verify=True, limits=limits)
        if scan.entries:
            yield VerifiedRun(scan.entries, data, position)
            position += scan.end
        if scan.end > len(data) // 2:
            continue
        # A chunk at a time, so that no byte is read more than three times where formats alternate.
        sound_frames: list[Frame] = []
        framed: list[Entry] = []
        is_at_end = True
        failure: FormatError | LimitError | None = None
        try:
            for frame in frames(file, begin=position, end=end, limits=limits):
                if frame.position >= position + CHUNK:
                    is_at_end = False
                    break
                entry = frame.entry()
                if not frame.is_sound(entry):
                    raise FormatError(Finding(code="checksum-mismatch", message="wrong checksum"))
                sound_frames.append(frame)
                framed.append(entry._replace(position=frame.position))
        except (FormatError, LimitError) as raised:
            failure = raised  # raised after the sound entries before it are yielded
        if sound_frames:
            joined = memoryview(b"".join(frame.data for frame in sound_frames))
            yield VerifiedRun(Entries(framed), joined, position)
            position = sound_frames[-1].end
        if failure is not None:
            raise failure
        if is_at_end:
            return
