"""Topics that `--topic` selects: by name, by a glob such as `orders*`, or by a regular expression such as `/^orders-/`."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate

import click

from magicbyte import InputError
from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.reading.opening import topics_below
from magicbyte.storage import Storage, StorageOptions

GLOB_CHARACTERS = frozenset("*?[")
"""Characters of globs, which no name of a topic in Kafka has."""


def topic_pattern(text: str) -> re.Pattern[str] | None:
    """Return the pattern of topics that *text* is; None for a name. BadParameter for a wrong regular expression."""
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):
        try:
            return re.compile(text[1:-1])
        except re.error as error:
            raise click.BadParameter(
                f"{text!r} is not a regular expression: {error}", param_hint="--topic"
            ) from error
    return None if GLOB_CHARACTERS.isdisjoint(text) else re.compile(r"\A" + translate(text))


def selected_topics(
    texts: Sequence[str],
    paths: Sequence[str],
    storage_options: StorageOptions,
    *,
    include_internal: bool,
) -> tuple[str, ...]:
    """Return the names of the topics below *paths* that *texts* select; the paths are listed only for a pattern.

    A pattern selects internal topics with *include_internal*, or if it begins with two underscores. Raises InputError for
    a pattern that no topic matches.
    """
    if all(topic_pattern(text) is None for text in texts):
        return tuple(texts)
    known = topics_below(paths, Storage(storage_options))
    topics: list[str] = []
    for text in texts:
        matching = matching_topics(text, known)
        if text not in matching and not include_internal and not text.lstrip("/^").startswith("__"):
            matching = [name for name in matching if name not in INTERNAL_TOPICS]
        if not matching:
            some = ", ".join(known[:5]) + (f" and {len(known) - 5:,} more" if known[5:] else "")
            raise InputError(f"no topic matches {text!r}", f"a pattern of topics such as {some}")
        topics += matching
    return tuple(dict.fromkeys(topics))


def matching_topics(text: str, known: Sequence[str]) -> list[str]:
    """Return the topics that *text* selects of those that are *known*; a name that is not known, too."""
    pattern = topic_pattern(text)
    if pattern is None or text in known:
        return [text]
    return [name for name in known if pattern.search(name)]


def has_topic(texts: Iterable[str], name: str) -> bool:
    """Return whether one of *texts* selects the topic *name*."""
    return any(name in matching_topics(text, (name,)) for text in texts)
