"""The data source behind spark.read.format("magicbyte")."""

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from magicbyte.spark import options, spark_columns
from magicbyte.spark.driver_log import one_sentence
from magicbyte.spark.other_tables import TableReader
from magicbyte.spark.pickled_readers import Shipped
from magicbyte.spark.record_reader import RecordsReader
from magicbyte.spark.stream import StreamReader


class MagicbyteDataSource(Shipped, DataSource):
    """The records of Kafka's log directories, with the columns of Spark's Kafka source.

    >>> spark.read.format("magicbyte").load("/var/lib/kafka")  # doctest: +SKIP
    DataFrame[key: binary, value: binary, topic: string, partition: int, offset: bigint, ...]

    Options are those of Spark's Kafka source, by its rules: `assign`, `subscribe`,
    `subscribePattern` (all partitions are read where none of them is given), `startingOffsets`,
    `startingTimestamp`, `startingOffsetsByTimestamp`, `startingOffsetsByTimestampStrategy`, the
    same with `ending`, `failOnDataLoss`, `includeHeaders`, `minPartitions`,
    `maxRecordsPerPartition`, `kafka.isolation.level`, and of a stream `maxOffsetsPerTrigger`,
    `minOffsetsPerTrigger`, `maxTriggerDelay`. And ours: `isolationLevel` (default
    read_committed), `onDamage` (`fail`, the default, `skip` or `stop`), `table` (`records`, the
    default, `batches`, `segments`, `transactions`, `partitions` or `problems`), `columns`,
    `transactions` (`markers`, the default, or `index`), `maxPartitionBytes` (default 128m),
    `planPath`, `includeInternal`, `replica`, and `storage.<name>`, an
    argument of the file system that reads a path such as s3://bucket/name. Any other is refused.
    Only the columns of `columns` or of `.schema(...)` are decoded, so name those you need.

    `timestampType` is 0 for CreateTime, 1 for LogAppendTime, -1 for v0; a record without a time
    has 1 ms before the epoch, as in Spark's Kafka source. A time beyond 64-bit microseconds is
    null, with a line in the worker's log.
    """

    @classmethod
    def name(cls) -> str:
        return "magicbyte"

    def schema(self) -> StructType:
        with one_sentence():
            chosen = spark_columns.chosen(options.parse(self.options))
            return spark_columns.struct_of(
                pa.schema([(column.name, column.type) for column in chosen])
            )

    def reader(self, schema: StructType) -> DataSourceReader:
        with one_sentence():
            read = options.parse(self.options)
            of_table = RecordsReader if read.table == "records" else TableReader
            return of_table(read, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        with one_sentence():
            return StreamReader(options.parse(self.options), schema)
