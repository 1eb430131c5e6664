"""Register the files of an output that grows with Delta Lake or Iceberg: one commit for the files of a run.

The tables keep the number of the last run that was registered, and it changes in the same commit. So a run that
is killed between its files and the registration is registered by the next one, once.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from magicbyte.errors import InputError, MagicbyteError
from magicbyte.spark.task_writer import NULL_PARTITION, OutputSettings
from magicbyte.storage import StorageOptions, is_url
from magicbyte.storage.output_folder import OutputFolder

RUN = "magicbyte.run"
"""Name under which a table keeps the number of the last run that was registered."""

STATISTICS = ("topic", "partition", "offset", "timestamp")
"""Columns whose least and largest values in a file are registered with Delta Lake."""

DELTA_OPTIONS = {
    "access_key": "AWS_ACCESS_KEY_ID",
    "secret_key": "AWS_SECRET_ACCESS_KEY",
    "session_token": "AWS_SESSION_TOKEN",
    "region": "AWS_REGION",
    "endpoint_override": "AWS_ENDPOINT_URL",
}
"""Names that deltalake has for options of S3. Azure's options have the same names; Google's come from the environment."""

_FILE = re.compile(r"part-(\d{6,})-\d+-\d+\.zstd\.parquet")


@dataclass(frozen=True, slots=True)
class TableFormats:
    """The tables in which an output is registered."""

    is_delta: bool = False
    """True if the folder of records is a table of Delta Lake."""
    iceberg_table: str | None = None
    """Table of Iceberg: catalog, namespace and name, with dots between them."""

    def check(self, output: OutputSettings) -> None:
        """Raise InputError if a package is missing, or a table cannot have the folders of *output*."""
        # Imported only to fail before anything is written, hence unused.
        if self.is_delta:
            with _needed_package("deltalake", "delta"):
                import deltalake  # noqa: F401
        if self.iceberg_table is None:
            return
        with _needed_package("pyiceberg", "iceberg"):
            import pyiceberg.catalog  # noqa: F401
        if self.iceberg_table.count(".") < 2:
            raise InputError(f"the Iceberg table {self.iceberg_table!r}", "CATALOG.NAMESPACE.NAME")
        if output.partition_by:
            raise InputError(
                "folders for a table of Iceberg, whose files need all columns", "no --partition-by"
            )

    def register(
        self,
        destination: OutputFolder,
        output: OutputSettings,
        num_runs: int,
        storage_options: StorageOptions,
        say: Callable[[str], None],
    ) -> None:
        """Register the files in *destination* of the runs up to *num_runs* that are not registered yet."""
        files = RecordFiles(destination.child("records"), output, num_runs)
        if self.is_delta:
            with _registering("Delta Lake", storage_options):
                num_files = register_with_delta(files, storage_options)
            say(f"Delta Lake: {num_files:,} new files")
        if self.iceberg_table is not None:
            with _registering("Iceberg", storage_options):
                num_files = register_with_iceberg(files, self.iceberg_table)
            say(f"Iceberg: {num_files:,} new files")


@dataclass(frozen=True, slots=True)
class RecordFiles:
    """The files of records in an output that grows."""

    root: OutputFolder
    """The folder of the table."""
    output: OutputSettings
    num_runs: int
    """Runs that have written to the output."""

    def after(self, run: int) -> dict[str, int]:
        """Return the paths and sizes of the files of the runs after *run*."""
        found = {}
        for path, size in self.root.files().items():
            match = _FILE.fullmatch(path.rpartition("/")[2])
            if match is not None and run < int(match[1]) <= self.num_runs:
                found[path] = size
        return found

    def schema(self) -> pa.Schema:
        """Return the columns in the files and, after them, those that are folders."""
        types = {"topic": pa.string(), "date": pa.date32()}
        schema = self.output.schema("records")
        for name in self.output.partition_by:
            schema = schema.append(pa.field(name, types[name]))
        return schema


def register_with_delta(files: RecordFiles, storage_options: StorageOptions) -> int:
    """Register *files* in one commit to the Delta table that their folder is; return how many are new."""
    from deltalake import CommitProperties, DeltaTable, Schema, Transaction
    from deltalake.transaction import AddAction, create_table_with_add_actions

    uri, options = files.root.path, _delta_options(files.root.path, storage_options)
    table = None
    if DeltaTable.is_deltatable(uri, storage_options=options):
        table = DeltaTable(uri, storage_options=options)
    registered = 0 if table is None else table.transaction_version(RUN) or 0
    if registered >= files.num_runs:
        return 0
    now = int(time.time() * 1000)
    actions: list[Any] = [
        AddAction(path, size, folder_values(path), now, True, file_statistics(files.root, path))
        for path, size in sorted(files.after(registered).items())
    ]
    properties = CommitProperties(app_transactions=[Transaction(RUN, files.num_runs)])
    schema, by = Schema.from_arrow(files.schema()), list(files.output.partition_by)
    if table is None:
        create_table_with_add_actions(
            uri,
            schema,
            actions,
            partition_by=by,
            storage_options=options,
            commit_properties=properties,
        )
    else:
        table.create_write_transaction(
            actions, "append", schema, partition_by=by, commit_properties=properties
        )
    return len(actions)


def _delta_options(uri: str, storage_options: StorageOptions) -> dict[str, str]:
    """Return the options that deltalake needs for the store of *uri*."""
    if not is_url(uri):
        return {}
    scheme = uri.partition(":")[0]
    values = {name: str(value) for name, value in storage_options.for_scheme(scheme).items()}
    if values.get("endpoint_override", "").startswith("http:"):
        values["AWS_ALLOW_HTTP"] = "true"
    return {DELTA_OPTIONS.get(name, name): value for name, value in values.items()}


def folder_values(path: str) -> dict[str, str | None]:
    """Return the values that are folders of *path*, such as `topic=orders`, by column."""
    pairs = (folder.split("=", 1) for folder in path.split("/")[:-1])
    return {name: None if value == NULL_PARTITION else unquote(value) for name, value in pairs}


def file_statistics(records: OutputFolder, path: str) -> str:
    """Return the number of rows of the Parquet file *path* in *records*, and its least and largest values, as Delta Lake's JSON."""
    with pq.ParquetFile(records.open_parquet(path)) as file:
        footer = file.metadata
    limits: dict[str, list[Any]] = {}
    for group in map(footer.row_group, range(footer.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            statistics = chunk.statistics
            if (
                chunk.path_in_schema in STATISTICS
                and statistics is not None
                and statistics.has_min_max
            ):
                limits.setdefault(chunk.path_in_schema, []).extend((statistics.min, statistics.max))
    return json.dumps(
        {
            "numRecords": footer.num_rows,
            "minValues": {name: _json_value(min(values)) for name, values in limits.items()},
            "maxValues": {name: _json_value(max(values)) for name, values in limits.items()},
        }
    )


def _json_value(value: Any) -> Any:
    """Return *value* as Delta Lake's statistics have it: a time in ISO 8601. Ours are whole milliseconds."""
    return value.isoformat(timespec="milliseconds") if hasattr(value, "isoformat") else value


def register_with_iceberg(files: RecordFiles, name: str) -> int:
    """Register *files* in one commit to the Iceberg table *name*, which is created; return how many are new."""
    from pyiceberg.catalog import load_catalog
    from pyiceberg.exceptions import NamespaceAlreadyExistsError

    catalog_name, _, identifier = name.partition(".")
    catalog = load_catalog(catalog_name)
    if not catalog.table_exists(identifier):
        with suppress(NamespaceAlreadyExistsError):
            catalog.create_namespace(identifier.rpartition(".")[0])
        catalog.create_table(identifier, schema=files.schema())
    table = catalog.load_table(identifier)
    key = f"{RUN}.{files.root.path}"
    registered = int(table.properties.get(key, "0"))
    if registered >= files.num_runs:
        return 0
    scheme = "" if is_url(files.root.path) else "file://"
    paths = [f"{scheme}{files.root.path}/{path}" for path in sorted(files.after(registered))]
    with table.transaction() as transaction:
        transaction.set_properties({key: str(files.num_runs)})
        if paths:
            transaction.add_files(paths)
    return len(paths)


@contextmanager
def _needed_package(name: str, extra: str) -> Iterator[None]:
    """Raise InputError, with the remedy, if the package *name* is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != name:
            raise
        raise InputError(
            f"the package {name} is not installed", f"pip install 'magicbyte[{extra}]'"
        ) from error


@contextmanager
def _registering(format_name: str, storage_options: StorageOptions) -> Iterator[None]:
    """Raise InputError in place of any error of a library, whose errors have no class in common."""
    try:
        yield
    except MagicbyteError:
        raise
    except Exception as error:  # these libraries raise errors of many types, without a common one
        reason = storage_options.scrub(str(error).strip().partition("\n")[0])
        raise InputError(
            f"the files are written, but not registered with {format_name}: {reason}",
            "the same command again, which registers them",
        ) from None
