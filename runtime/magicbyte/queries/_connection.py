"""A connection to DuckDB that knows the tables of a log, and nothing else of this machine."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from magicbyte.errors import InputError

if TYPE_CHECKING:
    import duckdb

ALWAYS = {
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
"""Settings of each connection: nothing is loaded from the network, and no variable of Python is a table."""

MIN_VERSION = 2


def import_duckdb() -> Any:
    """Return the module duckdb. Raises InputError, with the remedy, if it is not installed or too old."""
    try:
        import duckdb
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("duckdb", "_duckdb"):
            raise
        raise InputError("the package duckdb is not installed", INSTALLATION) from error
    if int(duckdb.__version__.partition(".")[0]) < MIN_VERSION:
        raise InputError(f"duckdb {duckdb.__version__}", INSTALLATION)
    return duckdb


INSTALLATION = "pip install 'magicbyte[sql]'"


@contextmanager
def connection_to(
    query_tables: Mapping[str, Any],
    topic_tables: Mapping[str, Any],
    *,
    memory_limit: int | None,
    allow_files: bool,
) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Open a connection to the tables of a log.

    What does not fit into memory is written to a folder that is removed at the end.

    Args:
        query_tables: Objects that DuckDB reads, by the name of the table.
        topic_tables: The same by topic; their tables are in the schema `topics`.
        memory_limit: Bytes of memory that DuckDB may use. Default: half of the memory of this machine.
        allow_files: Whether queries may read other files of this machine.
    """
    duckdb = import_duckdb()
    with tempfile.TemporaryDirectory(prefix="magicbyte-sql-") as spill_folder:
        settings = {
            **ALWAYS,
            "enable_external_access": str(allow_files).lower(),
            "memory_limit": f"{memory_limit or _half_of_memory()}B",
            "temp_directory": spill_folder,
        }
        with duckdb.connect(":memory:", config=settings) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            for name, table in query_tables.items():
                connection.register(name, table)
            connection.execute("CREATE SCHEMA topics")
            for topic, table in topic_tables.items():
                source = f"typed records of {topic}"
                connection.register(source, table)
                connection.execute(f"CREATE VIEW topics.{_quoted(topic)} AS FROM {_quoted(source)}")
            connection.execute("SET lock_configuration = true")
            yield connection


def _quoted(name: str) -> str:
    """Return *name* as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _half_of_memory() -> int:
    """Return half of the bytes of this machine's memory; 1 GiB if the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return 1 << 30
