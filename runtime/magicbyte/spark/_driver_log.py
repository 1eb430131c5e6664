"""Log messages of the data source, and its errors without tracebacks."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from magicbyte.errors import MagicbyteError
from magicbyte.findings import TAILS, Finding
from magicbyte.logdir.unread_path import MAY_HOLD_RECORDS, UnreadPath
from magicbyte.spark._conditions import name_in_spark

log = logging.getLogger("magicbyte.spark")


@contextmanager
def without_traceback() -> Iterator[None]:
    """Remove the causes from our errors, and in Spark's processes the traceback too.

    Spark would print all of them before the sentence that matters.
    """
    try:
        yield
    except MagicbyteError as error:
        name_in_spark(error)
        raise error from None


def log_findings(stage: str, findings: Sequence[Finding], *, is_growing: bool = False) -> None:
    """Log the number of errors and warnings among *findings*, and the first one.

    *is_growing*: ignore findings about the tail of the log, which is still being written.
    """
    serious = [
        finding
        for finding in findings
        if finding.severity != "note" and not (is_growing and finding.code in TAILS)
    ]
    if serious:
        first = serious[0]
        log.warning("%s: %d findings, first %s: %s", stage, len(serious), first.code, first)


def log_unread(unread_paths: Sequence[UnreadPath]) -> None:
    """Log how many of *unread_paths* may hold records, and the first of them."""
    may_hold_records = [unread for unread in unread_paths if unread.kind in MAY_HOLD_RECORDS]
    if may_hold_records:
        first = may_hold_records[0]
        log.warning(
            "not read: %d paths, first %s: %s [%s]",
            len(may_hold_records), first.path, first.reason, first.kind,
        )  # fmt: skip
