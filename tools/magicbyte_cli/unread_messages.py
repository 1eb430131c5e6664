"""Messages on stderr about paths that were not read."""

from collections import Counter
from collections.abc import Sequence

from magicbyte import UnreadPath
from magicbyte.logdir.unread_path import MAY_HOLD_RECORDS
from magicbyte_cli.display import counted
from magicbyte_cli.stderr_messages import warn

MAX_PATHS = 10
"""Unread paths that are printed one by one; `verify` lists all."""


def warn_of_unread(unread_paths: Sequence[UnreadPath]) -> None:
    """Print which paths were not read: those that may hold records one by one, the others as a number."""
    main = [unread for unread in unread_paths if unread.kind in MAY_HOLD_RECORDS]
    for unread in main[:MAX_PATHS]:
        warn(f"not read: {unread.path}: {unread.reason} [{unread.kind}]")
    others = [
        *main[MAX_PATHS:],
        *(each for each in unread_paths if each.kind not in MAY_HOLD_RECORDS),
    ]
    if others:
        kinds = Counter(unread.kind for unread in others)
        parts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
        more = "more " if main else ""
        warn(
            f"not read: {counted(len(others), f'{more}path')} ({parts}); magicbyte verify lists them"
        )
