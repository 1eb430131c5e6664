"""Messages on stderr about paths that were not read."""

from collections import Counter
from collections.abc import Sequence

from magicbyte import UnreadPath
from magicbyte.logdir.unread_path import FAILURES, MOVED_FOLDERS
from magicbyte_cli.display import counted
from magicbyte_cli.stderr_messages import warn

MAX_PATHS = 10
"""Unread paths that are printed one by one; `verify` lists all."""

ONE_BY_ONE = (*MOVED_FOLDERS, *FAILURES, "link-loop", "too-deep", "searched")
"""Kinds that are printed one by one, because records may be there; the others are only counted."""


def warn_of_unread(unread_paths: Sequence[UnreadPath]) -> None:
    """Print which paths were not read: those that may hold records one by one, the others as a number."""
    main = [unread for unread in unread_paths if unread.kind in ONE_BY_ONE]
    for unread in main[:MAX_PATHS]:
        warn(f"not read: {unread.path}: {unread.reason} [{unread.kind}]")
    others = [*main[MAX_PATHS:], *(each for each in unread_paths if each.kind not in ONE_BY_ONE)]
    if others:
        kinds = Counter(unread.kind for unread in others)
        parts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
        more = "more " if main else ""
        warn(
            f"not read: {counted(len(others), f'{more}path')} ({parts}); magicbyte verify lists them"
        )
