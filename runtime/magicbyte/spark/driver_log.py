"""What the data source says of what it found, and how its errors read."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from magicbyte.errors import MagicbyteError
from magicbyte.findings import TAILS, Finding

log = logging.getLogger("magicbyte.spark")


@contextmanager
def one_sentence() -> Iterator[None]:
    """Let an error of ours out without the trace and the causes that Spark would print."""
    try:
        yield
    except MagicbyteError as error:
        raise error.with_traceback(None) from None


def say(when: str, findings: Sequence[Finding], *, grows: bool = False) -> None:
    """Log what was found that is more than a note: the first of it, and how much there is.

    The tail of a log that *grows* is none of it.
    """
    grave = [
        finding
        for finding in findings
        if finding.severity != "note" and not (grows and finding.code in TAILS)
    ]
    if grave:
        log.warning("%s: %d findings, first %s: %s", when, len(grave), grave[0].code, grave[0])
