"""Survey partitions in a Spark job, with one task per partition."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.segment_range import with_own_checkpoints
from magicbyte.reading.survey import Survey
from magicbyte.spark._driver_log import without_traceback
from magicbyte.spark._pickling import PickledByValue
from magicbyte.spark._tasks import spare_collector


@dataclass(frozen=True)
class SurveyTask(PickledByValue):
    """Surveys partitions on any machine that Spark chooses."""

    options: ReadOptions
    max_partition_bytes: int

    def __call__(self, logs: Iterable[PartitionLog]) -> Iterator[Survey]:
        spare_collector()
        with without_traceback():
            for log in logs:
                yield Planner(self.options).survey_once(log, self.max_partition_bytes)


def survey_on_spark(
    planner: Planner,
    logs: Sequence[PartitionLog],
    max_partition_bytes: int,
    spark: SparkSession,
) -> None:
    """Survey *logs* in a job of *spark*, and keep the surveys in *planner*."""
    task = SurveyTask(planner.options, max_partition_bytes)
    sent = [with_own_checkpoints(log) for log in logs]
    partitions = spark.sparkContext.parallelize(sent, len(sent)).mapPartitions(task)
    for log, survey in zip(logs, partitions.collect(), strict=True):
        planner.keep(survey, log, max_partition_bytes)
