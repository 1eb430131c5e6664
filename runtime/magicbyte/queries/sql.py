"""Ask logs in SQL: `magicbyte.sql`."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa

from magicbyte.errors import InputError
from magicbyte.queries._connection import connection_to, import_duckdb
from magicbyte.queries._query_errors import query_error, topics_of
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.opening import open as open_logs
from magicbyte.reading.query_tables import query_tables
from magicbyte.reading.results import Report, Rows
from magicbyte.reading.typed_scans import typed_readings, typed_scans

BATCH_ROWS = 1 << 16
"""Most rows of an Arrow batch of a result."""

ALLOWED_STATEMENTS = ("SELECT", "EXPLAIN")
"""Types of the statements that ask and change nothing, in DuckDB's words. FROM, WITH, VALUES, DESCRIBE, SUMMARIZE and
SHOW are of type SELECT."""


def sql(
    query: str,
    *paths: str | os.PathLike[str],
    dispositions: Sequence[str] = ("delivered",),
    allow_files: bool = False,
    memory_limit: int | None = None,
    **options: Any,
) -> Rows:
    """Ask the tables of logs in SQL, by DuckDB (extra ``sql``).

    Args:
        query: One statement that begins with SELECT, FROM, WITH, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN. Its tables are
            the tables of a dataset, such as ``records``; ``topics.orders`` has the typed records of a topic.
        paths: Paths as for `open`.
        dispositions: Dispositions of the rows of ``records``, as for `Dataset.records`.
        allow_files: Let the query read other files of this machine, by functions such as ``read_csv``.
        memory_limit: Bytes of memory that DuckDB may use before it writes to a temporary folder. Default:
            half of the memory of this machine.
        options: Options of `open`. A condition such as ``topic = '__consumer_offsets'`` reads this internal
            topic even without ``include_internal``.
    Returns:
        Rows. Each iteration runs the query again. Times are in microseconds.
    Raises:
        InputError: The query is not valid, DuckDB is not installed, or as for `open`.
    Example:
        >>> rows = mb.sql("SELECT count(*) AS number FROM records WHERE topic = 'fenced'", "log-0")
        >>> rows.to_pylist()
        [{'number': 4}]
    """
    import_duckdb()
    dataset = open_logs(*paths, **options)
    return query_rows(
        dataset,
        query,
        dispositions=dispositions,
        allow_files=allow_files,
        memory_limit=memory_limit,
    )


def query_rows(
    dataset: Dataset,
    query: str,
    *,
    dispositions: Sequence[str] = ("delivered",),
    allow_files: bool = False,
    memory_limit: int | None = None,
) -> Rows:
    """Return the rows of *query* about *dataset*. Arguments and errors as for `sql`."""
    duckdb = import_duckdb()

    def read(report: Report) -> Iterator[pa.RecordBatch]:
        reports: list[Report] = []
        tables = query_tables(dataset, reports, dispositions)
        typed = typed_scans(dataset, readings, reports)
        try:
            with connection_to(tables, typed, **settings) as connection:
                yield from _batches(connection, query, schema)
        except (duckdb.Error, pa.ArrowException) as error:
            for table in (*tables.values(), *typed.values()):
                if table.error is not None:
                    raise table.error from None
            raise query_error(duckdb, error, query, topic_names) from error
        finally:
            _add_all(report, reports)

    topic_names = {log.topic for log in dataset.logs if log.topic}
    settings: dict[str, Any] = {"allow_files": allow_files, "memory_limit": memory_limit}
    try:
        readings = typed_readings(dataset, topics_of(query))
        tables = query_tables(dataset, [], dispositions)
        typed = typed_scans(dataset, readings, [])
        with connection_to(tables, typed, **settings) as connection:
            _check_statement(connection, query)
            schema = _unique_names(connection.sql(query).limit(0).to_arrow_table().schema)
    except duckdb.Error as error:
        raise query_error(duckdb, error, query, topic_names) from error
    return Rows(schema, read)


def _check_statement(connection: Any, query: str) -> None:
    """Raise InputError unless *query* is a single statement that changes nothing."""
    types = [statement.type.name for statement in connection.extract_statements(query)]
    if len(types) != 1:
        raise InputError(f"{len(types)} SQL statements", "one")
    if types[0] not in ALLOWED_STATEMENTS:
        raise InputError(
            f"a statement of type {types[0]}", "a query, such as SELECT ... FROM records"
        )


def _unique_names(schema: pa.Schema) -> pa.Schema:
    """Return *schema* with a number after each name that occurred before."""
    unique_names: dict[str, None] = {}
    for name in schema.names:
        unique, number = name, 0
        while unique in unique_names:
            number += 1
            unique = f"{name}_{number}"
        unique_names[unique] = None
    return pa.schema(
        [field.with_name(name) for field, name in zip(schema, unique_names, strict=True)]
    )


def _batches(connection: Any, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of *query*. KeyboardInterrupt ends it immediately.

    DuckDB runs in another thread, since Python handles a signal only when the main thread comes back from it.
    """
    with ThreadPoolExecutor(1, "magicbyte-sql") as thread:
        try:
            reader = thread.submit(
                lambda: connection.sql(query).to_arrow_reader(BATCH_ROWS)
            ).result()
            while (batch := thread.submit(next, reader, None).result()) is not None:
                if batch.num_rows:
                    yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
                del batch  # frees the rows before more are read
        except BaseException:
            connection.interrupt()
            raise


def _add_all(report: Report, reports: Sequence[Report]) -> None:
    """Add *reports* to *report*; a finding that several scans have is added once."""
    for each in reports:
        report.add(each)
    report.findings = list(dict.fromkeys(report.findings))
