"""The pipeline as a call: write the tables of logs as Parquet, with the tasks of Spark."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from magicbyte.reading import opening
from magicbyte.reading.dataset import Dataset
from magicbyte.storage import NO_OPTIONS, StorageOptions, is_url

if TYPE_CHECKING:
    from magicbyte.spark._driver_tables import PipelineSummary


def write_parquet(
    *paths: str | os.PathLike[str],
    out: str | os.PathLike[str],
    tables: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
    partition_by: Sequence[str] = (),
    append: bool = False,
    allow_data_loss: bool = False,
    delta: bool = False,
    iceberg_table: str | None = None,
    overwrite: bool = False,
    target_file_size: int | None = None,
    max_partition_bytes: int = 128 << 20,
    storage_options: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda _: None,
    decode: str | None = None,
    schemas: Sequence[str | os.PathLike[str]] = (),
    reader_schema: str | int = "latest",
    **options: Any,
) -> "PipelineSummary":
    """Write the tables of logs as Parquet into the folder *out*: the command ``magicbyte pipeline``, without its report.

    Runs in the active Spark session; if there is none, in a new one on this machine, which is stopped at the end.

    Args:
        paths: Logs, local or in an object store, as for `magicbyte.open`.
        out: Folder to write, local or in an object store.
        tables: Names of tables. Default: all tables; ``records`` with *append*.
        columns: Columns of ``records``, or with *decode* of `Dataset.typed_records`. Default: all, or the usual ones.
        partition_by: ``"topic"``, ``"date"`` or both: write into folders such as ``topic=orders/date=2024-04-24``
            instead of columns. The date is the timestamp's, in UTC. ``batches`` has folders for topics alone.
        append: Write only ``records`` that the output does not have, by the offsets that it keeps.
        allow_data_loss: Append what exists where offsets that were not written are gone. Default: raise InputError.
        delta: Register appended files in one commit: ``records`` is a Delta table (extra ``delta``).
        iceberg_table: Register them in ``CATALOG.NAMESPACE.TABLE`` of pyiceberg's catalogs (extra ``iceberg``).
        overwrite: Replace an output that a pipeline has written.
        target_file_size: Bytes at which a file of ``records`` or ``batches`` ends. Default: one file per task.
        max_partition_bytes: Bytes of a segment that one task reads, at most. Default: 128 MiB.
        storage_options: Options of the stores of *paths* and *out*, such as ``region``.
        say: Called with a sentence about each step.
        decode: Forms of keys and values, such as ``"auto"`` or ``"key=string,value=registry"``: ``records`` has a folder
            for each topic, with columns of its own. Default: keys and values are bytes.
        schemas: With *decode*: sources of schemas, as for `Dataset.typed_records`.
        reader_schema: With *decode*: schema of the columns, as for `Dataset.typed_records`.
        options: Options of `magicbyte.open`, such as ``topics``, ``isolation_level`` and ``on_damage``.
    Returns:
        Numbers of records and bytes by disposition, and the findings.
    Raises:
        InputError: An argument is wrong, the output exists, or Spark fails.
        MagicbyteError: A log is damaged, with ``on_damage="fail"``, or cannot be read.
    Example:
        >>> summary = write_parquet("/var/lib/kafka", out="s3://bucket/orders", topics=["orders"])  # doctest: +SKIP
        >>> summary.records["delivered"]  # doctest: +SKIP
        360000
    """
    # A task, which imports this package too, does not need these.
    from magicbyte.spark.pipeline_run import Pipeline
    from magicbyte.spark.session import LazySession
    from magicbyte.spark.table_formats import TableFormats
    from magicbyte.spark.task_writer import OutputSettings
    from magicbyte.spark.typed_topics import DecodeSettings

    settings = DecodeSettings.of(decode, [os.fspath(one) for one in schemas], reader_schema)
    tables = ["records"] if append and tables is None else tables
    names, stores = [os.fspath(path) for path in paths], StorageOptions.of(storage_options)
    pipeline = Pipeline(
        dataset=_opened(names, stores, options),
        paths=names,
        out=os.fspath(out),
        output=OutputSettings.of(
            tables, columns, partition_by, target_file_size, is_typed=settings is not None
        ),
        max_partition_bytes=max_partition_bytes,
        append=append,
        allow_data_loss=allow_data_loss,
        table_formats=TableFormats(delta, iceberg_table),
        overwrite=overwrite,
        storage_options=stores,
        decode_settings=settings,
    )
    with LazySession("local[*]", {}, is_short=pipeline.is_short, say=say) as spark:
        return pipeline.run(spark, say=say)


def _opened(paths: Sequence[str], stores: StorageOptions, options: dict[str, Any]) -> Dataset:
    """Open *paths*; the options of stores are left out if all are local, since they are for the output then."""
    of_paths = stores if any(map(is_url, paths)) else NO_OPTIONS
    return opening.open(*paths, storage_options=of_paths, **options)
