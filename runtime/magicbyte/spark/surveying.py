"""The pass over headers that a plan takes, as a job of Spark: a task for each partition."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql import SparkSession

from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.dataset import Dataset, Options
from magicbyte.reading.survey import Survey
from magicbyte.spark.driver_log import one_sentence
from magicbyte.spark.pickled_readers import Shipped
from magicbyte.spark.tasks import spare_collector


@dataclass(frozen=True)
class Surveyor(Shipped):
    """Passes over a partition, wherever Spark runs it."""

    options: Options
    max_partition_bytes: int

    def __call__(self, logs: Iterable[PartitionLog]) -> Iterator[Survey]:
        spare_collector()
        with one_sentence():
            for log in logs:
                yield Dataset([log], (), self.options).surveys(self.max_partition_bytes)[0]


def pass_over(dataset: Dataset, max_partition_bytes: int, spark: SparkSession) -> None:
    """Have *spark* make what `dataset.surveys` makes, and keep it there."""
    logs = dataset.logs
    surveyor = Surveyor(dataset.options, max_partition_bytes)
    partitions = spark.sparkContext.parallelize(logs, len(logs)).mapPartitions(surveyor)
    for log, found in zip(logs, partitions.collect(), strict=True):
        dataset.keep_survey(log, found, max_partition_bytes)
