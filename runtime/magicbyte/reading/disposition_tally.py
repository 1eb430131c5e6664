"""What became of the bytes and records of a segment."""

from collections import Counter
from dataclasses import dataclass

from magicbyte.reading.results import Report
from magicbyte.reading.split import Piece
from magicbyte.reading.survey import Survey


@dataclass(slots=True)
class Tally(Report):
    """What became of the bytes and records of one live segment."""

    sound_bytes: int = 0

    def count(self, piece: Piece) -> None:
        self.findings.extend(piece.findings)
        self.bytes.update(piece.bytes)
        self.records.update(piece.records)
        self.sound_bytes += sum(
            size for name, size in piece.bytes.items() if name not in ("damaged", "over_limit")
        )


def bytes_of_no_split(found: Survey) -> dict[str, Counter[str]]:
    """Return the bytes of each live segment, by path, that no split holds.

    They are its tail, and what lies at and behind the damage at which the read was to stop.
    """
    rest = {file.path: Counter(outside_range=file.size_bytes) for file in found.log.logs}
    for segment in found.segments:
        rest[segment.file.path] = bytes_ = Counter(tail=segment.tail_bytes)
        if segment.stop_at is not None and segment.stop_end is not None:
            bytes_["damaged"] = segment.stop_end - segment.stop_at
            bytes_["outside_range"] = segment.file.size_bytes - segment.stop_end
    return rest
