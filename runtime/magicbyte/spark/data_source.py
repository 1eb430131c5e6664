"""The data source for spark.read.format("magicbyte")."""

import logging

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from magicbyte.spark import _options
from magicbyte.spark._driver_log import without_traceback
from magicbyte.spark._latest_reader import LatestReader
from magicbyte.spark._pickling import PickledByValue
from magicbyte.spark._record_reader import FilteringReader, RecordsReader
from magicbyte.spark._spark_rows import default_struct
from magicbyte.spark._stream_reader import StreamReader
from magicbyte.spark._table_reader import TableReader

log = logging.getLogger("magicbyte.spark")


class MagicbyteDataSource(PickledByValue, DataSource):
    """Kafka's log directories as a data source, with the columns of Spark's Kafka source.

    >>> spark.read.format("magicbyte").load("/var/lib/kafka")  # doctest: +SKIP
    DataFrame[key: binary, value: binary, topic: string, partition: int, offset: bigint, ...]

    Options of Spark's Kafka source, with its rules: `assign`, `subscribe`, `subscribePattern`
    (default: all partitions), `startingOffsets`, `startingTimestamp`, `startingOffsetsByTimestamp`,
    `startingOffsetsByTimestampStrategy`, the same with `ending`, `failOnDataLoss`,
    `includeHeaders`, `minPartitions`, `maxRecordsPerPartition`, `kafka.isolation.level`; for
    streams `maxOffsetsPerTrigger`, `minOffsetsPerTrigger`, `maxTriggerDelay`.

    Our own options: `isolationLevel` (default `read_committed`), `onDamage` (`fail`, the default,
    `skip` or `stop`), `table` (`records`, the default, `latest`, `batches`, `segments`, `transactions`,
    `partitions`, `problems`, or a table of internal topics), `columns`, `transactions` (`auto`, the default, `markers` or `index`),
    `maxPartitionBytes` (default 128m), `planPath`, `filterPushdown`, `includeInternal`, `replica`, and
    `storage.<name>`, an option of the file system of a URL such as s3://bucket/name. Options of the
    Kafka source about its broker are ignored, with a warning; any other option is an error. Only the columns of `columns` or `.schema(...)` are decoded.

    `decode`, such as `value=registry,key=string`, gives typed keys and values of one topic, with `schemas`, `readerSchema` and
    `mode`, which is `FAILFAST` (the default) or `PERMISSIVE`, as for `from_avro`.

    `df.write.format("magicbyte").mode("append")` writes partitions, with the columns of Spark's Kafka sink, `timestamp` and
    `offset`, and the options `topic`, `partitions`, `startingOffset`, `leaderEpoch`, `kafka.compression.type`,
    `kafka.compression.<codec>.level`, `kafka.batch.size`, `kafka.segment.bytes`, `kafka.index.interval.bytes` and
    `kafka.message.timestamp.type`.

    `timestampType` is 0 for CreateTime, 1 for LogAppendTime, and -1 for a v0 message. A record
    without a time has the time 1 ms before the epoch, as in Spark's Kafka source. A time that does
    not fit into 64-bit microseconds is null, with a line in the worker's log.
    """

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        ignored = [
            name
            for name in _options.ignored_options(options)
            if name.lower()
            not in _options.SINK_NAMES  # whether it is read or written is not known yet
        ]
        if ignored:
            log.warning("%s: no meaning without a broker, ignored", ", ".join(ignored))

    @classmethod
    def name(cls) -> str:
        return "magicbyte"

    def schema(self) -> StructType:
        with without_traceback():
            parsed = _options.parse(self.options)
            parsed.check_topics()
            return default_struct(parsed)

    def reader(self, schema: StructType) -> DataSourceReader:
        with without_traceback():
            parsed = _options.parse(self.options)
            if parsed.table == _options.LATEST_TABLE:
                return LatestReader(parsed, schema)
            if parsed.table != "records":
                return TableReader(parsed, schema)
            reader = FilteringReader if parsed.filter_pushdown else RecordsReader
            return reader(parsed, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        # Imports of this take 50 ms, and only a write needs them: tasks that read import this module, too.
        from magicbyte.spark import _sink_options
        from magicbyte.spark._records_writer import RecordsWriter

        with without_traceback():
            sink = _sink_options.parse_sink(self.options, overwrites=overwrite)
            return RecordsWriter(sink, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        with without_traceback():
            return StreamReader(_options.parse(self.options), schema)
