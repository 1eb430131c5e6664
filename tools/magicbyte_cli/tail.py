"""`--tail` and `--follow`: the last records of each partition, and those that come."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import click
import pyarrow as pa

from magicbyte import Dataset, Finding, Report
from magicbyte.reading.follow import Choose, Follower
from magicbyte_cli.selection import with_options
from magicbyte_cli.stderr_messages import complain, complain_of

POLL_S = 1.0
"""How long nothing is looked at, after all that was there has been shown."""


class Writer(Protocol):
    """Writes rows, and holds some back."""

    def write(self, batch: pa.RecordBatch) -> None: ...

    def flush(self) -> None: ...


tail_options = with_options(
    [
        click.option(
            "--tail",
            type=click.IntRange(0),
            metavar="N",
            help="Of each partition, only the last N records.",
        ),
        click.option(
            "--follow",
            "-f",
            is_flag=True,
            help="Go on with what is appended, once a second, until interrupted.",
        ),
    ]
)


@dataclass(slots=True)
class Following:
    """Shows the records of logs that grow, at most *limit*."""

    open_now: Callable[[], Dataset]
    choose: Choose
    columns: Sequence[str]
    writer: Writer
    tail: int | None
    limit: int | None
    findings: dict[Finding, None] = field(default_factory=dict)
    """What was found so far, and has been said."""

    def until_interrupted(self) -> None:
        """Show what there is and what comes; return when interrupted, or at the limit."""
        follower = Follower(self.open_now, self.choose, self.columns, tail=self.tail, warn=complain)
        num_left = self.limit
        try:
            while num_left is None or num_left > 0:
                report = Report()
                for batch in follower.new_rows(report):
                    rows = batch.slice(0, num_left)
                    self.writer.write(rows)
                    if num_left is not None:
                        num_left -= len(rows)
                        if not num_left:
                            break
                self.writer.flush()
                self._say(report.findings)
                if num_left != 0:
                    time.sleep(POLL_S)
        except KeyboardInterrupt:
            self.writer.flush()

    def _say(self, findings: Sequence[Finding]) -> None:
        new = [finding for finding in findings if finding not in self.findings]
        self.findings.update(dict.fromkeys(new))
        complain_of(new)
