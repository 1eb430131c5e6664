"""`--tail` and `--follow`: the last records of each partition, and records appended later."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import sleep
from typing import TYPE_CHECKING

import click

from magicbyte import Dataset, Finding, Report, UnreadPath
from magicbyte.logdir.unread_path import FAILURES
from magicbyte_cli.printed_rows import RowWriter
from magicbyte_cli.selection import flag_option, with_options
from magicbyte_cli.stderr_messages import warn, warn_of_findings
from magicbyte_cli.unread_messages import warn_of_unread

if TYPE_CHECKING:
    from magicbyte.reading.follow import RecordFilter
    from magicbyte_cli.typed_command import FollowedTopics

POLL_S = 1.0
"""Seconds between two looks for appended records."""


tail_options = with_options(
    [
        click.option(
            "--tail",
            type=click.IntRange(0),
            metavar="N",
            help="Only the last N records of each partition.",
        ),
        flag_option(
            "--follow",
            "-F",
            help="Keep printing records as they are appended, checking once a second, until "
            "interrupted.",
        ),
    ]
)


@dataclass(slots=True)
class FollowCommand:
    """Prints the records of growing logs, at most *limit*."""

    open_dataset: Callable[[], Dataset]
    choose: "RecordFilter"
    columns: Sequence[str]
    writer: RowWriter
    tail: int | None
    limit: int | None
    typed: "FollowedTopics | None" = None
    """Decoder of the records; None: keys and values are bytes."""
    findings: dict[Finding, None] = field(default_factory=dict)
    """Findings that have been printed, in order."""
    unread: dict[UnreadPath, None] = field(default_factory=dict)
    """Paths that could not be read and have been printed, in order."""

    def run(self) -> None:
        """Print existing and appended records; return when interrupted or at the limit."""
        from magicbyte.reading.follow import Follower  # needed with --follow only

        follower = Follower(self._open, self.choose, self.columns, tail=self.tail, warn=warn)
        num_left = self.limit
        try:
            while num_left is None or num_left > 0:
                report = Report()
                for batch in follower.new_rows(report):
                    rows = batch.slice(0, num_left)
                    self.writer.write(rows if self.typed is None else self.typed.printable(rows))
                    if num_left is not None:
                        num_left -= len(rows)
                        if not num_left:
                            break
                self.writer.flush()
                if self.typed is not None:
                    report.findings += self.typed.take_findings()
                self._warn_of_new(report.findings)
                if num_left != 0:
                    sleep(POLL_S)
        except KeyboardInterrupt:
            self.writer.flush()

    def _open(self) -> Dataset:
        dataset = self.open_dataset()
        new = [
            unread
            for unread in dataset.unread
            if unread.kind in FAILURES and unread not in self.unread
        ]
        self.unread.update(dict.fromkeys(new))
        warn_of_unread(new)
        if self.typed is not None:
            self.typed.opened = dataset
        return dataset

    def _warn_of_new(self, findings: Sequence[Finding]) -> None:
        new = [finding for finding in findings if finding not in self.findings]
        self.findings.update(dict.fromkeys(new))
        warn_of_findings(new)
