"""What the tasks of a pipeline say of their splits, beside the rows."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.findings import Finding
from magicbyte.reading.lost_times import lost_times
from magicbyte.reading.split import Piece, Split
from magicbyte.reading.tally import Tally


@dataclass(slots=True)
class Facts:
    """What a task says of a split beside its rows. Small, and goes through JSON."""

    path: str
    bytes: dict[str, int]
    records: dict[str, int]
    sound_bytes: int
    findings: list[Finding]
    first_time: int | None = None
    """Milliseconds since the Unix epoch: the least time of a record that was delivered."""
    last_time: int | None = None
    """The largest."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Facts":
        value: dict[str, Any] = json.loads(text)
        value["findings"] = [Finding(**finding) for finding in value["findings"]]
        return cls(**value)


@dataclass(slots=True)
class Told:
    """The facts of a split while it is read."""

    split: Split
    tally: Tally = field(default_factory=Tally)
    times: list[int] = field(default_factory=list)

    def count(self, piece: Piece) -> None:
        self.tally.count(piece)
        delivered = piece.delivered("timestamp", "position")
        if delivered is None or not delivered.num_rows:
            return
        times = delivered.column("timestamp")
        found = pc.min_max(times.view(pa.int64()))
        self.times += [bound for bound in found.as_py().values() if bound is not None]
        self.times = [min(self.times), max(self.times)] if self.times else []
        self.tally.findings.extend(lost_times(self.split, times, delivered.column("position")))

    def facts(self) -> Facts:
        return Facts(
            self.split.file.path,
            dict(self.tally.bytes),
            dict(self.tally.records),
            self.tally.sound_bytes,
            self.tally.findings,
            *(self.times or (None, None)),
        )
