"""`magicbyte.write`: write records from Arrow data as the partitions of a log.dir."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import pyarrow as pa

from magicbyte.errors import InputError
from magicbyte.writing._abandoned_writes import locked
from magicbyte.writing.record_sink import RecordSink, record_sink
from magicbyte.writing.rewrite import RewriteReport


def write(
    rows: Any,
    output: str | os.PathLike[str],
    *,
    topic: str | None = None,
    partitions: int = 1,
    codec: str = "none",
    level: int | None = None,
    batch_bytes: int = 16384,
    segment_bytes: int | None = None,
    index_interval_bytes: int = 4096,
    timestamp_type: str = "CreateTime",
    starting_offset: int | Mapping[tuple[str, int], int] = 0,
    leader_epoch: int = 0,
) -> RewriteReport:
    """Write records as new partitions, with companion files, into a folder that is laid out like a log.dir.

    A broker that is started on such a folder, or on one into which the partitions are copied, serves the records.
    The columns of Spark's Kafka sink, and two more: `value`, `key`, `headers` (lists of structs of key and
    value), `topic`, `partition`, `timestamp` and `offset`. Only `value` is required.

    Args:
        rows: Records: an object with ``__arrow_c_stream__``, such as a table of pyarrow, pandas or Polars, or an
            iterable of Arrow batches. Memory is bounded by the size of its batches.
        output: New folder, or the output of earlier calls, to which partitions are added. None of *rows* may belong
            to a partition that is there already.
        topic: Topic of all records. Default: the column `topic` names it; the argument takes precedence.
        partitions: Number of partitions of each topic, if there is no column `partition`. Records with a key go
            where Kafka's producer would send them, others to one partition after another, a batch at a time.
        codec: ``"none"`` (default), ``"gzip"``, ``"snappy"``, ``"lz4"`` or ``"zstd"``.
        level: Compression level of the codec. Default: the codec's own.
        batch_bytes: Size of a batch, as the producer's ``batch.size``.
        segment_bytes: Largest size of a segment. Default: 1 GiB.
        index_interval_bytes: The topic's ``index.interval.bytes``.
        timestamp_type: ``"CreateTime"`` (default): a record without a timestamp gets the current time.
            ``"LogAppendTime"``: all get the current time, and no column `timestamp` is allowed.
        starting_offset: First offset of a partition, if there is no column `offset`; of all partitions, or by
            topic and partition. With the column, its offsets are written; they must rise in each partition.
        leader_epoch: Partition leader epoch of the batches.
    Returns:
        A report with a row for each partition: `records`, `first_offset`, `log_end_offset`, `segments` and more.
    Raises:
        InputError: A column is missing or has another type, a value or an argument is not allowed, offsets do not
            rise, a partition exists, or *output* is in a log.dir or holds other files.
        OSError: The output cannot be written. After any error, nothing of this call is left in it.
    Example:
        >>> import pyarrow as pa, tempfile
        >>> rows = pa.table({"key": ["a", "b", "a"], "value": ["1", "2", "3"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report = mb.write(rows, f"{folder}/out", topic="orders", codec="lz4")
        ...     table = mb.open(f"{folder}/out").records(["offset", "value"]).to_table()
        >>> table.to_pylist()[-1]
        {'offset': 2, 'value': b'3'}
    """
    sink = record_sink(
        output,
        topic=topic,
        partitions=partitions,
        codec=codec,
        level=level,
        batch_bytes=batch_bytes,
        segment_bytes=segment_bytes,
        index_interval_bytes=index_interval_bytes,
        timestamp_type=timestamp_type,
        starting_offset=starting_offset,
        leader_epoch=leader_epoch,
    )
    return _write_rows(sink, rows)


def _write_rows(sink: RecordSink, rows: Any) -> RewriteReport:
    """Write *rows* into the output of *sink*; after an error nothing of them is left there."""
    schema, arrow_batches = _arrow_batches(rows)
    if "offset" in schema.names and sink.starting_offset != 0:
        raise InputError("starting_offset with the column 'offset'", "one of them")
    sink.begin()
    try:
        with locked(sink.staging):
            writer = sink.run_writer(schema)
            for arrow_batch in arrow_batches:
                writer.write(arrow_batch, time.time_ns() // 1_000_000)
            return sink.commit(writer.finish())
    finally:
        sink.discard()


def _arrow_batches(rows: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the schema of *rows* and an iterator over their Arrow batches."""
    expected = "an object with __arrow_c_stream__, or an iterable of Arrow batches"
    if hasattr(rows, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(rows)
        return reader.schema, iter(reader)
    if not isinstance(rows, Iterable):
        raise InputError(f"rows of {type(rows).__name__}", expected)
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        raise InputError("no Arrow batch, so no columns", "at least one, which may be empty")
    if not isinstance(first, pa.RecordBatch):
        raise InputError(f"rows with an element of {type(first).__name__}", expected)
    return first.schema, chain([first], iterator)
