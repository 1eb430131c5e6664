"""Rows of indexes, producer snapshots and checkpoint files, for `magicbyte dump`."""

from collections.abc import Sequence

import click
import pyarrow as pa
from click.core import ParameterSource

from magicbyte import Companion, Finding, InputError, UnreadableError, companion
from magicbyte.companion_tables import kind_of
from magicbyte.storage import StorageOptions

OPTIONS = (
    *("paths", "format_name", "columns", "bytes_as", "time_as", "limit", "storage_option"),
    *("expanded", "no_trunc", "no_pager"),
)
"""Parameters of `dump` that apply to companion files too."""


def are_companions(paths: Sequence[str]) -> bool:
    """Return whether *paths* name companion files; UsageError if only some of them do."""
    companions = [path for path in paths if kind_of(path) is not None]
    if companions and len(companions) < len(paths):
        raise click.UsageError(
            f"{companions[0]} is not a log; expected logs only, or companion files only"
        )
    return bool(companions)


def check_options(ctx: click.Context) -> None:
    """Raise UsageError if an option was given that applies to logs only."""
    for parameter in ctx.command.params:
        name = parameter.name or ""
        is_given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and name not in OPTIONS:
            raise click.UsageError(f"{parameter.opts[0]} applies to logs, not to companion files")


def companion_rows(
    paths: Sequence[str], columns: Sequence[str] | None, storage_options: StorageOptions
) -> tuple[pa.RecordBatch, list[Finding]]:
    """Return rows and findings of companion files of one kind; several files get a column `file`.

    Raises InputError if the files are of several kinds or lack one of *columns*.
    """
    by_path: dict[str, Companion] = {}
    unreadable: list[UnreadableError] = []
    for path in paths:
        try:
            by_path[path] = companion(path, storage_options=storage_options)
        except UnreadableError as error:
            unreadable.append(error)
    companions = by_path.values()
    if not companions:
        raise unreadable[0]
    kinds = sorted({file.kind for file in companions})
    if len(kinds) > 1:
        raise InputError(f"files of several kinds: {', '.join(kinds)}", "files of one kind")
    batches = [file.rows for file in companions]
    if len(paths) > 1:
        batches = [
            rows.add_column(0, "file", pa.array([path] * rows.num_rows, pa.string()))
            for rows, path in zip(batches, by_path, strict=True)
        ]
    rows = pa.concat_batches(batches)
    if columns is not None:
        missing = [name for name in columns if name not in rows.schema.names]
        if missing:
            raise InputError(f"no column {missing[0]!r}", f"one of {', '.join(rows.schema.names)}")
        rows = rows.select([name for name in rows.schema.names if name in columns])
    findings = [finding for file in companions for finding in file.findings]
    return rows, [*(error.finding for error in unreadable), *findings]
