"""The data source behind spark.read.format("magicbyte")."""

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from magicbyte.errors import InputError, MagicbyteError
from magicbyte.findings import Finding
from magicbyte.reading.lost_times import lost_times
from magicbyte.reading.split import Split, read_split
from magicbyte.spark import columns, options
from magicbyte.spark.tasks import tasks

log = logging.getLogger("magicbyte.spark")


class MagicbyteDataSource(DataSource):
    """The records of Kafka's log directories, with the columns of Spark's Kafka source.

    >>> spark.read.format("magicbyte").load("/var/lib/kafka")  # doctest: +SKIP
    DataFrame[key: binary, value: binary, topic: string, partition: int, offset: bigint, ...]

    Options: `subscribe` (topics between commas), `isolationLevel` (also `kafka.isolation.level`;
    default read_committed), `onDamage` (`fail`, the default, `skip` or `stop`), `columns`,
    `maxPartitionBytes` (default 128m), `includeInternal`. Any other is refused. Only the columns
    of `columns` or of `.schema(...)` are decoded, so name those you need.

    `timestampType` is 0 for CreateTime, 1 for LogAppendTime, -1 for v0; a record without a time
    has 1 ms before the epoch, as in Spark's Kafka source. A time beyond 64-bit microseconds is
    null, with a line in the worker's log.
    """

    @classmethod
    def name(cls) -> str:
        return "magicbyte"

    def schema(self) -> StructType:
        with one_sentence():
            read = options.parse(self.options)
            chosen = columns.KAFKA_COLUMNS
            if read.columns is not None:
                chosen = columns.named(read.columns)
            return columns.struct_of(pa.schema([(column.name, column.type) for column in chosen]))

    def reader(self, schema: StructType) -> "Reader":
        with one_sentence():
            return Reader(options.parse(self.options), schema)


class Part(InputPartition):
    """Splits that one task reads."""

    def __init__(self, splits: tuple[Split, ...]) -> None:
        super().__init__(splits)
        self.splits = splits


class Reader(DataSourceReader):
    """Reads the columns of a schema. Raises InputError where it is not one that we can give."""

    def __init__(self, read: options.ReadOptions, schema: StructType) -> None:
        self.options = read
        self.columns, self.schema = columns.of_schema(schema)
        named = (
            {column.name for column in columns.named(read.columns or ())} if read.columns else ()
        )
        if named and named != {column.name for column in self.columns}:
            raise InputError(
                f"a schema of {', '.join(self.schema.names)}",
                f"the columns {', '.join(read.columns or ())}, or one of the two alone",
            )

    def partitions(self) -> list[InputPartition]:
        with one_sentence():
            dataset = self.options.open()
            largest = self.options.max_partition_bytes
            splits = dataset.plan(largest)
            for found in dataset.surveys(largest):
                _say("plan", found.findings)
            if dataset.num_internal:
                log.info(
                    "%d partitions of internal topics left out; includeInternal reads them",
                    dataset.num_internal,
                )
            return [Part(task) for task in tasks(splits, largest)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Spark calls gc.collect() after every task: keep it off all that was imported.
        if not gc.get_freeze_count():
            gc.freeze()
        if isinstance(partition, Part):  # a plan without splits comes as InputPartition(None)
            with one_sentence():
                for split in partition.splits:
                    yield from self._read(split)

    def _read(self, split: Split) -> Iterator[pa.RecordBatch]:
        findings: list[Finding] = []
        for batch in read_split(split, columns.sources_of(self.columns), findings=findings):
            if "timestamp" in batch.schema.names:
                findings.extend(lost_times(split, batch.column("timestamp"), None))
            arrays = [column.made_from(batch.column(column.source)) for column in self.columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        _say("read", findings)


@contextmanager
def one_sentence() -> Iterator[None]:
    """Let an error of ours out without the trace and the causes that Spark would print."""
    try:
        yield
    except MagicbyteError as error:
        raise error.with_traceback(None) from None


def _say(when: str, findings: list[Finding]) -> None:
    """Log what was found that is more than a note: the first of it, and how much there is."""
    grave = [finding for finding in findings if finding.severity != "note"]
    if grave:
        log.warning("%s: %d findings, first %s: %s", when, len(grave), grave[0].code, grave[0])
