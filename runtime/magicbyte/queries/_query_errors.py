"""Errors of queries in one line, with what the tables of topics are called."""

import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any

from magicbyte.errors import InputError, MagicbyteError

TOPIC_TABLE = re.compile(r'\btopics\s*\.\s*(?:"((?:[^"]|"")+)"|(\w+))', re.IGNORECASE)
"""A table of the schema `topics`, whose name is in quotes or not."""

UNQUOTED_TOPIC = re.compile(r"\btopics\s*\.\s*(\w[\w.-]*)", re.IGNORECASE)
"""The same without quotes, with the other characters that a name of a topic may have."""

UNKNOWN_TABLE = re.compile(r'Table with name "?(.+?)"? does not exist!')

MAX_TOPICS = 10
"""Topics that an error lists."""


def topics_of(query: str) -> list[str]:
    """Return the names after `topics.` in *query*. It may have others than tables, such as columns."""
    names = [quoted.replace('""', '"') or plain for quoted, plain in TOPIC_TABLE.findall(query)]
    return list(dict.fromkeys(names))


def query_error(
    duckdb: Any, error: Exception, query: str, topic_names: Collection[str]
) -> MagicbyteError:
    """Return the error of *query* in one line, as DuckDB words it, with what to write where a topic is meant.

    Args:
        duckdb: The module.
        error: Error of DuckDB or Arrow.
        query: The statement.
        topic_names: Topics that the query may name.
    """
    message = str(error).partition("\n\nLINE ")[0]
    text = " ".join(message.split())
    if isinstance(error, duckdb.OutOfMemoryException):
        return InputError(text, "a higher memory limit, or a query that needs less memory")
    unknown = UNKNOWN_TABLE.search(text)
    if isinstance(error, duckdb.CatalogException) and unknown:
        own_words = text.partition(" Did you mean")[0].rstrip("!")
        if unknown[1] in topic_names:
            return InputError(own_words, f"{_table(unknown[1])}, the table of this topic")
        if unknown[1] in topics_of(query):
            return InputError(own_words, _known_tables(unknown[1], topic_names))
    if isinstance(error, duckdb.ParserException):
        names = (name for name in UNQUOTED_TOPIC.findall(query) if not name.isidentifier())
        quoted = [_table(name) for name in names if name in topic_names]
        if quoted:
            return InputError(text, f"such a name in quotes: {', '.join(quoted)}")
    return InputError(text)


def _table(topic: str) -> str:
    """Return the name of the table of *topic* in SQL."""
    quoted = topic.replace('"', '""')
    return f"topics.{topic}" if topic.isidentifier() else f'topics."{quoted}"'


def _known_tables(unknown: str, topic_names: Collection[str]) -> str:
    """Return the tables of topics, those with names like *unknown* first."""
    known = sorted(topic_names)
    ordered = list(dict.fromkeys([*get_close_matches(unknown, known), *known]))
    tables = [_table(topic) for topic in ordered[:MAX_TOPICS]]
    more = f" and {len(ordered) - MAX_TOPICS} more" if len(ordered) > MAX_TOPICS else ""
    return f"one of {', '.join(tables)}{more}" if tables else "a log with topics"
