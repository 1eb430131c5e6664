"""Files that lie beside a log, as `magicbyte dump` shows them: a row per entry."""

from collections.abc import Sequence
from dataclasses import dataclass

import click
import pyarrow as pa
from click.core import ParameterSource

from magicbyte import Finding, InputError, companion
from magicbyte.companion_tables import kind_of
from magicbyte.storage import StorageOptions

OPTIONS = ("paths", "format_name", "columns", "bytes_as", "limit", "storage_option")
"""What `dump` takes for them too."""


@dataclass(frozen=True, slots=True)
class Shown:
    rows: pa.RecordBatch
    findings: list[Finding]


def are_companions(paths: Sequence[str]) -> bool:
    """Return whether *paths* name files beside a log, by their names; UsageError where some alone do."""
    companions = [path for path in paths if kind_of(path) is not None]
    if companions and len(companions) < len(paths):
        raise click.UsageError(f"{companions[0]} is no log: it is shown by itself")
    return bool(companions)


def check_options(ctx: click.Context) -> None:
    """Raise UsageError where an option was given that is for logs."""
    for parameter in ctx.command.params:
        name = parameter.name or ""
        is_given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and name not in OPTIONS:
            raise click.UsageError(f"{parameter.opts[0]} is for logs, not for files beside them")


def rows_of_companions(
    paths: Sequence[str], columns: Sequence[str] | None, storage_options: StorageOptions
) -> Shown:
    """Return the entries of *paths*, files of one kind, with the path where there are several.

    Raises InputError where they are of several kinds, or have no such columns.
    """
    found = [companion(path, storage_options=storage_options) for path in paths]
    kinds = sorted({one.kind for one in found})
    if len(kinds) > 1:
        raise InputError(f"files of several kinds: {', '.join(kinds)}", "one kind at a time")
    parts = [one.rows for one in found]
    if len(paths) > 1:
        parts = [_named(rows, path) for rows, path in zip(parts, paths, strict=True)]
    rows = pa.concat_batches(parts)
    if columns is not None:
        missing = [name for name in columns if name not in rows.schema.names]
        if missing:
            raise InputError(f"no column {missing[0]!r}", f"one of {', '.join(rows.schema.names)}")
        rows = rows.select([name for name in rows.schema.names if name in columns])
    return Shown(rows, [finding for one in found for finding in one.findings])


def _named(rows: pa.RecordBatch, path: str) -> pa.RecordBatch:
    return rows.add_column(0, "file", pa.array([path] * rows.num_rows, pa.string()))
