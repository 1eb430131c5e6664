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
    return _run(
        [os.fspath(path) for path in paths],
        options,
        say,
        (tables, columns, partition_by, target_file_size),
        (delta, iceberg_table),
        (decode, [os.fspath(one) for one in schemas], reader_schema),
        out=os.fspath(out),
        max_partition_bytes=max_partition_bytes,
        append=append,
        allow_data_loss=allow_data_loss,
        overwrite=overwrite,
        storage_options=StorageOptions.of(storage_options),
    )


def _run(
    paths: Sequence[str],
    options: dict[str, Any],
    say: Callable[[str], None],
    output_arguments: tuple[Iterable[str] | None, Iterable[str] | None, Sequence[str], int | None],
    format_arguments: tuple[bool, str | None],
    decode_arguments: tuple[str | None, Sequence[str], str | int],
    *,
    append: bool,
    storage_options: StorageOptions,
    **arguments: Any,
) -> "PipelineSummary":
    """Run the pipeline of these arguments of OutputSettings, TableFormats, DecodeSettings and Pipeline."""
    # A task, which imports this package too, does not need these.
    from magicbyte.spark.pipeline_run import Pipeline
    from magicbyte.spark.session import LazySession
    from magicbyte.spark.table_formats import TableFormats
    from magicbyte.spark.task_writer import OutputSettings
    from magicbyte.spark.typed_topics import DecodeSettings

    decode_settings = DecodeSettings.of(*decode_arguments)
    tables, columns, partition_by, file_bytes = output_arguments
    tables = ["records"] if append and tables is None else tables
    pipeline = Pipeline(
        dataset=_opened(paths, storage_options, options),
        paths=paths,
        output=OutputSettings.of(
            tables, columns, partition_by, file_bytes, is_typed=decode_settings is not None
        ),
        append=append,
        table_formats=TableFormats(*format_arguments),
        storage_options=storage_options,
        decode_settings=decode_settings,
        **arguments,
    )
    with LazySession("local[*]", {}, is_short=pipeline.is_short, say=say) as spark:
        return pipeline.run(spark, say=say)


def _opened(paths: Sequence[str], stores: StorageOptions, options: dict[str, Any]) -> Dataset:
    """Open *paths*; the options of stores are left out if all are local, since they are for the output then."""
    of_paths = stores if any(map(is_url, paths)) else NO_OPTIONS
    return opening.open(*paths, storage_options=of_paths, **options)
