"""Reads logs on command in a Spark session of its own, whose processes a test can kill.

`python reading.py MASTER NAME=VALUE… < commands`. A command is a line of JSON: `{"path": …,
"options": {…}, "out": …}` writes the rows to an Arrow file. The answer is a line of JSON: the
number of tasks that failed and were tried again, and the error of the read, or null. With
`connect:MASTER`, Spark Connect is used, which does not report on tasks.
"""

import json
import sys

import pyarrow as pa
from pyspark.sql import SparkSession

from magicbyte.spark import use_java


def main(master: str, settings: list[str]) -> None:
    use_java()
    connect = master.removeprefix("connect:") if master.startswith("connect:") else None
    builder = SparkSession.builder
    builder = builder.remote(connect) if connect else builder.master(master)
    for name, value in {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **dict(setting.split("=", 1) for setting in settings),
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for line in sys.stdin:
        command = json.loads(line)
        if not connect:
            spark.sparkContext.setLogLevel("OFF")
            spark.sparkContext.setJobGroup(command["out"], "a read")
        error = None
        try:
            reader = spark.read.format("magicbyte").options(**command["options"])
            table = reader.load(command["path"]).toArrow()
            with pa.ipc.new_file(command["out"], table.schema) as file:
                file.write_table(table)
        except Exception as failed:  # its message is the answer
            error = str(failed)
        failures = None if connect else num_failures(spark, command["out"])
        print(json.dumps({"failed_tasks": failures, "error": error}), flush=True)
    spark.stop()


def num_failures(spark: SparkSession, group: str) -> int:
    tracker = spark.sparkContext.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(group))
    stages = [tracker.getStageInfo(one) for job in jobs if job for one in job.stageIds]
    return sum(stage.numFailedTasks for stage in stages if stage)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
