"""Command of Kafka that aborts an open transaction."""

from shlex import quote
from typing import Any


def abort_command(row: dict[str, Any]) -> str | None:
    """Return the command that aborts an open transaction; None if its topic is unknown."""
    if row["topic"] is None:
        return None
    return (
        "kafka-transactions.sh --bootstrap-server HOST:PORT abort "
        f"--topic {quote(row['topic'])} --partition {row['partition']} --start-offset {row['first_offset']}"
    )
